"""The best tree and forest within limits: of training rows, validation error and resources."""

import numpy as np
import pytest

from benchmarks.peers import limited_forests
from benchmarks.peers.limited_forests import LimitedForests, Limits
from benchmarks.peers.tree_peers import Form
from benchmarks.shared.memory import Memory
from bncc.data.dataset import Column, Dataset, Table

FORMS = (Form(1, leaves=4), Form(1, leaves=16), Form(3, leaves=4, share="sqrt"))
FLASH = {4: 100, 16: 300}
"""Bytes of a tree with as many leaves."""


class Cost:
    """Ten instructions for each leaf of each tree."""

    def __init__(self, form):
        self.mean = 10.0 * form.trees * form.leaves
        self.max = int(2 * self.mean)


def dataset(seed, n_rows=300):
    values = np.random.default_rng(seed).integers(-300, 300, (n_rows, 2))
    columns = tuple(Column(f"c{i}", "integer", values[:, i], values[:, i] > 999) for i in (0, 1))
    y = (values[:, 0] > 0).astype(np.int64) ^ (values[:, 1] > 100)
    return Dataset(Table(columns), y.astype(np.int64), ("a", "b"), "class")


@pytest.fixture
def measured(monkeypatch):
    """Figures of a compiler and a simulator that are not there, and what was asked of them."""
    asked = []

    def flash_on(bench, grown):
        asked.append(("flash", grown.candidate.form))
        return grown.candidate.form.trees * FLASH[grown.candidate.form.leaves]

    def cost_on(bench, grown, X):
        asked.append(("cost", grown.candidate.form))
        return Cost(grown.candidate.form)

    monkeypatch.setattr(limited_forests, "flash_on", flash_on)
    monkeypatch.setattr(limited_forests, "cost_on", cost_on)
    monkeypatch.setattr(limited_forests, "forms", lambda *_: iter(FORMS))
    return asked


def forests(folder, test=None):
    both = dataset(0), dataset(1) if test is None else test
    return LimitedForests("some", both, 0, None, Memory(folder / "baselines.jsonl"))


def test_the_better_tree_is_taken_where_flash_and_time_allow_it(tmp_path, measured):
    ones = forests(tmp_path)
    large = ones.best("tree", Limits(300, 160.0))
    assert large.words.startswith("16 leaves")
    assert (large.flash, large.mean, large.worst) == (300, 160.0, 320)
    for limits in (Limits(299, 160.0), Limits(300, 159.0)):
        assert ones.best("tree", limits).words.startswith("4 leaves")
    assert ones.best("tree", Limits(99, 160.0)) is None
    assert ones.best("tree", Limits(300, 39.0)) is None


def test_a_forest_is_of_several_trees(tmp_path, measured):
    found = forests(tmp_path).best("forest", Limits(1000, 1000.0))
    assert found.words.startswith("3 trees of 4 leaves")


def test_the_test_rows_select_nothing(tmp_path, measured):
    test = dataset(1)
    wrong = Dataset(test.table, 1 - test.y, test.classes, "class")
    limits = Limits(1000, 1000.0)
    one = forests(tmp_path / "a", test).best("tree", limits)
    other = forests(tmp_path / "b", wrong).best("tree", limits)
    assert (one.words, one.held, one.flash) == (other.words, other.held, other.flash)
    assert one.wrong + other.wrong == test.n_rows


def test_nothing_is_trained_or_measured_twice(tmp_path, measured, monkeypatch):
    limits = Limits(1000, 1000.0)
    first = [forests(tmp_path).best(kind, limits) for kind in ("tree", "forest")]
    n_asked = len(measured)
    monkeypatch.setattr(limited_forests, "grow", None)
    monkeypatch.setattr(limited_forests, "candidates", None)
    assert [forests(tmp_path).best(kind, limits) for kind in ("tree", "forest")] == first
    assert len(measured) == n_asked
