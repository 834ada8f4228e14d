"""Majorities and the float model of the benchmark of filters."""

import numpy as np

from benchmarks.recordings.filter import forward, majority, rows_of, transitions
from benchmarks.recordings.sets import find_set
from benchmarks.shared.memory import Memory

ONE = np.zeros(7, dtype=np.int64)


def test_a_majority_is_of_the_last_five_of_a_sequence():
    said = np.array([0, 1, 1, 2, 0, 0, 0])
    assert majority(said, ONE).tolist() == [0, 1, 1, 1, 0, 0, 0]
    two = np.array([0, 0, 0, 1, 1, 1, 1])
    assert majority(said, two).tolist() == [0, 1, 1, 2, 0, 0, 0]
    assert majority(np.array([0, 0, 0, 1, 1, 1, 1]), ONE).tolist() == [0, 0, 0, 0, 0, 1, 1]


def test_a_pair_of_rows_is_counted_within_its_sequence():
    found = transitions(np.array([0, 0, 1, 1]), np.array([0, 0, 0, 1]), 2)
    assert np.allclose(found, [[0.5, 0.5], [0.5, 0.5]])
    found = transitions(np.array([0, 0, 0, 1]), ONE[:4], 2)
    assert np.allclose(found, [[0.6, 0.4], [0.5, 0.5]])


def test_a_likely_class_stays_against_weak_evidence():
    nats = np.array([[0.0, 5.0], [1.0, 0.0], [5.0, 0.0], [5.0, 0.0]])
    sticky = np.array([[0.95, 0.05], [0.05, 0.95]])
    assert forward(nats, ONE[:4], sticky).tolist() == [0, 0, 1, 1]
    assert forward(nats, np.array([0, 1, 1, 1]), sticky).tolist() == [0, 1, 1, 1]
    assert forward(nats, ONE[:4], np.full((2, 2), 0.5)).tolist() == [0, 1, 1, 1]


def test_a_row_is_of_a_set_that_is_known(tmp_path):
    ways = dict.fromkeys(("alone", "votes", "filter", "same", "float", "viterbi"), 1.25)
    known = Memory(tmp_path / "known.jsonl")
    value = {"windows": 1775, "switch": 23, "differ": 0.5, "error": ways, "switches": ways}
    known.put("pump, 30", value)
    sets = [find_set("hapt"), find_set("pump")]
    assert rows_of(known, sets, 30) == [["pump", "1,775", "23", *["1.2, 1"] * 6, "0.5"]]
    assert rows_of(known, sets, 31) == []
