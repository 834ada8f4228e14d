"""The best model that fits: among forms and families, by validation rows, within the budget."""

import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from bncc.data.dataset import Column, Dataset, Table
from bncc.data.readers import bundled_path, read_table
from bncc.data.target import dataset_of
from bncc.errors import BudgetError, ConstantColumnsError, DataError, MeasurementError
from bncc.interrupts import StopRequest
from bncc.model.card import model_facts
from bncc.pricing import TOO_LARGE
from bncc.resources import Budget
from bncc.search import budget_search as module
from bncc.search import evaluation, unmeasured
from bncc.search.budget_search import scaled, search, search_input
from bncc.search.choice import (
    CLEAR,
    FAR_FASTER,
    FEW,
    NEARLY,
    best_alone,
    best_of,
    close_to_best,
    limits_of,
    ratio_of,
)
from bncc.search.ensemble_configs import EnsembleConfig
from bncc.search.evaluation import Evaluation, Evaluator, Judgement, SearchInput
from bncc.search.fingerprint import search_difference, search_head
from bncc.search.log import Log
from bncc.search.unmeasured import is_of_unmeasured
from bncc.structure.decision_tables import BranchingTable, TableEnsemble
from bncc.train.settings import TrainSettings
from bncc.train.train_model import train_model
from tests.unit.search.pricing import CODE, no_estimate, price_by_tables, resources

BASE = TrainSettings(epochs=4)


@pytest.fixture(scope="module")
def wifi():
    whole = dataset_of(read_table(bundled_path("wifi")))
    return whole.take(np.arange(0, whole.n_rows, 2))


def price_all(patch):
    """Price models by their table bits."""
    patch.setattr(module, "memory_price_of", price_by_tables)
    patch.setattr(evaluation, "price_of", price_by_tables)
    patch.setattr(evaluation, "memory_price_of", price_by_tables)
    patch.setattr(evaluation, "layout_price_of", price_by_tables)
    patch.setattr(evaluation, "fast_time_of", no_estimate)


@pytest.fixture
def priced(monkeypatch):
    """Price models by their table bits."""
    price_all(monkeypatch)


BUDGET = Budget("cortex-m0", flash=CODE + 300)


@pytest.fixture(scope="module")
def found(wifi):
    """Return what a search within `BUDGET` finds among all families."""
    with pytest.MonkeyPatch.context() as patch:
        price_all(patch)
        return search(wifi, BASE, BUDGET)


@pytest.fixture(scope="module")
def exact(wifi):
    """Return what the same search finds if only the error counts."""
    with pytest.MonkeyPatch.context() as patch:
        price_all(patch)
        return search(wifi, BASE, BUDGET, prefer="error")


def sums_of(found):
    """Return the boosted tables that a search tried."""
    return [one for one in found.tried if one.settings.is_boosted]


def test_what_is_found_fits_and_errs_least_of_all_that_was_tried(exact):
    assert BUDGET.admits(exact.price)
    assert all(BUDGET.admits(one.price) for one in exact.tried)
    assert {one.settings.structure for one in exact.tried} >= {"tables", "naive"}
    best = min(exact.tried, key=lambda one: (-len(one.errors), one.error, one.price.flash))
    assert best.settings.structure == exact.settings.structure
    assert best.settings.total_bits == exact.settings.total_bits
    training = exact.result.model.training
    assert training["error_validation"] == exact.tried[exact.tried.index(best)].error < 0.1
    assert training["chosen_by"] == "error"


@pytest.mark.no_cover
@pytest.mark.parametrize("choose_by", ["balanced-error", "log-loss"])
def test_what_is_found_is_least_in_the_measure_of_the_choice(wifi, priced, choose_by):
    """Boosted tables and networks alike; errors are still those of plain rows."""
    few = wifi.take(np.flatnonzero((wifi.y > 0) | (np.arange(wifi.n_rows) % 20 == 0)))
    budget = Budget("cortex-m0", flash=CODE + 60)
    found = search(
        few, BASE, budget, families=("tables", "naive"), choose_by=choose_by, prefer="error"
    )
    best = min(
        found.tried, key=lambda one: (-len(one.choice), np.mean(one.choice), one.price.flash)
    )
    assert (best.settings.structure, best.settings.total_bits) == (
        found.settings.structure, found.settings.total_bits
    )  # fmt: skip
    assert {one.settings.structure for one in found.tried} == {"tables", "naive"}
    for one in found.tried:
        assert len(one.choice) == len(one.errors)
        assert one.choice != one.errors
    assert found.result.model.training["chosen_by"] == choose_by


