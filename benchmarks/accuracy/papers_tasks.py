"""
The papers' experiments as tasks: the cells of each, its command, and how long it takes.

A task is one call of ``bncc reproduce``. Its time is that of a quick cell of the same kind times a
ratio of work: trainings and epochs of a search, evaluations of a structure search, rows of samples.
A task whose trainings are in the checkpoint of an earlier one has the work that remains.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from bncc.papers import s0, s1, s2, s2_figures, s3, s3_networks, s4
from bncc.papers.folds import FILES
from bncc.papers.s0_figures import COLUMNS_OF, SHARE
from bncc.papers.s1_figures import SCHEDULE_ROWS, SCHEDULES
from bncc.papers.s1_runs import S1_FILES, SEARCHED, WITHOUT_FEATURES
from bncc.papers.s4_study import NETWORKS
from bncc.papers.s4_study import QUICK as QUICK_NETWORKS
from bncc.papers.search import n_trainings

PER_CELL = 12.0
"""Hours of a cell from which on ``make papers`` runs a smaller one, or leaves it out."""
Cells = tuple[tuple[str, str], ...]
"""Rows and columns."""


@dataclass(frozen=True)
class Task:
    """A call of ``bncc reproduce``."""

    table: str  # Name of the experiment
    name: str  # Name of the task, unique
    cells: Cells  # All of its cells that our data allow
    options: tuple[str, ...]  # Options in addition to data, processes, checkpoint and output
    checkpoint: str  # Name of the checkpoint, which some tasks share
    quick: tuple[str, ...]  # Experiment and options of the quick cell, which other tasks may share
    ratio: float  # Work of the task divided by that of the quick cell
    largest: float  # Part of the work in the largest cell
    # Options of a smaller run, for tasks with a cell over `PER_CELL`; None if there is none
    smaller: tuple[str, ...] | None = None
    folder: str = ""  # Folder of the data below that of all data

    @property
    def cell(self) -> str:
        """The quick cell as text."""
        return " ".join(self.quick)

    @property
    def command(self) -> str:
        """The call as one types it."""
        words = [f'"{word}"' if " " in word else word for word in self.options]
        return " ".join(["bncc reproduce", self.table, *words])


def tasks() -> tuple[Task, ...]:
    """Return all tasks, paper by paper."""
    return (*_s0(), *_s1(), *_s2(), *_s3(), *_s4())


QUICK_RUNS, QUICK_EPOCHS = 1, 2
SUBSET, THREE_BITS = ("s0-table1", "TAN Subset"), ("s3-bits", "TAN 3 bits")
"""Experiment and column of quick cells of searches."""


def _search(
    table: str, row: str, columns: Sequence[str], effort: tuple[int, int], trained: int,
    quick: tuple[str, str], checkpoint: str, name: str = "", named: bool = False,
) -> Task:  # fmt: skip
    """Return the task of a search in each of some cells."""
    n_runs, epochs = effort
    work = n_trainings(n_runs) * epochs / (n_trainings(QUICK_RUNS) * QUICK_EPOCHS)
    options = ["--row", row]
    for column in columns if named else ():
        options += ["--column", column]
    return Task(
        table, name or f"{table}.{row}", tuple((row, column) for column in columns),
        tuple(options), checkpoint,
        (quick[0], "--row", row, "--column", quick[1], "--runs", str(QUICK_RUNS),
         "--epochs", str(QUICK_EPOCHS)),
        trained * work, 1 / max(trained, 1), folder="paper",
    )  # fmt: skip


def _s0() -> Iterator[Task]:
    for row, paper in s0.PAPER.items():
        trained = [name for name in paper if name not in s0.COUNTED]
        effort = s0.RUNS_AND_EPOCHS[row]
        yield _search("s0-table1", row, tuple(paper), effort, len(trained), SUBSET, "s0")
        free = [name for name, same in s0.FREE.items() if same in paper]
        yield _search(
            "s0-table1", row, free, effort, len(free), SUBSET, "s0",
            f"s0-table1.{row}.free", named=True,
        )  # fmt: skip
    for table, columns_of in COLUMNS_OF.items():
        for row, columns in columns_of.items():
            n_runs, epochs = s0.RUNS_AND_EPOCHS[row]
            yield _search(
                table, row, tuple(columns), (n_runs // SHARE, epochs), len(columns),
                SUBSET, "s0",
            )  # fmt: skip
    recovered = tuple((row, s0.COLUMN) for row in ("letter", "satimage", "usps"))
    yield Task(
        "s0-recover-chow-liu", "s0-recover-chow-liu", recovered, (), "",
        ("s0-recover-chow-liu", "--quick"), 12.0, 0.6,
        folder="paper",
    )  # fmt: skip


SIZES: Mapping[str, tuple[int, int, int]] = {
    "spambase": (57, 2301, 2), "usps": (256, 8000, 10), "mnist14": (196, 60000, 10),
}  # fmt: skip
"""Features, training rows and classes of S1's sets."""
SPLITS = {"spambase": 5, "usps": 1, "mnist14": 1}


