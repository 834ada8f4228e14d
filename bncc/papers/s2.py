"""S2, tables 1 to 4: wins, ties, losses and Wilcoxon's test over data sets, next to the paper's."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.stats import rankdata, wilcoxon

from bncc._types import FloatArray
from bncc.papers.experiments import (
    STUDYING,
    Cell,
    Experiment,
    Names,
    Request,
    cell_of,
    selection,
)
from bncc.papers.s2_data import Protocol, set_files
from bncc.papers.s2_study import SetResult, missing_name, study
from bncc.progress import Progress

Measure = Literal["bdeu", "error", "log_loss"]
"""Compared measure of a `SetResult`."""

WORDS: Mapping[Measure, str] = {"bdeu": "BDeu", "error": "zero-one", "log_loss": "log loss"}
UNITS: Mapping[Measure, str] = {
    "bdeu": "nats", "error": "percentage points", "log_loss": "nats per row",
}  # fmt: skip
NEGLIGIBLE: Mapping[Measure, float] = {"bdeu": 1e-6, "error": 0.0, "log_loss": 1e-9}
"""Differences up to this are rounding: equivalent structures with sums in another order. Errors are
counts."""
COLUMNS = ("wins", "ties", "losses", "median", "p")


@dataclass(frozen=True)
class Comparison:
    """Comparison of one classifier with another."""

    wins: int  # wins, ties, losses: Data sets on which it is better, equal, worse
    ties: int
    losses: int
    median: float  # Median difference, its value minus the other's
    p: float | None  # One-sided Wilcoxon signed-rank test; None if all differences are 0
    # True if the alternative hypothesis is that its values are less than the other's, not greater
    is_less: bool

    @property
    def n(self) -> int:
        """Number of data sets."""
        return self.wins + self.ties + self.losses


def compare(
    ours: FloatArray, theirs: FloatArray, negligible: float, *, more_is_better: bool = False
) -> Comparison:
    """
    Compare two classifiers over data sets.

    The test is one-sided in the direction of the median difference. If the median is 0, as it is
    with many ties, the direction is that of the greater sum of ranks, and "less" if they are equal.
    Differences of 0 are dropped (Wilcoxon's own method). The test is exact for up to 50 differences
    with distinct magnitudes, as in scipy, and a normal approximation otherwise.

    Shapes: `ours`, `theirs` (n_sets,) float64.

    References
    ----------
    S2, section 4, tables 1 to 4.
    """
    d = np.asarray(ours, dtype=np.float64) - np.asarray(theirs, dtype=np.float64)
    d = np.where(np.abs(d) <= negligible, 0.0, d)
    less, more = int((d < 0).sum()), int((d > 0).sum())
    wins, losses = (more, less) if more_is_better else (less, more)
    median = float(np.median(d)) if len(d) else 0.0
    is_less = _sum_of_ranks(d) <= 0 if median == 0 else median < 0
    p = None
    if less + more:
        p = float(wilcoxon(d[d != 0], alternative="less" if is_less else "greater").pvalue)
    return Comparison(wins, len(d) - less - more, losses, median, p, is_less)


def _sum_of_ranks(d: FloatArray) -> float:
    """Return the signed ranks' sum: positive if differences above 0 are more or larger."""
    d = d[d != 0]
    return float((np.sign(d) * rankdata(np.abs(d))).sum())


@dataclass(frozen=True)
class Row:
    """A comparison of the paper."""

    learner: str  # learner and other: By the paper's names; its Naive is NB
    other: str
    measure: Measure  # Compared measure
    # Its values for `COLUMNS`; None for a median or p that it does not report
    paper: tuple[int, int, int, float | None, float | None]
    percent: int = 0  # Percentage of missing test cells
    note: str = ""  # Source, if it is not the table

    @property
    def name(self) -> str:
        """Title of the row."""
        gaps = f" {self.percent} % missing" if self.percent else ""
        return f"{self.learner} vs {self.other}{gaps} {WORDS[self.measure]}"

    def compare(self, results: Sequence[SetResult]) -> Comparison:
        """Compare the two learners over data sets."""
        ours, theirs = (self._values(results, name) for name in (self.learner, self.other))
        is_score = self.measure == "bdeu"
        return compare(ours, theirs, NEGLIGIBLE[self.measure], more_is_better=is_score)

    def _values(self, results: Sequence[SetResult], learner: str) -> FloatArray:
        name = missing_name(learner, self.percent) if self.percent else learner
        return np.array([getattr(result, self.measure)[name] for result in results])


TEXT = "in the paper's text"
TABLES: Mapping[str, tuple[Row, ...]] = {
    "s2-table1": (
        Row("ETAN", "NB", "bdeu", (60, 0, 0, None, 8e-12)),
        Row("ETAN", "TAN", "bdeu", (58, 2, 0, None, 1e-11)),
        Row("ETAN", "TAN", "error", (23, 5, 32, 0.1178, 0.047), note=TEXT),
        Row("ETAN", "TAN", "log_loss", (33, 3, 24, -0.0067, 0.006), note=TEXT),
    ),
    "s2-table2": (
        Row("S-ETAN", "NB", "error", (40, 1, 19, -0.8679, 0.002)),
        Row("S-ETAN", "TAN", "error", (26, 8, 26, 0.0, 0.415)),
        Row("S-ETAN", "ETAN", "error", (29, 12, 19, 0.0, 0.013)),
        Row("S-ETAN", "AODE", "error", (32, 1, 27, -0.0425, 0.662)),
        Row("S-ETAN", "NB", "log_loss", (47, 0, 13, -0.1043, 2e-6)),
        Row("S-ETAN", "TAN", "log_loss", (33, 5, 22, -0.0002, 0.015)),
        Row("S-ETAN", "ETAN", "log_loss", (26, 11, 23, 0.0, 0.259)),
        Row("S-ETAN", "AODE", "log_loss", (22, 0, 38, 0.0279, 0.013)),
    ),
    "s2-table3": (
        Row("SA-ETAN", "TAN", "error", (28, 1, 31, 0.0009, 0.556)),
        Row("SA-ETAN", "ETAN", "error", (33, 3, 24, -0.0593, 0.040)),
        Row("SA-ETAN", "S-ETAN", "error", (23, 7, 30, 0.0006, 0.532)),
        Row("SA-ETAN", "AODE", "error", (28, 1, 31, 0.0299, 0.274)),
        Row("SA-ETAN", "TAN", "log_loss", (46, 0, 14, -0.0178, 7e-7)),
        Row("SA-ETAN", "ETAN", "log_loss", (35, 1, 24, -0.0043, 0.138)),
        Row("SA-ETAN", "S-ETAN", "log_loss", (43, 5, 12, -0.0101, 4e-5)),
        Row("SA-ETAN", "AODE", "log_loss", (23, 0, 37, 0.0080, 0.122)),
        Row("ETAN(10)", "AODE", "error", (33, 2, 25, None, None), note=TEXT),
        Row("ETAN(10)", "AODE", "log_loss", (34, 0, 26, None, None), note=TEXT),
    ),
    "s2-table4": (
        Row("SA-ETAN", "A-ETAN", "error", (20, 14, 26, None, 0.308), 10),
        Row("SA-ETAN", "A-ETAN", "error", (22, 15, 23, None, 0.411), 20),
        Row("SA-ETAN", "A-ETAN", "error", (18, 14, 28, None, 0.235), 30),
        Row("SA-ETAN", "A-ETAN", "log_loss", (19, 12, 29, None, 0.026), 10),
        Row("SA-ETAN", "A-ETAN", "log_loss", (18, 12, 30, None, 0.024), 20),
        Row("SA-ETAN", "A-ETAN", "log_loss", (22, 12, 26, None, 0.071), 30),
    ),
}
"""S2's tables over 60 data sets and, next to tables 1 and 3, results from the text of section 4."""


def row_cells(row: Row, results: Sequence[SetResult]) -> tuple[Cell, ...]:
    """Return the cells of one comparison."""
    found = row.compare(results)
    ours = (found.wins, found.ties, found.losses, found.median, found.p)
    relation = "less" if found.is_less else "more"
    notes = {"median": [UNITS[row.measure]], "p": [f"that {row.learner} has {relation}"]}
    if row.measure == "bdeu":
        n_folds = sum(result.n_folds for result in results)
        notes["losses"] = [f"nor in any of {n_folds} folds"]
    if row.note:
        notes["wins"] = [row.note]
    return tuple(
        cell_of(row.name, column, paper, value, found.n, notes.get(column, ()))
        for column, paper, value in zip(COLUMNS, row.paper, ours, strict=True)
    )


OVER_SETS = {"wins": ".0f", "ties": ".0f", "losses": ".0f", "median": ".4f", "p": ".2g"}
"""Number formats of the columns."""


def _over_sets(table: str, title: str) -> Experiment[tuple[Names, Names]]:
    """Return the experiment of a table. All sets are studied at once."""
    named = {row.name: row for row in TABLES[table]}

    def parts(request: Request) -> dict[str, tuple[Names, Names]]:
        known = tuple(named), COLUMNS
        return {"": selection(table, request, known, known)}

    def run(part: tuple[Names, Names], request: Request, advance: Progress) -> list[Cell]:
        rows, columns = part
        effort = request.effort
        files = set_files(request.data_dir, request.quick)
        protocol = Protocol(n_repeats=effort.n_runs or 1)
        results = list(study(files, protocol, effort.jobs, effort.log, advance).values())
        cells = (cell for name in rows for cell in row_cells(named[name], results))
        return [cell for cell in cells if cell["column"] in columns]

    unit = "wins, ties and losses over data sets"
    return Experiment(title, parts, run, STUDYING, STUDYING, unit, OVER_SETS)


EXPERIMENTS: Mapping[str, Experiment[Any]] = {
    "s2-table1": _over_sets("s2-table1", "ETAN against naive Bayes and TAN"),
    "s2-table2": _over_sets("s2-table2", "S-ETAN against the others"),
    "s2-table3": _over_sets("s2-table3", "SA-ETAN against the others, ETAN(10) against AODE"),
    "s2-table4": _over_sets("s2-table4", "SA-ETAN against A-ETAN where test cells are missing"),
}
"""Experiments by their name in ``bncc reproduce``."""
