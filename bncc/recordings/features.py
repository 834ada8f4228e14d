"""
Features of windows: integers computed from the samples of one signal.

`PARTIALS` and `FEATURES` define them. All definitions use the offset u of a sample from the least
value of its signal, an unsigned number up to the signal's width. A partial is a contribution of
each sample, which depends on the samples of its segment up to this one, and a merge, which reduces
contributions to panes and panes to windows. A feature is a function of a window's partials.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from math import gcd
from typing import Any, Literal

import numpy as np

from bncc._types import BoolArray, IntArray
from bncc.errors import OptionError
from bncc.recordings.recording import SampleFormat
from bncc.recordings.signals import Signal, distance, first_differences
from bncc.recordings.windows import Merge, Windows

SHIFT = 4
"""Default shift of the leaky mean: the mean of about 2**4 samples."""
MOST_HAAR = 7
"""Most Haar levels among the default features."""
LAGS = (3, 5, 8)
"""
Lags among the default features.

By folds of training loads, a forest on the features of bearings has an error rate of 1.4 % with
these three, instead of 6.6 %; powers of 2, which Haar levels have as well, are worth less
(``python -m benchmarks.recordings.lags``).
"""
_LONGEST_LAG = 64
_LIMIT = 2**31 - 1
"""Largest magnitude of an integer column of a table."""
_WORD = 2**32
_COLUMN_TYPES = {
    "uint8": (0, 2**8 - 1),
    "int8": (-(2**7), 2**7 - 1),
    "uint16": (0, 2**16 - 1),
    "int16": (-(2**15), 2**15 - 1),
    "int32": (-_LIMIT, _LIMIT),
}


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
    argument: Literal["none", "lag", "number", "shift", "level"] = "none"
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
    "crossings": Feature(("crossings",), "Crossings of a leaky mean of about 2^4 values.", "shift"),
    "above": Feature(("above",), "Number of values at or above a level.", "level"),
    "level-crossings": Feature(("level-crossings",), "Crossings of a level.", "level"),
}
"""All features by name."""


@dataclass(frozen=True)
class SignalFeature:
    """One column of a table of features: a feature of a signal."""

    signal: Signal
    feature: str  # A key of `FEATURES`
    # Lag, Haar level, shift or level in units of the signal; the percentage of a quantile until
    # `fixed` replaces it by a level; 0 if the feature has none
    argument: int = 0
    is_quantile: bool = False
    shift: int = 0  # The value is divided by 2**shift and rounded down

    @property
    def name(self) -> str:
        """Name of the column."""
        argument, kind = self.argument, FEATURES[self.feature].argument
        suffix = {
            "none": "",
            "lag": f"{argument}",
            "number": f"{argument}",
            "shift": "" if argument == SHIFT else f"({argument})",
            "level": f"({'q' * self.is_quantile}{argument})",
        }[kind]
        shift = f">>{self.shift}" if self.shift else ""
        return f"{self.signal.name}.{self.feature}{suffix}{shift}"

    def scope(self, form: SampleFormat, windows: Windows) -> Scope:
        """Return the bounds of the signal with the windows."""
        return Scope(*self.signal.bounds(form), windows)

    def partial_argument(self, scope: Scope) -> int:
        """Return the argument of the partials: a level becomes an offset."""
        is_level = FEATURES[self.feature].argument == "level"
        return self.argument - scope.least if is_level else self.argument

    def bounds(self, form: SampleFormat, windows: Windows) -> tuple[int, int]:
        """Return the least and the largest value; refuse those that need more than 32 bits."""
        scope, feature = self.scope(form, windows), FEATURES[self.feature]
        argument = self.partial_argument(scope)
        found = feature.bounds(
            [
                PARTIALS[name].largest(scope.width, argument, windows.length, windows.hop)
                for name in feature.partials
            ],
            scope,
        )
        is_wide = self.shift > 0 and found[1] - found[0] + 2**self.shift > _WORD
        if max(map(abs, found)) > _LIMIT or is_wide:
            raise OptionError(
                f"{self.name!r} may need more than 32 bits over {windows.length} samples; choose "
                "a shorter --window, or a narrower --sample-type"
            )
        if feature.argument == "shift" and scope.width << argument >= _WORD:
            raise OptionError(f"the mean of {self.name!r} needs more than 32 bits; lower its shift")
        if feature.argument == "number" and 2**argument > windows.length:
            raise OptionError(
                f"{self.name!r} needs windows of {2**argument} samples; choose a lower level or a "
                "longer --window"
            )
        if feature.argument == "level" and not scope.least <= self.argument <= scope.largest:
            raise OptionError(
                f"the level of {self.name!r} is outside {scope.least}..{scope.largest}; choose "
                "one within"
            )
        low, high = found
        return low >> self.shift, high >> self.shift

    def value(self, partials: Sequence[IntArray], scope: Scope) -> IntArray:
        """Return the values (n_windows,) int64 from those of partials."""
        return FEATURES[self.feature].value(partials, scope) >> self.shift

    def column_type(self, form: SampleFormat, windows: Windows) -> str:
        """Return the smallest integer type of the values."""
        low, high = self.bounds(form, windows)
        holders = (name for name, (a, b) in _COLUMN_TYPES.items() if a <= low and high <= b)
        return next(holders)

    def state_bytes(self, form: SampleFormat, windows: Windows) -> int:
        """Return the bytes between two samples: what partials carry, and their values by pane."""
        scope, feature = self.scope(form, windows), FEATURES[self.feature]
        argument, total = self.partial_argument(scope), 0
        for partial in (PARTIALS[name] for name in feature.partials):
            value = partial.largest(scope.width, argument, windows.hop, windows.hop)
            carried = partial.carried(scope.width, argument).values()
            total += sum(map(bytes_of, carried)) + windows.n_panes * bytes_of(value)
            total += ring_size(partial.reach(argument)) * bytes_of(scope.width)
        return total

    @property
    def additions(self) -> float:
        """Approximate additions and comparisons per sample, without those of the signal."""
        names = FEATURES[self.feature].partials
        return sum(PARTIALS[name].additions(self.argument) for name in names)


_NAME = re.compile(r"([a-z-]+?)(\d{1,2})?(?:\((q?)(-?\d{1,7})\))?(?:>>(\d{1,2}))?")


def feature_of(signal: Signal, text: str) -> SignalFeature | None:
    """
    Parse a feature such as ``sum``, ``haar3``, ``crossings(5)``, ``above(q90)``; else None.

    Each may end in a shift, as in ``sum>>7``.
    """
    match = _NAME.fullmatch(text)
    if match is None or match[1] not in FEATURES:
        return None
    name, number, quantile, inner, shift = match.groups()
    if shift is not None:
        found = feature_of(signal, text.rpartition(">>")[0])
        is_sound = found is not None and 0 < int(shift) < 32
        return replace(found, shift=int(shift)) if found is not None and is_sound else None
    kind = FEATURES[name].argument
    given = (number is not None, inner is not None)
    if kind == "number" and given == (True, False) and int(number) > 0:
        return SignalFeature(signal, name, int(number))
    if kind == "lag" and given == (True, False) and 0 < int(number) <= _LONGEST_LAG:
        return SignalFeature(signal, name, int(number))
    if kind == "none" and given == (False, False):
        return SignalFeature(signal, name)
    if kind == "shift" and given == (False, False):
        return SignalFeature(signal, name, SHIFT)
    if kind == "shift" and given == (False, True) and not quantile and 0 < int(inner) < 32:
        return SignalFeature(signal, name, int(inner))
    if kind == "level" and given == (False, True) and (not quantile or 0 <= int(inner) <= 100):
        return SignalFeature(signal, name, int(inner), bool(quantile))
    return None


def default_features(length: int) -> list[str]:
    """Return the names of all features of a window without levels."""
    n_levels = min(MOST_HAAR, length.bit_length() - 1)
    names: list[str] = []
    for name, feature in FEATURES.items():
        if feature.argument == "number":
            names += [f"{name}{k}" for k in range(1, n_levels + 1)]
        elif feature.argument == "lag":
            names += [f"{name}{k}" for k in LAGS if 2 * k <= length]
        elif feature.argument != "level":
            names.append(name)
    return names
