"""Errors that a user can cause share a base and carry the exit code of the command line."""

import pytest

from bncc import errors


@pytest.mark.parametrize(
    "name",
    [
        "DataError",
        "NetworkError",
        "ModelFileError",
        "ModelError",
        "IrError",
        "OptionError",
        "ToolchainError",
        "MisfitError",
    ],
)
def test_bad_input_ends_with_exit_code_2(name):
    error = getattr(errors, name)("a sentence")
    assert isinstance(error, errors.BnccError)
    assert (error.exit_code, str(error)) == (2, "a sentence")


def test_an_exceeded_budget_ends_with_exit_code_1():
    assert issubclass(errors.BudgetError, errors.BnccError)
    assert errors.BudgetError.exit_code == 1