def _climb(row: str) -> float:
    """Return the work of a hill climbing: evaluations are cubic in the features, for all rows."""
    (n, rows, classes), (n_quick, rows_quick, of_quick) = SIZES[row], SIZES["spambase"]
    return SPLITS[row] * (n / n_quick) ** 3 * (rows / rows_quick) * (classes / of_quick)


def _anneal(row: str) -> float:
    """Return the work of an annealing: proposals are linear in the features."""
    (n, rows, classes), (n_quick, rows_quick, of_quick) = SIZES[row], SIZES["spambase"]
    return SPLITS[row] * n / n_quick * (rows / rows_quick) * (classes / of_quick)


CLIMB_QUICK = ("s1-table1", "--quick", "--column", "TAN-HC-MM-ML")
RUNS = 10


def _s1() -> Iterator[Task]:
    for row in S1_FILES:
        climb, anneal = _climb(row), _anneal(row)
        whole = 2 * climb + 2 * RUNS * anneal
        climbs = [name for name in SEARCHED if "-HC-" in name]
        for table in ("s1-table1", "s1-table2"):
            tag = "ML" if table == "s1-table1" else "MM"
            columns = tuple(s1.PAPER[table][row])
            rest = [c for c in columns if c.rsplit("-", 1)[0] not in climbs]
            smaller = [word for c in rest for word in ("--column", c)]
            yield Task(
                table, f"{table}.{row}", tuple((row, column) for column in columns),
                ("--row", row), "s1", CLIMB_QUICK, whole if tag == "ML" else 0.1 * whole,
                climb / whole, ("--row", row, "--runs", "1", *smaller),
            )  # fmt: skip
        yield Task(
            "s1-table3", f"s1-table3.{row}", tuple((row, c) for c in s1.COUNTED_COLUMNS),
            ("--row", row), "s1", CLIMB_QUICK, anneal, 1.0,
        )  # fmt: skip
        for table in ("s1-figure2", "s1-figure3"):
            annealed = [word for c in SEARCHED if c not in climbs for word in ("--column", c)]
            yield Task(
                table, f"{table}.{row}", tuple((row, c) for c in SEARCHED), ("--row", row), "s1",
                CLIMB_QUICK, 0.01 * whole, 0.5, ("--row", row, "--runs", "1", *annealed),
            )  # fmt: skip
        if row in SCHEDULE_ROWS:
            yield Task(
                "s1-figure4", f"s1-figure4.{row}", tuple((row, c) for c in SCHEDULES),
                ("--row", row), "s1", CLIMB_QUICK, len(SCHEDULES) * RUNS * anneal,
                1 / len(SCHEDULES),
            )  # fmt: skip
        if row in s1.MISSING_ROWS:
            cells = tuple((row, c) for c in WITHOUT_FEATURES)
            quick = ("s1-missing", "--quick", "--column", "NB-ML", "--column", "SVM")
            times = 12 * (10.0 if row == "spambase" else 120.0)
            yield Task(
                "s1-missing", f"s1-missing.{row}", cells, ("--row", row), "s1", quick, times, 0.9
            )


REPEATS = 10
STUDY = 40.0 * REPEATS
"""Work of the study: 58 sets, the large ones among them, instead of a dozen small ones."""


def _s2() -> Iterator[Task]:
    runs = ("--runs", str(REPEATS))
    for table, rows in s2.TABLES.items():
        cells = tuple((row.name, column) for row in rows for column in s2.COLUMNS)
        times = STUDY if table == "s2-table1" else 0.1
        yield Task(table, table, cells, runs, "s2", ("s2-table1", "--quick"), times, 1.0)
    for table in s2_figures.FIGURES:
        cells = tuple(("58 sets", column) for column in s2_figures.COLUMNS)
        yield Task(table, table, cells, runs, "s2", ("s2-table1", "--quick"), 0.1, 1.0)


NAIVE = 0.3
"""Work of a training of naive Bayes, as a fraction of that of a tree."""


