"""Gates in a search: variants of the best boosted tables that decide by the first of them."""

from dataclasses import replace

import pytest

from bncc.data.readers import bundled_path, read_table
from bncc.data.target import dataset_of
from bncc.errors import DataError
from bncc.interrupts import StopRequest
from bncc.model.card import gate_facts
from bncc.resources import Budget, Span
from bncc.search import budget_search, evaluation, fronts
from bncc.search.budget_search import search
from bncc.search.choice import best_alone
from bncc.search.ensemble_configs import GATE_SHARE, EnsembleConfig, gate_of
from bncc.search.ensemble_race import judged_form
from bncc.search.evaluation import Evaluation, Evaluator, SearchInput
from bncc.search.families import refuse_searched
from bncc.search.fronts import GUARDS, LEAST_GATED, with_fronts
from bncc.search.log import Log
from bncc.search.split_folds import folds_of
from bncc.train.settings import TrainSettings
from tests.unit.search.pricing import CODE, no_estimate, price_by_tables

BASE = TrainSettings(epochs=4, validation=0.2)
FORM = EnsembleConfig(rows=8)
TEST = 3


def price_with_gate(model, budget, readings=None, failed=None):
    """Price a gate by the tables that are added up on average."""
    plain, gate = price_by_tables(model, budget, readings), gate_facts(model)
    if gate is None:
        return plain
    slowest = plain.slowest
    first = TEST + slowest * gate["tables"] / len(model.tables)
    mean = gate["answers"] * first + (1 - gate["answers"]) * (slowest + TEST)
    spans = {"predict": Span(int(first), mean, slowest + TEST)}
    return replace(plain, instructions=spans)


@pytest.fixture(scope="module")
def wifi():
    return dataset_of(read_table(bundled_path("wifi")))


@pytest.fixture
def priced(monkeypatch):
    monkeypatch.setattr(fronts, "LEAVES", ())
    monkeypatch.setattr(budget_search, "memory_price_of", price_with_gate)
    monkeypatch.setattr(evaluation, "price_of", price_with_gate)
    monkeypatch.setattr(evaluation, "memory_price_of", price_with_gate)
    monkeypatch.setattr(evaluation, "layout_price_of", price_with_gate)
    monkeypatch.setattr(evaluation, "fast_time_of", no_estimate)


def evaluator_of(wifi, flash=10**6):
    given = SearchInput(wifi, BASE, Budget("cortex-m0", flash=flash))
    return Evaluator(given, Log(None, {}, DataError))


def judged(evaluator, form, n_tables):
    return judged_form(form, form.settings(BASE, n_tables), evaluator)


def options_of(one):
    return one.settings.structure_options


def test_a_gate_is_tried_behind_a_third_of_the_tables(wifi, priced):
    evaluator = evaluator_of(wifi)
    one = judged(evaluator, FORM, 12)
    (found,) = with_fronts([one], evaluator, StopRequest())
    assert found.form.has_gate
    assert options_of(found)["gate"] == "4" == str(round(GATE_SHARE * 12))
    assert options_of(found)["tables"] == "12"
    assert found.ends_early
    assert not one.ends_early
    assert found.price.typical < found.price.slowest == one.price.slowest + TEST
    assert best_alone([replace(found, choice=(0.0,) * 5), one]) is one


def test_a_gate_that_is_clearly_worse_gets_a_stricter_guard(wifi, priced, monkeypatch):
    evaluator = evaluator_of(wifi)
    one = judged(evaluator, FORM, 12)

    def is_close(settings, best, evaluator, errors):
        return settings.structure_options.get("gate-differing") == str(GUARDS[-1])

    monkeypatch.setattr(fronts, "_is_close", is_close)
    (found,) = with_fronts([one], evaluator, StopRequest())
    assert options_of(found)["gate-differing"] == str(GUARDS[-1])
    assert "front-differing" not in options_of(found)


def test_few_tables_and_trees_have_none(wifi, priced):
    evaluator = evaluator_of(wifi)
    few = judged(evaluator, FORM, LEAST_GATED - 1)
    trees = judged(evaluator, EnsembleConfig(leaves=8, bits=4), 12)
    assert list(with_fronts([few], evaluator, StopRequest())) == []
    assert list(with_fronts([trees], evaluator, StopRequest())) == []


