"""Codewords: rows clustered by their values, then by the largest decrease of the loss."""

import numpy as np

from bncc.boosting.learn import Dictionary, first_dictionary, reassigned
from bncc.boosting.sums import NumpySlopes, Samples


def test_rows_that_say_alike_share_a_codeword():
    """Up to a constant per row, and for any initial rows."""
    rng = np.random.default_rng(0)
    centers = np.array([[4.0, -2.0, -2.0], [-2.0, 4.0, -2.0], [-2.0, -2.0, 4.0]])
    kinds = np.arange(60) % 3
    rows = centers[kinds] + rng.normal(0.0, 0.1, (60, 3)) + rng.normal(0.0, 9.0, (60, 1))
    begin_apart = [
        first_dictionary(rows, np.ones(60, dtype=int), 6, np.random.default_rng(seed))
        for seed in range(5)
    ]
    for dictionary in begin_apart:
        said = dictionary.codewords[dictionary.chosen]
        assert np.abs(said - centers[kinds]).max() < 0.6
        assert np.abs(dictionary.codewords.mean(axis=1)).max() < 1e-9


def test_a_row_that_more_samples_read_counts_for_more():
    rows = np.array([[1.0, -1.0], [3.0, -3.0]])
    dictionary = first_dictionary(rows, np.array([98, 0]), 1, np.random.default_rng(0))
    assert np.allclose(dictionary.codewords, [[1.02, -1.02]])


def test_a_row_takes_the_codeword_that_its_samples_ask_for():
    """Two tables of two rows: samples of row 0 are of class 0, those of row 1 of class 1."""
    rows = np.array([[0, 2], [1, 3]] * 10)
    samples = Samples(np.empty((20, 0)), np.array([0, 1] * 10), np.ones(20), 2)
    codewords = np.array([[-1.0, 1.0], [0.0, 0.0], [1.0, -1.0]])
    before = Dictionary(codewords, np.array([1, 1, 1, 1]))
    after = reassigned(before, np.zeros(2), rows, (2, 2), NumpySlopes(samples))
    assert after.chosen.tolist() == [2, 0, 2, 0]
    assert before.chosen.tolist() == [1, 1, 1, 1]


def test_a_table_sees_what_those_before_it_have_changed():
    """The first of two equal tables takes the whole step, so the second one stays."""
    rows = np.array([[0, 1]] * 4)
    samples = Samples(np.empty((4, 0)), np.array([0, 0, 0, 1]), np.ones(4), 2)
    codewords = np.array([[0.0, 0.0], [0.55, -0.55]])
    after = reassigned(
        Dictionary(codewords, np.array([0, 0])), np.zeros(2), rows, (1, 1), NumpySlopes(samples)
    )
    assert after.chosen.tolist() == [1, 0]