@pytest.mark.no_cover
def test_the_fastest_is_found_that_is_not_clearly_worse(wifi, found, exact):
    """The rule on the losses of the same rows; what is reported is among what was tried."""
    assert (found.prefer, exact.prefer) == ("balanced", "error")
    assert exact.chosen is best_of(exact.tried)
    best, close = best_alone(found.tried), close_to_best(found.tried)
    fastest = min(one.resources.typical for one in close)
    ratios = {id(one): ratio_of(one, best) for one in close_to_best(found.tried, CLEAR)}
    worth = [one for one in found.tried if id(one) in ratios]
    worth = [one for one in worth if one.resources.typical <= ratios[id(one)] * fastest]
    first = min(worth, key=lambda one: one.resources.typical / ratios[id(one)])
    most = FAR_FASTER * first.resources.typical
    wider = close_to_best(found.tried, limits_of(found.tried)[-1])
    far = [one for one in wider if one.resources.typical <= most]
    assert found.chosen in (far or [*worth, *close])
    fastest = min(one.resources.typical for one in far or [first])
    assert found.chosen.resources.typical <= max(NEARLY * fastest, fastest + FEW)
    assert found.price.slowest < exact.price.slowest
    for one in found.tried:
        assert len(one.losses) == wifi.n_rows or len(one.errors) < 5
        assert one.losses.mean() == pytest.approx(np.average(one.errors), abs=1e-3)


def test_parts_of_the_budget_are_reported(found):
    """Smaller ones fit, larger ones are no candidates; all are evaluated on the same folds."""
    half, twice = scaled(BUDGET, 0.5), scaled(BUDGET, 2)
    assert (half.flash, twice.flash) == (250, 1000)
    assert half.admits(found.half.price)
    assert twice.admits(found.twice.price)
    n_tables = [
        int(one.settings.structure_options["tables"])
        for one in sums_of(found)
        if half.admits(one.price)
    ]
    assert n_tables
    assert {len(one.errors) for one in (found.half, found.twice, found.chosen)} == {5}
    assert all(BUDGET.admits(one.price) for one in found.tried)
    assert sum(one is found.chosen for one in found.front) == 1
    costs = [(one.error, one.resources.flash, one.resources.slowest) for one in found.front]
    assert costs == sorted(costs)
    for one in costs:
        assert not any(all(a < b for a, b in zip(other, one, strict=True)) for other in costs)


def test_a_search_for_the_error_tries_half_of_the_budget_only(found, exact):
    assert len(sums_of(exact)) < len(sums_of(found))
    assert exact.half is not None


def test_a_layout_that_just_fails_to_fit_on_all_rows_costs_a_few_tables(wifi, monkeypatch):
    """All rows take a few bytes more, which the fast layout of the candidate does not leave."""

    def fast(model, budget, readings, failed=None):
        found = price_by_tables(model, budget, readings)
        dear = replace(found, flash=CODE + 3 * (found.flash - CODE), optimize="speed")
        is_all = readings.n_rows == wifi.n_rows
        if dear.flash + 6 * is_all <= budget.flash:
            return dear
        return replace(resources(found.flash, 10 * found.slowest), optimize="size")

    monkeypatch.setattr(module, "memory_price_of", price_by_tables)
    monkeypatch.setattr(evaluation, "price_of", price_by_tables)
    monkeypatch.setattr(evaluation, "memory_price_of", price_by_tables)
    monkeypatch.setattr(evaluation, "layout_price_of", fast)
    monkeypatch.setattr(evaluation, "fast_time_of", no_estimate)
    chosen = EnsembleConfig(rows=4).settings(BASE, 12)
    given = SearchInput(wifi, replace(BASE, validation=0.2), Budget("cortex-m0", flash=10**4))
    evaluator = Evaluator(given, Log(None, {}, DataError))
    flash = CODE + 3 * (evaluator.priced(chosen).price.flash - CODE)
    vars(given)["budget"] = Budget("cortex-m0", flash=flash + 3)
    (layout,) = evaluator.layouts([chosen])
    assert layout.optimize == "speed"
    one = Evaluation(chosen, (0.1,), (0.1,), evaluator.priced(chosen).price, layout=layout)
    found = module._final(evaluator, one, StopRequest())
    assert found.price.optimize == "speed"
    assert 9 <= len(found.result.model.tables) < 12


