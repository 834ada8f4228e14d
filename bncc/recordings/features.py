"""
Features of windows: integers computed from the samples of one signal.

`PARTIALS` and `FEATURES` define them. All definitions use the offset u of a sample from the least
value of its signal, an unsigned number up to the signal's width. A partial is a contribution of
each sample, which depends on the samples of its segment up to this one, and a merge, which reduces
contributions to panes and panes to windows. A feature is a function of a window's partials.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import gcd
from typing import Any, Literal

import numpy as np

from bncc._types import BoolArray, IntArray
from bncc.recordings.signals import distance, first_differences
from bncc.recordings.windows import Merge, Windows

SHIFT = 4
"""Default shift of the leaky mean: the mean of about 2**4 samples."""
HIGHEST_ORDER = 5
"""Highest order of differences whose crossings of 0 are counted."""


Contribution = Callable[[IntArray, int, Any], tuple[IntArray, Any]]
"""
Offsets (n,) int64 with n > 0, the argument, and what the samples before them passed on, None at the
start of a segment, to contributions (n,) int64 and what these samples pass on.
"""


def _itself(u: IntArray, argument: int, carry: None) -> tuple[IntArray, None]:
    return u, None


def _change(u: IntArray, argument: int, before: int | None) -> tuple[IntArray, int]:
    """Return the absolute differences to the offset before, 0 at the first."""
    return first_differences(u, u[0] if before is None else before), int(u[-1])


def _lag(u: IntArray, lag: int, before: IntArray | None) -> tuple[IntArray, IntArray]:
    """Return the absolute differences to the offset `lag` before; the first one stands for none."""
    earlier = np.full(lag, u[0]) if before is None else before
    both = np.concatenate([earlier, u])
    return np.abs(u - both[: len(u)]), both[len(u) :]


def _haar(u: IntArray, level: int, pending: IntArray | None) -> tuple[IntArray, IntArray]:
    """Return the absolute details of a Haar lifting at the samples that complete its pairs."""
    n_before = 0 if pending is None else len(pending)
    u = u if pending is None else np.concatenate([pending, u])
    smooth = u
    for _ in range(level - 1):
        n = len(smooth) // 2
        smooth = (smooth[: 2 * n : 2] + smooth[1 : 2 * n : 2]) >> 1
    n = len(smooth) // 2
    found = np.zeros(len(u), dtype=np.int64)
    found[(1 << level) - 1 :: 1 << level] = np.abs(smooth[1 : 2 * n : 2] - smooth[: 2 * n : 2])
    return found[n_before:], u[len(u) >> level << level :]


def _changes(sides: BoolArray, before: bool | None) -> IntArray:
    """Return 1 where a side differs from that of the sample before, else 0."""
    first = sides[0] if before is None else before
    before_each = np.concatenate([[first], sides[:-1]])
    return np.asarray(sides != before_each, dtype=np.int64)


def _hoc(
    u: IntArray, order: int, carry: tuple[list[int], bool] | None
) -> tuple[IntArray, tuple[list[int], bool]]:
    """Return the changes of sign of the differences of an order, 0 at the first sample."""
    lasts, side = ([int(u[0]), *[0] * (order - 1)], None) if carry is None else carry
    found, kept = u, []
    for last in lasts:
        kept.append(int(found[-1]))
        found = np.diff(found, prepend=last)
    sides = found >= 0
    return _changes(sides, side), (kept, bool(sides[-1]))


def _crossings(
    u: IntArray, shift: int, carry: tuple[int, bool] | None
) -> tuple[IntArray, tuple[int, bool]]:
    """Return the changes of side of a leaky mean, which is compared before its update."""
    first, side = (int(u[0]) << shift, None) if carry is None else carry
    found = accumulate(u.tolist(), lambda mean, x: mean + x - (mean >> shift), initial=first)
    means = np.fromiter(found, np.int64, len(u) + 1)
    sides = (u << shift) >= means[:-1]
    return _changes(sides, side), (int(means[-1]), bool(sides[-1]))


def _above(u: IntArray, level: int, carry: None) -> tuple[IntArray, None]:
    return (u >= level).astype(np.int64), None


def _level_crossings(u: IntArray, level: int, side: bool | None) -> tuple[IntArray, bool]:
    sides = u >= level
    return _changes(sides, side), bool(sides[-1])


@dataclass(frozen=True)
class Terms:
    """C expressions in which the update of a partial is written."""

    u: str  # The offset
    u_type: str  # Its type, and that of an absolute difference of two offsets
    argument: int
    # Carried number to its member of the state, and to its type
    state: Mapping[str, str]
    types: Mapping[str, str]
    # Member with the last offsets, at their number of samples modulo its size; a counter of
    # samples, modulo at least the size; and a function that sets all elements
    ring: str = ""
    ring_size: int = 0
    counter: str = ""
    fill: str = ""


@dataclass(frozen=True)
class Update:
    """C of one sample."""

    contribution: str  # Expression
    # At the first sample of a segment, before all else: values of the carried numbers with which
    # the sample contributes what one without a sample before it contributes
    first: tuple[str, ...] = ()
    locals: tuple[str, ...] = ()  # Declarations before the contribution
    after: tuple[str, ...] = ()  # After the contribution, in the scope of `locals`
    # After the updates of all partials, which may share what it assigns
    last: tuple[str, ...] = ()


def _change_update(t: Terms) -> Update:
    keep = f"{t.state['before']} = {t.u};"
    return Update(distance(t.u, t.state["before"], t.u_type), (keep,), last=(keep,))


def _lag_update(t: Terms) -> Update:
    def at(lag: int) -> str:
        since = f"({t.counter} - {lag}U)" if lag % t.ring_size else t.counter
        return f"{t.ring}[(uint16_t)({since} & {t.ring_size - 1}U)]"

    return Update(
        distance(t.u, "earlier", t.u_type),
        (f"{t.fill}({t.ring}, {t.ring_size}U, {t.u});",),
        (f"const {t.u_type} earlier = {at(t.argument)};",),
        last=(f"{at(0)} = {t.u};",),
    )


def _hoc_carried(width: int, order: int) -> Mapping[str, int]:
    """
    Return the offset before, the differences of lower orders, and the side of the last one.

    The K-th difference of offsets is within -2**(K-1) * width .. 2**(K-1) * width. It is kept in
    modular arithmetic, in a type of which its sign is the highest bit.
    """
    largest = 2**16 - 1 if width << (HIGHEST_ORDER - 1) < 2**15 else 2**32 - 1
    lower = {f"difference{k}": largest for k in range(1, order)}
    return {"before": width, **lower, f"sign{order}": 1}


def _hoc_update(t: Terms) -> Update:
    before, sign = t.state["before"], t.state[f"sign{t.argument}"]
    lower = [t.state[f"difference{k}"] for k in range(1, t.argument)]
    declared: list[str] = []
    keeps: list[str] = []
    sides = f"{t.u} >= {before}"
    if lower:
        # A difference is the value, minus the one before, minus the last ones of lower orders.
        wide = t.types["difference1"]
        u = t.u if t.u_type == wide else f"({wide}){t.u}"
        *values, last = (
            f"({wide})({' - '.join([u, before, *lower[:k]])})" for k in range(t.argument)
        )
        declared = [f"const {wide} difference = {last};"]
        sides = f"difference < {2**15 if wide == 'uint16_t' else 2**31}U"
        keeps = [f"{a} = {value};" for a, value in zip(lower, values, strict=True)]
    keep = f"{before} = {t.u};"
    return Update(
        f"now ^ {sign}",
        (keep, *(f"{each} = 0U;" for each in lower), f"{sign} = 1U;"),
        (*declared, f"const uint8_t now = ({sides}) ? 1U : 0U;"),
        (f"{sign} = now;",),
        # Each reads those of lower orders, which change after it.
        (*reversed(keeps), keep),
    )


def _crossings_update(t: Terms) -> Update:
    mean, side = t.state[f"mean{t.argument}"], t.state[f"side{t.argument}"]
    wide = t.types[f"mean{t.argument}"]
    scaled = f"({wide})(({wide}){t.u} << {t.argument}U)"
    leaked = f"{mean} - ({mean} >> {t.argument}U)"
    return Update(
        f"now ^ {side}",
        (f"{mean} = {scaled};", f"{side} = 1U;"),
        (f"const uint8_t now = ({scaled} >= {mean}) ? 1U : 0U;",),
        (f"{side} = now;", f"{mean} = ({wide})({leaked} + {t.u});"),
    )


def _at_or_above(t: Terms) -> str:
    # Compilers warn of an unsigned number that is compared with 0.
    return f"({t.u} >= {t.argument}U) ? 1U : 0U" if t.argument else "1U"


def _level_crossings_update(t: Terms) -> Update:
    side, found = t.state[f"at{t.argument}"], _at_or_above(t)
    return Update(
        f"now ^ {side}",
        (f"{side} = {found};",),
        (f"const uint8_t now = {found};",),
        (f"{side} = now;",),
    )


def _no_reach(argument: int) -> int:
    """Return that a partial reads the current sample only."""
    return 0


@dataclass(frozen=True)
class Partial:
    """A contribution of each sample, and how contributions merge."""

    contribution: Contribution
    merge: Merge
    # Width of the signal to the largest contribution; the least is 0
    most: Callable[[int], int]
    # Width and argument to the largest value of each number that a sample passes to the next;
    # partials of a signal share those of the same name
    carried: Callable[[int, int], Mapping[str, int]]
    # Argument to the approximate additions and comparisons per sample
    additions: Callable[[int], float]
    # The same contribution in C
    update: Callable[[Terms], Update]
    # True if only every 2**argument-th sample contributes: `update` gets, as `u`, the absolute
    # detail of that level of the signal's Haar lifting
    by_level: bool = False
    # Argument to the farthest sample before this one whose offset it reads
    reach: Callable[[int], int] = _no_reach

    def largest(self, width: int, argument: int, length: int, hop: int) -> int:
        """Return the largest value over `length` samples that begin at a multiple of `hop`."""
        if self.merge != "add":
            return self.most(width)
        spacing = 2**argument if self.by_level else 1
        # The best start is as late as possible after a contribution.
        return ((length - gcd(hop, spacing)) // spacing + 1) * self.most(width)

    def neutral(self, width: int) -> int:
        """Return the value of no samples."""
        return width if self.merge == "min" else 0


def ring_size(reach: int) -> int:
    """Return the elements of a ring of the last offsets, a power of 2; 0 for none."""
    return 1 << (reach - 1).bit_length() if reach else 0


def bytes_of(largest: int) -> int:
    """Return the bytes of the smallest unsigned type that has a number."""
    return 1 if largest < 2**8 else 2 if largest < 2**16 else 4


def _nothing(width: int, argument: int) -> Mapping[str, int]:
    return {}


PARTIALS = {
    "sum": Partial(
        _itself, "add", lambda width: width, _nothing, lambda _: 1, lambda t: Update(t.u)
    ),
    "min": Partial(
        _itself, "min", lambda width: width, _nothing, lambda _: 1, lambda t: Update(t.u)
    ),
    "max": Partial(
        _itself, "max", lambda width: width, _nothing, lambda _: 1, lambda t: Update(t.u)
    ),
    "change": Partial(
        _change,
        "add",
        lambda width: width,
        lambda width, _: {"before": width},
        lambda _: 3,
        _change_update,
    ),
    "lag": Partial(
        _lag,
        "add",
        lambda width: width,
        _nothing,
        lambda _: 3,
        _lag_update,
        reach=lambda lag: lag,
    ),
    "haar": Partial(
        _haar,
        "add",
        lambda width: width,
        lambda width, level: {f"first{k}": width for k in range(1, level + 1)},
        # A level has half the pairs of the one below; a pair takes two for the mean, which the
        # next level reads, or three for the sum of details.
        lambda level: sum(2 / 2**k for k in range(1, level)) + 3 / 2**level,
        lambda t: Update(t.u),
        by_level=True,
    ),
    "hoc": Partial(
        _hoc,
        "add",
        lambda width: 1,
        _hoc_carried,
        lambda order: order + 2,
        _hoc_update,
    ),
    "crossings": Partial(
        _crossings,
        "add",
        lambda width: 1,
        # The mean never exceeds width << shift, from which u - (mean >> shift) <= 0 leads back.
        lambda width, shift: {f"mean{shift}": width << shift, f"side{shift}": 1},
        lambda _: 5,
        _crossings_update,
    ),
    "above": Partial(
        _above,
        "add",
        lambda width: 1,
        _nothing,
        lambda _: 2,
        lambda t: Update(_at_or_above(t)),
    ),
    "level-crossings": Partial(
        _level_crossings,
        "add",
        lambda width: 1,
        lambda width, level: {f"at{level}": 1},
        lambda _: 3,
        _level_crossings_update,
    ),
}
"""All partials by name."""


@dataclass(frozen=True)
class Scope:
    """Bounds of a signal's values, and the windows."""

    least: int
    largest: int
    windows: Windows

    @property
    def width(self) -> int:
        """Largest value of the signal minus the least."""
        return self.largest - self.least


