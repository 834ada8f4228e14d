"""Fronts in a search: variants of the best boosted tables that lower the mean time."""

from dataclasses import replace

import numpy as np
import pytest

from bncc.data.readers import bundled_path, read_table
from bncc.data.target import dataset_of
from bncc.errors import DataError
from bncc.interrupts import StopRequest
from bncc.model.front import front_facts, front_of
from bncc.resources import Budget, Resources, Span
from bncc.search import budget_search, evaluation, fronts
from bncc.search.budget_search import search
from bncc.search.choice import best_of, close_to_best, limits_of
from bncc.search.ensemble_configs import EnsembleConfig
from bncc.search.ensemble_race import judged_form
from bncc.search.evaluation import Evaluation, Evaluator, SearchInput
from bncc.search.families import refuse_searched
from bncc.search.fronts import GUARDS, LEAVES, may_have_fronts, with_fronts, worth_layouts
from bncc.search.log import Log
from bncc.train.settings import TrainSettings
from tests.unit.search.pricing import CODE, no_estimate, price_by_tables

BASE = TrainSettings(epochs=4, validation=0.2)
LEAF_BYTES = 4


def price_with_front(model, budget, readings=None, failed=None):
    """Price a front by its leaves; its sure leaves end a call after a few instructions."""
    plain = price_by_tables(model, budget, readings)
    front = front_facts(model)
    if front is None:
        return plain
    slowest = plain.slowest
    mean = 5 + (1 - front["answers"]) * slowest
    return replace(
        plain,
        flash=plain.flash + LEAF_BYTES * front["leaves"],
        instructions={"predict": Span(5, min(mean, slowest), slowest)},
    )


@pytest.fixture(scope="module")
def wifi():
    """Return a third of the rows, which is enough to tell forms from one another."""
    every = dataset_of(read_table(bundled_path("wifi")))
    return every.take(np.arange(0, every.n_rows, 3))


@pytest.fixture
def priced(monkeypatch):
    """Price models by fronts and tables; no candidate gets a gate."""
    monkeypatch.setattr(fronts, "LEAST_GATED", 10**6)
    monkeypatch.setattr(budget_search, "memory_price_of", price_with_front)
    monkeypatch.setattr(evaluation, "price_of", price_with_front)
    monkeypatch.setattr(evaluation, "memory_price_of", price_with_front)
    monkeypatch.setattr(evaluation, "layout_price_of", price_with_front)
    monkeypatch.setattr(evaluation, "fast_time_of", no_estimate)


def leaves_of(one):
    return int(one.settings.structure_options.get("front", 0))


def options_of(one):
    return one.settings.structure_options


def evaluator_of(wifi, flash):
    given = SearchInput(wifi, BASE, Budget("cortex-m0", flash=flash))
    return Evaluator(given, Log(None, {}, DataError))


def judged(evaluator, form, n_tables):
    return judged_form(form, form.settings(BASE, n_tables), evaluator)


def test_a_front_that_lowers_the_mean_time_is_chosen(wifi, priced, monkeypatch):
    monkeypatch.setattr("bncc.search.choice.FEW", 0)  # a table takes ten instructions here
    budget = Budget("cortex-m0", flash=CODE + 400)
    found = search(wifi, BASE, budget, families=("tables",))
    behind = [one for one in found.tried if leaves_of(one)]
    assert {leaves_of(one) for one in behind} <= set(LEAVES)
    assert all(budget.admits(one.price) for one in found.tried)
    assert all(len(one.errors) == 5 for one in behind)
    assert found.chosen in behind
    assert found.chosen in found.front
    typical = min(one.resources.typical for one in close_to_best(found.tried))
    assert found.chosen.resources.typical <= max(1.2 * typical, typical + 50)
    assert found.chosen.resources.typical < 0.8 * found.chosen.resources.slowest
    # The model of all rows has it as well, in the budget.
    assert front_of(found.result.model) is not None
    assert budget.admits(found.price)
    assert found.settings.structure_options["front"] == str(leaves_of(found.chosen))
    assert "front=" in found.chosen.words


@pytest.mark.parametrize(
    "asked", [{"prefer": "error"}, {"choose_by": "log-loss"}, {"budget": {"scores"}}]
)
def test_fronts_are_tried_for_time_and_decisions_alone(wifi, priced, asked):
    budget = Budget("cortex-m0", flash=CODE + 150, extras=frozenset(asked.pop("budget", ())))
    found = search(wifi, BASE, budget, families=("tables",), **asked)
    assert not any(leaves_of(one) for one in found.tried)


@pytest.mark.parametrize(
    ("budget", "is_possible"),
    [
        (Budget("cortex-m0"), True),
        (Budget("cortex-m0", extras=frozenset({"raw", "checked", "trusted"})), True),
        (Budget("cortex-m0", entries=("predict",)), True),
        (Budget("cortex-m0", entries=("predict", "scores")), False),
        (Budget("cortex-m0", extras=frozenset({"missing"})), False),
        (Budget("cortex-m0", extras=frozenset({"stream"})), False),
    ],
)
def test_entry_points_that_need_all_sums_have_none(budget, is_possible):
    assert may_have_fronts(budget, "balanced", "error") is is_possible
    assert may_have_fronts(budget, "balanced", "balanced-error") is is_possible


