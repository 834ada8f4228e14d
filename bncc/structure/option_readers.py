"""What structure options may be: text that is a number, a count, or one of some names."""

from collections.abc import Mapping, Sequence
from math import inf

from bncc.errors import OptionError

Options = Mapping[str, str]
LEAST, MOST = 1e-6, 1e9
"""Of a positive number: beyond, floats lose what is added to them."""


def positive_of(options: Options, key: str, default: float) -> float:
    """Return a positive number among structure options.

    Parameters
    ----------
    options : mapping of str to str
        Structure options.
    key : str
        Its key, which may be absent.
    default : float
        The value when absent.

    Returns
    -------
    float
        In `LEAST` .. `MOST`.

    Raises
    ------
    OptionError
        If it is no such number.
    """
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
    """Return a number of things among structure options.

    Parameters
    ----------
    options : mapping of str to str
        Structure options.
    key : str
        Its key, which may be absent.
    default : int
        The value when absent.

    Returns
    -------
    int
        In 1 .. `MOST`.

    Raises
    ------
    OptionError
        If it is not a whole number from 1 on, or above `MOST`.
    """
    text = options.get(key, str(default))
    if not (text.isascii() and text.isdigit() and text.strip("0")):
        raise OptionError(
            f"structure option {key}={text} is not a whole number from 1 on; try {key}={default}"
        )
    # Longer texts are not converted: Python refuses those of thousands of digits.
    if len(text.lstrip("0")) > len(f"{MOST:.0f}") or int(text) > MOST:
        raise OptionError(
            f"structure option {key}={text[:20]} is above {MOST:.0f}; try {key}={default}"
        )
    return int(text)


def choice_of(options: Options, key: str, names: Sequence[str]) -> str:
    """Return one of some names among structure options.

    Parameters
    ----------
    options : mapping of str to str
        Structure options.
    key : str
        Its key, which may be absent.
    names : sequence of str
        What may be chosen; the first when absent.

    Returns
    -------
    str
        A name.

    Raises
    ------
    OptionError
        If it is none of them.
    """
    name = options.get(key, names[0])
    if name not in names:
        known = f"{', '.join(names[:-1])} or {names[-1]}"
        raise OptionError(f"structure option {key}={name} is unknown; choose {known}")
    return name
