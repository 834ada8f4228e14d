"""
Adaptation to one person or device: offsets of the costs of classes, learned from labeled inputs.

The rows that an input reads of some tables address one offset of each class. An input whose class
is not ahead of all others by a margin lowers the offsets of its class by one step, and raises those
of the nearest other class. Offsets stay within a bound, and so does a sum with them, whatever is
learned.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from bncc._types import BoolArray, IntArray
from bncc.errors import ModelError
from bncc.structure.decision_tables import DecisionTable, Lookup, TableEnsemble
from bncc.structure.graph import Structure
from bncc.wording import counted

ADAPTATION = "adaptation"
"""
Key in a model's training record: errors before and after, on ``held_out`` and on ``test`` rows.

Each is None, or an `AdaptationEffect` as a mapping.
"""
MAX_BOUND = 7
"""Largest offset in steps: offsets from -7 to 7 need four bits."""
MOST = 2 * MAX_BOUND + 1
"""Largest value of four bits, which no stored offset exceeds, learned or not."""
MAX_TABLES = 16
"""Most tables whose rows have offsets: the sum of their stored values fits in a byte."""
MAX_BYTES = 256
"""Most bytes of offsets that a training chooses."""
MAX_UNITS = 2**24
"""Largest step and largest margin."""


@dataclass(frozen=True)
class Adaptation:
    """
    The rule by which a model adapts to labeled inputs.

    Parameters
    ----------
    tables : tuple of int
        Boosted tables whose rows have offsets, ascending; with none, each class has one offset.
    step : int
        One step of an offset in units of a cost, a power of two.
    margin : int
        An input is learned if its class is not ahead of all others by this, in units of a cost.
    bound : int
        Largest offset in steps, upward and downward.
    """

    tables: tuple[int, ...]
    step: int
    margin: int
    bound: int = MAX_BOUND


def required(found: Adaptation | None) -> Adaptation:
    """Return the adaptation of a model, or refuse a model without one."""
    if found is None:
        raise ModelError("the model does not adapt; train it with --adapt auto and --groups")
    return found


def addressable(structure: Structure | TableEnsemble) -> tuple[int, ...]:
    """Return the tables whose rows can have offsets: those that are not found by a tree."""
    if not isinstance(structure, TableEnsemble):
        return ()
    return tuple(t for t, one in enumerate(structure.tables) if isinstance(one, DecisionTable))


def offset_tables(
    structure: Structure | TableEnsemble, tables: Sequence[int]
) -> tuple[DecisionTable, ...]:
    """Return the tables of an adaptation."""
    every = structure.tables if isinstance(structure, TableEnsemble) else ()
    named = (every[t] for t in tables)
    return tuple(table for table in named if isinstance(table, DecisionTable))


def check_adaptation(adaptation: Adaptation, structure: Structure | TableEnsemble) -> None:
    """Raise a ModelError if an adaptation is none for the tables of a model."""
    tables, step = adaptation.tables, adaptation.step
    ascends = tables == tuple(sorted(set(tables))) and len(tables) <= MAX_TABLES
    if not (ascends and set(tables) <= set(addressable(structure))):
        raise ModelError(
            f"the tables of the adaptation are not up to {MAX_TABLES} boosted tables of the model"
        )
    is_step = 1 <= step <= MAX_UNITS and step & (step - 1) == 0
    if not (is_step and 1 <= adaptation.margin <= MAX_UNITS and 1 <= adaptation.bound <= MAX_BOUND):
        raise ModelError(
            f"the step {step}, the margin {adaptation.margin} or the bound {adaptation.bound} of "
            "the adaptation is out of range"
        )


def tables_to_try(
    structure: Structure | TableEnsemble,
    lookups: Sequence[Lookup],
    n_classes: int,
    most: int = MAX_TABLES,
) -> Iterator[tuple[int, ...]]:
    """Yield no table, then ever more of the first ones, while their offsets are few bytes."""
    tables = addressable(structure)[: min(most, MAX_TABLES)]
    n_bytes = row_bytes(n_classes) * np.cumsum([lookups[t].n_rows for t in tables])
    for n_tables in range(int((n_bytes <= MAX_BYTES).sum()) + 1):
        yield tables[:n_tables]


def row_bytes(n_classes: int) -> int:
    """Return the bytes of the offsets of a row, two to a byte."""
    return (n_classes + 1) // 2


def rows_of(lookups: Sequence[Lookup], tables: Sequence[int], X: IntArray) -> IntArray:
    """
    Return the rows whose offsets an input has, (n, n_tables) int64; (n, 1) zeros without tables.

    Shapes: `X` (n, n_features) int, states.
    """
    if not tables:
        return np.zeros((len(X), 1), dtype=np.int64)
    return np.stack([lookups[t].rows(np.asarray(X, dtype=np.int64)) for t in tables], axis=1)


class Offsets:
    """The offsets that a device has learned, all 0 at first; what the C does, bit for bit."""

    def __init__(self, adaptation: Adaptation, n_rows: int, n_classes: int) -> None:
        """Begin without any; `n_rows` is the most rows of a table."""
        self._rule = adaptation
        self.steps = np.zeros((max(1, len(adaptation.tables)), n_rows, n_classes), dtype=np.int64)
        self._table = np.arange(len(self.steps))

    def forget(self) -> None:
        """Set all offsets to 0."""
        self.steps[:] = 0

    def costs(self, rows: IntArray, scores: IntArray) -> IntArray:
        """Return scores with offsets; shapes (n, n_tables) and (n, n_classes), or one row each."""
        found = self.steps[self._table, rows].sum(axis=-2)
        return np.asarray(scores + found * self._rule.step)

    def classes(self, rows: IntArray, scores: IntArray) -> IntArray:
        """Return the class of least cost of each row, the smallest index on ties, (n,) int64."""
        return np.asarray(self.costs(rows, scores).argmin(axis=-1))

    def learn(self, rows: IntArray, scores: IntArray, label: int) -> bool:
        """Learn an input with its class, and return whether any offset had to move."""
        costs = self.costs(rows, scores)
        own = int(costs[label])
        costs[label] = np.iinfo(np.int64).max
        nearest = int(costs.argmin())
        if own + self._rule.margin <= costs[nearest]:
            return False
        for table, row in zip(self.steps, rows.tolist(), strict=True):
            table[row, label] = max(table[row, label] - 1, -self._rule.bound)
            table[row, nearest] = min(table[row, nearest] + 1, self._rule.bound)
        return True


MOST_LABELED = 20
"""Labeled inputs of each class that are learned at most, where an adaptation is judged."""
_SHORT = 4


@dataclass(frozen=True, eq=False)
class LabeledHalf:
    """Rows of one group: some that come with their classes, and others to judge."""

    labeled: IntArray  # Row numbers
    learned: IntArray  # Those that are learned, in the order of learning: class by class in turn
    judged: IntArray  # Row numbers

    @property
    def in_time_order(self) -> "LabeledHalf":
        """The same rows, learned as they come."""
        return replace(self, learned=np.sort(self.learned))


def labeled_halves(y: IntArray, groups: IntArray) -> Iterator[LabeledHalf]:
    """
    Yield both parts of each group: the first half of each run of a class, and what follows.

    A run is consecutive rows of a group and class. The row after the first half is in neither part,
    so windows of both that overlap by up to a half share no sample. Every second one of a class's
    runs that are shorter than four rows is judged. Shapes: `y` and `groups` (n,) int, -1 for no
    class.
    """
    for group in np.unique(groups).tolist():
        rows = np.flatnonzero((groups == group) & (y >= 0))
        ends = np.flatnonzero((np.diff(y[rows]) != 0) | (np.diff(rows) != 1)) + 1
        learned: dict[int, list[int]] = {}
        judged: list[int] = []
        n_short: dict[int, int] = {}
        for run in (part.tolist() for part in np.split(rows, ends) if len(part)):
            label, middle = int(y[run[0]]), len(run) // 2
            if len(run) >= _SHORT:
                learned.setdefault(label, []).extend(run[:middle])
                judged += run[middle + 1 :]
                continue
            n_short[label] = n_short.get(label, 0) + 1
            (learned.setdefault(label, []) if n_short[label] % 2 else judged).extend(run)
        labeled = np.array(sorted(chain(*learned.values())), dtype=np.int64)
        yield LabeledHalf(labeled, in_turn(labeled, y), np.array(judged, dtype=np.int64))


def in_turn(rows: IntArray, y: IntArray) -> IntArray:
    """Return rows of all classes in turn, at most `MOST_LABELED` of each, evenly spread."""
    turns = []
    for label in np.unique(y[rows]).tolist():
        of_class = rows[y[rows] == label]
        spread = np.linspace(0, len(of_class) - 1, min(len(of_class), MOST_LABELED))
        kept = of_class[spread.astype(np.intp)]
        turns += [(turn, label, row) for turn, row in enumerate(kept.tolist())]
    return np.array([row for _, _, row in sorted(turns)], dtype=np.int64)


@dataclass(frozen=True)
class AdaptationEffect:
    """Errors on rows of groups that were not learned, before and after learning others of each."""

    n_groups: int
    learned: int  # Rows learned, of all groups
    n: int  # Rows judged
    error_before: float
    error: float
    worst: float  # Largest increase of the error of a group; negative if all have fewer errors

    @property
    def words(self) -> str:
        """The figures in words."""
        return (
            f"error {100 * self.error_before:.2f} -> {100 * self.error:.2f} % of {self.n} rows "
            f"of {counted(self.n_groups, 'group')}, after {self.learned} labeled ones; worst group "
            f"{100 * self.worst:+.1f} points"
        )


@dataclass(frozen=True, eq=False)
class Judged:
    """Wrong decisions on the judged rows of a group, before and after learning."""

    before: BoolArray
    after: BoolArray


def number_learned(halves: Sequence[LabeledHalf]) -> int:
    """Return the rows that are learned, of all groups."""
    return sum(len(half.learned) for half in halves)


def judged(
    adaptation: Adaptation,
    halves: Sequence[LabeledHalf],
    rows: IntArray,
    scores: IntArray,
    y: IntArray,
) -> list[Judged]:
    """
    Adapt to each group in turn, and return its errors on the rows that were not learned.

    Shapes: `rows` (n, n_tables) int; `scores` (n, n_classes) int; `y` (n,) int.
    """
    offsets = Offsets(adaptation, int(rows.max(initial=0)) + 1, scores.shape[1])
    found = []
    for half in halves:
        offsets.forget()
        for row in half.learned.tolist():
            offsets.learn(rows[row], scores[row], int(y[row]))
        at = half.judged
        after = offsets.classes(rows[at], scores[at])
        found.append(Judged(scores[at].argmin(axis=1) != y[at], after != y[at]))
    return found


def effect_of(n_learned: int, found: Sequence[Judged]) -> AdaptationEffect | None:
    """Return the effect of learned rows on groups; None if no rows are judged."""
    rated = [each for each in found if len(each.before)]
    if not rated:
        return None
    before, after = (
        np.concatenate(part)
        for part in zip(*((each.before, each.after) for each in rated), strict=True)
    )
    return AdaptationEffect(
        len(rated),
        n_learned,
        len(before),
        float(before.mean()),
        float(after.mean()),
        max(float(each.after.mean() - each.before.mean()) for each in rated),
    )
