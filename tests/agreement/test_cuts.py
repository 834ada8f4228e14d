"""The C of kernels of cuts on the host: equal to the interpreter, scores included."""

from itertools import islice

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bncc.device.host import build_harness, build_library
from bncc.device.sources import sources
from bncc.discretize.feature import Feature
from bncc.emit.emitter import EmitOptions, emit_c
from bncc.fixed_point import QFormat
from bncc.lower.kernels.families import FAMILIES, FOR_CUTS
from bncc.model.model import Model
from bncc.on_device import verify
from bncc.program.ir import Table, costs
from bncc.program.pipeline import optimize
from bncc.structure.decision_tables import DecisionTable, TableEnsemble
from bncc.toolchain.tools import host_compilers
from tests.cut_programs import (
    cut_program,
    cut_programs,
    emitted,
    letter_like,
    satimage_like,
    stand_in,
    usps_like,
)
from tests.tiers import examples
from tests.unit.lower.by_hand import program, table

pytestmark = pytest.mark.cc
OPTIONS = EmitOptions("m", frozenset({"scores", "trusted"}))
ONCE = ("cut-loop", "cut-packed", "cuts")
"""Families that can store equal rows once."""
by_family = pytest.mark.parametrize("family", sorted(FOR_CUTS))
NAMED = {
    "letter": lambda: letter_like(20, 16),
    "usps": lambda: usps_like(30, 8),
    "satimage": lambda: satimage_like(20, 16),
    "of_two_levels": lambda: cut_program(40, 16, 10, 30, 8, share_of_grids=0.0),
    "of_many_levels": lambda: cut_program(3, 16, 10, 20, 64, share_of_grids=0.9),
    "wide_states": lambda: cut_program(300, 400, 5, 9, 16),
    "two_classes": lambda: cut_program(6, 8, 2, 9, 8, bits=2, has_prior=True),
}


def assert_agrees(some, kernel, *, level="-O1", n=200, build=build_library, compiler=None):
    """Compare scores and decisions of the C with the program's, inputs at the ends included."""
    X = np.random.default_rng(0).integers(0, some.n_states, (n, len(some.n_states)))
    X[:1], X[1:2] = 0, np.array(some.n_states) - 1
    wanted = costs(some, X)
    best = wanted.argmin(axis=1)
    emission = emitted(some, kernel, OPTIONS)
    built = sources(stand_in(some), emission.files)
    with build(built, compiler=compiler, opt_level=level) as library:
        classes, scores = library.scores(X)
        assert np.array_equal(scores, wanted - wanted.min(axis=1, keepdims=True)), kernel.summary
        assert np.array_equal(classes, best)
        assert np.array_equal(library.predict(X), best)
        assert np.array_equal(library.trusted(X), best)
        too_large = X[:1].copy()
        too_large[0, -1] = some.n_states[-1]
        assert (library.predict(too_large) == -1).all()


def narrowest(family, some):
    """
    Return the layouts whose lanes are widened most: full words of 32 bits.

    With code for some shapes: none, the most frequent one, all.
    """
    found = list(FAMILIES[family](some))
    if family == "cut-lanes":
        n_shapes = len(found[0].shapes)
        return [each for each in found if each.n_straight in (0, 1, n_shapes)]
    if family != "cut-loop":
        return found[:1]
    return [each for each in found if each.sums.packing.word_bits == 32]


@by_family
@pytest.mark.parametrize("name", NAMED)
def test_every_layout_agrees(require_tool, family, name):
    require_tool("gcc")
    some, _ = optimize(NAMED[name]())
    for kernel in narrowest(family, some):
        assert_agrees(some, kernel)


@by_family
@pytest.mark.parametrize("level", ["-O0", "-O3"])
def test_all_levels_agree(require_tool, family, level):
    require_tool("gcc")
    some = NAMED["usps"]()
    assert_agrees(some, next(FAMILIES[family](some)), level=level)


@by_family
@pytest.mark.parametrize("name", ["usps", "of_many_levels", "wide_states"])
def test_sanitizers_find_nothing(require_tool, family, name):
    """Nothing is read out of bounds, in the lists of cuts or after the last row."""
    require_tool("gcc")
    some = NAMED[name]()
    for kernel in narrowest(family, some)[:1]:
        assert_agrees(some, kernel, n=100, build=build_harness)


def model_of_sensors():
    """Return three boosted tables over cuts of sensors, one of them missing now and then."""
    features = (
        Feature("pressure", "int16", 5, thresholds=(-5, 0, 9, 100), missing_state=3),
        Feature("light", "float32", 4, thresholds=(-1.5, 0.0, 2.25), missing_state=2),
        Feature("count", "int32", 3, thresholds=(7, 2**30), missing_state=0),
    )
    grids = (
        DecisionTable((0, 1), ((0, 2), (1,))),
        DecisionTable((1, 2), ((0,), (0, 1))),
        DecisionTable((2, 0), ((1,), (3,))),
    )
    rng = np.random.default_rng(2)
    tables = tuple(rng.integers(0, 8, (grid.n_rows, 4)) for grid in grids)
    classes = ("a", "b", "c", "d")
    return Model(
        features, classes, TableEnsemble(grids), QFormat(1, 2), rng.integers(0, 8, 4), tables, {}
    )


@by_family
@pytest.mark.parametrize("best", ["size", "speed"])
def test_a_model_of_sensors_agrees_on_its_readings(require_tool, family, best):
    """Missing readings, infinities and thresholds included."""
    require_tool("gcc")
    model = model_of_sensors()
    options = EmitOptions("m", OPTIONS.entries | {"raw"}, kernel=family, optimize=best)
    outcome = verify(model, emission=emit_c(model, options), sanitize=True, n_random=300)
    assert outcome.agree, outcome.first_mismatch


@by_family
@settings(
    max_examples=examples(10),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(some=cut_programs(), which=st.integers(0, 9))
def test_any_program_agrees(require_tool, family, some, which):
    require_tool("gcc")
    found = list(islice(FAMILIES[family](some), 10))
    assert_agrees(some, found[which % len(found)], n=60)


@pytest.mark.parametrize("family", ONCE)
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_equal_rows_are_stored_once_and_found(require_tool, family, compiler):
    """For freestanding clang uint_fast16_t has 16 bits, and a sum of two is an int."""
    require_tool(compiler)
    few = np.random.default_rng(5).integers(0, 8, (12, 26))
    some = letter_like(12, 16)
    rng = np.random.default_rng(6)
    tables = [
        Table(t.name, t.features, few[rng.integers(0, 12, len(t.costs))], 8, t.maps)
        for t in some.tables
    ]
    some = program(some.n_states, [0] * 26, tables)
    found = [
        each
        for each in FAMILIES[family](some)
        if (each.lanes.dictionary if family == "cuts" else each.dictionary)
    ]
    assert found
    (tool,) = host_compilers(compiler)
    assert_agrees(some, found[0], compiler=tool)


@by_family
@pytest.mark.parametrize("n", [9, 10, 36, 37])
def test_lanes_may_be_exactly_full(require_tool, family, n):
    """Nine tables of 7 fill 6 bits, and not one unit more; 36 of 7 the 8 bits of a last lane."""
    require_tool("gcc")
    maps = {0: (0, 0, 1, 1)}
    rows = [[7] * 10, [0, 7] * 5]
    tables = [table([0], rows[:: 1 if t % 2 else -1], maps=maps) for t in range(n)]
    some = program([4], [0] * 10, tables)
    for kernel in narrowest(family, some):
        assert_agrees(some, kernel, n=4)