def _s3() -> Iterator[Task]:
    for row in FILES:
        columns = tuple(s3.BITS_COLUMNS)
        effort = s3.BITS_RUNS_AND_EPOCHS[row]
        yield _bits(_search("s3-bits", row, columns, effort, len(columns), THREE_BITS, "s3"))
        free = tuple(s3.FREE_COLUMNS)
        yield _bits(_search(
            "s3-bits", row, free, effort, len(free), THREE_BITS, "s3",
            f"s3-bits.{row}.free", named=True,
        ))  # fmt: skip
        sizes = tuple(s3.SIZE_COLUMNS)
        n_runs, epochs = s0.RUNS_AND_EPOCHS[row]
        work = 2 * n_trainings(n_runs) + len(s3.WEIGHTS) * n_trainings(
            -(-n_runs // s3.RUNS_PER_PRICE)
        )
        yield Task(
            "s3-size", f"s3-size.{row}", tuple((row, c) for c in sizes), ("--row", row), "s0",
            ("s0-table1", "--row", row, "--column", "TAN Subset", "--runs", "1", "--epochs", "2"),
            work * epochs / (n_trainings(1) * 2), 0.2, folder="paper",
        )  # fmt: skip
        yield from _networks(row)
        pareto = tuple(
            c for c in s3_networks.PARETO_COLUMNS
            if row in s3_networks.IMAGES or not c.startswith("CNN")
        )  # fmt: skip
        named = [word for c in pareto for word in ("--column", c)] if len(pareto) < 60 else []
        yield Task(
            "s3-pareto", f"s3-pareto.{row}", tuple((row, c) for c in pareto),
            ("--row", row, *named), "s3",
            ("s3-bits", "--row", row, "--column", "TAN 3 bits", "--runs", "1", "--epochs", "2"),
            10.0, 0.1,
            folder="paper",
        )  # fmt: skip


def _bits(task: Task) -> Task:
    """Return a task whose quick cell restarts its only setting, and half of whose cells are NB."""
    restarted = n_trainings(1) / (n_trainings(1) + s3.RESTARTS - 1)
    return replace(task, ratio=task.ratio * restarted * (1 + NAIVE) / 2)


def _networks(row: str) -> Iterator[Task]:
    """Return the tasks of fully connected, and of convolutional networks."""
    n_runs, epochs = s3_networks.RUNS_AND_EPOCHS[row]
    work = (n_runs + 1) * epochs / (2 * 2)
    for kind, quick in (("FC", "FC relu 3 bits"), ("CNN", "CNN relu 4x")):
        names = [name for name in s3_networks.COLUMNS if name.startswith(kind)]
        if kind == "CNN" and row not in s3_networks.IMAGES:
            continue
        weights = [
            max(1.0, int(name.split()[-1][:-1]) / 4) if name.endswith("x") else 1.0
            for name in names
        ]
        options = [word for name in names for word in ("--column", name)]
        yield Task(
            "s3-budget", f"s3-budget.{row}.{kind}", tuple((row, name) for name in names),
            ("--row", row, *options), "s3.networks",
            ("s3-budget", "--row", row, "--column", quick, "--runs", "1", "--epochs", "2"),
            work * sum(weights), max(weights) / sum(weights),
            ("--row", row, *options, "--runs", "2", "--epochs", "20"), folder="paper",
        )  # fmt: skip


VARIABLES: Mapping[str, int] = {
    "alarm": 37, "andes": 223, "asia": 8, "child": 20, "hailfinder": 56, "hepar2": 70,
    "insurance": 27, "sachs": 11, "water": 32, "win95pts": 76,
}  # fmt: skip


def _samples(networks: Sequence[str], sizes: Sequence[int], draws: int) -> float:
    """Return the work on samples: pairs of variables, for all rows."""
    return draws * sum(sizes) * sum(VARIABLES[name] ** 2 for name in networks)


def _s4() -> Iterator[Task]:
    columns = s4.columns_of_sizes(s4.SIZES)
    quick = _samples(QUICK_NETWORKS, s4.QUICK_SIZES, s4.N_QUICK_DRAWS)
    yield Task(
        "s4-metrics", "s4-metrics", tuple((row, c) for row in s4.ROWS for c in columns),
        tuple(word for c in columns for word in ("--column", c)), "s4", ("s4-metrics", "--quick"),
        _samples(tuple(NETWORKS), s4.SIZES, s4.N_DRAWS) / quick, 1.0,
    )  # fmt: skip
