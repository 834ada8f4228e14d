"""The C of the kernel of branches on the host: equal to the interpreter, scores included."""

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bncc.device.host import build_harness
from bncc.emit.emitter import EmitOptions, emit_c, emit_candidate
from bncc.errors import OptionError
from bncc.lower.cost_model import candidate
from bncc.lower.kernels.families import FAMILIES
from bncc.model.model import check_model
from bncc.on_device import verify
from bncc.program.ir import Table
from bncc.program.pipeline import optimize, program_of
from bncc.structure.decision_tables import BranchingTable
from bncc.toolchain.tools import host_compilers
from tests.agreement.test_cuts import assert_agrees
from tests.models import trees_of_sensors
from tests.strategies import tree_models
from tests.tiers import examples
from tests.tree_programs import tree_program, tree_programs
from tests.unit.lower.by_hand import program, table

pytestmark = pytest.mark.cc
NAMED = {
    "one": lambda: tree_program(16, 16, 26, 1, 128),
    "two_classes": lambda: tree_program(6, 255, 2, 12, 16, has_prior=True),
    "two_classes_of_wide_margins": lambda: tree_program(6, 16, 2, 40, 8, bits=12),
    "one_word": lambda: tree_program(40, 16, 4, 8, 16, has_prior=True),
    "few_rows": lambda: tree_program(5, 4, 10, 6, 4, bits=2),
    "letter": lambda: tree_program(16, 16, 26, 12, 32),
    "wide_states": lambda: tree_program(300, 400, 5, 9, 16),
    "deep": lambda: tree_program(4, 255, 3, 3, 60, depth=30),
    "with_a_product": lambda: with_a_product(),
}


def with_a_product():
    """Return trees and one table over all states of a feature and two levels of another."""
    some = tree_program(5, 6, 4, 3, 8)
    rng = np.random.default_rng(0)
    product = Table("x3", (1, 3), rng.integers(0, 9, (12, 4)), 8, {3: (0, 0, 1, 1, 0, 0)})
    return replace(some, tables=(*some.tables, product))


@pytest.mark.parametrize("name", NAMED)
def test_every_layout_agrees(require_tool, name):
    require_tool("gcc")
    some, _ = optimize(NAMED[name]())
    found = list(FAMILIES["branches"](some))
    assert found
    for kernel in found:
        assert_agrees(some, kernel)


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("level", ["-O0", "-O3"])
def test_all_levels_agree(require_tool, compiler, level):
    require_tool(compiler)
    (tool,) = host_compilers(compiler)
    some = NAMED["one_word"]()
    for kernel in islice(FAMILIES["branches"](some), 2):
        assert_agrees(some, kernel, level=level, compiler=tool)


@pytest.mark.parametrize("name", ["one", "letter", "wide_states"])
def test_sanitizers_find_nothing(require_tool, name):
    require_tool("gcc")
    some, _ = optimize(NAMED[name]())
    assert_agrees(some, next(FAMILIES["branches"](some)), n=100, build=build_harness)


