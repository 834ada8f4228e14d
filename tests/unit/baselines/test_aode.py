"""Averaged one-dependence estimators, compared with their definition."""

import json
from math import log, prod
from pathlib import Path

import numpy as np
import pytest
from scipy.special import softmax

from bncc.baselines.aode import aode, averaged
from bncc.baselines.baseline import Rows
from bncc.errors import OptionError

WEKA = Path(__file__).parents[2] / "fixtures" / "aode_weka.json"
N_STATES = (2, 3, 4)
OPTIONS = {"weight": 1.0, "least": 1}


def drawn(n: int = 60, seed: int = 0) -> Rows:
    """Return rows of three classes; the last state of the last feature is in none of them."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    X = np.column_stack([(y + rng.integers(0, 2, n)) % r for r in (2, 3, 3)])
    return Rows(X.astype(np.int64), y.astype(np.int64), N_STATES, 3)


def by_definition(rows: Rows, x: tuple[int, ...], m: float, least: int) -> list[float]:
    """Count again for every probability; return sums over parents, by class."""

    def count(c: int | None = None, **values: int) -> int:
        hit = np.ones(len(rows.y), dtype=bool) if c is None else rows.y == c
        for name, state in values.items():
            hit = hit & (rows.X[:, int(name[1:])] == state)
        return int(hit.sum())

    def given(j: int, c: int, **values: int) -> float:
        joint = count(c, **values, **{f"x{j}": x[j]})
        return (joint + m / rows.n_states[j]) / (count(c, **values) + m)

    n, features = len(rows.y), range(len(x))
    parents = [i for i in features if count(**{f"x{i}": x[i]}) >= least]
    if not parents:
        return [
            (count(c) + m / 3) / (n + m) * prod(given(j, c) for j in features) for c in range(3)
        ]
    return [
        sum(
            (count(c, **{f"x{i}": x[i]}) + m / (3 * rows.n_states[i])) / (n + m)
            * prod(given(j, c, **{f"x{i}": x[i]}) for j in features if j != i)
            for i in parents
        )
        for c in range(3)
    ]  # fmt: skip


@pytest.mark.parametrize(("weight", "least"), [(1.0, 1), (0.3, 1), (1.0, 20), (2.0, 1000)])
def test_scores_are_those_of_the_definition(weight, least):
    """All rows there are. With 20 two values are no parents; with 1000 naive Bayes decides."""
    rows = drawn()
    X = np.array(list(np.ndindex(N_STATES)))
    expected = [[log(p) for p in by_definition(rows, tuple(x), weight, least)] for x in X]
    found = averaged(rows, weight, least)
    assert np.allclose(found.log_scores(X), expected, rtol=0, atol=1e-12)
    assert np.array_equal(found.predict(X), np.argmax(expected, axis=1))


def test_pairs_tell_what_naive_bayes_cannot():
    """The class is whether two features differ; only a third of the estimators do not see it."""
    X = np.array(list(np.ndindex(2, 2, 2)) * 5)
    rows = Rows(X, (X[:, 0] ^ X[:, 1]).astype(np.int64), (2, 2, 2), 2)
    assert np.array_equal(aode(rows, OPTIONS, 0).decide(X), rows.y)


def test_many_rows_are_decided_in_parts_as_alone():
    rows = drawn(3000, seed=1)
    decide = aode(rows, OPTIONS, 0).decide
    assert np.array_equal(decide(rows.X)[[0, 1500, 2999]], decide(rows.X[[0, 1500, 2999]]))
    assert decide(rows.X[:0]).shape == (0,)


def test_it_costs_all_its_probabilities_and_has_no_c():
    """By class 9 P(c, x_i), and for each those of other features; 3 parents of 3 + 1 terms."""
    baseline = aode(drawn(), OPTIONS, 0)
    assert baseline.bits == 64 * 3 * (9 + 2 * (3 + 4) + 3 * (2 + 4) + 4 * (2 + 3))
    assert baseline.operations == 3 * 3 * 4
    assert baseline.code is None
    assert "183 probabilities" in baseline.lack


@pytest.mark.parametrize("weight", [0.0, -1.0, float("nan")])
def test_a_weight_that_leaves_zeros_is_refused(weight):
    with pytest.raises(OptionError, match="give one above 0"):
        aode(drawn(), {**OPTIONS, "weight": weight}, 0)


def digits(text: str) -> list[int]:
    return [int(digit) for digit in text]


@pytest.mark.parametrize("name", ["vote", "kr.vs.kp", "optdigits"])
def test_probabilities_are_those_of_weka(name):
    """To half of the last decimal that Weka prints."""
    theirs = json.loads(WEKA.read_text(encoding="utf-8"))["sets"][name]
    train, test = (np.array([digits(row) for row in theirs[part]]) for part in ("train", "test"))
    n_states, y = tuple(digits(theirs["n_states"])), np.array(digits(theirs["train_classes"]))
    model = averaged(Rows(train, y, n_states, theirs["n_classes"]), 1.0, 1)
    ours = softmax(model.log_scores(test), axis=1)
    expected = [[float(p) for p in row.split(",")] for row in theirs["distribution"]]
    assert ours == pytest.approx(np.array(expected), abs=5e-4)
