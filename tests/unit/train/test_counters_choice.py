"""Bins hold about as many held-out rows each, and counters are those of held-out decisions."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from bncc.data.splits import SplitRule
from bncc.discretize.feature import states_of
from bncc.errors import DataError
from bncc.model.drift import Drift, ReadOut, drifts_of
from bncc.model.model import Model, check_model
from bncc.model.reference import scores
from bncc.model.unknown import UNKNOWN
from bncc.train.counters_choice import bins_of, unseen_ranks
from bncc.train.decision_rules import DecisionRules
from bncc.train.repeats import HeldOut, Trained, held_out_scores
from bncc.train.settings import TrainSettings
from bncc.train.train_model import train_model
from tests.dwelling import CLASSES, dataset

NAIVE = TrainSettings(structure="naive", parameters="ml", discretize="quantile")


def test_bins_are_quantiles_without_equal_ones() -> None:
    assert bins_of(np.arange(80)) == (0, 9, 19, 29, 39, 49, 59, 69)
    assert bins_of(np.zeros(5, dtype=np.int64)) == (0,)
    assert bins_of(np.repeat([0, 7], 50)) == (0, 7)
    assert all(type(limit) is int for limit in bins_of(np.arange(80)))


def fresh_counts(model: Model, seed: int = 7) -> Drift:
    """Return what differs on rows of the same kind, that are new."""
    rows = dataset(seed=seed, n_groups=16)
    assert model.counters is not None
    of_rows = scores(model, states_of(model.features, rows.table))
    counts = model.counters.counted(of_rows, None, rows.time_sequences)
    return drifts_of(
        model.counters, CLASSES, [ReadOut("new", counts)], alpha=0.01, least_distance=0.1
    )[0]


@pytest.mark.parametrize("unknown", [None, 0.1])
def test_counters_are_those_of_all_rows(unknown: float | None) -> None:
    result, rows = train_model(dataset(), NAIVE), dataset()
    held = held_out_scores(rows, NAIVE, 5)
    assert held is not None
    rules = DecisionRules(unknown=unknown, counters=True)
    rules.check(rows)
    model = rules.applied(result, rows, NAIVE, held=held).model
    assert rules.are_those_of(model)
    assert not rules.are_those_of(result.model)
    check_model(model)
    assert model.counters is not None
    counts = model.counters.expected
    assert counts.n == sum(counts.margins) == 800
    assert counts.stays is not None
    assert counts.switches is not None
    # Four groups, each of which is a sequence.
    assert counts.stays + counts.switches == 796
    expected = None if unknown is None else model.training[UNKNOWN]["held_out"]["false_alarms"]
    assert counts.unknown == expected
    assert not fresh_counts(model).changed


@pytest.mark.parametrize(
    "settings",
    [
        NAIVE,
        TrainSettings(structure="tables", structure_options={"tables": "20"}),
        TrainSettings(structure="tables", structure_options={"tables": "1", "leaves": "40"}),
    ],
    ids=["naive", "tables", "tree"],
)
def test_new_rows_of_the_same_kind_are_no_change(settings: TrainSettings) -> None:
    """Neither for few margins, which differ between trainings, nor for models that overfit."""
    rows = dataset(n_groups=8)
    model = DecisionRules(counters=True).applied(train_model(rows, settings), rows, settings).model
    found = fresh_counts(model)
    assert not found.changed, found
    assert {each.counters for each in found.comparisons} == {"classes", "margins", "switches"}


def training_of(margins: Sequence[int], decisions: Sequence[int]) -> Trained:
    """Return what a training decides on all rows."""
    return Trained(np.array(decisions), np.array(margins))


def test_ranks_are_those_of_new_rows_among_training_rows() -> None:
    held = held_by([0, 0, 1, 1, 1, 1], training_of([1, 9, 2, 4, 4, 6], [0] * 6))
    # The first new row is below all training rows, the other one above.
    assert unseen_ranks(held, np.array([0.25, 0.75])).tolist() == pytest.approx([1 / 6, 1 / 6])
    ties = held_by([0, 0, 1, 1, 1, 1], training_of([4, 4, 2, 4, 4, 6], [0] * 6))
    # Their margins have the ranks from 0.25 to 0.75.
    assert unseen_ranks(ties, np.array([0.25, 0.5, 0.75])).tolist() == pytest.approx(
        [0, 1 / 6, 2 / 6]
    )


def held_by(folds: Sequence[int], training: Trained) -> HeldOut:
    """Return rows one fold of which a training has not seen; there is none for the other."""
    n = len(folds)
    zeros = np.zeros((n, 2), dtype=np.int64)
    return HeldOut(zeros, zeros[:, 0], np.array(folds), dataset(), zeros[:, :0], (training,))


def test_rows_without_an_order_have_no_switches() -> None:
    rows = replace(dataset(), split=SplitRule())
    result = train_model(rows, NAIVE)
    model = DecisionRules(counters=True).applied(result, rows, NAIVE).model
    assert model.counters is not None
    assert model.counters.expected.switches is None
    check_model(model)


def test_rows_of_one_group_are_refused_before_training() -> None:
    single = replace(dataset(), split=SplitRule(np.zeros(800, dtype=np.int64)))
    with pytest.raises(DataError, match="--counters needs rows that a training has not seen"):
        DecisionRules(counters=True).check(single)
    DecisionRules(counters=True).check(dataset())
