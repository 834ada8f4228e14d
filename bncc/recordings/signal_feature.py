"""
Columns of a table of features: a feature of a signal, or the ratio of two of its features.

A ratio is a difference of logarithms, so it does not depend on the amplitude of the signal.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from bncc._types import IntArray
from bncc.errors import OptionError
from bncc.recordings.features import (
    FEATURES,
    HIGHEST_ORDER,
    PARTIALS,
    SHIFT,
    Scope,
    bytes_of,
    ring_size,
)
from bncc.recordings.recording import SampleFormat
from bncc.recordings.signals import Signal
from bncc.recordings.windows import Windows

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
_POSITIVE = ("range", "change", "lag", "haar")
"""Features that ratios are of: they grow with the amplitude, and are 0 only without any change."""
STEPS = 16
"""Steps of a logarithm from a power of 2 to the next."""


def logarithm(values: IntArray) -> IntArray:
    """
    Return 16 * (log2(v) + 1), with log2 linear between powers of 2 and rounded down; 0 for 0.

    Shapes: `values` (n,) int64, not negative; the result (n,) int64.
    """
    exponent = np.frexp(np.maximum(values, 1).astype(np.float64))[1].astype(np.int64) - 1
    mantissa = values << np.maximum(4 - exponent, 0) >> np.maximum(exponent - 4, 0)
    return np.where(values > 0, STEPS * exponent + mantissa, 0)


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
    pane: int = 0  # Number of a pane from 1 at the oldest; 0 for the whole window
    # Feature of the signal, and its argument, by which the first is divided in a ratio
    divisor: tuple[str, int] | None = None

    @property
    def name(self) -> str:
        """Name of the column."""
        if self.divisor is not None:
            return f"{self.dividend.name}/{_named(*self.divisor)}"
        pane = f"@{self.pane}" if self.pane else ""
        shift = f">>{self.shift}" if self.shift else ""
        name = _named(self.feature, self.argument, self.is_quantile)
        return f"{self.signal.name}.{name}{pane}{shift}"

    @property
    def dividend(self) -> "SignalFeature":
        """The first feature of a ratio."""
        return replace(self, divisor=None)

    @property
    def divided_by(self) -> "SignalFeature":
        """The second feature of a ratio."""
        assert self.divisor is not None
        name, argument = self.divisor
        return SignalFeature(self.signal, name, argument)

    @property
    def terms(self) -> tuple["SignalFeature", ...]:
        """The feature itself, or both of a ratio."""
        return (self,) if self.divisor is None else (self.dividend, self.divided_by)

    def partials(self, scope: Scope) -> tuple[tuple[str, int], ...]:
        """Return the names and arguments of the partials from which `value` is computed."""
        return tuple(
            (name, term.partial_argument(scope))
            for term in self.terms
            for name in FEATURES[term.feature].partials
        )

    def scope(self, form: SampleFormat, windows: Windows) -> Scope:
        """Return the bounds of the signal with the windows, or those of the pane."""
        of = Windows(windows.hop, windows.hop) if self.pane else windows
        return Scope(*self.signal.bounds(form), of)

    def partial_argument(self, scope: Scope) -> int:
        """Return the argument of the partials: a level becomes an offset."""
        is_level = FEATURES[self.feature].argument == "level"
        return self.argument - scope.least if is_level else self.argument

    def bounds(self, form: SampleFormat, windows: Windows) -> tuple[int, int]:
        """Return the least and the largest value; refuse those that need more than 32 bits."""
        if self.pane > windows.n_panes or (self.pane and windows.n_panes == 1):
            raise OptionError(
                f"{self.name!r} is of a pane, but a window of {windows.length} samples every "
                f"{windows.hop} has {windows.n_panes}; choose a shorter --hop"
            )
        if self.divisor is not None:
            most = [term.bounds(form, windows)[1] for term in self.terms]
            of, by = logarithm(np.array(most, dtype=np.int64)).tolist()
            return -by, of
        scope, feature = self.scope(form, windows), FEATURES[self.feature]
        windows, argument = scope.windows, self.partial_argument(scope)
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
        if feature.argument == "order" and scope.width << (HIGHEST_ORDER - 1) >= _WORD // 2:
            raise OptionError(f"{self.name!r} needs more than 32 bits; take fewer channels")
        if feature.argument == "number" and 2**argument > windows.length:
            raise OptionError(
                f"{self.name!r} needs {'panes' if self.pane else 'windows'} of {2**argument} "
                f"samples; choose a lower level or a longer --{'hop' if self.pane else 'window'}"
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
        if self.divisor is not None:
            n = len(FEATURES[self.feature].partials)
            of = self.dividend.value(partials[:n], scope)
            return logarithm(of) - logarithm(self.divided_by.value(partials[n:], scope))
        return FEATURES[self.feature].value(partials, scope) >> self.shift

    def column_type(self, form: SampleFormat, windows: Windows) -> str:
        """Return the smallest integer type of the values."""
        low, high = self.bounds(form, windows)
        holders = (name for name, (a, b) in _COLUMN_TYPES.items() if a <= low and high <= b)
        return next(holders)

    def state_bytes(self, form: SampleFormat, windows: Windows) -> int:
        """Return the bytes between two samples: what partials carry, and their values by pane."""
        scope, total = self.scope(form, windows), 0
        for name, argument in self.partials(scope):
            partial = PARTIALS[name]
            value = partial.largest(scope.width, argument, windows.hop, windows.hop)
            carried = partial.carried(scope.width, argument).values()
            total += sum(map(bytes_of, carried)) + windows.n_panes * bytes_of(value)
            total += ring_size(partial.reach(argument)) * bytes_of(scope.width)
        return total

    @property
    def additions(self) -> float:
        """Approximate additions and comparisons per sample, without those of the signal."""
        return sum(
            PARTIALS[name].additions(term.argument)
            for term in self.terms
            for name in FEATURES[term.feature].partials
        )


def _named(feature: str, argument: int, is_quantile: bool = False) -> str:
    """Return a feature as `feature_of` takes it, without a shift."""
    suffix = {
        "none": "",
        "lag": f"{argument}",
        "number": f"{argument}",
        "order": f"{argument}",
        "shift": "" if argument == SHIFT else f"({argument})",
        "level": f"({'q' * is_quantile}{argument})",
    }[FEATURES[feature].argument]
    return f"{feature}{suffix}"


_NAME = re.compile(r"([a-z-]+?)(\d{1,2})?(?:\((q?)(-?\d{1,7})\))?(?:@(\d{1,3}))?(?:>>(\d{1,2}))?")


def feature_of(signal: Signal, text: str) -> SignalFeature | None:
    """
    Parse a feature such as ``sum``, ``haar3``, ``crossings(5)``, ``above(q90)``; else None.

    ``sum@2`` is of the second pane of a window. Each may end in a shift, as in ``sum>>7``.
    ``haar3/change`` is a ratio.
    """
    if "/" in text:
        return _ratio_of(signal, *text.split("/", 1))
    match = _NAME.fullmatch(text)
    if match is None or match[1] not in FEATURES:
        return None
    name, number, quantile, inner, pane, shift = match.groups()
    if shift is not None:
        found = feature_of(signal, text.rpartition(">>")[0])
        is_sound = found is not None and 0 < int(shift) < 32
        return replace(found, shift=int(shift)) if found is not None and is_sound else None
    if pane is not None:
        found = feature_of(signal, text.rpartition("@")[0])
        return replace(found, pane=int(pane)) if found is not None and int(pane) else None
    kind = FEATURES[name].argument
    given = (number is not None, inner is not None)
    if kind == "number" and given == (True, False) and int(number) > 0:
        return SignalFeature(signal, name, int(number))
    if kind == "order" and given == (True, False) and 0 < int(number) <= HIGHEST_ORDER:
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


def _ratio_of(signal: Signal, dividend: str, divisor: str) -> SignalFeature | None:
    """Parse both features of a ratio, neither of which has a shift or a pane."""
    of, by = feature_of(signal, dividend), feature_of(signal, divisor)
    if of is None or by is None or of == by or of.shift or by.shift or of.pane or by.pane:
        return None
    if of.feature not in _POSITIVE or by.feature not in _POSITIVE or by.divisor is not None:
        return None
    return replace(of, divisor=(by.feature, by.argument))


def default_ratios(length: int) -> list[str]:
    """Return ratios to `change`, and those of neighbors among lags and Haar levels of a window."""
    lags, levels = _lags(length), [f"haar{k}" for k in range(1, _n_levels(length) + 1)]
    found = [f"{name}/change" for name in ("range", *lags, *levels)]
    for names in (lags, levels):
        found += [f"{a}/{b}" for a, b in pairwise(names)]
    return found


def default_orders() -> list[str]:
    """Return the crossings of all orders."""
    return [f"hoc{k}" for k in range(1, HIGHEST_ORDER + 1)]


def default_panes(windows: Windows) -> list[str]:
    """Return the sum of each pane, which tell the order of what happens within a window."""
    return [f"sum@{k}" for k in range(1, windows.n_panes + 1)] if windows.n_panes > 1 else []


def _n_levels(length: int) -> int:
    return min(MOST_HAAR, length.bit_length() - 1)


def _lags(length: int) -> list[str]:
    return [f"lag{k}" for k in LAGS if 2 * k <= length]


def default_features(length: int) -> list[str]:
    """Return the names of all features of a window without levels, orders and ratios."""
    n_levels = _n_levels(length)
    names: list[str] = []
    for name, feature in FEATURES.items():
        if feature.argument == "number":
            names += [f"{name}{k}" for k in range(1, n_levels + 1)]
        elif feature.argument == "lag":
            names += _lags(length)
        elif feature.argument not in ("level", "order"):
            names.append(name)
    return names
