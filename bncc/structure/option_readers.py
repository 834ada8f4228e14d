"""Parsers of structure options: positive numbers, counts, and names."""

from collections.abc import Mapping, Sequence
from math import inf

from bncc.errors import OptionError

Options = Mapping[str, str]
LEAST, MOST = 1e-6, 1e9
"""Limit of a positive number: in larger floats, added terms are lost."""


def positive_of(options: Options, key: str, default: float) -> float:
    """Return a positive number among structure options."""
    text = options.get(key, str(default))
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < inf:
        raise OptionError(
            f"structure option {key}={text} is not a positive number; try {key}={default:g}"
        )
    if not LEAST <= value <= MOST:
        raise OptionError(
            f"structure option {key}={text} is not in {LEAST:g} to {MOST:g}; try {key}={default:g}"
        )
    return value


def count_of(options: Options, key: str, default: int) -> int:
    """Return a count among structure options."""
    text = options.get(key, str(default))
    if not (text.isascii() and text.isdigit() and text.strip("0")):
        raise OptionError(
            f"structure option {key}={text} is not a whole number from 1 on; try {key}={default}"
        )
    # Longer texts are rejected first: Python refuses numbers with thousands of digits.
    if len(text.lstrip("0")) > len(f"{MOST:.0f}") or int(text) > MOST:
        raise OptionError(
            f"structure option {key}={text[:20]} is above {MOST:.0f}; try {key}={default}"
        )
    return int(text)


def one_of(names: Sequence[str]) -> str:
    """Return names as an error lists them: "a, b or c"."""
    return f"{', '.join(names[:-1])} or {names[-1]}"


def choice_of(options: Options, key: str, names: Sequence[str]) -> str:
    """Return one of some names among structure options."""
    name = options.get(key, names[0])
    if name not in names:
        raise OptionError(f"structure option {key}={name} is unknown; choose {one_of(names)}")
    return name
