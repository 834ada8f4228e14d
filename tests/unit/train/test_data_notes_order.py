"""Notes on row numbers, times, subjects and time series, and tables that have none."""

from dataclasses import replace

import numpy as np
import pytest

from bncc.data.dataset import Column, Dataset, Table
from bncc.data.readers import read_table
from bncc.data.splits import SplitRule
from bncc.data.target import dataset_of
from bncc.train.data_notes import neighbor_ratio, order_notes

N = 400
RNG = np.random.default_rng(0)
NONE = np.zeros(N, dtype=bool)
READING = Column("reading", "float", RNG.normal(size=N), NONE)


STATE = RNG.bit_generator.state


@pytest.fixture(autouse=True)
def _same_random_numbers():
    """Start each test at one state, whatever the order of tests."""
    RNG.bit_generator.state = STATE


def notes(*columns, missing=NONE, **more):
    y = RNG.integers(0, 2, len(NONE))
    return list(order_notes(Dataset(Table((READING, *columns)), y, ("a", "b"), "class", **more)))


def column(values, kind="integer", missing=NONE):
    return Column("c", kind, np.asarray(values), missing)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (np.arange(N), "only rises from row to row"),
        (-np.arange(N) // 3, "only falls from row to row"),
        (RNG.permutation(N) * 7, "a different value in each row"),
        (np.repeat([3, 1, 2, 9, 4], 80), "constant over long runs"),
        (np.repeat(np.arange(25), 16), "constant over long runs"),
    ],
)
def test_columns_that_are_no_readings_are_noted_with_the_remedy(values, words):
    (note,) = notes(column(values))
    assert note.startswith("column 'c' ")
    assert words in note
    assert ("--groups" if "runs" in words else "--drop") in note


@pytest.mark.parametrize(
    ("name", "noted"), [("c", False), ("row id", True), ("userId", True), ("humidity", False)]
)
def test_different_readings_of_a_fine_sensor_are_no_identifier(name, noted):
    """Unless their name numbers rows; in a range of few values, readings would repeat."""
    values = RNG.choice(2**20, N, replace=False)
    assert bool(notes(replace(column(values), name=name))) == noted


def test_numbers_of_a_sample_of_rows_are_an_identifier():
    """Rows of a training set, rows without missing cells, and blocks of a large table."""
    values = RNG.permutation(N * 5 // 4)[:N] + 10**6
    missing = np.arange(N) % 7 == 0
    for cells in (notes(column(values)), notes(column(values, missing=missing))):
        assert "like an identifier" in cells[0]
    n = 60_000
    y, none = RNG.integers(0, 2, n), np.zeros(n, dtype=bool)
    large = Column("c", "integer", RNG.permutation(n), none)
    assert "like an identifier" in next(order_notes(Dataset(Table((large,)), y, ("a", "b"), "y")))


def test_texts_of_a_subject_are_noted():
    names = np.repeat(np.array(["eve", "bob", "ann", "joe"], dtype=object), 100)
    (note,) = notes(column(names, "category"))
    assert "constant over long runs" in note


@pytest.mark.parametrize(
    "plain",
    [
        RNG.integers(0, 300, N),
        np.repeat([0, 1], 200),
        np.tile([3, 1, 2, 9], 100),
        np.full(N, 7),
        np.repeat(np.arange(100), 4)[RNG.permutation(N)],
    ],
)
def test_readings_are_not_noted(plain):
    assert notes(column(plain)) == []


def test_gaps_hide_nothing_and_small_tables_are_not_noted():
    gaps = NONE.copy()
    gaps[7] = True
    (note,) = notes(column(np.where(gaps, 0, np.arange(N)), missing=gaps))
    assert "only rises from row to row" in note
    assert note.endswith("add --ordered")
    (ordered,) = notes(column(np.arange(N)), split=SplitRule(None, ordered=True))
    assert ordered.endswith("drop it with --drop")
    assert notes(column(np.zeros(N, dtype=int), missing=~NONE)) == []
    dataset = Dataset(Table((column(np.arange(N)),)), np.arange(N) % 2, ("a", "b"), "class")
    assert list(order_notes(dataset.take(np.arange(49)))) == []


def test_a_time_series_is_noted_unless_its_splits_respect_it():
    walk = Column("walk", "float", np.cumsum(RNG.normal(size=N)), NONE)
    (note,) = notes(walk, replace(walk, name="again"))
    assert "as in a time series" in note
    assert "--ordered" in note
    assert notes(walk, split=SplitRule(ordered=True)) == []
    assert notes(walk, split=SplitRule(np.arange(N) // 40)) == []


def test_rows_sorted_by_class_are_no_time_series():
    y = np.repeat([0, 1], 200)
    sorted_ = Column("x", "float", y * 9 + RNG.normal(size=N), NONE)
    dataset = Dataset(Table((sorted_, READING)), y, ("a", "b"), "class")
    assert neighbor_ratio(dataset) > 0.9
    assert list(order_notes(dataset)) == []


def test_a_large_table_is_looked_at_in_blocks():
    n = 100_000
    none = np.zeros(n, dtype=bool)
    walk = Column("walk", "float", np.cumsum(RNG.normal(size=n)), none)
    person = Column("person", "integer", np.arange(n) // 2500 * 7 % 40, none)
    dataset = Dataset(Table((walk, person)), RNG.integers(0, 2, n), ("a", "b"), "class")
    of_person, of_walk = order_notes(dataset)
    assert "'person' is constant over long runs" in of_person
    assert "as in a time series" in of_walk


SERIES = {"occupancy", "robot_wall_following_24", "har_exercise", "ai4i2020", "satimage"}
"""Readings over time or, of satimage, neighboring pixels."""
PLAIN = {"letter", "banknote", "wifi_localization", "mammography", "yeast", "wdbc", "magic04"}


@pytest.mark.shared
@pytest.mark.parametrize("name", sorted(SERIES | PLAIN))
def test_the_thresholds_part_known_sets(name, shared_data):
    path = shared_data / "raw" / f"{name}.csv.gz"
    found = list(order_notes(dataset_of(read_table(path))))
    assert len(found) == (name in SERIES)
    assert all("time series" in note for note in found)
