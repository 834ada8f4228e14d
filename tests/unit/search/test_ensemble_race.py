"""Racing of ensemble forms: the best is found, and hopeless ones are stopped early."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from bncc.data.readers import bundled_path, read_table
from bncc.data.splits import SplitRule
from bncc.data.target import dataset_of
from bncc.errors import DataError
from bncc.resources import Budget
from bncc.search import ensemble_configs, evaluation
from bncc.search.capacity import Capacity
from bncc.search.ensemble_configs import EnsembleConfig, single_tables, starts
from bncc.search.ensemble_race import _single, judged_sums, resized
from bncc.search.evaluation import Evaluation, Evaluator, SearchInput
from bncc.search.log import Log
from bncc.search.split_folds import Fold
from bncc.train.settings import TrainSettings
from tests.unit.search.pricing import no_estimate, price_by_tables, resources

BASE = TrainSettings(epochs=2, validation=0.2)
BUDGET = Budget("avr", flash=500)


@pytest.fixture(scope="module")
def wifi():
    return dataset_of(read_table(bundled_path("wifi")))


@pytest.fixture
def evaluator(wifi, monkeypatch):
    monkeypatch.setattr(evaluation, "price_of", price_by_tables)
    monkeypatch.setattr(evaluation, "memory_price_of", price_by_tables)
    monkeypatch.setattr(evaluation, "layout_price_of", price_by_tables)
    monkeypatch.setattr(evaluation, "fast_time_of", no_estimate)
    monkeypatch.setattr(ensemble_configs, "FORMS", ("product",))
    given = SearchInput(wifi, BASE, BUDGET)
    vars(given)["folds"] = given.folds[:3]
    return Evaluator(given, Log(None, {}, DataError))


def judging(monkeypatch, errs):
    """Give forms fixed errors, always on the first rows."""
    form_of = {}

    def model(fold, settings):
        made = learn(fold, settings)
        form_of[id(made)] = made, settings
        return made

    def misses(fold, model):
        settings = form_of[id(model)][1]
        return np.arange(fold.held.n_rows) < errs(settings) * fold.held.n_rows

    learn = Fold.model
    monkeypatch.setattr(Fold, "model", model)
    monkeypatch.setattr(Fold, "misses", misses)


@pytest.mark.no_cover
def test_the_way_to_the_best_form_is_found(evaluator, monkeypatch):
    def errs(settings):
        rows = int(settings.structure_options["rows"])
        return 0.05 + 0.02 * abs(np.log2(rows / 64)) + 0.02 * (settings.bits - 2)

    judging(monkeypatch, errs)
    judged = list(judged_sums(evaluator))
    best = min(judged, key=lambda one: one.order)
    assert (best.form.rows, best.form.bits) == (64, 2)
    assert len({one.form for one in judged}) == len(judged)


@pytest.mark.parametrize("ordered", [True, False])
def test_a_block_in_time_eliminates_no_form_alone(evaluator, wifi, monkeypatch, ordered):
    """Its errors occur together. Of random rows, a fold with as many more errors does."""
    given = replace(evaluator.given, dataset=replace(wifi, split=SplitRule(ordered=ordered)))
    first, *others = given.folds[:3]
    vars(given)["folds"] = (first, *others)
    form_of = {}

    def model(fold, settings):
        made = learn(fold, settings)
        form_of[id(made)] = made, fold is first, settings.structure_options["rows"] == "32"
        return made

    def misses(fold, model):
        _, is_first, is_late = form_of[id(model)]
        share = (0.5 if is_first else 0.0) if is_late else 0.3
        return np.arange(fold.held.n_rows) < share * fold.held.n_rows

    learn = Fold.model
    monkeypatch.setattr(Fold, "model", model)
    monkeypatch.setattr(Fold, "misses", misses)
    judged = list(judged_sums(Evaluator(given, Log(None, {}, DataError))))
    assert any(one.form.rows == 32 for one in judged) is ordered


def test_the_hopeless_are_judged_by_few_rows(evaluator, monkeypatch):
    asked = Counter()

    def errs(settings):
        is_hopeless = settings.structure_options["rows"] == "32"
        asked[is_hopeless, str(settings)] += 1
        return 0.5 if is_hopeless else 0.1

    judging(monkeypatch, errs)
    judged = {one.form for one in judged_sums(evaluator)}
    assert EnsembleConfig(rows=32) in starts(7, is_timed=False)
    assert EnsembleConfig(rows=32) not in judged
    assert {n for (is_hopeless, _), n in asked.items() if is_hopeless} == {1}


@pytest.mark.no_cover
def test_what_is_no_better_has_no_price_unless_its_size_is_unknown_or_it_is_faster(
    evaluator, monkeypatch
):
    judging(monkeypatch, lambda settings: 0.1)
    judged = list(judged_sums(evaluator))
    best = min(judged, key=lambda one: one.order)
    others = [one for one in judged if one is not judged[0]]
    first_of_bits = {one.form.bits: one for one in reversed(judged)}
    for one in others:
        is_faster = one.price.slowest < judged[0].price.slowest
        assert is_faster or one is first_of_bits[one.form.bits]
    assert {one.form.bits for one in judged} == {2, 3, 4}
    assert all(len(one.errors) == 3 for one in judged)
    assert best.losses.shape == (sum(fold.held.n_rows for fold in evaluator.given.folds),)


def test_forms_that_lose_by_useless_columns_are_tried_with_few(evaluator, monkeypatch):
    """Trees lose with all columns, and are not among the neighbors of products."""
    monkeypatch.setattr(ensemble_configs, "FORMS", ("product", "branching"))

    def error_of(settings):
        options = settings.structure_options
        if "leaves" in options:
            return 0.02 if options.get("inputs") == "4" else 0.5
        return 0.1 if options.get("inputs") == "4" else 0.3

    judging(monkeypatch, error_of)
    best = min(judged_sums(evaluator), key=lambda one: one.order)
    assert best.form.is_branching
    assert best.form.inputs == 4


def test_the_way_to_the_best_tree_is_found(evaluator, monkeypatch):
    monkeypatch.setattr(ensemble_configs, "FORMS", ("product", "branching"))

    def errs(settings):
        leaves = int(settings.structure_options.get("leaves", 0))
        if not leaves or settings.structure_options["tables"] == "1":
            return 0.3
        return 0.05 + 0.05 * abs(np.log2(leaves / 8)) + 0.02 * (settings.bits - 3)

    judging(monkeypatch, errs)
    judged = list(judged_sums(evaluator))
    best = min(judged, key=lambda one: one.order)
    assert (best.form.leaves, best.form.bits, best.form.is_branching) == (8, 3, True)


@pytest.mark.parametrize("flash", [500, 900, 2500, 10**5])
def test_the_largest_single_tree_that_fits_is_tried(evaluator, monkeypatch, flash):
    monkeypatch.setattr(ensemble_configs, "FORMS", ("branching",))
    vars(evaluator.given)["budget"] = budget = Budget("avr", flash=flash)
    room = Capacity(evaluator)
    (form,) = _single(room)
    assert form.is_single
    larger = [other for other in single_tables() if other.leaves > form.leaves]
    assert not any(room.may_fit(other) for other in larger)
    assert budget.admits(evaluator.priced(form.settings(BASE, 1)).price)
    assert form.leaves == 256 or flash < 2500


def test_tables_in_parts_of_a_budget_are_of_the_same_form(evaluator, monkeypatch):
    judging(monkeypatch, lambda settings: 0.1)
    room = Capacity(evaluator)
    one = next(judged_sums(evaluator, room))
    half, twice = (resized(one, room, evaluator, Budget("avr", flash=n)) for n in (250, 1000))
    assert half.form == twice.form == one.form
    assert half.price.flash <= 250 < one.price.flash <= 500 < twice.price.flash <= 1000
    assert len(half.errors) == len(twice.errors) == 3
    assert resized(one, room, evaluator, BUDGET) in (None, one)


def test_more_folds_count_for_more_than_a_lucky_one():
    cheap, dear = map(resources, (1, 2))

    def order(errors, price):
        return Evaluation(BASE, errors, errors, price).order

    assert order((0.2, 0.2), dear) < order((0.1,), cheap)
    assert order((0.1, 0.1), dear) < order((0.2, 0.1), cheap)
    assert order((0.1,), cheap) < order((0.1,), dear)