def test_a_front_that_is_clearly_worse_gets_a_stricter_guard(wifi, priced, monkeypatch):
    evaluator = evaluator_of(wifi, 10**6)
    one = judged(evaluator, EnsembleConfig(rows=8), 20)

    def is_close(settings, best, evaluator, errors):
        return settings.structure_options.get("front-differing") == str(GUARDS[-1])

    monkeypatch.setattr(fronts, "_is_close", is_close)
    found = list(with_fronts([one], evaluator, StopRequest()))
    assert found
    for each in found:
        assert each.settings.structure_options["front-differing"] == str(GUARDS[-1])
        assert "front" in each.settings.structure_options


def test_tables_make_room_for_a_front(wifi, priced):
    """The smallest budget for the tables alone; a front takes the place of some."""
    evaluator = evaluator_of(wifi, 10**6)
    form = EnsembleConfig(rows=8)
    one = judged(evaluator, form, 20)
    tight = evaluator_of(wifi, one.price.flash)
    fronts = list(with_fronts([one], tight, StopRequest()))
    assert fronts
    for front in fronts:
        assert front.price.flash <= one.price.flash
        assert 2 <= int(front.settings.structure_options["tables"]) < 20
        assert front.form == replace(form, front=leaves_of(front))
    free = list(with_fronts([one], evaluator, StopRequest()))
    assert {one.settings.structure_options["tables"] for one in free} == {"20"}


def test_candidates_without_a_sure_leaf_are_left_out(wifi, priced, monkeypatch):
    evaluator = evaluator_of(wifi, 10**6)
    one = judged(evaluator, EnsembleConfig(rows=8), 8)
    monkeypatch.setattr("bncc.boosting.front.SURE", (0.0,))
    assert list(with_fronts([one], evaluator, StopRequest())) == []


def test_no_gate_is_tried_where_proofs_have_to_decide(wifi, priced, monkeypatch):
    monkeypatch.setattr(fronts, "LEAST_GATED", 6)
    monkeypatch.setattr(fronts, "LEAVES", ())
    gated = []
    for is_provable in (False, True):
        budget = Budget("cortex-m0", flash=10**6, provable=is_provable)
        evaluator = Evaluator(SearchInput(wifi, BASE, budget), Log(None, {}, DataError))
        one = judged(evaluator, EnsembleConfig(rows=8), 8)
        gated.append(len([*with_fronts([one], evaluator, StopRequest())]))
    assert gated == [1, 0]


def test_the_same_c_is_tried_once(wifi, priced, monkeypatch):
    def price(model, budget, readings, failed=None):
        front = front_facts(model)
        found = price_with_front(model, budget, readings)
        return replace(found, code="same" if front else None)

    monkeypatch.setattr(evaluation, "price_of", price)
    monkeypatch.setattr(evaluation, "memory_price_of", price)
    evaluator = evaluator_of(wifi, 10**6)
    one = judged(evaluator, EnsembleConfig(rows=8), 8)
    (only,) = with_fronts([one], evaluator, StopRequest())
    assert leaves_of(only) == max(LEAVES)


def test_the_fast_ones_and_the_best_have_fronts_but_no_single_tree(wifi, priced):
    evaluator = evaluator_of(wifi, 10**6)
    counts = (8, 10, 12, 14, 16)
    sums = [judged(evaluator, EnsembleConfig(leaves=16, bits=4), n) for n in counts]
    tree = judged(evaluator, EnsembleConfig(leaves=64, bits=4, is_single=True), 1)
    losses = np.ones_like(sums[0].losses)  # no front is worse
    alike = [replace(one, losses=losses, choice=(0.1,) * 5) for one in [*sums, tree]]
    best = replace(alike[4], choice=(0.05,) * 5)
    worse = replace(alike[0], losses=losses + 1, choice=(0.9,) * 5)
    tried = [worse, *alike[1:4], best, alike[5]]
    assert best_of(tried) is best
    found = list(with_fronts(tried, evaluator, StopRequest()))
    tables = {int(one.settings.structure_options["tables"]) for one in found}
    assert tables == {10, 12, 14, 16}
    assert all(one.form.leaves == 16 for one in found)


