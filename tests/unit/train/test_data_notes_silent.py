"""Notes on uninformative features, by measurement."""

import numpy as np
import pytest

from bncc.data.dataset import Column, Dataset, Table
from bncc.train.data_notes import tells_nothing
from bncc.train.settings import TrainSettings
from bncc.train.train_model import train_model

N = 600
RNG = np.random.default_rng(0)
NONE = np.zeros(N, dtype=bool)
STATE = RNG.bit_generator.state


@pytest.fixture(autouse=True)
def _same_random_numbers():
    """Start each test at one state, whatever the order of tests."""
    RNG.bit_generator.state = STATE


def number(name, values, missing=NONE):
    return Column(name, "float", np.asarray(values, dtype=np.float64), missing)


def dataset_of_columns(y, *columns):
    return Dataset(Table(columns), np.asarray(y, dtype=np.int64), ("a", "b"), "class")


def test_noise_and_constants_tell_nothing_and_exclusive_or_does():
    """Neither part of an exclusive or is informative alone."""
    a, b = RNG.normal(size=(2, N))
    texts = np.array(["x", "y", "z"], dtype=object)[RNG.integers(0, 3, N)]
    columns = (
        number("a", a),
        number("b", b),
        number("noise", RNG.normal(size=N)),
        number("rare", RNG.random(N) > 0.9),
        Column("word", "category", texts, NONE),
        number("same", np.ones(N)),
        number("absent", np.zeros(N), ~NONE),
    )
    dataset = dataset_of_columns((a > 0) ^ (b > 0), *columns)
    found = tells_nothing(dataset, dataset.table.names)
    assert found == ["noise", "rare", "word", "same", "absent"]
    assert tells_nothing(dataset, ["b", "same"]) == ["same"]


def test_missing_cells_can_tell_the_class():
    y = np.arange(N) % 2
    dataset = dataset_of_columns(y, number("gone", RNG.normal(size=N), y == 1), number("n", y))
    assert tells_nothing(dataset, ["gone"]) == []


def test_noise_is_rarely_taken_for_something():
    """At most some of two hundred noisy columns, among others, count as informative."""
    y = RNG.integers(0, 2, N)
    noise = [number(f"n{k}", RNG.normal(size=N)) for k in range(40)]
    dataset = dataset_of_columns(y, *noise)
    assert len(tells_nothing(dataset, dataset.table.names)) >= 36


def test_few_rows_say_nothing_of_what_varies():
    dataset = dataset_of_columns(np.arange(N) % 2, number("n", RNG.normal(size=N)))
    dataset = dataset.take(np.arange(150))
    assert tells_nothing(dataset, ["n"]) == []


def test_a_feature_that_one_model_did_not_use_is_not_advised_against():
    """One small table reads one of two good features; the other is as good."""
    y = np.arange(N) % 2
    good = [number(name, y + RNG.normal(0, 0.4, N)) for name in ("first", "second")]
    options = {"tables": "1", "features": "1"}
    settings = TrainSettings(structure="tables", structure_options=options, epochs=2)
    result = train_model(dataset_of_columns(y, *good), settings)
    assert len(result.model.structure.features) == 1
    assert result.notes == ()
