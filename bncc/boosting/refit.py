"""The tables of a sum refitted together: as floats, then as the integers that a device adds up."""

from dataclasses import dataclass, replace

import numpy as np

from bncc._types import IntArray
from bncc.boosting.boost import Boosted
from bncc.boosting.descent import Pace, SumEngine, SumProblem
from bncc.boosting.dictionary import first_dictionary, reassigned
from bncc.boosting.engines import slopes_for, sum_engine_for
from bncc.boosting.epochs import Epochs
from bncc.boosting.learned import Learned
from bncc.boosting.settings import BoostSettings, Recipe
from bncc.boosting.sums import Samples, Scores, Unit, by_table, rows_of
from bncc.errors import diverged
from bncc.progress import Watch
from bncc.structure.decision_tables import Grids

DICTIONARY_ROUNDS, ROUND_EPOCHS = 8, 6
"""How often rows choose their codewords anew, and epochs before each time."""
MOST_NATS = 1e4
"""No score that says anything is so far from 0."""


def refit(
    boosted: Boosted,
    samples: Samples,
    settings: BoostSettings,
    recipe: Recipe,
    watch: Watch | None = None,
) -> Learned:
    """Refit all tables together."""
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
        grids=Grids(boosted.tables),
        tables=by_table(costs, boosted.tables),
        prior=unit.costs(scores.prior).astype(np.int64),
        frac_bits=unit.frac_bits,
    )


def _checked(scores: Scores, lr: float) -> Scores:
    if not all(np.all(np.abs(part) < MOST_NATS) for part in (scores.rows, scores.prior)):
        raise diverged(lr)
    return scores


@dataclass(frozen=True, eq=False)
class _Work:
    """What all parts of one refit share."""

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
        pace = Pace(settings.batch_size, recipe.dropout, settings.weight_decay, settings.has_prior)
        epochs = Epochs(settings, n_epochs, rows.shape, watch)
        return cls(boosted, samples, settings, pace, rows, n_rounds, epochs)

    def engine(self, chosen: IntArray, scores: Scores) -> SumEngine:
        """Return what trains scores where each row of the tables is a chosen one of them."""
        rows = chosen.astype(np.uint32)[self.rows]
        problem = SumProblem(rows, self.samples.y, self.samples.weights)
        return sum_engine_for(problem, scores, self.pace, self.settings.engine)


def _with_dictionary(work: _Work, scores: Scores) -> tuple[Scores, IntArray]:
    """Return codewords in training, and the one that each row has chosen."""
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
