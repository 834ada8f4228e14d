"""Orders of features: a feature may only have parents that come before it."""

from collections.abc import Callable, Iterator, Mapping
from math import isqrt

import numpy as np

from bncc._types import IntArray
from bncc.errors import OptionError

Pixel = tuple[int, int]
"""Row and column."""


def random_order(n_features: int, rng: np.random.Generator) -> IntArray:
    """
    Return a random order.

    Shapes: returns (n_features,) int64, a permutation of the features, the first one first.
    """
    return rng.permutation(n_features)


def identity_order(n_features: int) -> IntArray:
    """
    Return the features in the order of the data.

    Shapes: returns (n_features,) int64, 0, 1, ...
    """
    return np.arange(n_features)


def image_shape(n_features: int, width: int | None = None) -> tuple[int, int]:
    """Return height and width of an image whose pixels are the features, row by row."""
    if width is None:
        width = isqrt(n_features)
        if width * width != n_features:
            raise OptionError(
                f"{n_features} features do not form a square image; set its width with "
                "--structure-option width=, or choose order=random"
            )
    if n_features % width:
        raise OptionError(
            f"{n_features} features do not form an image of width {width}; choose a width that "
            "divides them, or order=random"
        )
    return n_features // width, width


def image_order(name: str, height: int, width: int) -> IntArray:
    """
    Return an order of the pixels of an image.

    Shapes: returns (height * width,) int64, a permutation of the features.

    References
    ----------
    S0, section 4.4.
    """
    pixels = _WALKS[name](height, width)
    inside = [r * width + c for r, c in pixels if 0 <= r < height and 0 <= c < width]
    return np.array(inside, dtype=np.int64)


def _by_rows(height: int, width: int) -> Iterator[Pixel]:
    return ((r, c) for r in range(height) for c in range(width))


def _along_diagonal(height: int, width: int) -> Iterator[Pixel]:
    for r in range(max(height, width)):
        for c in range(r + 1):
            yield r, c
            if c < r:
                yield c, r


def _outwards(height: int, width: int) -> Iterator[Pixel]:
    # A side of even length has two middle pixels, and the first block holds both.
    top, bottom = (height - 1) // 2, height // 2
    left, right = (width - 1) // 2, width // 2
    yield from ((r, c) for r in range(top, bottom + 1) for c in range(left, right + 1))
    while top > 0 or left > 0:
        rows, columns = range(top, bottom + 1), range(left, right + 1)
        top, bottom, left, right = top - 1, bottom + 1, left - 1, right + 1
        yield from ((r, c) for r in (top, bottom) for c in columns)
        yield from ((r, c) for c in (left, right) for r in rows)
        yield from ((r, c) for r in (top, bottom) for c in (left, right))


_WALKS: Mapping[str, Callable[[int, int], Iterator[Pixel]]] = {
    "A": _by_rows,
    "B": _along_diagonal,
    "C": _outwards,
}
IMAGE_ORDERS = tuple(_WALKS)


Pool = Iterator[tuple[int, IntArray]]
"""Each feature once, with its candidate parents."""


def earlier(order: IntArray) -> Pool:
    """
    Pair each feature with its predecessors, so that no choice has a cycle.

    Shapes: `order` (n_features,) int64; yields pool (k,) int64, the predecessors, in their order.

    """
    for k, feature in enumerate(order):
        yield int(feature), order[:k]


def others(n_features: int) -> Pool:
    """
    Pair each feature with all others; choices among them may have cycles.

    Shapes: yields pool (n_features - 1,) int64, the others, ascending.

    References
    ----------
    S0, section 4 (pseudo-TAN).
    """
    everyone = np.arange(n_features)
    for feature in range(n_features):
        yield feature, np.delete(everyone, feature)
