"""S2, tables 1 to 4: wins, ties, losses and Wilcoxon's test over data sets, beside the paper's."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from bncc._types import FloatArray
from bncc.papers.comparison import Comparison, compare
from bncc.papers.request import Advance, Cell, Names, Request, selection
from bncc.papers.s2_losses import missing_name
from bncc.papers.s2_protocol import Protocol
from bncc.papers.s2_sets import set_files
from bncc.papers.s2_study import SetResult, study

Measure = Literal["bdeu", "error", "log_loss"]
"""What of a `SetResult` is compared."""

WORDS: Mapping[Measure, str] = {"bdeu": "BDeu", "error": "zero-one", "log_loss": "log loss"}
UNITS: Mapping[Measure, str] = {
    "bdeu": "nats", "error": "percentage points", "log_loss": "nats per row",
}  # fmt: skip
NEGLIGIBLE: Mapping[Measure, float] = {"bdeu": 1e-6, "error": 0.0, "log_loss": 1e-9}
"""Differences up to it are rounding: equivalent structures whose sums run in another order. Errors
are counts."""
COLUMNS = ("wins", "ties", "losses", "median", "p")


@dataclass(frozen=True)
class Row:
    """A comparison of the paper."""

    learner: str  # learner and other: By the paper's names; its Naive is NB
    other: str
    measure: Measure  # What is compared
    # Its values for `COLUMNS`; None for a median or p that it does not give
    paper: tuple[int, int, int, float | None, float | None]
    percent: int = 0  # Of test cells that are missing
    note: str = ""  # Where it stands, if not in the table

    @property
    def name(self) -> str:
        """What the row is called."""
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
"""S2's tables over 60 data sets and, beside tables 1 and 3, what its section 4 says in the text."""


def s2_table1(request: Request, advance: Advance | None = None) -> tuple[Cell, ...]:
    """Repeat table 1 of S2: BDeu scores of ETAN, and what the text says of its losses."""
    return _cells("s2-table1", request, advance)


def s2_table2(request: Request, advance: Advance | None = None) -> tuple[Cell, ...]:
    """Repeat table 2 of S2: losses of S-ETAN. As `s2_table1`."""
    return _cells("s2-table2", request, advance)


def s2_table3(request: Request, advance: Advance | None = None) -> tuple[Cell, ...]:
    """Repeat table 3 of S2: losses of SA-ETAN, and of ETAN(10) from the text. As `s2_table1`."""
    return _cells("s2-table3", request, advance)


def s2_table4(request: Request, advance: Advance | None = None) -> tuple[Cell, ...]:
    """Repeat table 4 of S2: SA-ETAN and A-ETAN with missing test cells. As `s2_table1`."""
    return _cells("s2-table4", request, advance)


def _cells(table: str, request: Request, advance: Advance | None) -> tuple[Cell, ...]:
    known: tuple[Names, Names] = tuple(row.name for row in TABLES[table]), COLUMNS
    rows, columns = selection(table, request, known, known)
    files = set_files(request.data_dir, request.quick)
    effort = request.effort
    protocol = Protocol(n_repeats=effort.n_runs or 1)
    results = study(files, protocol, effort.jobs, effort.log, advance)
    named = {row.name: row for row in TABLES[table]}
    return tuple(
        cell
        for name in rows
        for cell in row_cells(named[name], list(results.values()))
        if cell["column"] in columns
    )


def row_cells(row: Row, results: Sequence[SetResult]) -> tuple[Cell, ...]:
    """Return the cells of one comparison."""
    found = row.compare(results)
    ours = (found.wins, found.ties, found.losses, found.median, found.p)
    relation = "less" if found.is_less else "more"
    notes = {"median": UNITS[row.measure], "p": f"that {row.learner} has {relation}"}
    if row.measure == "bdeu":
        n_folds = sum(result.n_folds for result in results)
        notes["losses"] = f"nor in any of {n_folds} folds"
    if row.note:
        notes["wins"] = row.note
    return tuple(
        {
            "row": row.name,
            "column": column,
            "paper": paper,
            "ours": value,
            "n": found.n,
            "note": notes.get(column),
        }
        for column, paper, value in zip(COLUMNS, row.paper, ours, strict=True)
    )
