"""Ranges of the options of training and of the settings made from them, each said once."""

from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite
from numbers import Integral
from typing import Any

from bncc.errors import OptionError


@dataclass(frozen=True)
class Range:
    """Values that a number may have."""

    holds: Callable[[Any], bool]
    remedy: str  # As in "--lr is 0; it must be a positive number"

    def check(self, name: str, value: Any) -> None:
        """Refuse a value outside."""
        if not self.holds(value):
            raise OptionError(f"{name} is {value}; {self.remedy}")


def plain(number: Any) -> Any:
    """Return an integer of any type, such as NumPy's, as an int, and anything else as it is."""
    is_whole = isinstance(number, Integral) and not isinstance(number, bool)
    return int(number) if is_whole else number


def at_least(least: int) -> Range:
    """Return the range from a number on."""
    return Range(lambda value: bool(value >= least), f"it must be at least {least}")


def at_most(most: int) -> Range:
    """Return the range up to a number."""
    return Range(lambda value: bool(value <= most), f"it must be at most {most}")


def between(least: int, most: int) -> Range:
    """Return the range from one number to another one, both of them in it."""
    return Range(lambda value: bool(least <= value <= most), f"choose {least} to {most}")


POSITIVE = Range(lambda value: isfinite(value) and bool(value > 0), "it must be a positive number")
NOT_NEGATIVE = Range(
    lambda value: isfinite(value) and bool(value >= 0), "it must be a number, 0 or more"
)
FRACTION = Range(lambda value: bool(0 <= value < 1), "it must be a fraction from 0 to below 1")
SHARE = Range(lambda value: bool(0 < value <= 1), "choose a number above 0, up to 1")
