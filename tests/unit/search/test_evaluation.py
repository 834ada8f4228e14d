"""Evaluations are computed once, with the same results in any process and order."""

from dataclasses import asdict, replace

import numpy as np
import pytest

from bncc.data.readers import bundled_path, read_table
from bncc.data.splits import SplitRule
from bncc.data.target import dataset_of
from bncc.errors import DataError, WorkerError
from bncc.model.file import to_bytes
from bncc.resources import Budget
from bncc.search import evaluation as module
from bncc.search.budget_search import open_log, search_input, searched
from bncc.search.evaluation import Evaluator, Part, SearchInput, evaluate
from bncc.search.families import FAMILIES
from bncc.search.log import Log
from bncc.search.pool import Outcome, outcome_of
from bncc.search.split_folds import LEAST_UNITS
from bncc.train.settings import TrainSettings
from tests.unit.search.pricing import CODE, no_estimate, price_by_tables

BASE = TrainSettings(epochs=2, validation=0.2)
SUM = replace(BASE, structure="tables", structure_options={"tables": "3", "rows": "8"}, bits=3)
NETWORK = replace(BASE, structure="naive", parameters="ml")


class Backwards:
    """Works on several tasks at a time, the last one first."""

    def __init__(self, given, n_slots=3, spoil=lambda result: result):
        self.given, self.n_slots, self.spoil = given, n_slots, spoil
        self.waiting, self.n_worked = [], 0

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def submit(self, task):
        self.waiting.append(task)
        assert len(self.waiting) <= self.n_slots

    def collect(self, timeout):
        self.n_worked += 1
        outcome = outcome_of(self.given, self.waiting.pop(), evaluate)
        return [replace(outcome, result=self.spoil(outcome.result))]


@pytest.fixture(scope="module")
def wifi():
    return dataset_of(read_table(bundled_path("wifi"))).take(np.arange(0, 2000, 8))


@pytest.fixture
def given(wifi, monkeypatch):
    monkeypatch.setattr(module, "price_of", price_by_tables)
    monkeypatch.setattr(module, "memory_price_of", price_by_tables)
    monkeypatch.setattr(module, "layout_price_of", price_by_tables)
    monkeypatch.setattr(module, "fast_time_of", no_estimate)
    return SearchInput(wifi, BASE, Budget("cortex-m0", flash=CODE + 100))


def evaluator(given, execution=None, path=None):
    return Evaluator(given, Log(path, {}, lambda theirs: DataError()), execution)


@pytest.mark.parametrize("candidate", [SUM, NETWORK])
@pytest.mark.parametrize("choose_by", ["error", "balanced-error", "log-loss"])
def test_judgements_are_those_of_the_folds_themselves(given, candidate, choose_by, tmp_path):
    given = replace(given, choose_by=choose_by)
    here = list(evaluator(given, path=tmp_path / "x.log").judgements(candidate))
    again = list(evaluator(given, path=tmp_path / "x.log").judgements(candidate))
    there = list(evaluator(given, Backwards(given)).judgements(candidate))
    assert len(here) == len(again) == len(there) == len(given.folds) == 5
    for fold, *found in zip(given.folds, here, again, there, strict=True):
        if candidate is SUM:
            misses = fold.misses(fold.model(SUM))
            losses = fold.losses(fold.model(SUM), misses)
            assert np.array_equal(found[0].misses, misses)
            assert np.array_equal(found[0].losses, losses)
        for one in found:
            assert np.array_equal(one.misses, found[0].misses)
            assert np.array_equal(one.losses, found[0].losses)
            assert one.losses.dtype == np.float64


