"""S4's table 2: each learner's measures relative to those of curriculum learning."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Any

from bncc.papers.experiments import (
    STUDYING,
    Cell,
    Experiment,
    Names,
    Request,
    cell_of,
    selection,
)
from bncc.papers.s4_study import (
    CL,
    LEARNERS,
    MMHC,
    NETWORKS,
    QUICK,
    Draw,
    Reached,
    network_files,
    study,
)
from bncc.progress import Progress

SIZES = (100, 500, 1000, 5000, 10000, 50000)
"""S4's SS."""
DEFAULT_SIZES = SIZES[:4]
QUICK_SIZES = SIZES[1:3]
N_DRAWS, N_QUICK_DRAWS = 5, 3
MEASURES: Mapping[str, tuple[str, bool]] = {
    "BDeu": ("bdeu", True),
    "BIC": ("bic", True),
    "KL": ("kl", True),
    "SHD": ("shd", False),
    "SHD of patterns": ("shd_of_patterns", False),
}
"""By the table's name, the field of `Reached`, and whether larger is better."""
PAPER: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("BDeu", CL): ("1 0", "1 10", "1 9", "1 8", "1 10", "1 8"),
    ("BDeu", MMHC): ("0.89 10", "1.06 0", "1.02 1", "1.01 2", "1.02 0", "1.01 2"),
    ("BIC", CL): ("1 0", "1 9", "1 9", "1 6", "1 8", "1 8"),
    ("BIC", MMHC): ("0.88 10", "1.07 1", "1.02 1", "1.02 4", "1.02 2", "1.01 2"),
    ("KL", CL): ("1 0", "1 10", "1 9", "1 7", "1 9", "1 9"),
    ("KL", MMHC): ("1.71 10", "0.82 0", "0.96 1", "0.96 2", "0.97 0", "0.97 0"),
    ("SHD", CL): ("1 7", "1 9", "1 7", "1 7", "1 8", "1 6"),
    ("SHD", MMHC): ("1.06 3", "1.26 1", "1.29 3", "1.07 2", "1.21 1", "1.24 3"),
}
"""Mean ratio to CL, and networks won of ten, by size."""
ROWS = tuple(f"{measure} {learner}" for measure in MEASURES for learner in LEARNERS)
SIGNIFICANT = 1e-9
"""Smaller relative differences are rounding: the same graph, or an equivalent one."""

Results = Mapping[Draw, Mapping[str, Reached]]


@dataclass(frozen=True)
class Compared:
    """Comparison of a learner with CL over networks."""

    # Mean over networks of its median measure divided by CL's; None if undefined
    ratio: float | None
    won: int  # won, lost, tied: Networks on which its median is better than CL's, worse, or equal
    lost: int
    tied: int
    left_out: tuple[str, ...]  # Networks excluded from the mean, since CL's median is 0


def medians(results: Results, n_rows: int, measure: str, learner: str) -> dict[str, float]:
    """Return the median over samples of a measure."""
    field, _ = MEASURES[measure]
    values: dict[str, list[float]] = {}
    for draw, reached in results.items():
        if draw.n_rows == n_rows:
            values.setdefault(draw.network, []).append(getattr(reached[learner], field))
    return {network: float(median(each)) for network, each in values.items()}


def compare_to_cl(results: Results, n_rows: int, measure: str, learner: str) -> Compared:
    """
    Compare a learner with CL.

    References
    ----------
    S4, "Comparison With MMHC".
    """
    theirs = medians(results, n_rows, measure, learner)
    ours = medians(results, n_rows, measure, CL)
    sign = 1 if MEASURES[measure][1] else -1
    better = {
        network: 0.0 if abs(value - ours[network]) <= SIGNIFICANT * abs(ours[network])
        else sign * (value - ours[network])
        for network, value in theirs.items()
    }  # fmt: skip
    ratios = [value / ours[network] for network, value in theirs.items() if ours[network]]
    return Compared(
        fmean(ratios) if ratios else None,
        sum(value > 0 for value in better.values()),
        sum(value < 0 for value in better.values()),
        sum(value == 0 for value in better.values()),
        tuple(network for network in theirs if not ours[network]),
    )


def _parts(request: Request) -> dict[str, tuple[Names, Names]]:
    known = (ROWS, columns_of_sizes(SIZES))
    rows, columns = selection("s4-metrics", request, known, known)
    if not request.columns:
        columns = columns_of_sizes(QUICK_SIZES if request.quick else DEFAULT_SIZES)
    return {"": (rows, columns)}


def _run(part: tuple[Names, Names], request: Request, advance: Progress) -> list[Cell]:
    """Compare curriculum learning with MMHC and other learners, all samples at once."""
    rows, columns = part
    sizes = tuple(n for n in SIZES if {*columns} & {*columns_of_sizes((n,))})
    files = network_files(request.data_dir, QUICK if request.quick else tuple(NETWORKS))
    effort = request.effort
    n_draws = effort.n_runs or (N_QUICK_DRAWS if request.quick else N_DRAWS)
    results = study(files, sizes, n_draws, effort.jobs, effort.log, advance)
    cells = (cell for row in rows for n in sizes for cell in cells_of(results, row, n))
    return [cell for cell in cells if cell["column"] in columns]


def cells_of(results: Results, row: str, n_rows: int) -> tuple[Cell, Cell]:
    """Return the cells of a row for one size."""
    measure, learner = next(
        (measure, learner)
        for measure in MEASURES
        for learner in LEARNERS
        if f"{measure} {learner}" == row
    )
    paper: tuple[float | None, int | None] = (None, None)
    if (measure, learner) in PAPER:
        ratio, won = PAPER[measure, learner][SIZES.index(n_rows)].split()
        paper = float(ratio), int(won)
    found = compare_to_cl(results, n_rows, measure, learner)
    n = found.won + found.lost + found.tied
    left_out = [f"without {', '.join(found.left_out)}: CL has 0"] if found.left_out else []
    n_won, note = found.won, f"{found.tied} tied with CL"
    if learner == CL:
        other = compare_to_cl(results, n_rows, measure, MMHC)
        n_won, note = other.lost, f"against MMHC, {other.tied} tied"
    return (
        cell_of(row, f"{n_rows}", paper[0], found.ratio, n, left_out),
        cell_of(row, f"{n_rows} won", paper[1], n_won, n, [note]),
    )


def columns_of_sizes(sizes: Sequence[int]) -> tuple[str, ...]:
    """Return the columns of some sizes."""
    return tuple(name for n in sizes for name in (f"{n}", f"{n} won"))


EXPERIMENTS: Mapping[str, Experiment[Any]] = {
    "s4-metrics": Experiment(
        "measures as ratios to curriculum learning, and networks won",
        _parts,
        _run,
        STUDYING,
        STUDYING,
        "ratios",
        {f"{n} won": ".0f" for n in SIZES},
    ),
}
"""Experiments by their name in ``bncc reproduce``."""
