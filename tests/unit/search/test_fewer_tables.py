"""Fewer boosted tables in a search: as few as are close to the best, in a faster layout."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from bncc.data.readers import bundled_path, read_table
from bncc.data.target import dataset_of
from bncc.errors import DataError
from bncc.interrupts import StopRequest
from bncc.resources import Budget
from bncc.search import budget_search, evaluation, fewer_tables
from bncc.search.budget_search import search
from bncc.search.choice import CLEAR, best_of, close_to_best, eligible
from bncc.search.ensemble_configs import LEAVES_ALONE, EnsembleConfig
from bncc.search.ensemble_race import judged_form
from bncc.search.evaluation import Evaluation, Evaluator, Judgement, SearchInput
from bncc.search.fewer_tables import MOST_TRIES, with_fewer_leaves, with_fewer_tables
from bncc.search.log import Log
from bncc.train.settings import TrainSettings
from tests.unit.search.pricing import CODE, price_by_tables, resources

BASE = TrainSettings(epochs=4, validation=0.2)
FAST = 4
"""Ratio of the bytes of the fast layout to those of the small one, and of their times."""


def small_layout(model, budget, readings=None, failed=None):
    flash = price_by_tables(model, budget, readings).flash
    return resources(flash, 400 * len(model.tables))


def fast_or_small(model, budget, readings=None, failed=None):
    small = small_layout(model, budget)
    fast = resources(CODE + FAST * (small.flash - CODE), small.slowest // FAST)
    return replace(fast, optimize="speed") if budget.admits(fast) else small


@pytest.fixture(scope="module")
def wifi():
    return dataset_of(read_table(bundled_path("wifi")))


@pytest.fixture
def priced(monkeypatch):
    monkeypatch.setattr(budget_search, "memory_price_of", small_layout)
    monkeypatch.setattr(evaluation, "price_of", small_layout)
    monkeypatch.setattr(evaluation, "memory_price_of", small_layout)
    monkeypatch.setattr(evaluation, "layout_price_of", fast_or_small)
    monkeypatch.setattr(
        evaluation, "fast_time_of", lambda model, budget: fast_or_small(model, budget).slowest
    )


def evaluator_of(wifi, flash):
    given = SearchInput(wifi, BASE, Budget("cortex-m0", flash=flash))
    return Evaluator(given, Log(None, {}, DataError))


def judged(evaluator, form, n_tables):
    return judged_form(form, form.settings(BASE, n_tables), evaluator)


def n_tables_of(one):
    return int(one.settings.structure_options["tables"])


@pytest.mark.no_cover
def test_flash_is_left_for_a_faster_layout(wifi, priced, monkeypatch):
    """Otherwise the search takes as many tables as fit in the smallest layout, or parts of them."""
    budget = Budget("cortex-m0", flash=CODE + 800)
    few = search(wifi, BASE, budget, families=("tables",))
    monkeypatch.setattr(budget_search, "with_fewer_tables", lambda *_: iter(()))
    many = search(wifi, BASE, budget, families=("tables",))
    assert few.chosen.resources.typical < many.chosen.resources.typical
    assert few.chosen in eligible(few.tried)
    assert budget.admits(few.price)
    assert few.chosen.resources.optimize == "speed"


def test_they_are_not_clearly_worse_and_fewer_wherever_they_are_close(wifi, priced):
    evaluator = evaluator_of(wifi, 10**6)
    one = judged(evaluator, EnsembleConfig(rows=8), 40)
    found = list(with_fewer_tables([one], evaluator, StopRequest()))
    assert 1 <= len(found) <= MOST_TRIES
    assert all(each in close_to_best([one, *found], CLEAR) for each in found)
    close = close_to_best([one, *found])
    counts = [n_tables_of(each) for each in found if each in close]
    assert counts == sorted(counts, reverse=True)
    assert all(n_tables_of(each) < 40 for each in found)
    assert all(each.form == one.form for each in found)


def test_tables_that_are_clearly_worse_are_a_lower_bound(wifi, priced, monkeypatch):
    """None with fewer are evaluated, whether they were tried before or are found here."""
    evaluator = evaluator_of(wifi, 10**6)
    form, asked = EnsembleConfig(rows=8), []
    one, bad = judged(evaluator, form, 40), judged(evaluator, form, 20)
    bad = replace(bad, losses=one.losses * 0 + 1)

    def is_close(losses, best, *errors):
        return False

    real = evaluator.judgements

    def judgements(settings, since=0):
        asked.append(int(settings.structure_options["tables"]))
        return real(settings, since)

    monkeypatch.setattr(fewer_tables, "is_close", is_close)
    monkeypatch.setattr(evaluator, "judgements", judgements)
    assert not list(with_fewer_tables([one, bad], evaluator, StopRequest()))
    assert asked == sorted(asked)
    assert min(asked) > 20
    assert max(asked) < 40


def test_single_trees_and_fronts_have_none(wifi, priced):
    evaluator = evaluator_of(wifi, 10**6)
    tree = judged(evaluator, EnsembleConfig(leaves=16, bits=4, is_single=True), 1)
    front = judged(evaluator, EnsembleConfig(rows=8, front=8), 10)
    assert not list(with_fewer_tables([tree, front], evaluator, StopRequest()))


@pytest.mark.no_cover
def test_the_most_accurate_has_no_fewer_tables_than_fit(wifi, priced):
    budget = Budget("cortex-m0", flash=CODE + 600)
    exact = search(wifi, BASE, budget, families=("tables",), prefer="error")
    assert exact.chosen is best_of(exact.tried)
    sizes = {}
    for one in exact.tried:
        sizes.setdefault(one.form, set()).add(n_tables_of(one))
    assert all(len(counts) <= 2 for counts in sizes.values())


class Trees:
    """Single trees by their leaves, each with errors in as many of a hundred rows."""

    def __init__(self, errors):
        self.given = SimpleNamespace(base=BASE, budget=Budget("cortex-m0", flash=64))
        self.errors, self.asked = errors, []

    def judgements(self, settings):
        leaves = int(settings.structure_options["leaves"])
        self.asked.append(leaves)
        misses = np.arange(100) < self.errors[leaves]
        return [Judgement(misses, misses.astype(float))]

    def priced(self, settings):
        return SimpleNamespace(price=resources(int(settings.structure_options["leaves"])))

    def tree(self, leaves):
        form = EnsembleConfig(leaves=leaves, bits=4, is_single=True)
        return judged_form(form, form.settings(BASE, 1), self)


RUN = StopRequest()


def leaves_of(some):
    return [one.form.leaves for one in some]


@pytest.mark.parametrize(
    ("errors", "asked", "found"),
    [
        # down to the smallest, or until one is clearly worse than the best
        ({64: 10, 32: 9, 16: 11, 8: 12}, [32, 16, 8], [32, 16, 8]),
        ({64: 10, 32: 12, 16: 30, 8: 40}, [32, 16], [32]),
        # as many errors, such as those of the same tree, end nothing
        ({64: 60, 32: 60, 16: 60, 8: 12}, [32, 16, 8], [8]),
        # too many leaves: smaller ones are clearly worse than other tables, but getting better
        ({64: 60, 32: 40, 16: 12, 8: 14}, [32, 16, 8], [16, 8]),
    ],
)
def test_leaves_of_a_single_tree_are_halved(errors, asked, found):
    trees = Trees({**errors, 1: 10})
    tables = replace(trees.tree(64), losses=(np.arange(100) < 10).astype(float), choice=(0.1,))
    tables = replace(tables, form=EnsembleConfig(rows=8))
    tried = [tables, trees.tree(64)]
    trees.asked.clear()
    some = list(with_fewer_leaves(tried, trees, RUN))
    assert leaves_of(some) == found
    assert [
        leaves for n, leaves in enumerate(trees.asked) if leaves not in trees.asked[:n]
    ] == asked
    assert all(one.form.is_single for one in some)


def test_every_kind_of_trees_is_halved():
    """The smallest tree of one kind may have more errors than trees of the other one have."""
    trees = Trees({256: 50, 128: 50, 64: 10, 32: 11, 16: 12, 8: 13})
    coarse = EnsembleConfig(leaves=16, bits=4, is_single=True, cut_bits=16)
    tried = [trees.tree(64), judged_form(coarse, coarse.settings(BASE, 1), trees)]
    found = [(one.form.cut_bits, one.form.leaves) for one in with_fewer_leaves(tried, trees, RUN)]
    assert found == [(0, 32), (0, 16), (0, 8), (16, 8)]


def test_one_table_of_a_form_is_a_single_tree():
    """A form of many tables has room for one, which reads as many columns as others of it."""
    trees = Trees(dict.fromkeys(LEAVES_ALONE, 10))
    few = EnsembleConfig(leaves=32, bits=4, inputs=3)
    several = replace(few, leaves=8)
    tried = [
        judged_form(few, few.settings(BASE, 1), trees),
        replace(trees.tree(8), form=several, settings=several.settings(BASE, 2)),
        trees.tree(16),
    ]
    found = [(one.form.inputs, one.form.leaves) for one in with_fewer_leaves(tried, trees, RUN)]
    assert found == [(0, 8), (3, 16), (3, 8)]


def test_trees_of_all_sizes_are_tried_if_the_race_kept_none():
    trees = Trees(dict.fromkeys(LEAVES_ALONE, 10))
    form = EnsembleConfig(rows=8)
    tables = replace(trees.tree(64), form=form, settings=form.settings(BASE, 3))
    found = leaves_of(with_fewer_leaves([tables], trees, RUN))
    assert found == [64, 32, 16, 8]  # those within 64 bytes
    named = replace(tables, settings=trees.tree(64).settings)  # the same tree by another name
    assert leaves_of(with_fewer_leaves([named], trees, RUN)) == [32, 16, 8]
    assert not list(with_fewer_leaves([], trees, RUN))
    network = Evaluation(BASE, (0.1,), (0.1,), tables.price, losses=tables.losses)
    assert not list(with_fewer_leaves([network], trees, RUN))


def test_a_stop_ends_them():
    trees, stop = Trees(dict.fromkeys(LEAVES_ALONE, 10)), SimpleNamespace(is_wanted=True)
    assert not list(with_fewer_leaves([trees.tree(64)], trees, stop))
