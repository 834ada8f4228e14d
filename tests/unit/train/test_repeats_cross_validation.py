"""Cross-validation of a training procedure."""

from dataclasses import replace

import numpy as np
import pytest

from bncc.data.dataset import Column, Dataset, Table
from bncc.data.readers import bundled_path, read_table
from bncc.data.splits import SplitRule
from bncc.data.target import dataset_of
from bncc.interrupts import StopRequest
from bncc.train import repeats as cross_validation
from bncc.train.repeats import cross_validated, held_out_scores
from bncc.train.settings import TrainSettings
from bncc.train.train_model import train_model

ML = TrainSettings(parameters="ml")


def noise(n: int = 300) -> Dataset:
    """Rows of nearly unique states, which tables learn by heart, and classes by chance."""
    rng = np.random.default_rng(0)
    columns = tuple(
        Column(f"x{i}", "state", rng.integers(0, 12, n), np.zeros(n, dtype=bool)) for i in range(8)
    )
    return Dataset(Table(columns), rng.integers(0, 2, n), ("a", "b"), "class")


def test_each_row_is_decided_once_by_a_training_without_it(monkeypatch):
    seen = []
    learn = cross_validation.model_alone

    def spied(rest, *others):
        seen.append(rest.table.columns[0].values.tolist())
        return learn(rest, *others)

    monkeypatch.setattr(cross_validation, "model_alone", spied)
    dataset = noise()
    numbers = Column("n", "integer", np.arange(300), np.zeros(300, dtype=bool))
    dataset = replace(dataset, table=Table((numbers, *dataset.table.columns)))
    crossed = cross_validated(train_model(dataset, ML), held_out_scores(dataset, ML, 5))
    left_out = [sorted(set(range(300)) - set(rows)) for rows in seen]
    assert sorted(row for rows in left_out for row in rows) == list(range(300))
    assert np.sum(crossed.model.training["confusion"]) == 300


@pytest.mark.parametrize(
    "settings",
    [ML, replace(ML, bits=4, frac_bits=2), TrainSettings(epochs=3),
     TrainSettings(structure="tables", structure_options={"tables": "10"}, epochs=2)],
)  # fmt: skip
def test_what_is_learned_by_heart_is_no_better_than_chance(settings):
    dataset = noise()
    result = train_model(dataset, settings)
    crossed = cross_validated(result, held_out_scores(dataset, settings, 5))
    record = crossed.model.training
    assert record["error_train"] < 0.35
    assert 0.4 < record["error_cross_validation"] < 0.6
    low, high = record["error_interval"]
    assert low < record["error_cross_validation"] < high
    assert (record["interval_method"], record["folds"]) == ("Wilson", 5)
    wrong = 300 - np.trace(record["confusion"])
    assert wrong / 300 == record["error_cross_validation"]
    assert (crossed.model.tables[0] == result.model.tables[0]).all()
    assert cross_validated(result, held_out_scores(dataset, settings, 5)).model.training == record


def test_groups_and_blocks_are_respected_and_the_interval_says_so():
    dataset = noise()
    groups = replace(dataset, split=SplitRule(np.arange(300) // 100))
    record = cross_validated(train_model(groups, ML), held_out_scores(groups, ML, 5)).model.training
    assert record["folds"] == 3
    assert record["interval_method"] == "Wilson, effective number of rows from 3 groups"
    ordered = replace(dataset, split=SplitRule(ordered=True))
    record = cross_validated(
        train_model(ordered, ML), held_out_scores(ordered, ML, 5)
    ).model.training
    assert record["interval_method"] == "Wilson, effective number of rows from 20 blocks"


def test_folds_without_which_there_is_one_class_take_that_class():
    groups = replace(noise(), y=np.arange(300) // 150, split=SplitRule(np.arange(300) // 150))
    record = cross_validated(train_model(groups, ML), held_out_scores(groups, ML, 5)).model.training
    assert record["error_cross_validation"] == 1.0


def test_too_few_rows_and_early_ends_leave_the_record_as_it_was():
    dataset = noise()
    result = train_model(dataset, ML)
    stop = StopRequest()
    stop.signal = 2
    assert cross_validated(result, held_out_scores(dataset, ML, 5, stop=stop)) is result
    one = replace(dataset, split=SplitRule(np.zeros(300, dtype=np.int64)))
    assert cross_validated(result, held_out_scores(one, ML, 5)) is result


def test_progress_reaches_its_end():
    dataset, told = dataset_of(read_table(bundled_path("wifi"))).take(np.arange(0, 2000, 10)), []
    settings = TrainSettings(epochs=2)
    result = train_model(dataset, settings)
    cross_validated(
        result, held_out_scores(dataset, settings, 2, lambda share, _: told.append(share))
    )
    assert told == sorted(told)
    assert told[-1] == 1.0
