"""Fixtures of the tests of generators."""

from collections.abc import Callable
from typing import NoReturn

import pytest

from bncc.baselines import exporters


@pytest.fixture
def need(missing: Callable[[str], NoReturn]) -> Callable[[str], None]:
    """Skip without a generator, which is not imported: emlearn changes numpy's settings."""

    def check(generator: str) -> None:
        if not exporters.is_installed(generator):
            missing(f"{generator} is not installed")

    return check
