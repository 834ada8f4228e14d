"""Gradient boosting of tables: each is grown to reduce the remaining loss of those before it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from bncc._types import AnyArray, FloatArray, IntArray
from bncc.boosting.branches import LEAST_GAIN, BranchBounds, grow_branches
from bncc.boosting.cuts import BestCuts, Bins, bins_of
from bncc.boosting.descent import Pace, SumProblem
from bncc.boosting.engines import best_cuts_for, leaf_cuts_for, slopes_for, sum_engine_for
from bncc.boosting.importance import Grown, elimination, most_important, reading, varying
from bncc.boosting.settings import BoostSettings, Recipe, recipe_of
from bncc.boosting.single_tree import fit_tree
from bncc.boosting.sums import Samples, Scores, rows_of
from bncc.errors import ConstantColumnsError
from bncc.progress import Watch, silence
from bncc.structure.decision_tables import BranchingTable, DecisionTable, GridTable

Chosen = Mapping[int, Sequence[int]]
"""Cuts of the table so far: ascending bins by feature, features ascending."""


@dataclass(frozen=True)
class Bounds:
    """Limits of a table."""

    rows: int  # Most rows
    features: int  # Most features
    # Exponent of the penalty on a cut's gain for the rows that it adds, relative to those before
    size_exponent: float


def grow(
    bins: Bins, slopes: AnyArray, features: IntArray, bounds: Bounds, best_cuts: BestCuts
) -> tuple[DecisionTable | None, IntArray]:
    """
    Grow one table.

    Shapes: `slopes` (n_samples, 2 * n_classes) float32; `features` (m,) int; returns cells
    (n_samples,) int64, the rows of the samples.
    """
    chosen: dict[int, list[int]] = {}
    cells: IntArray = np.zeros(len(slopes), dtype=np.int64)
    while True:
        n_rows = _n_rows(chosen)
        shares = _shares(chosen, features, bounds)
        if not shares:
            break
        cuts = best_cuts(slopes, cells, n_rows, np.array(list(shares)))
        scores = [cut.gain / shares[cut.feature] ** bounds.size_exponent for cut in cuts]
        if not scores or max(scores) < LEAST_GAIN:
            break
        best = cuts[int(np.argmax(scores))]
        chosen[best.feature] = sorted([*chosen.get(best.feature, ()), best.bin])
        chosen = dict(sorted(chosen.items()))
        cells = _cells(bins, chosen)
    if not chosen:
        return None, cells
    cuts_of = tuple(tuple(bins.cuts[f][chosen[f]].tolist()) for f in chosen)
    return DecisionTable(tuple(chosen), cuts_of), cells


def _n_rows(chosen: Chosen) -> int:
    return prod(len(cuts) + 1 for cuts in chosen.values())


def _shares(chosen: Chosen, features: IntArray, bounds: Bounds) -> dict[int, float]:
    """Return by feature the fraction of rows that one more cut adds, for allowed features."""
    n_rows = _n_rows(chosen)
    is_full = len(chosen) == bounds.features
    levels = {
        f: len(chosen.get(f, ())) + 1 for f in features.tolist() if f in chosen or not is_full
    }
    return {f: 1.0 / n for f, n in levels.items() if n_rows + n_rows // n <= bounds.rows}


def _cells(bins: Bins, chosen: Chosen) -> IntArray:
    """Return the row of every sample: levels in mixed radix, the first feature outermost."""
    cells = np.zeros(bins.codes.shape[1], dtype=np.int64)
    for f, cuts in chosen.items():
        level = np.searchsorted(cuts, np.arange(len(bins.cuts[f]) + 1), side="left")
        cells = cells * (len(cuts) + 1) + level[bins.codes[f]]
    return cells


CORRECTIVE_LR, CORRECTIVE_DROPOUT = 0.04, 0.1
JUDGES = 10
"""Number of tables that judge the features that tables may read."""
ELIMINATION_SHARE = 0.7
"""Share of the time of a boosting with a limit on features that goes into their elimination."""
LEAST_COUNT = 0.5
"""Pseudocount of each class, so that an absent class has a finite prior."""


@dataclass(frozen=True, eq=False)
class Boosted:
    """Boosted tables before the refit."""

    tables: tuple[GridTable, ...]  # Layouts, at least one
    scores: Scores  # Their scores, in nats
    is_counted: bool = False  # True for a single tree with logarithms of class shares: no refit

    def first(self, n_tables: int) -> "Boosted":
        """Return the first tables: the result of boosting without corrections at that size."""
        tables = self.tables[:n_tables]
        rows = self.scores.rows[: sum(grid.n_rows for grid in tables)]
        return replace(self, tables=tables, scores=replace(self.scores, rows=rows))


def boost(
    samples: Samples, settings: BoostSettings, recipe: Recipe, watch: Watch | None = None
) -> Boosted:
    """Grow tables, of the most important features if their number is limited."""
    watch = watch or Watch()
    if settings.n_inputs:
        ranked = eliminated(samples, settings, watch.part(0.0, ELIMINATION_SHARE))
        samples = reading(samples, most_important(ranked, settings.n_inputs))
        watch = watch.part(ELIMINATION_SHARE, 1.0)
    rng = np.random.default_rng([settings.seed, 0])
    bins = bins_of(samples.X)
    if settings.is_single_tree and (bins.n_bins > 1).any():
        table, scores = fit_tree(samples, settings)
        watch.goes_on("table", 1, 1)
        return Boosted((table,), scores, is_counted=True)
    grown_by = _grower(bins, settings, recipe, samples.n_classes)
    of_samples = slopes_for(samples, settings.engine)
    grown = Boosted((), _start(samples, settings.has_prior))
    sums = np.tile(grown.scores.prior.astype(np.float32), (len(samples.y), 1))
    goes_on = True
    while goes_on:
        slopes = of_samples.of(sums)
        features = _drawn(bins, recipe.feature_share, rng)
        grid, cells = grown_by(slopes, features)
        if grid is None:
            break
        leaves = _leaves(of_samples.by_row(slopes, cells, grid.n_rows), settings.l2) * recipe.eta
        grown = _with_table(grown, grid, leaves)
        if recipe.is_corrective:
            grown, sums = _corrected(grown, samples, settings, rng)
        else:
            sums += leaves.astype(np.float32)[cells]
        goes_on = watch.goes_on("table", len(grown.tables), settings.n_tables)
    if grown.tables:
        return grown
    nothing = _nothing(bins, is_branching=settings.leaves > 0)
    return _with_table(grown, nothing, np.zeros((2, samples.n_classes)))


def eliminated(
    samples: Samples, settings: BoostSettings, watch: Watch | None = None
) -> tuple[IntArray, ...]:
    """Return the elimination of features by tables of one form, whichever is asked for."""
    judges = BoostSettings(n_tables=JUDGES, seed=settings.seed, engine=settings.engine)
    watch = watch or Watch()
    silent = replace(watch, progress=silence)

    def grow(some: Samples) -> Grown:
        recipe = recipe_of(judges, len(varying(some)), some.n_classes)
        grown = boost(some, judges, recipe, silent)
        return grown.tables, grown.scores

    return elimination(samples, grow, settings.seed, watch.progress)


_Grower = Callable[[AnyArray, IntArray], tuple[GridTable | None, IntArray]]


def _grower(bins: Bins, settings: BoostSettings, recipe: Recipe, n_classes: int) -> _Grower:
    """Return what grows one table for slopes and features."""
    if settings.leaves:
        of_leaves = leaf_cuts_for(bins, settings, n_classes)
        branches = BranchBounds(settings.leaves, settings.most_depth)
        return lambda slopes, features: grow_branches(bins, slopes, features, branches, of_leaves)
    best_cuts = best_cuts_for(bins, settings, n_classes)
    bounds = Bounds(settings.rows, settings.features, recipe.size_exponent)
    return lambda slopes, features: grow(bins, slopes, features, bounds, best_cuts)


def _start(samples: Samples, has_prior: bool) -> Scores:
    counts = np.bincount(samples.y, samples.weights, samples.n_classes) + LEAST_COUNT
    prior = np.log(counts / counts.sum()) * has_prior
    return Scores(np.empty((0, samples.n_classes)), prior)


def _nothing(bins: Bins, *, is_branching: bool) -> GridTable:
    """Return a table of two rows, for one without any effect."""
    cuttable = np.flatnonzero(bins.n_bins > 1)
    if len(cuttable) == 0:
        raise ConstantColumnsError(
            "all columns are constant, so boosted tables have no column to cut; add one that "
            "varies, or choose another structure"
        )
    f = int(cuttable[0])
    cut = int(bins.cuts[f][0])
    return (
        BranchingTable((f,), (cut,), (-1,), (-2,))
        if is_branching
        else DecisionTable((f,), ((cut,),))
    )


def _with_table(grown: Boosted, grid: GridTable, leaves: FloatArray) -> Boosted:
    rows = np.vstack([grown.scores.rows, leaves])
    return Boosted((*grown.tables, grid), replace(grown.scores, rows=rows))


def _drawn(bins: Bins, share: float, rng: np.random.Generator) -> IntArray:
    """Return the features that the next table may read."""
    features = np.flatnonzero(bins.n_bins > 1)
    n_read = int(np.ceil(share * len(features)))
    return np.sort(rng.permutation(features)[:n_read])


def _leaves(slopes: tuple[FloatArray, FloatArray], l2: float) -> FloatArray:
    """Return the scores that lower the loss most, to second order."""
    gradient, curvature = slopes
    return -gradient / (curvature + l2)


def _corrected(
    grown: Boosted, samples: Samples, settings: BoostSettings, rng: np.random.Generator
) -> tuple[Boosted, AnyArray]:
    """Refit all tables for an epoch; return them and the samples' sums."""
    rows = rows_of(grown.tables, samples.X)
    decay, has_prior = settings.weight_decay, settings.has_prior
    pace = Pace(settings.batch_size, CORRECTIVE_DROPOUT, decay, has_prior)
    problem = SumProblem(rows, samples.y, samples.weights)
    engine = sum_engine_for(problem, grown.scores, pace, settings.engine)
    noise = rng.integers(0, 256, rows.shape, dtype=np.uint8)
    engine.epoch(rng.permutation(len(rows)), noise, CORRECTIVE_LR)
    scores = engine.scores()
    sums = np.tile(scores.prior.astype(np.float32), (len(rows), 1))
    for row in rows.T:
        sums += scores.rows.astype(np.float32)[row]
    return replace(grown, scores=scores), sums
