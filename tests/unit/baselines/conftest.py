"""What tests of generators need."""

from collections.abc import Callable
from typing import NoReturn

import pytest

from bncc.baselines import exporters


@pytest.fixture
def need(missing: Callable[[str], NoReturn]) -> Callable[[str], None]:
    """Give up without a generator; not by importing it, for emlearn changes numpy's manners."""

    def check(generator: str) -> None:
        if not exporters.is_installed(generator):
            missing(f"{generator} is not installed")

    return check
