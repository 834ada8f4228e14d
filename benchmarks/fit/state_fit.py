"""
The fit of the cost model of entry points that find states from readings.

For every target and level of the compiler one nonnegative least-squares fit of relative errors:
weights of each family's terms, and weights of the operations of discretizers, which all families
share. Operations are those observed for the measured readings; estimates use expected ones.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls

from benchmarks.fit.fit_reading_costs import PULL
from benchmarks.fit.observed_counts import observed_work
from benchmarks.fit.state_samples import Case, Figures
from bncc._types import FloatArray, IntArray
from bncc.lower.cost_model import (
    DISCRETIZERS,
    FAMILY,
    OF_FOUND,
    OF_READINGS,
    Level,
    weights_for,
)
from bncc.lower.discretizers.counts import CODE, STORED, WORK, Counts
from bncc.lower.kernels.base import Weights
from bncc.lower.state_cost import code_of, work_of
from bncc.lower.textbook_readings import (
    bytes_of_readings,
    code_of_readings,
    expected_looks,
    work_of_readings,
)
from bncc.model.marginal import state_frequencies
from bncc.program.pipeline import program_of

Part = tuple[FloatArray, FloatArray]
"""Terms of what is measured, and of an estimate beforehand, (n_rows, n_terms) each."""


SUFFIXES = {DISCRETIZERS: "", FAMILY: OF_READINGS}
"""Ends of the names of weights other than those of kernels."""


@dataclass(frozen=True, eq=False)
class Row:
    """A measured layout and its terms."""

    source: str  # Its model
    is_trained: bool
    family: str
    target: str
    level: Level
    figures: tuple[float, float]  # Instructions and bytes of flash
    rom_bytes: int
    # Terms of its work for the measured readings and beforehand, and of its code
    kernel: tuple[tuple[float, ...], tuple[float, ...], tuple[float, ...]]
    observed: tuple[float, ...]  # Executed operations of discretizers
    expected: tuple[float, ...]  # Likewise beforehand
    code: tuple[float, ...]  # Those in the code


def row_of(case: Case, figures: Figures, *, is_trained: bool) -> Row:
    """Return the terms of a measured layout."""
    assert case.chosen is not None
    assert figures.flash is not None
    assert figures.time is not None
    terms, readings = case.terms, case.inputs.R
    assert readings is not None
    seen = observed_work(case.chosen.program.features, case.plan, readings)
    seen = {**seen, STORED: terms.found.work.get(STORED, 0)}
    return Row(
        case.source,
        is_trained,
        case.chosen.kernel.family,
        case.target,
        case.level,
        (figures.time, figures.flash),
        terms.rom_bytes,
        (terms.work, terms.work, terms.code),
        work_of(Counts(seen)),
        work_of(terms.found),
        code_of(terms.found),
    )


def textbook_row(case: Case, figures: Figures, *, is_trained: bool) -> Row:
    """Return the terms of a measured textbook classifier."""
    program, readings = program_of(case.model), case.inputs.R
    assert readings is not None
    assert figures.flash is not None
    assert figures.time is not None
    looks = [
        float(np.mean([_compared(feature.thresholds, value) for value in readings[:, i].tolist()]))
        for i, feature in enumerate(program.features)
    ]
    expected = expected_looks(program, state_frequencies(case.model))
    return Row(
        case.source,
        is_trained,
        FAMILY,
        case.target,
        case.level,
        (figures.time, figures.flash),
        bytes_of_readings(program),
        (
            work_of_readings(program, looks),
            work_of_readings(program, expected),
            code_of_readings(program),
        ),
        work_of(Counts()),
        work_of(Counts()),
        code_of(Counts()),
    )


def _compared(thresholds: Sequence[float], value: float) -> int:
    """Return the thresholds that a search for a reading compares; none where it is missing."""
    if value != value:
        return 0
    return min(1 + sum(value > each for each in thresholds), len(thresholds))


@dataclass(frozen=True, eq=False)
class Group:
    """The rows of a target and level as a problem of least squares."""

    rows: Sequence[Row]
    which: int  # 0 for instructions, 1 for flash

    @property
    def wanted(self) -> FloatArray:
        """Sum of the weighted terms that is wanted, relative to the measurement."""
        return 1 - self.known

    @property
    def known(self) -> FloatArray:
        """Bytes of constants, likewise."""
        known = [row.rom_bytes * self.which for row in self.rows]
        return np.array(known) / self.measured

    @property
    def measured(self) -> FloatArray:
        """Instructions or bytes."""
        return np.array([row.figures[self.which] for row in self.rows], dtype=float)

    @property
    def starts(self) -> Mapping[str, tuple[int, int]]:
        """First and last column of the terms of each family, and of the discretizers."""
        sizes = {row.family: len(row.kernel[2 * self.which]) for row in self.rows}
        sizes = {family: sizes[family] for family in sorted(sizes)}
        sizes[DISCRETIZERS] = len(CODE if self.which else WORK)
        ends = np.cumsum(list(sizes.values())).tolist()
        return {name: (end - n, end) for (name, n), end in zip(sizes.items(), ends, strict=True)}

    @property
    def before(self) -> FloatArray:
        """Weights of the same terms for decisions from states, as far as there are any."""
        target, level = self.rows[0].target, self.rows[0].level
        starts = self.starts
        found = np.zeros(starts[DISCRETIZERS][1])
        for family, (low, _) in starts.items():
            if family != DISCRETIZERS:
                known = weights_for(family, target, level)[self.which]
                found[low : low + len(known)] = known
        return found

    @property
    def terms(self) -> Part:
        """All terms, relative to what was measured."""
        starts = self.starts
        first, last = starts[DISCRETIZERS]
        found = np.zeros((2, len(self.rows), last))
        for i, row in enumerate(self.rows):
            low, high = starts[row.family]
            found[0, i, low:high] = row.kernel[2 * self.which]
            found[1, i, low:high] = row.kernel[1 + self.which]
            found[0, i, first:last] = row.code if self.which else row.observed
            found[1, i, first:last] = row.code if self.which else row.expected
        found /= self.measured[None, :, None]
        return found[0], found[1]


def fit(rows: Iterable[Row]) -> tuple[Weights, list[tuple[Row, FloatArray]]]:
    """
    Fit all weights.

    Also returns the errors of each trained model's layouts: of instructions with all models in the
    fit, and with all but its own; likewise of flash.
    """
    groups: dict[tuple[str, Level], list[Row]] = defaultdict(list)
    for row in rows:
        groups[row.target, row.level].append(row)
    weights: dict[tuple[str, str, str], tuple[tuple[float, ...], tuple[float, ...]]] = {}
    errors = []
    for (target, level), some in sorted(groups.items()):
        parts, of_rows = [], []
        for which in (0, 1):
            group = Group(some, which)
            terms, expected = group.terms
            found = fitted(terms, group.wanted, group.before)
            parts.append((group.starts, found))
            of_rows += _errors(group, terms, expected, found)
        for name, (low, high) in parts[0][0].items():
            key = name + SUFFIXES.get(name, OF_FOUND)
            of_code = parts[1][1][slice(*parts[1][0][name])]
            weights[key, target, level] = (
                tuple(parts[0][1][low:high].tolist()),
                tuple(of_code.tolist()),
            )
        errors += [
            (row, np.array(each))
            for row, each in zip(some, np.stack(of_rows, axis=1), strict=True)
            if row.is_trained
        ]
    return weights, errors


def fitted(terms: FloatArray, wanted: FloatArray, before: FloatArray) -> FloatArray:
    """
    Return nonnegative weights of least squared error, near those of before.

    Shapes: `terms` (n, n_terms), `wanted` (n,), both relative to what was measured; `before`
    (n_terms,); returns (n_terms,).
    """
    n, n_terms = terms.shape
    size = np.sqrt(np.mean(terms**2, axis=0))
    size = np.where(size > 0, size, 1.0)
    pull = PULL * np.sqrt(n)
    A = np.vstack([terms / size, pull * np.eye(n_terms)])
    return np.asarray(nnls(A, np.concatenate([wanted, pull * before * size]))[0] / size)


def _errors(
    group: Group, terms: FloatArray, expected: FloatArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the errors of weights, and of those fitted without the row's trained model."""
    wanted, before = group.wanted, group.before
    sources = np.array([row.source for row in group.rows])
    together = expected @ weights - wanted
    apart = together.copy()
    for source in {row.source for row in group.rows if row.is_trained}:
        held: IntArray = np.flatnonzero(sources == source)
        others: IntArray = np.flatnonzero(sources != source)
        if not len(others):
            continue
        apart[held] = expected[held] @ fitted(terms[others], wanted[others], before) - wanted[held]
    return together, apart
