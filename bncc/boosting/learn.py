"""Learning boosted integer tables from states and classes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from bncc._types import AnyArray, FloatArray, IntArray
from bncc.boosting.boost import Boosted, boost
from bncc.boosting.descent import Epochs, Pace, SumEngine, SumProblem
from bncc.boosting.engines import slopes_for, sum_engine_for
from bncc.boosting.front import with_front
from bncc.boosting.gate import HeldOut, held_out, with_gate
from bncc.boosting.settings import BoostSettings, Recipe, recipe_of
from bncc.boosting.sums import Learned, Samples, Scores, Slopes, Unit, by_table, rows_of
from bncc.data.splits import SplitRule
from bncc.errors import DataError, diverged
from bncc.progress import Progress, Watch, silence
from bncc.structure.decision_tables import TableEnsemble

MEANS_ROUNDS = 20
CAUTION = 0.75
"""Weight of the quadratic term in the loss for changes of codewords: second order has 1/2, a larger
weight avoids large changes on the basis of a slope."""


@dataclass(frozen=True, eq=False)
class Dictionary:
    """Vector quantization of rows: the codewords, and the index of each row."""

    codewords: FloatArray  # (n_codewords, n_classes) float64: Scores
    chosen: IntArray  # (n_rows,) int64: The codeword of each row of all tables


def first_dictionary(
    rows: FloatArray, n_reads: IntArray, n_codewords: int, rng: np.random.Generator
) -> Dictionary:
    """
    Cluster rows by k-means, weighted by the number of samples that read each.

    Shapes: `rows` (n_rows, n_classes) float64; `n_reads` (n_rows,) int.
    """
    centered = rows - rows.mean(axis=1, keepdims=True)
    weights = n_reads + 1.0
    n = min(n_codewords, len(rows))
    begin = rng.choice(len(rows), n, replace=False, p=weights / weights.sum())
    codewords = centered[np.sort(begin)]
    chosen = _nearest(centered, codewords)
    for _ in range(MEANS_ROUNDS):
        totals = np.bincount(chosen, weights, n)
        sums = np.stack([np.bincount(chosen, weights * lane, n) for lane in centered.T], axis=1)
        is_used = totals > 0
        codewords[is_used] = sums[is_used] / totals[is_used, None]
        chosen = _nearest(centered, codewords)
    return Dictionary(codewords, chosen)


def _nearest(rows: FloatArray, codewords: FloatArray) -> IntArray:
    apart = (codewords**2).sum(axis=1) - 2.0 * rows @ codewords.T
    return np.asarray(apart.argmin(axis=1))


def reassigned(
    dictionary: Dictionary,
    prior: FloatArray,
    rows: IntArray,
    n_rows: Sequence[int],
    slopes: Slopes,
) -> Dictionary:
    """
    Choose the codeword of each row again, table by table.

    With slopes G and H of the samples that read it, a change of a row by d changes the loss by
    about ``G . d + H . d**2 / 2``.

    Shapes: `prior` (n_classes,) float64; `rows` (n_samples, n_tables) int.
    """
    codewords = dictionary.codewords
    chosen = dictionary.chosen.copy()
    single = codewords.astype(np.float32)
    sums = np.tile(prior.astype(np.float32), (len(rows), 1))
    for row in rows.T:
        sums += single[chosen[row]]
    begin = 0
    for row, n in zip(rows.T, n_rows, strict=True):
        gradient, curvature = slopes.by_row(slopes.of(sums), row - begin, n)
        old = chosen[begin : begin + n]
        # G . d + CAUTION H . d**2 without the terms equal for all codewords, where d is new - old.
        pull = gradient - 2.0 * CAUTION * curvature * codewords[old]
        change = pull @ codewords.T + CAUTION * curvature @ (codewords**2).T
        new = change.argmin(axis=1)
        sums += (single[new] - single[old])[row - begin]
        chosen[begin : begin + n] = new
        begin += n
    return Dictionary(codewords, chosen)


DICTIONARY_ROUNDS, ROUND_EPOCHS = 8, 6
"""Number of rounds in which rows choose their codewords again, and epochs before each round."""
MOST_NATS = 1e4
"""Bound on the magnitude of a meaningful score."""


def refit(
    boosted: Boosted,
    samples: Samples,
    settings: BoostSettings,
    recipe: Recipe,
    watch: Watch | None = None,
) -> Learned:
    """Refit all tables together, and add a front or a gate if one is asked for."""
    learned = refit_tables(boosted, samples, settings, recipe, watch)
    if boosted.is_counted:
        return learned
    if settings.gate:
        return with_gate(learned, held_out_of(samples, settings, watch), settings)
    return with_front(learned, samples, settings)


def refit_tables(
    boosted: Boosted,
    samples: Samples,
    settings: BoostSettings,
    recipe: Recipe,
    watch: Watch | None = None,
) -> Learned:
    """Refit all tables together, or only round a single tree."""
    if boosted.is_counted:
        return rounded_tree(boosted, settings, recipe)
    return _refitted(boosted, samples, settings, recipe, watch)


def held_out_of(
    samples: Samples, settings: BoostSettings, watch: Watch | None = None
) -> HeldOut | None:
    """Learn tables with a gate without each fold of the rows in turn, see `held_out`."""
    silent = Watch(should_stop=None if watch is None else watch.should_stop)

    def learn(some: Samples) -> Learned:
        recipe = recipe_of(settings, some.X.shape[1], some.n_classes)
        boosted = boost(some, settings, recipe, silent)
        return _refitted(boosted, some, settings, recipe, silent)

    return held_out(samples, settings, learn)


def _refitted(
    boosted: Boosted,
    samples: Samples,
    settings: BoostSettings,
    recipe: Recipe,
    watch: Watch | None,
) -> Learned:
    work = _Work.of(boosted, samples, settings, recipe, watch or Watch())
    chosen: IntArray = np.arange(len(boosted.scores.rows))
    engine = work.engine(chosen, boosted.scores)
    work.epochs.run(engine, settings.float_epochs)
    if work.n_rounds:
        scores, chosen = _with_dictionary(work, engine.scores())
        engine = work.engine(chosen, scores)
    unit = Unit(settings.bits, recipe.frac_bits)
    engine.quantize(unit)
    work.epochs.run(engine, settings.quantized_epochs)
    scores = _checked(engine.scores(), settings.lr)
    costs = unit.costs(scores.rows, unit.most).astype(np.int64)[chosen]
    return Learned(
        grids=TableEnsemble(boosted.tables),
        tables=by_table(costs, boosted.tables),
        prior=unit.costs(scores.prior).astype(np.int64),
        frac_bits=unit.frac_bits,
    )


def rounded_tree(boosted: Boosted, settings: BoostSettings, recipe: Recipe) -> Learned:
    """
    Round the scores of a single tree so that each row decides as before.

    Every class but the best, the first on ties, has a cost of at least 1: those that round to 0
    would win as the smaller class.
    """
    unit = Unit(settings.bits, recipe.frac_bits)
    scores = boosted.scores.rows
    costs = np.maximum(unit.costs(scores, unit.most).astype(np.int64), 1)
    costs[np.arange(len(costs)), scores.argmax(axis=1)] = 0
    prior = np.zeros(scores.shape[1], dtype=np.int64)
    return Learned(TableEnsemble(boosted.tables), (costs,), prior, unit.frac_bits)


def _checked(scores: Scores, lr: float) -> Scores:
    if not all(np.all(np.abs(part) < MOST_NATS) for part in (scores.rows, scores.prior)):
        raise diverged(lr)
    return scores


@dataclass(frozen=True, eq=False)
class _Work:
    """Common inputs of all parts of one refit."""

    boosted: Boosted
    samples: Samples
    settings: BoostSettings
    pace: Pace
    rows: IntArray
    n_rounds: int
    epochs: Epochs

    @classmethod
    def of(
        cls,
        boosted: Boosted,
        samples: Samples,
        settings: BoostSettings,
        recipe: Recipe,
        watch: Watch,
    ) -> "_Work":
        rows = rows_of(boosted.tables, samples.X)
        has_dictionary = 0 < settings.dictionary < len(boosted.scores.rows)
        n_rounds = DICTIONARY_ROUNDS * has_dictionary
        n_epochs = settings.float_epochs + n_rounds * ROUND_EPOCHS + settings.quantized_epochs
        gate = settings.gate if settings.gate < len(boosted.tables) else 0
        pace = Pace(
            settings.batch_size, recipe.dropout, settings.weight_decay, settings.has_prior, gate
        )
        epochs = Epochs(settings, n_epochs, rows.shape, watch)
        return cls(boosted, samples, settings, pace, rows, n_rounds, epochs)

    def engine(self, chosen: IntArray, scores: Scores) -> SumEngine:
        """Return the training of scores in which each row shares a chosen codeword."""
        rows = chosen.astype(np.uint32)[self.rows]
        problem = SumProblem(rows, self.samples.y, self.samples.weights)
        return sum_engine_for(problem, scores, self.pace, self.settings.engine)


def _with_dictionary(work: _Work, scores: Scores) -> tuple[Scores, IntArray]:
    """Return trained codewords, and the choice of each row."""
    rng = np.random.default_rng([work.settings.seed, 2])
    n_reads = np.bincount(work.rows.ravel(), minlength=len(scores.rows))
    slopes = slopes_for(work.samples, work.settings.engine)
    sizes = [grid.n_rows for grid in work.boosted.tables]
    dictionary = first_dictionary(scores.rows, n_reads, work.settings.dictionary, rng)
    for _ in range(work.n_rounds):
        start = replace(scores, rows=dictionary.codewords)
        engine = work.engine(dictionary.chosen, start)
        work.epochs.run(engine, ROUND_EPOCHS)
        scores = engine.scores()
        trained = replace(dictionary, codewords=scores.rows)
        dictionary = reassigned(trained, scores.prior, work.rows, sizes, slopes)
    return scores, dictionary.chosen


def learn_tables(
    X: IntArray,
    y: IntArray,
    n_states: Sequence[int],
    n_classes: int,
    settings: BoostSettings,
    weights: AnyArray | None = None,
    progress: Progress = silence,
    should_stop: Callable[[], bool] | None = None,
    n_copies: int = 1,
    split: SplitRule | None = None,
) -> Learned:
    """
    Learn boosted tables: boost, then refit.

    Equal arguments give equal results on one computer.

    Shapes: `X` (n_samples, n_features) int; `y` (n_samples,) int; `weights` (n_samples,) float.
    """
    samples = samples_of(X, y, n_states, n_classes, weights, n_copies, split)
    recipe = recipe_of(settings, X.shape[1], n_classes)
    watch = Watch(progress, should_stop)
    n_epochs = settings.float_epochs + settings.quantized_epochs
    share = settings.n_tables / (settings.n_tables + n_epochs)
    boosted = boost(samples, settings, recipe, watch.part(0.0, share))
    return refit(boosted, samples, settings, recipe, watch.part(share, 1.0))


def samples_of(
    X: IntArray,
    y: IntArray,
    n_states: Sequence[int],
    n_classes: int,
    weights: AnyArray | None = None,
    n_copies: int = 1,
    split: SplitRule | None = None,
) -> Samples:
    """Check and weight samples; see `learn_tables`."""
    if len(y) == 0:
        raise DataError("there are no training rows; add at least one")
    if X.min() < 0 or np.any(X.max(axis=0) >= np.asarray(n_states)):
        raise DataError("a state is not below its feature's n_states; discretize the rows again")
    if y.min() < 0 or y.max() >= n_classes:
        raise DataError(f"a class is not in 0 .. {n_classes - 1}; renumber the classes")
    of_rows = split or SplitRule()
    return Samples(X, y.astype(np.int64), _mean_one(weights, len(y)), n_classes, n_copies, of_rows)


def _mean_one(weights: AnyArray | None, n: int) -> FloatArray:
    if weights is None:
        return np.ones(n)
    given = np.asarray(weights, dtype=np.float64)
    if given.shape != (n,) or not np.isfinite(given).all() or given.min() < 0 or not given.any():
        raise DataError(
            f"weights must be {n} numbers, none negative, not all 0; leave them out to weight "
            "all rows equally"
        )
    of_mean_one: FloatArray = given / given.mean()
    return of_mean_one
