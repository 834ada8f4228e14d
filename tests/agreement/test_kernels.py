"""The C of every kernel on the host: equal to the integer model, scores included."""

import pytest
from hypothesis import HealthCheck, assume, given, settings

from bncc.emit.emitter import EmitOptions, emit_c
from bncc.lower.kernels.families import FAMILIES, FOR_TREES
from bncc.on_device import verify
from bncc.program.pipeline import optimize, program_of
from tests import models as hand
from tests.agreement.large import LARGE
from tests.strategies import models
from tests.tiers import examples

pytestmark = pytest.mark.cc
ENTRIES = frozenset({"raw", "scores", "trusted"})
BY_NAME = {**hand.NAMED, **LARGE}
NO_SUMS = [name for name in BY_NAME if name != "sum_of_tables"]
WITHOUT = {
    "bit-slice": [
        name for name in BY_NAME
        if name not in (
            "int32_thresholds", "sum_of_tables", "hostile_names", "letter_like_1_bit",
            "ten_classes_2_bits", "three_classes_2_bits",
        )
    ],
    "bytes": ["sum_65535", "sum_65536", "three_cost_arrays", "wide_costs"],
    "planes": [
        "int32_thresholds", "category_with_missing", "one_state_feature", "ties", "all_zero",
        "class_with_parents", "hostile_names", "three_classes_2_bits", "two_cost_arrays",
        "two_word_arrays", "three_cost_arrays", "bytes_and_others",
    ],
    "columns": [
        name for name in BY_NAME
        if name not in (
            "letter_like", "letter_like_float", "large_tables", "wide_costs", "mixed_kinds"
        )
    ],
    "cuts": NO_SUMS,
    "cut-loop": NO_SUMS,
    "cut-packed": NO_SUMS,
    "cut-lanes": NO_SUMS,
    "branches": list(BY_NAME),
}  # fmt: skip
"""Models for which a family has no layout; one that is not named has a layout for all."""
OTHERS = [family for family in FAMILIES if family != "plain"]
by_model = pytest.mark.parametrize(
    ("family", "name"),
    [
        (family, name)
        for family in OTHERS
        for name in BY_NAME
        if name not in WITHOUT.get(family, ())
    ],
)
by_family = pytest.mark.parametrize("family", OTHERS)


def has_layout(model, family):
    """Return whether a family has a layout for a model."""
    program, _ = optimize(program_of(model))
    return next(iter(FAMILIES[family](program)), None) is not None


def emitted(model, family):
    """Return the C of a family; words of a byte are best for an AVR alone."""
    target = "avr" if family == "bytes" else None
    return emit_c(model, EmitOptions("m", ENTRIES, kernel=family, target=target))


def test_the_layouts_are_those_that_exist():
    """The tests below skip only combinations that do not exist."""
    programs = {name: optimize(program_of(make()))[0] for name, make in BY_NAME.items()}
    for family, lay_out in FAMILIES.items():
        without = [
            n for n, program in programs.items() if next(iter(lay_out(program)), None) is None
        ]
        assert sorted(without) == sorted(WITHOUT.get(family, ())), family


@by_model
@pytest.mark.parametrize("level", ["-O2", "-Os"])
def test_the_c_of_a_kernel_agrees(require_tool, family, name, level):
    require_tool("gcc")
    model = BY_NAME[name]()
    outcome = verify(model, emission=emitted(model, family), opt_level=level, n_random=300)
    assert outcome.agree, outcome.first_mismatch


@by_model
def test_the_c_of_a_kernel_agrees_under_sanitizers(require_tool, family, name):
    """No signed overflow, no access out of bounds."""
    require_tool("gcc")
    model = BY_NAME[name]()
    outcome = verify(
        model, emission=emitted(model, family), sanitize=True, opt_level="-O1", n_random=300
    )
    assert outcome.agree, outcome.first_mismatch


RARE = [HealthCheck.function_scoped_fixture, HealthCheck.filter_too_much]
"""Some families have layouts for one random model in eight."""


@pytest.mark.parametrize("family", [family for family in OTHERS if family not in FOR_TREES])
@settings(max_examples=examples(15), deadline=None, suppress_health_check=RARE)
@given(model=models(max_classes=9, max_bits=6))
def test_the_c_of_a_kernel_agrees_for_any_model(require_tool, family, model):
    require_tool("gcc")
    assume(has_layout(model, family))
    outcome = verify(model, emission=emitted(model, family), opt_level="-O1", n_random=100)
    assert outcome.agree, outcome.first_mismatch


@pytest.mark.parametrize("family", ["lanes", "bit-slice"])
@settings(max_examples=examples(15), deadline=None, suppress_health_check=RARE)
@given(model=models(max_classes=9, max_bits=6))
def test_states_that_are_handed_over_in_registers_agree(require_tool, family, model):
    require_tool("gcc")
    assume(has_layout(model, family))
    emission = emit_c(model, EmitOptions("m", ENTRIES, kernel=family, optimize="speed"))
    outcome = verify(model, emission=emission, sanitize=True, n_random=100)
    assert outcome.agree, outcome.first_mismatch
