"""The programs that fit weights write the modules that the package reads."""

import pytest

from benchmarks.fit import fit_cost_model, fit_cut_costs


@pytest.mark.parametrize("program", [fit_cost_model, fit_cut_costs], ids=lambda m: m.__name__)
def test_the_weights_of_the_package_begin_as_the_program_writes_them(program):
    assert program.WEIGHTS.read_text("utf-8").startswith(program.HEAD)
