"""Parsing of structure options, which are given as text: common readers, and one per option."""

from collections.abc import Mapping, Sequence
from math import inf

import numpy as np

from bncc._types import IntArray
from bncc.errors import OptionError
from bncc.structure.orders import (
    IMAGE_ORDERS,
    identity_order,
    image_order,
    image_shape,
    random_order,
)

Options = Mapping[str, str]
LEAST, MOST = 1e-6, 1e9
"""Limit of a positive number: in larger floats, added terms are lost."""

DEFAULT_ALPHA = 2.0
"""Equivalent sample size of S2, section 4."""
DEFAULT_PARENTS = 8
"""K with the lowest error in S0."""
DEFAULT_STEP = 1e-2
"""Adam step for the structure. S0 takes more and smaller steps: 1e-3, 500 epochs, small batches."""
PRICES = ("entries", "bits")
WIDTHS = tuple("12345678")
"""Allowed bits of a cost."""
ORDERS = ("random", "identity", *IMAGE_ORDERS)
NO_ORDER = "none"
"""Order option without an order: any other feature may be a parent, and arcs may form cycles."""


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
            f"structure option {key}={text} is not a positive integer; try {key}={default}"
        )
    # Longer texts are not converted: Python refuses numbers with thousands of digits.
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


def alpha_of(options: Options) -> float:
    """Return the equivalent sample size among structure options."""
    return positive_of(options, "alpha", DEFAULT_ALPHA)


def step_of(options: Options) -> float:
    """Return the Adam step for the structure among structure options."""
    return positive_of(options, "step", DEFAULT_STEP)


def parents_of(options: Options) -> int:
    """Return the number of candidate parents among structure options."""
    return count_of(options, "parents", DEFAULT_PARENTS)


def width_of(options: Options) -> int | None:
    """Return the columns of the image among structure options."""
    return count_of(options, "width", 8) if "width" in options else None


def order_name(options: Options, default: str = "random") -> str:
    """Return the name of the order among structure options."""
    name = options.get("order", default)
    if name not in (*ORDERS, NO_ORDER):
        known = f"{', '.join(ORDERS)} or {NO_ORDER}"
        raise OptionError(f"structure option order={name} is unknown; choose {known}")
    return name


def has_order(options: Options) -> bool:
    """Return whether features may only have parents that come earlier."""
    return order_name(options) != NO_ORDER


def order_of(
    options: Options, n_features: int, rng: np.random.Generator, default: str = "random"
) -> IntArray:
    """
    Return the order of the features that structure options ask for.

    Shapes: returns (n_features,) int64, a permutation of the features.
    """
    name = order_name(options, default)
    if name == NO_ORDER:
        raise OptionError(
            "structure option order=none allows cycles, which only tan-subset, tan-all and "
            "tan-heuristic support; choose order=random"
        )
    if name == "random":
        return random_order(n_features, rng)
    if name == "identity":
        return identity_order(n_features)
    return image_order(name, *image_shape(n_features, width_of(options)))


def price_of(options: Options) -> str:
    """Return the unit of the size penalty among structure options."""
    return choice_of(options, "price", PRICES)


def widths_of(options: Options) -> tuple[int, ...]:
    """Return the allowed bits of tables among structure options."""
    text = options.get("widths")
    if text is None:
        return ()
    parts = text.split(",")
    if not all(part in WIDTHS for part in parts) or len(set(parts)) < len(parts):
        raise OptionError(
            f"structure option widths={text} is not a list of different numbers of bits from "
            f"{WIDTHS[0]} to {WIDTHS[-1]}; try widths=2,4,6"
        )
    return tuple(sorted(map(int, parts)))


def check_values(options: Options) -> None:
    """Reject values that cannot be parsed, whatever the data."""
    for read in (alpha_of, step_of, parents_of, width_of, order_name, price_of, widths_of):
        read(options)
