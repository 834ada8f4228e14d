"""The model that a budget search chooses, its decisions on test rows, and its measured C."""

from dataclasses import dataclass

from bncc._types import IntArray
from bncc.data.dataset import Dataset
from bncc.device.cross import Toolchain
from bncc.device.measure import N_ROWS, bench_inputs
from bncc.device.meter import METERED, Cost
from bncc.discretize.feature import states_of
from bncc.emit.emitter import emit_c
from bncc.lower.cost_model import LEVELS
from bncc.model.reference import predict
from bncc.on_device import measure_ours
from bncc.pricing import entries_of, options_of
from bncc.resources import Budget, Preference
from bncc.search.budget_search import Found, search
from bncc.search.evaluation import Evaluation
from bncc.train.settings import TrainSettings


@dataclass(frozen=True, eq=False)
class ChosenModel:
    """
    Result of a search.

    Shapes: `said` (n_test,) int, the decisions on all test rows.
    """

    words: str  # Description in a table
    said: IntArray
    flash: int  # Bytes
    learned: Cost  # A decision from readings, over random training rows
    tested: Cost  # Likewise, over random test rows
    found: Found  # The search


def chosen(
    train: Dataset,
    test: Dataset,
    settings: TrainSettings,
    budget: Budget,
    bench: Toolchain,
    n_rows: int = N_ROWS,
    *,
    prefer: Preference = "balanced",
) -> ChosenModel:
    """Search as ``bncc train --max-flash`` does, and measure the result on some random rows."""
    found = search(train, settings, budget, test=test, prefer=prefer)
    model, price = found.result.model, found.price
    options = options_of(model, budget, price.optimize, price.limit)
    emission = emit_c(model, options)
    (entry,) = entries_of(model, budget)
    flash, costs = 0, []
    for part in (train, test):
        measured = measure_ours(
            model, bench, bench_inputs(model, part.table, n_rows=n_rows),
            opt_level=LEVELS[price.optimize], options=options, emission=emission,
            with_trusted=False, kept=(METERED[entry],),
        )  # fmt: skip
        flash = measured.flash
        costs.append(measured.costs[METERED[entry]])
    said = predict(model, states_of(model.features, test.table))
    words = Evaluation(found.settings, errors=(), choice=(), price=price).words
    return ChosenModel(words, said, flash, *costs, found)