def _no_base(scope: Scope) -> int:
    """Return 0: the feature is the same for values and for offsets."""
    return 0


@dataclass(frozen=True)
class Feature:
    """A partial of one signal over a window, or the second of two minus the first, plus a base."""

    partials: tuple[str, ...]
    text: str
    argument: Literal["none", "lag", "number", "order", "shift", "level"] = "none"
    # Added to the partials, which are computed from offsets
    base: Callable[[Scope], int] = _no_base

    def value(self, partials: Sequence[IntArray], scope: Scope) -> IntArray:
        """Return the values (n_windows,) int64 from partials, each (n_windows,) int64."""
        *less, last = partials
        return sum((-partial for partial in less), last) + self.base(scope)

    def bounds(self, most: Sequence[int], scope: Scope) -> tuple[int, int]:
        """Return the least and the largest value from the largest value of each partial."""
        return self.base(scope), self.base(scope) + most[-1]


FEATURES = {
    "sum": Feature(("sum",), "Sum of the values.", base=lambda s: s.windows.length * s.least),
    "min": Feature(("min",), "Least value.", base=lambda s: s.least),
    "max": Feature(("max",), "Largest value.", base=lambda s: s.least),
    "range": Feature(("min", "max"), "Largest value minus the least."),
    "change": Feature(("change",), "Sum of absolute differences to the value before."),
    "lag": Feature(("lag",), "Sum of absolute differences to the value K before.", "lag"),
    "haar": Feature(
        ("haar",),
        "Sum of the absolute details of level K of an integer Haar lifting.",
        "number",
    ),
    "hoc": Feature(
        ("hoc",), "Changes of sign of the K-th difference: higher-order crossings.", "order"
    ),
    "crossings": Feature(("crossings",), "Crossings of a leaky mean of about 2^4 values.", "shift"),
    "above": Feature(("above",), "Number of values at or above a level.", "level"),
    "level-crossings": Feature(("level-crossings",), "Crossings of a level.", "level"),
}
"""All features by name."""
