"""The layout within a budget: by the estimate, or by the caller's pricing."""

from dataclasses import replace
from functools import partial

import pytest

from bncc.discretize.feature import Feature
from bncc.emit.emitter import EmitOptions, emit_c
from bncc.errors import BudgetError, OptionError
from bncc.fixed_point import QFormat
from bncc.lower.direct import reads_directly
from bncc.lower.estimate import entry_times
from bncc.lower.lowering import lower_candidate
from bncc.program.pipeline import FLOWS_FOR, optimize_each, program_of
from bncc.structure.decision_tables import DecisionTable, TableEnsemble
from tests.models import (
    NAMED,
    model_of,
    naive_integer,
    one_state_feature,
    products_of_sensors,
    sum_of_tables,
    tan_float,
    trees_of_sensors,
)

OPTIONS = EmitOptions("m", optimize="speed")


def test_the_estimate_of_resources_is_that_of_the_emission():
    emission = emit_c(naive_integer(), EmitOptions("m", frozenset({"scores"}), target="avr"))
    found = emission.resources
    assert (found.flash, found.stack, found.ram) == (
        emission.estimate.flash, emission.estimate.ram, 0,
    )  # fmt: skip
    assert (found.how, found.target, found.entries) == (
        "estimated", "avr", ("predict-raw", "scores"),
    )  # fmt: skip
    assert found.instructions is None
    assert found.cycles["scores"].max == emission.estimate.instructions
    assert found.cycles["predict-raw"].max > entry_times(emission.layout, "avr")["trusted"]


@pytest.mark.parametrize("optimize", ["size", "balanced", "speed"])
@pytest.mark.parametrize("model", [naive_integer, tan_float, partial(products_of_sensors, 4, 16)])
def test_a_layout_takes_the_bytes_by_which_it_is_chosen(model, optimize):
    """Those of `predict_raw` alone, without labels and without functions that it does not call."""
    found = emit_c(model(), replace(OPTIONS, target="cortex-m0", optimize=optimize))
    assert found.resources.entries == ("predict-raw",)
    assert found.resources.flash == found.choice.chosen.flash < found.estimate.flash


def test_other_entry_points_need_the_bytes_of_all_functions():
    options = replace(OPTIONS, target="cortex-m0", priced=("predict-raw", "predict"))
    found = emit_c(naive_integer(), options)
    assert found.resources.flash == found.estimate.flash


def test_without_thresholds_predict_is_priced():
    emission = emit_c(one_state_feature(), OPTIONS)
    has_raw = any(feature.thresholds for feature in one_state_feature().features)
    expected = "predict-raw" if has_raw else "predict"
    assert emission.resources.entries == (expected,)
    assert set(entry_times(emission.layout)) >= {"predict", "trusted", "scores"}


def test_what_is_priced_has_to_be_emitted():
    with pytest.raises(OptionError, match="a budget for 'scores' needs that entry point"):
        emit_c(naive_integer(), replace(OPTIONS, priced=("scores",)))
    asked = replace(OPTIONS, priced=("scores", "predict"), entries=frozenset({"scores"}))
    assert emit_c(naive_integer(), asked).resources.entries == ("scores", "predict")


@pytest.mark.parametrize("factor", [0.5, 0.9, 1.0, 1.3])
def test_a_budget_is_compared_with_the_price(factor):
    """For any ratio of price to estimate, the emitted C is admitted and the first choice fits."""
    asked = []

    def price(emission):
        asked.append(emission.kernel)
        flash = round(factor * emission.estimate.flash)
        return replace(emission.resources, flash=flash, how="measured")

    fast = emit_c(tan_float(), OPTIONS, price)
    assert fast.resources.how == "measured"
    same = replace(OPTIONS, max_flash=fast.resources.flash)
    assert emit_c(tan_float(), same, price).files["m.c"] == fast.files["m.c"]
    packed = replace(OPTIONS, kernel="packed")
    first = emit_c(tan_float(), packed, price)
    saved = first.choice.chosen.flash - min(each.flash for each in first.choice.candidates)
    limit = first.resources.flash - round(factor * saved)
    less = replace(packed, max_flash=limit + 10, reserve=10)
    assert saved > 0
    assert emit_c(tan_float(), less, price).resources.flash <= limit
    with pytest.raises(BudgetError, match="no kernel fits in 20 bytes"):
        emit_c(tan_float(), replace(OPTIONS, max_flash=20), price)
    assert len(asked) < 60


