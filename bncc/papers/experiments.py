"""The papers' experiments that can be repeated, by the names of their tables and figures."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module

from bncc.papers.request import Advance, Cell, Request
from bncc.train.gradient.engines import check_torch

SEARCH = ("runs", "epochs", "jobs", "checkpoint")
"""Options of the command line that steer a search."""
PART = ("row", "column")
"""Options that ask for a part of a table."""
STEERING = (*SEARCH, *PART)
"""What some experiments heed, and others do not."""
STUDYING = ("runs", "jobs", "checkpoint", *PART)
"""What those of S1, S2 and S4 heed; `runs` are those of annealing, repeats of the folds, or
samples."""
OVER_SETS = {"wins": ".0f", "ties": ".0f", "losses": ".0f", "median": ".4f", "p": ".2g"}
"""How people read their columns."""


@dataclass(frozen=True)
class Experiment:
    """One experiment. Its module is imported when it runs: pandas and scipy take their time."""

    title: str  # What its numbers are
    # module and function: Where it is: a function of a `Request` and of `Advance` or None, to cells
    module: str
    function: str
    # options and quick_options: Options beside ``--data`` and ``--quick`` that have an effect: in
    # full, or where columns are named; and on the columns that ``--quick`` chooses itself
    options: tuple[str, ...] = ()
    quick_options: tuple[str, ...] = ()
    unit: str = "percent"  # Of its numbers: ``percent``, or ``counts``, which are whole
    # By column, how people read its numbers
    formats: Mapping[str, str] = field(default_factory=dict)

    def run(self, request: Request, advance: Advance | None = None) -> tuple[Cell, ...]:
        """Repeat the experiment."""
        try:
            function = getattr(import_module(self.module), self.function)
        except ModuleNotFoundError:
            check_torch("the search for neural networks")
            raise
        cells: tuple[Cell, ...] = function(request, advance)
        return cells

    def form_of(self, column: str) -> str:
        """Return how people read the numbers of a column."""
        return self.formats.get(column, "," if self.unit == "counts" else ".2f")

    def unheeded(self, given: tuple[str, ...], quick: bool) -> tuple[str, ...]:
        """Return the options among those given that have no effect here."""
        heeded = self.quick_options if quick and "column" not in given else self.options
        return tuple(name for name in given if name not in heeded)


def _over_sets(title: str, number: int) -> Experiment:
    """Return the experiment of one of S2's tables."""
    return Experiment(
        title,
        "bncc.papers.s2_tables",
        f"s2_table{number}",
        STUDYING,
        STUDYING,
        "wins, ties and losses over data sets",
        OVER_SETS,
    )


EXPERIMENTS: Mapping[str, Experiment] = {
    "s0-table1": Experiment(
        "classification error", "bncc.papers.s0_table1", "s0_table1", STEERING, PART
    ),
    "s0-recover-chow-liu": Experiment(
        "parents of the Chow-Liu tree found again", "bncc.papers.recover", "s0_recover_chow_liu"
    ),
    "s1-table1": Experiment(
        "classification error, counted tables",
        "bncc.papers.s1_tables",
        "s1_table1",
        STUDYING,
        STUDYING,
    ),
    "s1-table2": Experiment(
        "classification error, maximum margin",
        "bncc.papers.s1_tables",
        "s1_table2",
        STUDYING,
        STUDYING,
    ),
    "s1-table3": Experiment(
        "model complexity",
        "bncc.papers.s1_table3",
        "s1_table3",
        STUDYING[1:],
        STUDYING[1:],
        "counts",
    ),
    "s1-missing": Experiment(
        "classification error, features missing",
        "bncc.papers.s1_missing",
        "s1_missing",
        STUDYING,
        STUDYING,
    ),
    "s2-table1": _over_sets("ETAN against naive Bayes and TAN", 1),
    "s2-table2": _over_sets("S-ETAN against the others", 2),
    "s2-table3": _over_sets("SA-ETAN against the others, ETAN(10) against AODE", 3),
    "s2-table4": _over_sets("SA-ETAN against A-ETAN where test cells are missing", 4),
    "s3-bits": Experiment(
        "classification error of integer models",
        "bncc.papers.s3_bits",
        "s3_bits",
        STEERING,
        STEERING,
    ),
    "s3-size": Experiment(
        "classification error of TAN Subset", "bncc.papers.s3_size", "s3_size", STEERING, STEERING
    ),
    "s3-budget": Experiment(
        "classification error of quantized networks",
        "bncc.papers.s3_budget",
        "s3_budget",
        STEERING,
        STEERING,
    ),
    "s3-pareto": Experiment(
        "classification error of Bayesian and neural networks",
        "bncc.papers.s3_pareto",
        "s3_pareto",
        STEERING,
        STEERING,
    ),
    "s4-metrics": Experiment(
        "measures as ratios to curriculum learning, and networks won",
        "bncc.papers.s4_metrics",
        "s4_metrics",
        STUDYING,
        STUDYING,
        "ratios",
        {f"{n} won": ".0f" for n in (100, 500, 1000, 5000, 10000, 50000)},
    ),
}
"""By the name that ``bncc reproduce`` takes."""
