"""Boxes of inputs: for each a set of points, which are first and last numbers of intervals."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Ints: TypeAlias = NDArray[np.int64]
Box: TypeAlias = tuple[NDArray[np.bool_], ...]


def restricted(box: Box, axis: int, allowed: NDArray[np.bool_]) -> Box:
    """Return the part of a box with some points of an input."""
    return (*box[:axis], box[axis] & allowed, *box[axis + 1 :])


def meet(box: Box, other: Box) -> Box | None:
    """Return what two boxes have in common; None if nothing."""
    both = tuple(one & two for one, two in zip(box, other, strict=True))
    return both if all(one.any() for one in both) else None


def minus(box: Box, other: Box) -> list[Box]:
    """Return disjoint boxes of the inputs of one box that are not in another."""
    found = []
    for axis, allowed in enumerate(other):
        found.append(restricted(box, axis, ~allowed))
        box = restricted(box, axis, allowed)
    return [one for one in found if all(part.any() for part in one)]
