"""
Counters of decisions that a device keeps: classes, margins, unknown readings, switches in time.

A counter has 16 bits. As soon as one is full, all are halved, so that the shares of counters stay
what they are and older decisions weigh less.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from bncc._types import BoolArray, IntArray
from bncc.errors import ModelError
from bncc.model.confidence import MAX_MARGIN, margins_of
from bncc.model.filter import rows_of_sequences

COUNTERS = "counters"
"""Key of the facts of a model's counters."""
FULL = 2**16 - 1
"""Value of a counter at which all are halved."""
MAX_BINS = 8
"""Most bins of margins."""
_NONE = -1


@dataclass(frozen=True)
class Counts:
    """Numbers of decisions, as the members of ``NAME_counters_t``."""

    classes: tuple[int, ...]  # By class
    margins: tuple[int, ...]  # By bin of the margin
    unknown: int | None = None  # Readings of no known class; None where they are not counted
    # Decisions equal to the one before and other ones; None where there is no order in time
    stays: int | None = None
    switches: int | None = None

    @property
    def n(self) -> int:
        """Number of decisions."""
        return sum(self.classes)

    @property
    def layout(self) -> "CounterLayout":
        """The counters that there are."""
        return CounterLayout(
            len(self.classes),
            len(self.margins),
            has_unknown=self.unknown is not None,
            is_in_time=self.switches is not None,
        )

    @property
    def values(self) -> list[int]:
        """All numbers, in the order of the layout."""
        rest = (self.unknown, self.stays, self.switches)
        return [*self.classes, *self.margins, *(n for n in rest if n is not None)]

    @property
    def columns(self) -> dict[str, int]:
        """All numbers, by the names of their members in C."""
        return dict(zip(self.layout.names, self.values, strict=True))


@dataclass(frozen=True)
class CounterLayout:
    """The counters of a model, in the order of their members in C."""

    n_classes: int
    n_bins: int
    has_unknown: bool = False
    is_in_time: bool = False

    @property
    def names(self) -> list[str]:
        """Names of the members in C."""
        return [
            *(f"classes[{c}]" for c in range(self.n_classes)),
            *(f"margins[{k}]" for k in range(self.n_bins)),
            *(["unknown"] if self.has_unknown else []),
            *(["stays", "switches"] if self.is_in_time else []),
        ]

    def counts(self, values: Sequence[int]) -> Counts:
        """Return counts from all numbers in order."""
        rest = [int(value) for value in values]
        classes, rest = rest[: self.n_classes], rest[self.n_classes :]
        margins, rest = rest[: self.n_bins], rest[self.n_bins :]
        unknown = rest.pop(0) if self.has_unknown else None
        stays, switches = rest if self.is_in_time else (None, None)
        return Counts(tuple(classes), tuple(margins), unknown, stays, switches)


@dataclass(frozen=True)
class Counters:
    """
    The counters of a model's decisions, and what they are to be on rows like those of training.

    Parameters
    ----------
    margins : tuple of int
        Least margin of each bin, ascending from 0, in units of a cost.
    expected : Counts
        Numbers to expect of as many decisions as training has rows, on rows that are new.
    """

    margins: tuple[int, ...]
    expected: Counts

    def layout(self, *, has_unknown: bool) -> CounterLayout:
        """Return the counters with, or without, that of unknown readings."""
        return CounterLayout(
            len(self.expected.classes),
            len(self.margins),
            has_unknown=has_unknown,
            is_in_time=self.expected.switches is not None,
        )

    def counted(
        self,
        scores: IntArray,
        is_known: BoolArray | None = None,
        sequences: IntArray | None = None,
    ) -> Counts:
        """
        Return the counters after decisions, as ``NAME_count`` leaves them.

        Parameters
        ----------
        scores : (n_samples, n_classes) int
            Scores of a model.
        is_known : (n_samples,) bool or None
            False for readings of no known class; None if they are not counted.
        sequences : (n_samples,) int or None
            Number of the sequence in time of each row; None for a single one.

        Returns
        -------
        Counts
            Numbers below `FULL`.
        """
        layout = self.layout(has_unknown=is_known is not None)
        hits = hits_of(
            scores.argmin(axis=1), margins_of(scores), self.margins, layout, is_known, sequences
        )
        return layout.counts(added(np.zeros(len(layout.names), dtype=np.int64), hits).tolist())


def hits_of(
    decisions: IntArray,
    margins: IntArray,
    limits: Sequence[int],
    layout: CounterLayout,
    is_known: BoolArray | None = None,
    sequences: IntArray | None = None,
) -> IntArray:
    """
    Return the counters to which each decision adds, one sequence after the other.

    Shapes: all (n_samples,); returns (n_samples, 4) int64, -1 for none.
    """
    n = len(decisions)
    hits = np.full((n, 4), _NONE, dtype=np.int64)
    hits[:, 0] = decisions
    hits[:, 1] = layout.n_classes + np.searchsorted(limits, margins, side="right") - 1
    if layout.has_unknown:
        assert is_known is not None
        hits[:, 2] = np.where(is_known, _NONE, layout.names.index("unknown"))
    parts = [np.arange(n)] if sequences is None else rows_of_sequences(sequences)
    if layout.is_in_time:
        stays = layout.names.index("stays")
        for rows in parts:
            hits[rows[1:], 3] = stays + (np.diff(decisions[rows]) != 0)
    return hits if sequences is None else hits[np.concatenate([np.arange(0), *parts])]


def added(counts: IntArray, hits: IntArray) -> IntArray:
    """
    Add decisions to counters, and halve all whenever one is full.

    Shapes: `counts` (n_counters,) int, below `FULL`; `hits` (n, 4) int, see `hits_of`; returns
    (n_counters,) int64.
    """
    counts = np.array(counts, dtype=np.int64)
    while len(hits):
        # No counter can be full before the last of these.
        n = FULL - int(counts.max())
        now, hits = hits[:n], hits[n:]
        counts += np.bincount(now[now >= 0], minlength=len(counts))
        if counts.max() == FULL:
            counts >>= 1
    return counts


def required(found: Counters | None) -> Counters:
    """Return the counters of a model, or refuse a model without any."""
    if found is None:
        raise ModelError("the model has no counters; train it with --counters")
    return found


def check_counters(counters: Counters, n_classes: int, *, has_unknown: bool) -> None:
    """Raise a ModelError if counters are not those of a model with these classes."""
    limits, held = counters.margins, counters.expected
    n = held.n
    is_valid = 1 <= len(limits) == len(held.margins) <= MAX_BINS and limits[0] == 0
    is_valid = is_valid and all(a < b for a, b in pairwise(limits)) and limits[-1] <= MAX_MARGIN
    is_valid = is_valid and len(held.classes) == n_classes and min(held.values) >= 0
    is_valid = is_valid and 1 <= n == sum(held.margins) and (held.unknown or 0) <= n
    is_valid = is_valid and (held.unknown is not None) == has_unknown
    is_valid = is_valid and (held.stays is None) == (held.switches is None)
    if not (is_valid and (held.stays or 0) + (held.switches or 0) <= n):
        raise ModelError(
            f"the counters of the model are invalid: they have {n_classes} classes and 1 .. "
            f"{MAX_BINS} bins of margins that ascend from 0, the same decisions in both, no more "
            "unknown readings or steps in time, and unknown readings where the model has a rule"
        )