def test_what_is_asked_for_twice_is_worked_on_once(given, monkeypatch):
    worked = []

    def counted(given, number, part):
        worked.append(part)
        return evaluate(given, number, part)

    monkeypatch.setattr(module, "evaluate", counted)
    asked = evaluator(given)
    first = next(asked.judgements(SUM))
    assert worked == [Part("judge", SUM, 0)]  # and no more than was requested
    assert np.array_equal(next(asked.judgements(SUM)).misses, first.misses)
    assert asked.priced(SUM) == asked.priced(SUM)
    assert asked.grown(SUM) == asked.grown(SUM)
    result, price = asked.trained(NETWORK)
    assert asked.trained(NETWORK)[1] == price
    assert to_bytes(asked.trained(NETWORK)[0].model) == to_bytes(result.model)
    assert len(worked) == 4


def test_parts_of_different_candidates_have_different_keys():
    parts = [
        Part("judge", SUM, 0), Part("judge", SUM, 1), Part("price", SUM),
        Part("judge", replace(SUM, seed=1), 0),
        Part("judge", replace(SUM, structure_options={"tables": "4", "rows": "8"}), 0),
    ]  # fmt: skip
    assert len({part.key for part in parts}) == len(parts)
    other = dict(reversed(SUM.structure_options.items()))
    assert Part("judge", replace(SUM, structure_options=other)).key == parts[0].key
    assert set(asdict(SUM)) == {*vars(SUM)}


@pytest.mark.no_cover
def test_a_search_is_the_same_whoever_works_on_it(given):
    given = replace(search_input(given.dataset, BASE, given.budget), toolchain=None)
    found = searched(given, FAMILIES, open_log(None, given, FAMILIES))
    others = Backwards(given)
    there = searched(given, FAMILIES, open_log(None, given, FAMILIES), lambda given: others)
    assert others.n_worked > 10
    assert to_bytes(there.result.model) == to_bytes(found.result.model)
    facts = [[(one.words, one.errors, one.price) for one in some.tried] for some in (found, there)]
    assert facts[0] == facts[1]


@pytest.mark.parametrize(("rule", "n_units"), [(SplitRule(), 50), (SplitRule(ordered=True), 5)])
def test_losses_are_sums_over_units(given, rule, n_units):
    order = np.random.default_rng(0).permutation(given.dataset.n_rows)
    given = replace(given, dataset=replace(given.dataset.take(order), split=rule))
    judged = list(evaluator(given).judgements(SUM))
    assert sum(one.misses.sum() for one in judged) > 0
    for fold, one in zip(given.folds, judged, strict=True):
        unit = rule.units(fold.held.n_rows, LEAST_UNITS)
        assert one.losses.tolist() == [one.misses[unit == k].sum() for k in range(n_units)]
        assert fold.n_units == n_units
        assert one.choice == one.error


def test_an_error_is_raised_when_its_turn_comes(given):
    """A failed speculative evaluation has no effect until its result is needed."""
    others = Backwards(given)

    def collect(timeout):
        task = others.waiting.pop()
        if task.params.fold:
            return [Outcome(task.number, None, "no memory")]
        return [outcome_of(given, task, evaluate)]

    others.collect = collect
    judgements = evaluator(given, others).judgements(SUM)
    assert len(next(judgements).misses) == given.folds[0].held.n_rows
    with pytest.raises(WorkerError, match="failed: no memory"):
        next(judgements)


HERE, OTHER = "gcc 12, qemu 7", "gcc 13, qemu 7"


@pytest.mark.parametrize(
    ("here", "how", "there", "said"),
    [
        (HERE, "measured", OTHER, f"with {OTHER} and this computer with {HERE}"),
        (HERE, "estimated", None, f"with nothing and this computer with {HERE}"),
        (None, "measured", OTHER, f"with {OTHER} and this computer with nothing"),
        (HERE, "measured", HERE, None),
        (HERE, "measured", None, None),
        (None, "estimated", None, None),
    ],
)
def test_workers_measure_with_the_tools_of_this_machine(given, here, how, there, said):
    given = replace(given, toolchain=here)

    def spoil(result):
        return {**result, "price": {**result["price"], "how": how, "toolchain": there}}

    asked = evaluator(given, Backwards(given, spoil=spoil))
    if said is None:
        assert asked.priced(SUM).price.how == how
        return
    with pytest.raises(WorkerError, match=said):
        asked.priced(SUM)