def test_a_limit_on_ram_makes_another_search(wifi):
    heads = [
        search_head(search_input(wifi, BASE, replace(BUDGET, ram=ram)), ("naive",))
        for ram in (None, 100)
    ]
    assert "100" in search_difference(heads[1], heads[0])


def failing(is_broken):
    """Return a price whose C fails for some models."""

    def price(model, budget, readings, failed=None):
        if not is_broken(model):
            return price_by_tables(model, budget, readings)
        assert failed is not None
        failed("gcc failed: m.c:1:1: internal compiler error")
        return resources(TOO_LARGE, TOO_LARGE)

    return price


def has_trees(model):
    """Return whether a model is one of those whose C fails."""
    return isinstance(model.structure, TableEnsemble) and any(
        isinstance(table, BranchingTable) for table in model.structure.tables
    )


@pytest.mark.no_cover
def test_a_candidate_whose_c_fails_leaves_the_others(wifi, priced, monkeypatch):
    """The warning names it, with the first line of the compiler."""
    for name in ("price_of", "memory_price_of", "layout_price_of"):
        monkeypatch.setattr(evaluation, name, failing(has_trees))
    found = search(wifi, BASE, BUDGET)
    assert found.tried
    assert not any("leaves" in one.settings.structure_options for one in found.tried)
    assert all(BUDGET.admits(one.price) for one in found.tried)
    (note,) = filter(is_of_unmeasured, found.result.notes)
    assert "leaves=" in note
    assert note.endswith("gcc failed: m.c:1:1: internal compiler error")


@pytest.mark.no_cover
def test_the_next_best_is_taken_if_the_c_of_all_rows_fails(wifi, found, priced, monkeypatch):
    """The candidate on all rows is the first that is laid out with these."""
    options = dict(found.chosen.settings.structure_options)
    real = evaluation._train

    def train(given, part):
        if dict(part.candidate.structure_options) == options:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(evaluation, "layout_price_of", failing(lambda model: True))
                return real(given, part)
        return real(given, part)

    monkeypatch.setattr(evaluation, "_WORK", {**evaluation._WORK, "train": train})
    other = search(wifi, BASE, BUDGET)
    assert other.chosen.settings != found.chosen.settings
    assert other.chosen.settings in [one.settings for one in found.tried]
    assert any(map(is_of_unmeasured, other.result.notes))


@pytest.mark.parametrize("most", [unmeasured.MOST_FAILURES, 1000])
def test_c_that_fails_for_all_candidates_is_the_error(wifi, priced, monkeypatch, most):
    """At once after many failures, else in the end."""
    monkeypatch.setattr(unmeasured, "MOST_FAILURES", most)
    for name in ("price_of", "memory_price_of", "layout_price_of"):
        monkeypatch.setattr(evaluation, name, failing(lambda model: True))
    with pytest.raises(MeasurementError, match=r"no candidate can be measured: .* internal"):
        search(wifi, BASE, BUDGET, families=("naive",))


@pytest.mark.parametrize(
    ("times", "n_trained", "kept"),
    [
        ((500, 480, 490, 495, 499), 5, 1),
        ((500, 500, 500, 500, 500), 5, 0),
        ((500, 300, 105, 10, 10), 3, 2),
        ((110, 10, 10, 10, 10), 1, 0),
    ],
)
def test_the_fastest_of_all_final_trainings_is_kept(monkeypatch, times, n_trained, kept):
    """They are retried while 10 % slower than the candidate; the first one has the most tables."""
    trained = []

    def train(settings):
        n_tables = int(settings.structure_options["tables"])
        trained.append(n_tables)
        model = SimpleNamespace(tables=[None] * n_tables)
        return SimpleNamespace(model=model), resources(300, times[len(trained) - 1])

    monkeypatch.setattr(module, "front_of_model", lambda model: None)
    given = SimpleNamespace(budget=Budget("cortex-m0", flash=1000))
    chosen = EnsembleConfig(rows=4).settings(BASE, 90)
    one = Evaluation(chosen, (0.1,), (0.1,), resources(300, 100))
    found = module._final(SimpleNamespace(given=given, trained=train), one, StopRequest())
    assert len(trained) == n_trained
    assert trained == sorted(trained, reverse=True)
    assert len(found.result.model.tables) == trained[kept]
    assert found.price.typical == times[kept]