@settings(
    max_examples=examples(10),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(some=tree_programs(), which=st.integers(0, 9))
def test_any_program_agrees(require_tool, some, which):
    require_tool("gcc")
    found = list(FAMILIES["branches"](some))
    assert_agrees(some, found[which % len(found)], n=60)


def stump(rows, feature=0, cut=1):
    """Return a table of a tree with one node."""
    tree = BranchingTable((feature,), (cut,), (-1,), (-2,))
    return replace(table([feature], rows), tree=tree)


@pytest.mark.parametrize("n", [9, 10, 36, 37])
def test_lanes_may_be_exactly_full(require_tool, n):
    """Nine tables of 7 fill 6 bits, and not one unit more; 36 of 7 the 8 bits of a last lane."""
    require_tool("gcc")
    rows = [[7] * 10, [0, 7] * 5]
    some = program([4], [0] * 10, [stump(rows[:: 1 if t % 2 else -1]) for t in range(n)])
    for kernel in FAMILIES["branches"](some):
        assert_agrees(some, kernel, n=8)


@pytest.mark.parametrize("prior", [[0, 0], [0, 255], [255, 0], [0, 254], [511, 0], [0, 600]])
def test_margins_are_compared_at_their_ends(require_tool, prior):
    """Ties go to the first class; a prior may leave one class alone."""
    require_tool("gcc")
    rows = [[0, 255], [255, 0]]
    some = program([4, 4], prior, [stump(rows), stump(rows[::-1], 1), stump([[0, 0], [0, 1]])])
    for kernel in FAMILIES["branches"](some):
        assert_agrees(some, kernel, n=64)


@pytest.mark.parametrize("best", ["size", "speed", "balanced"])
@pytest.mark.parametrize("n_classes", [2, 3, 9])
@pytest.mark.parametrize("n_tables", [1, 3])
def test_a_model_of_sensors_agrees_on_its_readings(require_tool, best, n_classes, n_tables):
    """Missing readings, infinities and thresholds included, of every kind in one struct."""
    require_tool("gcc")
    model = trees_of_sensors(n_classes, n_tables)
    check_model(model)
    entries = frozenset({"raw", "scores", "trusted"})
    emission = emit_c(model, EmitOptions("m", entries, optimize=best))
    assert "predict_raw" in emission.files["m.c"]
    assert emission.lowered.layout.direct is not None
    outcome = verify(model, emission=emission, sanitize=True, n_random=300)
    assert outcome.agree, outcome.first_mismatch


@pytest.mark.parametrize("kind", ["int16", "int32", "float32", "category", "state"])
def test_an_array_of_readings_agrees(require_tool, kind):
    """Readings of one kind are an array; the state of a missing one is any."""
    require_tool("gcc")
    model = trees_of_sensors(4, 3, kinds=(kind,) * 4)
    emission = emit_c(model, EmitOptions("m", frozenset({"raw", "scores", "trusted"})))
    outcome = verify(model, emission=emission, n_random=300)
    assert outcome.agree, outcome.first_mismatch


@pytest.mark.parametrize(("n_classes", "n_tables"), [(4, 1), (2, 3), (9, 5)])
def test_keys_of_floats_agree(require_tool, n_classes, n_tables):
    """Each float that is used becomes an integer once; a missing one is the smallest."""
    require_tool("gcc")
    made = trees_of_sensors(n_classes, n_tables, kinds=("float32",) * 4)
    features = []
    for f in made.features:
        more = (f.thresholds[-1] + 1.0,) * f.has_missing_state
        features.append(replace(f, missing_state=0, thresholds=(*f.thresholds, *more)))
    model = replace(made, features=tuple(features))
    emission = emit_c(model, EmitOptions("m", frozenset({"raw", "scores"}), compare="keys"))
    assert "m_order(x[" in emission.files["m.c"].split("int16_t m_predict_raw(")[1]
    outcome = verify(model, emission=emission, sanitize=True, n_random=300)
    assert outcome.agree, outcome.first_mismatch


def test_keys_are_of_arrays_of_floats_alone():
    model = trees_of_sensors(4, 3, kinds=("int16",) * 4)
    with pytest.raises(OptionError, match="leave out --compare"):
        emit_c(model, EmitOptions("m", frozenset({"raw"}), compare="keys"))


@settings(
    max_examples=examples(10),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(model=tree_models(), which=st.integers(0, 9))
def test_any_model_agrees(require_tool, model, which):
    require_tool("gcc")
    some, _ = optimize(program_of(model))
    found = list(FAMILIES["branches"](some))
    options = EmitOptions("m", frozenset({"raw", "scores", "trusted"}))
    emission = emit_candidate(model, candidate(some, found[which % len(found)], None), options)
    outcome = verify(model, emission=emission, n_random=100)
    assert outcome.agree, outcome.first_mismatch


def test_no_other_kernel_takes_trees_and_this_takes_nothing_else():
    trees, products = tree_program(5, 6, 4, 3, 8), program([2], [0, 0], [table([0], [[0, 1]] * 2)])
    for name, family in FAMILIES.items():
        assert (next(iter(family(trees)), None) is not None) == (name == "branches"), name
        if name == "branches":
            assert next(iter(family(products)), None) is None
    assert all(not list(f.wider(trees, 64)) for f in FAMILIES.values() if f.wider)


def test_a_reading_alone_is_compared_and_no_state_is_formed(require_tool):
    model = trees_of_sensors(3, 3)
    text = emit_c(model, EmitOptions("m", frozenset({"raw"}))).files["m.c"]
    body = text.split("int16_t m_predict_raw(")[1].split("\n}")[0]
    assert "state" not in body
