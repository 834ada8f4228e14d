"""Choice of an adaptation on held-out groups: each is adapted to, as on a device, and judged."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from bncc.data.dataset import Dataset
from bncc.discretize.feature import states_of
from bncc.errors import DataError
from bncc.model.adaptation import (
    ADAPTATION,
    MAX_UNITS,
    Adaptation,
    AdaptationEffect,
    Judged,
    effect_of,
    judged,
    labeled_halves,
    number_learned,
    tables_to_try,
)
from bncc.model.adapted import effect_on_halves
from bncc.model.model import Model
from bncc.train.repeats import HeldOut, with_effects
from bncc.train.train_model import TrainResult

STEPS = (0.5, 1.0)
"""Steps of an offset that are tried, in nats."""
MARGINS = (0.0, 1.0, 2.0)
"""Margins that are tried, in nats; 0 stands for the least one."""
NO_GAIN = (
    "no adaptation has fewer errors on held-out groups; the model has the one of the fewest errors"
)
"""Note where an adaptation was requested."""


def check_groups(dataset: Dataset) -> None:
    """Refuse rows of which it is unknown, or of no use, to whom a device would adapt."""
    groups = dataset.split.groups
    if groups is None:
        raise DataError(
            "an adaptation needs to know whose rows are whose; name the column of the person or "
            "device with --groups"
        )
    if dataset.split.most_folds(dataset.n_rows) < 2:
        raise DataError(
            "an adaptation needs a group that a training has not seen, and all rows are of one "
            "group; add rows of others"
        )


def with_adaptation(
    result: TrainResult, held: HeldOut, *, test: Dataset | None = None
) -> TrainResult:
    """
    Return a training whose model adapts, with the effect in the model's record.

    Parameters
    ----------
    result : TrainResult
        A training on all rows.
    held : HeldOut
        Scores of these rows, with groups, by trainings without them.
    test : Dataset or None
        Test rows.
    """
    model, dataset = result.model, held.dataset
    groups = dataset.split.groups
    assert groups is not None
    halves = list(labeled_halves(dataset.y, groups))
    orders = halves, [half.in_time_order for half in halves]
    unit = model.q_format.frac_bits
    scores, finest = held.in_one_unit(unit)
    best: tuple[tuple[int, int], Adaptation, list[Judged]] | None = None
    for adaptation in adaptations_to_try(model, held.rows.shape[1]):
        rows = held.rows[:, : len(adaptation.tables)]
        rows = rows if adaptation.tables else np.zeros((len(scores), 1), dtype=np.int64)
        in_unit = replace(
            adaptation, step=adaptation.step * finest, margin=adaptation.margin * finest
        )
        # Labels in turn and in time order: a choice that suits one order alone overfits.
        found, in_order = (judged(in_unit, some, rows, scores, held.y) for some in orders)
        harm = _harm([*found, *in_order])
        if best is None or (harm, len(adaptation.tables)) < best[0]:
            best = (harm, len(adaptation.tables)), adaptation, found
    assert best is not None, "an offset per class can always be tried"
    _, adaptation, found = best
    n_before = sum(int(each.before.sum()) for each in found)
    notes = result.notes if best[0][0] < 2 * n_before else (*result.notes, NO_GAIN)
    model = replace(model, adaptation=adaptation)
    effects = {
        "held_out": effect_of(number_learned(halves), found),
        "test": None if test is None else effect_on(model, test),
    }
    return replace(result, model=with_effects(model, ADAPTATION, effects), notes=notes)


def adaptations_to_try(model: Model, most_tables: int) -> Iterator[Adaptation]:
    """Yield an offset per class, then those of rows of ever more of the first tables."""
    nat = 2.0**model.q_format.frac_bits
    steps = sorted({_power_of_two(step * nat) for step in STEPS})
    margins = sorted({min(max(1, round(margin * nat)), MAX_UNITS) for margin in MARGINS})
    for tables in tables_to_try(model.structure, model.lookups, model.n_classes, most_tables):
        for step in steps:
            for margin in margins:
                yield Adaptation(tables, step, margin)


def _power_of_two(number: float) -> int:
    """Return the power of two next to a number, at least 1."""
    return int(min(2.0 ** max(0, round(np.log2(number))), MAX_UNITS))


def _harm(found: list[Judged]) -> int:
    """Return the errors after adaptations; those that a group did not have before count twice."""
    errors = [(int(each.before.sum()), int(each.after.sum())) for each in found]
    return sum(after + max(0, after - before) for before, after in errors)


def effect_on(model: Model, dataset: Dataset) -> AdaptationEffect | None:
    """Return the effect of a model's adaptation on rows; None if their groups are unknown."""
    groups = dataset.split.groups
    if model.adaptation is None or groups is None:
        return None
    X = states_of(model.features, dataset.table)
    y = dataset.with_classes(model.classes).y
    return effect_on_halves(model, X, y, groups)