def test_the_fastest_and_the_best_have_gates_alone(wifi, priced, monkeypatch):
    evaluator = evaluator_of(wifi)
    sums = [judged(evaluator, FORM, n) for n in (6, 8, 10, 12)]
    monkeypatch.setattr(fronts, "eligible", lambda tried, **_: list(tried))
    monkeypatch.setattr(fronts, "best_of", lambda some: max(some, key=fronts._n_tables))
    monkeypatch.setattr(fronts, "_is_close", lambda *_: True)
    found = with_fronts(sums, evaluator, StopRequest())
    assert [options_of(one)["tables"] for one in found] == ["6", "12"]


def test_one_training_serves_all_guards(wifi, priced, monkeypatch):
    """Margins are chosen on the same decisions of held-out rows, whatever the guard."""
    (fold, *_) = folds_of(wifi, BASE)
    runs = []
    usual = fold.__class__.model.__globals__["held_out_of"]

    def counted(*given):
        runs.append(given)
        return usual(*given)

    monkeypatch.setitem(fold.__class__.model.__globals__, "held_out_of", counted)
    gates = []
    for differing in (0.0, 0.001, 0.2):
        form = replace(FORM, has_gate=True, differing=differing)
        gates.append(fold.model(form.settings(BASE, 9)).gate)
    assert len(runs) == 1
    assert gates[0].tables == 3
    assert gates[2].margin < gates[1].margin
    assert fold.model(FORM.settings(BASE, 9)).gate is None


def test_a_mean_time_is_of_rows_that_no_table_has_seen(wifi, priced, monkeypatch):
    evaluator = evaluator_of(wifi)
    (fold, *_) = evaluator.given.folds
    tables = []

    def price(model, budget, readings, failed=None):
        tables.append((model.gate is not None, readings))
        return price_with_gate(model, budget, readings)

    monkeypatch.setattr(evaluation, "price_of", price)
    monkeypatch.setattr(evaluation, "memory_price_of", price)
    for form in (FORM, replace(FORM, has_gate=True)):
        evaluator.priced(form.settings(BASE, 9))
    assert tables == [(False, fold.rest.table), (True, fold.held.table)]


def test_gates_compete_with_all_others(wifi, priced, monkeypatch):
    monkeypatch.setattr(fronts, "LEAST_GATED", 2)
    budget = Budget("cortex-m0", flash=CODE + 400)
    found = search(wifi, BASE, budget, families=("tables",))
    behind = [one for one in found.tried if "gate" in options_of(one)]
    assert behind
    assert all(budget.admits(one.price) for one in found.tried)
    assert ("gate" in found.settings.structure_options) == (found.result.model.gate is not None)
    assert found.chosen.resources.typical <= min(one.resources.typical for one in behind) + 50


@pytest.mark.parametrize(("flash", "most"), [(10**6, 9), (CODE + 60, 8), (CODE + 20, 3)])
def test_all_rows_take_fewer_tables_on_both_sides(wifi, priced, flash, most):
    settings = replace(FORM, has_gate=True).settings(BASE, 9)
    price = evaluator_of(wifi).priced(settings).price
    evaluator = evaluator_of(wifi, flash)
    found = budget_search._final(
        evaluator, Evaluation(settings, (0.1,), (0.1,), price), StopRequest()
    )
    n_tables = len(found.result.model.tables)
    assert n_tables <= most
    options = found.settings.structure_options
    assert options.get("gate", "0") == str(gate_of(n_tables))
    assert ("gate" in options) == (n_tables > 1)


def test_a_gate_has_tables_on_both_sides():
    assert [gate_of(n) for n in (1, 2, 3, 4, 12, 60)] == [0, 1, 1, 1, 4, 20]


def test_the_option_is_searched():
    named = replace(BASE, structure="tables", structure_options={"gate": "8"})
    with pytest.raises(Exception, match="--structure-option gate does not apply"):
        refuse_searched(named)