def test_one_that_is_far_faster_gets_fronts_within_its_own_limit(wifi, priced, monkeypatch):
    """It is clearly worse alone, but not among as many, and the front may differ as much."""
    evaluator = evaluator_of(wifi, 10**6)
    slow = [judged(evaluator, EnsembleConfig(rows=8), n) for n in (38, 40)]
    fast = judged(evaluator, EnsembleConfig(leaves=8, bits=4), 3)
    losses = np.zeros_like(slow[0].losses)
    worse = losses.copy()
    worse[:5] = 1.0  # 1.8 standard errors
    clearly = losses.copy()
    clearly[:6] = 1.0  # 2.0
    slow = [replace(one, losses=losses, choice=(0.0,) * 5) for one in slow]
    spans = {"predict": Span(1, 10.0, 12)}
    fast = replace(fast, price=replace(fast.price, instructions=spans))
    asked = {}

    def is_close(settings, best, evaluator, errors):
        asked[settings.structure_options["tables"]] = errors
        return True

    monkeypatch.setattr(fronts, "_is_close", is_close)
    for misses, limit in ((worse, 1), (clearly, 2)):
        tried = [*slow, replace(fast, losses=misses, choice=(0.1,) * 5)]
        found = list(with_fronts(tried, evaluator, StopRequest()))
        assert {options_of(one)["tables"] for one in found} == {"3", "38", "40"}
        assert asked["3"] == limits_of(tried)[limit]
        assert asked["38"] == limits_of(tried)[0]


def test_no_c_is_built_of_fronts_that_are_clearly_worse(wifi, priced, monkeypatch):
    evaluator = evaluator_of(wifi, 10**6)
    one = judged(evaluator, EnsembleConfig(rows=8), 8)
    perfect = replace(one, losses=one.losses * 0, choice=(0.0,) * 5)
    built = []

    def price(model, *others):
        built.append(model)
        return price_with_front(model, *others)

    monkeypatch.setattr(evaluation, "price_of", price)
    monkeypatch.setattr(evaluation, "memory_price_of", price)
    monkeypatch.setattr("bncc.search.fronts.close_to_best", lambda tried: list(tried))
    monkeypatch.setattr("bncc.search.fronts.eligible", lambda tried, **_: list(tried))
    assert list(with_fronts([one], evaluator, StopRequest()))
    assert built
    built.clear()
    assert list(with_fronts([perfect, one], evaluator_of(wifi, 10**6), StopRequest())) == []
    assert built == []


def test_layouts_are_built_of_fronts_that_may_be_the_fastest(wifi, priced):
    evaluator = evaluator_of(wifi, 10**6)
    one = judged(evaluator, EnsembleConfig(rows=8), 8)

    def timed(mean):
        spans = {"predict": Span(1, mean, 1000)}
        return replace(one, price=replace(one.price, instructions=spans))

    fronts = [timed(30.0), timed(400.0), timed(401.0)]
    assert worth_layouts(fronts, [timed(100.0), timed(900.0)]) == fronts[:2]
    # One that is clearly worse alone has to be ten times as fast, in its fastest layout.
    worse = one.losses.copy()
    worse[np.flatnonzero(worse == 0)[:6]] = 1.0
    far = [replace(timed(mean), losses=worse, choice=(0.9,) * 5) for mean in (40.0, 41.0)]
    assert worth_layouts(far, [timed(100.0), timed(900.0), timed(901.0)]) == far[:1]


def test_an_early_end_tries_no_more(wifi, priced):
    evaluator = evaluator_of(wifi, 10**6)
    one = judged(evaluator, EnsembleConfig(rows=8), 8)
    stop = StopRequest()
    fronts = with_fronts([one], evaluator, stop)
    next(fronts)
    stop.signal = 2
    assert list(fronts) == []


def test_networks_alone_have_none(wifi, priced):
    found = search(wifi, BASE, Budget("cortex-m0", flash=CODE + 400), families=("naive",))
    assert {one.settings.structure for one in found.tried} == {"naive"}


@pytest.mark.parametrize(("form", "n_least"), [({"leaves": 8, "bits": 4}, 1), ({"rows": 8}, 1)])
def test_all_rows_take_fewer_tables_behind_the_front(wifi, priced, form, n_least):
    """Down to a single tree, which has none."""
    settings = EnsembleConfig(**form, front=32).settings(BASE, 6)
    sizes = []
    for flash in (10**6, CODE + 250, CODE + 60):
        evaluator = evaluator_of(wifi, flash)
        free = evaluator_of(wifi, 10**6)
        price = free.priced(settings).price
        found = budget_search._final(
            evaluator, Evaluation(settings, (0.1,), (0.1,), price), StopRequest()
        )
        assert evaluator.given.budget.admits(found.price)
        model = found.result.model
        n_tables = len(model.tables) - (front_of(model) is not None)
        assert n_tables == int(found.settings.structure_options["tables"])
        sizes.append(n_tables)
        if n_tables == 1 and "leaves" in form:
            assert "front" not in found.settings.structure_options
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] == 6 > sizes[-1] >= n_least


def test_the_option_is_searched():
    named = replace(BASE, structure="tables", structure_options={"front": "8"})
    with pytest.raises(Exception, match="--structure-option front does not apply"):
        refuse_searched(named)


def test_the_mean_is_that_of_the_entry_point_that_takes_longest():
    spans = {"predict": Span(1, 20.5, 90), "predict-raw": Span(2, 30.0, 80)}
    figures = ("cortex-m0", 1, 0, 0, spans, None)
    found = Resources(*figures, ("predict", "predict-raw"), "size", "-Os", "measured")
    assert (found.typical, found.slowest) == (30.0, 90)
    assert replace(found, entries=("predict", "scores")).typical is None