def test_small_discretizers_stay_where_no_fast_ones_fit():
    """In 218 bytes no layout with fast discretizers fits, by estimate."""
    options = replace(OPTIONS, target="cortex-m0", max_flash=218)
    small = emit_c(NAMED["int8_readings"](), options).lowered
    assert (small.discretize, small.resources.optimize) == ("size", "speed")
    assert small.resources.flash <= 218


@pytest.mark.parametrize(("optimize", "advises"), [("size", False), ("speed", True)])
def test_a_refusal_names_the_smallest_measured_bytes(optimize, advises):
    """Estimates of the same layouts are less than what is needed; that of another kernel is not."""
    measured = []

    def price(emission):
        measured.append(emission.resources.flash + 50)
        return replace(emission.resources, flash=measured[-1], how="measured")

    options = replace(OPTIONS, max_flash=60, optimize=optimize)
    with pytest.raises(BudgetError) as refused:
        emit_c(tan_float(), options, price)
    assert f"needs {min(measured)} bytes of flash: " in str(refused.value)
    assert refused.value.utilization == min(measured) / 60
    assert ("use --optimize size, raise" in str(refused.value)) == advises
    assert "--optimize" not in str(refused.value.of_smallest())
    enough = replace(options, max_flash=min(measured))
    assert emit_c(tan_float(), enough, price).resources.flash == min(measured)


def test_a_refusal_of_a_named_kernel_names_one_that_fits():
    """By estimate, as no other kernel is measured."""

    def price(emission):
        return replace(emission.resources, how="measured")

    small = replace(OPTIONS, optimize="size")
    least = emit_c(naive_integer(), small).resources.flash
    within = replace(small, max_flash=least + 2)
    assert emit_c(naive_integer(), replace(small, kernel="plain")).resources.flash > least + 2
    with pytest.raises(BudgetError, match="no requested layout fits in"):
        emit_c(naive_integer(), replace(within, kernel="plain"), price)


@pytest.mark.parametrize(
    ("model", "advice"),
    [
        (naive_integer, "train with fewer bits or fewer states"),
        (tan_float, "train with fewer bits, fewer states or as naive Bayes"),
        (sum_of_tables, "train with fewer tables or rows"),
        (partial(trees_of_sensors, 3, 2), "train with fewer tables or leaves"),
    ],
)
def test_a_refusal_advises_only_what_makes_the_model_smaller(model, advice):
    with pytest.raises(BudgetError, match=f"raise the budget, or {advice}$"):
        emit_c(model(), replace(OPTIONS, max_flash=20))


def test_readings_are_compared_directly_only_where_that_kernel_has_a_layout():
    """Costs of more than a byte: the smallest C is then of another kernel, and no error."""
    model = model_of(
        [Feature("x", "float32", 3, thresholds=(0.0, 1.0))],
        TableEnsemble((DecisionTable((0,), ((1,),)),)),
        QFormat(9, 0),
        [0, 0, 0],
        [[[0, 20, 144], [469, 0, 56]]],
    )
    programs = optimize_each(program_of(model), FLOWS_FOR["size"])
    assert all(reads_directly(each.program) for each in programs)
    assert emit_c(model, EmitOptions("m", optimize="size")).kernel != "cut-packed"


@pytest.mark.parametrize("n_bytes", [1700, 1500, 1200, 1000, 600])
def test_the_fastest_layout_within_a_limit_may_compare_readings(n_bytes):
    """Discretizers that give way to a limit are slower than cuts in code, which need none."""
    model = products_of_sensors(4, 16)
    free = emit_c(model, replace(OPTIONS, target="cortex-m4"))
    found = emit_c(model, replace(OPTIONS, target="cortex-m4", max_flash=n_bytes)).resources
    request = free.lowered.request
    every = [lower_candidate(request, each).resources for each in free.choice.candidates]
    assert found.flash <= n_bytes < free.resources.flash
    assert found.slowest <= min(each.slowest for each in every if each.flash <= n_bytes)