def test_the_first_final_training_that_fits_is_kept_once_an_end_is_requested(monkeypatch):
    trained, stop = [], StopRequest()

    def train(settings):
        trained.append(settings)
        stop.signal = 2 if len(trained) == 2 else None
        n_tables = int(settings.structure_options["tables"])
        model = SimpleNamespace(tables=[None] * n_tables)
        return SimpleNamespace(model=model), resources(600 if len(trained) == 1 else 300, 500)

    monkeypatch.setattr(module, "front_of_model", lambda model: None)
    given = SimpleNamespace(budget=Budget("cortex-m0", flash=500))
    one = Evaluation(EnsembleConfig(rows=4).settings(BASE, 90), (0.1,), (0.1,), resources(300, 100))
    found = module._final(SimpleNamespace(given=given, trained=train), one, stop)
    assert len(trained) == 2
    assert found.settings == trained[1]


def test_a_faster_final_training_is_not_kept_if_it_has_more_errors(monkeypatch):
    """Half the tables are no layout that just fits: the candidate is slower on all rows."""

    def train(settings):
        n_tables = int(settings.structure_options["tables"])
        model = SimpleNamespace(tables=[None] * n_tables)
        return SimpleNamespace(model=model), resources(300, 100 * n_tables)

    def judgements(settings):
        misses = np.arange(100) < 40 // int(settings.structure_options["tables"])
        return [Judgement(misses, misses.astype(float))]

    monkeypatch.setattr(module, "front_of_model", lambda model: None)
    given = SimpleNamespace(budget=Budget("cortex-m0", flash=1000))
    evaluator = SimpleNamespace(given=given, trained=train, judgements=judgements)
    two = EnsembleConfig(rows=4).settings(BASE, 2)
    (judged,) = judgements(two)
    # on further folds, too, on which others are not evaluated
    losses = np.concatenate([judged.losses, judged.losses])
    one = Evaluation(two, (0.2, 0.2), (0.2, 0.2), resources(300, 150), losses=losses)
    assert module._final(evaluator, one, StopRequest()).price.typical == 200
    as_good = replace(one, losses=losses * 0 + (np.arange(200) % 100 < 40))
    assert module._final(evaluator, as_good, StopRequest()).price.typical == 100


def test_the_error_is_that_of_the_tables_that_are_left(wifi, priced, monkeypatch):
    """All rows leave room for fewer tables than the chosen candidate has."""
    errors = []

    def fewer(evaluator, best, stop):
        options = {**best.settings.structure_options, "tables": "2"}
        settings = replace(best.settings, structure_options=options)
        errors.extend(one.error for one in evaluator.judgements(settings))
        return module.Found(*evaluator.trained(settings)[:1], settings, best.price)

    monkeypatch.setattr(module, "_final", fewer)
    found = search(wifi, BASE, BUDGET, families=("tables",))
    assert found.result.model.training["error_validation"] == pytest.approx(np.mean(errors))
    assert found.chosen.error != pytest.approx(np.mean(errors))
    assert any("fewer tables" in note for note in found.result.notes)


def test_sums_take_most_of_the_budget(found):
    assert max(BUDGET.utilization(one.price) for one in sums_of(found)) > 0.85


def test_a_named_family_is_the_only_one_tried(wifi, priced):
    found = search(wifi, BASE, Budget("cortex-m0", flash=CODE + 400), families=("naive",))
    assert {one.settings.structure for one in found.tried} == {"naive"}
    assert found.result.model.training["structure"] == "naive"


def test_networks_have_the_most_bits_that_fit(wifi, priced):
    wide = search(wifi, BASE, Budget("cortex-m0", flash=10**6), families=("naive",))
    entries = model_facts(wide.result.model)["table_entries"]
    limit = CODE + entries * 3 // 8
    tight = search(wifi, BASE, Budget("cortex-m0", flash=limit), families=("naive",))
    assert (wide.settings.total_bits, tight.settings.total_bits) == (6, 3)


def test_networks_have_fewer_cuts_where_those_of_mdl_fit_in_no_bits(wifi, priced):
    one_bit = replace(BASE, structure="naive", bits=1, parameters="ml")
    n_bytes = [
        model_facts(train_model(wifi, settings).model)["table_bits"] // 8
        for settings in (one_bit, replace(one_bit, discretize="quantile", n_bins=4))
    ]
    assert n_bytes[1] < n_bytes[0]
    budget = Budget("cortex-m0", flash=CODE + n_bytes[0] - 1)
    found = search(wifi, BASE, budget, families=("naive",))
    assert (found.settings.discretize, found.settings.n_bins) == ("quantile", 4)
    assert "quantile=4" in found.tried[0].words
    with pytest.raises(BudgetError):
        search(wifi, replace(BASE, discretize="mdl"), budget, families=("naive",))


