"""The kernel of branches as C: one function per tree, what a leaf returns, and what is read."""

import re
from dataclasses import replace

import numpy as np
import pytest

from bncc.emit.emitter import EmitOptions, emit_c, emit_candidate
from bncc.emit.near_ties import near_tie_steps
from bncc.errors import OptionError
from bncc.lower.cost_model import candidate
from bncc.lower.kernels.families import FAMILIES
from bncc.lower.kernels.lanes.layout import lanes
from bncc.program.ir import Table
from tests.cut_programs import stand_in
from tests.models import TREES, all_zero, sum_of_tables, trees_of_sensors
from tests.tree_programs import tree_program

ENTRIES = frozenset({"raw", "scores", "trusted"})


def with_a_product():
    """Return trees and one table over all states of a feature and two levels of another."""
    some = tree_program(5, 6, 4, 3, 8)
    rng = np.random.default_rng(0)
    product = Table("x3", (1, 3), rng.integers(0, 9, (12, 4)), 8, {3: (0, 0, 1, 1, 0, 0)})
    return replace(some, tables=(*some.tables, product))


PROGRAMS = {
    "one": lambda: tree_program(16, 16, 26, 1, 128),
    "margins": lambda: tree_program(6, 255, 2, 12, 16, has_prior=True),
    "wide_margins": lambda: tree_program(6, 16, 2, 40, 8, bits=12),
    "words": lambda: tree_program(40, 16, 4, 8, 16, has_prior=True),
    "letter": lambda: tree_program(16, 16, 26, 12, 32),
    "few_rows": lambda: tree_program(5, 4, 10, 6, 4, bits=2),
    "wide_states": lambda: tree_program(300, 400, 5, 9, 16),
    "with_a_product": with_a_product,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_tree_is_a_function_of_its_own(name):
    some = PROGRAMS[name]()
    for kernel in FAMILIES["branches"](some):
        found = candidate(some, kernel, None)
        files = emit_candidate(stand_in(some), found, EmitOptions("m", ENTRIES - {"raw"})).files
        text = files["m.c"]
        assert len(re.findall(r"^M_APART \w+ m_tree\d+\(", text, re.MULTILINE)) == len(kernel.trees)
        assert "nested comparison" in kernel.summary
        header = re.sub(r"\s+\*\s+", " ", files["m.h"]).replace(",", "")
        assert f"up to {kernel.most_comparisons} comparison" in header
        assert kernel.additions >= 0
        assert kernel.addend


@pytest.mark.parametrize("name", TREES)
@pytest.mark.parametrize("best", ["balanced", "size", "speed"])
def test_readings_are_compared_and_everything_is_printed(name, best):
    model = TREES[name]()
    emission = emit_c(model, EmitOptions("m", ENTRIES, optimize=best))
    text = dict(emission.files)["m.c"]
    body = text.split("int16_t m_predict_raw(")[1].split("\n}")[0]
    assert "state" not in body
    assert "_raw_tree0(" in text
    assert emission.layout.kernel.family == "branches"


@pytest.mark.parametrize("kind", ["int16", "int32", "float32", "category", "state"])
@pytest.mark.parametrize("n_classes", [2, 5])
def test_readings_of_every_kind_are_compared(kind, n_classes):
    model = trees_of_sensors(n_classes, 3, kinds=(kind,) * 4)
    text = emit_c(model, EmitOptions("m", ENTRIES)).files["m.c"]
    assert "m_decide_readings(x)" in text


def test_a_tree_of_one_leaf_reads_nothing():
    some = tree_program(4, 6, 3, 3, 8)
    flat = replace(some.tables[0], costs=np.zeros_like(some.tables[0].costs))
    some = replace(some, tables=(flat, *some.tables[1:]))
    kernel = next(iter(FAMILIES["branches"](some)))
    files = emit_candidate(stand_in(some), candidate(some, kernel, None), EmitOptions("m")).files
    assert "One leaf for all inputs" in files["m.c"]


def test_programs_that_no_tree_is_worth_have_no_layout_or_no_margin():
    some = tree_program(6, 16, 2, 4, 8)
    won = replace(some, prior=np.array([0, 10**6]))
    assert all("margins" not in kernel.summary for kernel in FAMILIES["branches"](won))
    wide = Table("x0", (0, 1, 2, 3), np.zeros((16**4, 2), np.int64), 8)
    assert not list(FAMILIES["branches"](replace(some, tables=(*some.tables, wide))))
    assert not list(lanes(some))


def test_near_ties_of_trees_and_products_are_followed():
    some = with_a_product()
    start = np.zeros((1, len(some.features)), np.int64)
    assert len(near_tie_steps(stand_in(some), some, start, 200).features) <= 200


def test_other_kernels_and_entry_points_are_refused():
    model = TREES["trees_of_sensors"]()
    with pytest.raises(OptionError, match="no layout for tables that are found by decision trees"):
        emit_c(model, EmitOptions("m", kernel="lanes"))
    with pytest.raises(OptionError, match="leaves=0"):
        emit_c(model, EmitOptions("m", frozenset({"stream"})))
    for other in (all_zero(), sum_of_tables()):
        with pytest.raises(OptionError):
            emit_c(other, EmitOptions("m", kernel="branches"))


def test_keys_of_floats_are_formed_once():
    made = trees_of_sensors(9, 5, kinds=("float32",) * 4)
    features = []
    for f in made.features:
        more = (f.thresholds[-1] + 1.0,) * f.has_missing_state
        features.append(replace(f, missing_state=0, thresholds=(*f.thresholds, *more)))
    model = replace(made, features=tuple(features))
    options = EmitOptions("m", ENTRIES, compare="keys")
    emission = emit_c(model, options)
    text = emission.files["m.c"]
    assert text.count("key[i] = m_order(x[i]);") == 1
    assert emission.layout.direct.compared == "keys"
    states = emit_c(model, EmitOptions("m", ENTRIES, compare="readings"))
    assert states.layout.direct.compared == "readings"


@pytest.mark.parametrize("name", TREES)
def test_states_can_be_asked_for_or_be_all_that_is_called(name):
    model = TREES[name]()
    for kernel in (None, "branches"):
        asked = emit_c(model, EmitOptions("m", ENTRIES, kernel=kernel, compare="states"))
        assert asked.layout.direct is None
    called = emit_c(model, EmitOptions("m", ENTRIES, priced=("predict",)))
    assert called.layout.kernel.family == "branches"
    assert called.layout.direct is not None