@pytest.mark.parametrize(
    "named",
    [
        {"parameters": "bdeu", "structure": "naive", "structure_options": {"alpha": "2.5"}},
        {"structure": "tan-subset", "structure_options": {"parents": "2", "widths": "2"}},
    ],
)
def test_a_named_network_keeps_its_options(wifi, priced, named):
    base = replace(BASE, **named)
    found = search(wifi, base, Budget("cortex-m0", flash=10**6), families=(base.structure,))
    assert found.settings.structure_options == base.structure_options


@pytest.mark.no_cover
def test_decisions_that_take_too_long_do_not_fit(wifi, priced):
    few = wifi.take(np.arange(0, wifi.n_rows, 10))
    found = search(few, BASE, Budget("cortex-m0", instructions=50), families=("tables",))
    assert len(found.result.model.tables) <= 5


def test_where_nothing_fits_it_is_said(wifi, priced):
    """The smallest is one table of four rows in two bits, plus the code and the prior."""
    line = (
        r"no candidate .* 100 bytes of flash on cortex-m0, where the smallest takes (\d+) bytes of"
    )
    with pytest.raises(BudgetError, match=line) as error:
        search(wifi, BASE, Budget("cortex-m0", flash=100))
    found = re.search(line, str(error.value))
    assert CODE < int(found[1]) < CODE + 16


def test_progress_is_told_up_to_the_end(wifi, priced):
    heard = []
    budget = Budget("cortex-m0", flash=CODE + 60)
    search(wifi, BASE, budget, families=("naive",), tell=lambda *said: heard.append(said))
    assert heard[-1][0] == 1.0
    assert "naive" in heard[0][1]


def test_an_early_end_leaves_the_best_by_then(wifi, priced):
    stop = StopRequest()

    def tell(share, words):
        stop.signal = 2

    budget = Budget("cortex-m0", flash=CODE + 120)
    found = search(wifi, BASE, budget, tell=tell, stop=stop)
    assert found.is_short
    assert len(found.tried) == 1
    assert found.settings == found.tried[0].settings
    assert found.result.model.training["candidates_tried"] == 1
    whole = search(wifi, BASE, budget, families=("naive",), stop=StopRequest())
    assert not whole.is_short
    assert "candidates_tried" not in whole.result.model.training


def test_a_network_that_wins_is_trained_once(wifi, priced, monkeypatch):
    trained = []

    def train(dataset, settings, **others):
        trained.append(dataset.n_rows)
        return train_model(dataset, settings, **others)

    monkeypatch.setattr(evaluation, "train_model", train)
    found = search(wifi, BASE, Budget("cortex-m0", flash=10**6), families=("naive",))
    result = found.tried[0].result
    assert result is not None
    assert found.result.model.tables is result.model.tables
    assert trained.count(wifi.n_rows) == 2  # by counting, to be priced, and as requested


def test_networks_are_judged_by_the_folds_that_judge_sums(found):
    n_folds = {len(one.errors) for one in found.tried if one.settings.structure != "tables"}
    assert n_folds == {max(len(one.errors) for one in found.tried)} == {5}


def test_columns_that_no_sum_can_cut_leave_networks_to_be_tried(priced):
    y = np.repeat([0, 1], [40, 20])
    same = Column("same", "integer", np.full(60, 7), np.zeros(60, dtype=bool))
    table = Table((same,))
    constant = Dataset(table, y, ("a", "b"), "class")
    budget = Budget("cortex-m0", flash=CODE + 400)
    assert search(constant, BASE, budget).settings.structure == "naive"
    with pytest.raises(ConstantColumnsError):
        search(constant, BASE, budget, families=("tables",))
    with pytest.raises(BudgetError, match="the smallest takes"):
        search(constant, BASE, Budget("cortex-m0", flash=100))


@pytest.mark.parametrize("prefer", ["balanced", "error"])
def test_the_choice_is_confirmed_on_the_other_folds(wifi, priced, prefer):
    given = module.search_input(wifi, BASE, BUDGET)
    vars(given)["folds"] = given.folds[:2]
    log = module.open_log(None, given, ("tables",))
    found = module.searched(given, ("tables",), log, prefer=prefer)
    assert found.result.model.training["validation_folds"] == 5
    assert found.chosen in found.tried
    assert found.chosen in found.front
    assert len(found.chosen.errors) == 2
    assert found.chosen.layout is not None
    assert len({repr(one.settings) for one in found.tried}) == len(found.tried)
