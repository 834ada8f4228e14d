"""
The text of every kernel, interpreted as C99 without a compiler: equal to the integer model.

The interpreter reads the printed C back, see `tests.printed.program`. Inputs reach every row of
every table, which is checked: a kernel reads all entries of its arrays, except zeros and largest
states of features that no table reads, which straight-line code does not check.
"""

from dataclasses import replace
from functools import cache, partial

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bncc.device.agreement import compare
from bncc.device.inputs.cases import Effort, cases
from bncc.device.inputs.missing import missing_cases
from bncc.emit.emitter import EmitOptions, emit_c, emit_candidate
from bncc.lower.cost_model import candidate
from bncc.lower.kernels.families import FAMILIES, FOR_CUTS
from bncc.lower.kernels.lanes.layout import lanes
from bncc.model import reference
from bncc.model.missing_form import why_not
from bncc.program import ir
from bncc.program.pipeline import optimize, program_of
from tests import models as hand
from tests.cut_programs import cut_program, stand_in
from tests.printed.printed import Printed, row_cases
from tests.strategies import models
from tests.tiers import examples
from tests.unit.lower.by_hand import program as program_by_hand
from tests.unit.lower.by_hand import table

ENTRIES = frozenset({"scores", "trusted"})
WIDTHS = {16: 16, 32: 64}
"""Bits of int on an AVR and elsewhere, and of the fast types that go with them."""


def layouts(program):
    """Return all layouts of a program by their family, lanes of 64 bits too."""
    every = {
        family: [*FAMILIES[family](program), *(lanes(program, 64) if family == "lanes" else ())]
        for family in FAMILIES
    }
    return {family: some for family, some in every.items() if some}


@cache
def optimized(name):
    """Return the program of a model after all passes."""
    return optimize(program_of(hand.NAMED[name]()))[0]


@cache
def cuts():
    """Return a program of cuts whose rows differ."""
    return optimize(cut_program(5, 6, 5, 6, 8, has_prior=True))[0]


def assert_agrees(model, program, kernel, int_bits, costs):
    """Compare the text of one layout of a program with the costs of states."""
    options = EmitOptions("m", ENTRIES)
    emission = emit_candidate(model, candidate(program, kernel, None), options)
    check, files = emission.layout.check, emission.files
    with Printed(model, files, ENTRIES, int_bits=int_bits, fast_bits=WIDTHS[int_bits]) as printed:
        outcome = compare(printed, row_cases(program, costs))
    assert outcome.agree, f"{kernel.summary}, {printed.toolchain}: {outcome.first_mismatch}"
    for name, cells in printed.program.rom.items():
        needless = check.unread if name == "m_last_state" and not check.is_loop else frozenset()
        left = set(range(len(cells))) - cells.seen - needless
        unread = [cell for k, cell in enumerate(cells.copy()) if k in left]
        assert not cells.seen or not any(unread), f"{kernel.summary}: {name} is not read whole"


def assert_model_agrees(name, kernel, int_bits):
    """Compare a layout of an optimized model with the model itself."""
    model = hand.NAMED[name]()
    assert_agrees(model, optimized(name), kernel, int_bits, partial(reference.costs, model))


def assert_program_agrees(program, kernel, int_bits):
    """Compare a layout of a program without a model with the program."""
    costs = partial(ir.costs, program)
    assert_agrees(stand_in(program), program, kernel, int_bits, costs)


SOME = (
    "naive_integer", "tan_float", "category_with_missing", "saturated", "sum_65536",
    "general_network", "sum_of_tables",
)  # fmt: skip
"""Models of the ordinary run; the rest are slow."""
PAIRS = [(name, family) for name in hand.NAMED for family in layouts(optimized(name))]


@pytest.mark.parametrize(("name", "family"), [pair for pair in PAIRS if pair[0] in SOME])
def test_every_layout_of_a_kernel_is_printed_as_it_is_meant(name, family):
    for k, kernel in enumerate(layouts(optimized(name))[family]):
        assert_model_agrees(name, kernel, (16, 32)[k % 2])


@pytest.mark.slow
@pytest.mark.parametrize("int_bits", WIDTHS)
@pytest.mark.parametrize(("name", "family"), PAIRS)
def test_every_layout_is_right_for_any_width_of_int(name, family, int_bits):
    for kernel in layouts(optimized(name))[family]:
        assert_model_agrees(name, kernel, int_bits)


@pytest.mark.parametrize(
    "family",
    [pytest.param(f, marks=[pytest.mark.slow] * (f not in FOR_CUTS)) for f in layouts(cuts())],
)
def test_every_layout_of_cuts_is_printed_as_it_is_meant(family):
    some = cuts()
    for k, kernel in enumerate(layouts(some)[family]):
        assert_program_agrees(some, kernel, (16, 32)[k % 2])


@pytest.mark.parametrize("bits", [(1, 1), (2, 2), (3, 3), (1, 3, 3), (2, 2, 2), (3, 3, 3, 3)])
@pytest.mark.parametrize("prior", range(8))
def test_planes_of_bits_are_added_in_any_order(bits, prior):
    """Bits of the prior decide whether a pair of tables is added in one step, or word by word."""
    rng = np.random.default_rng([prior, *bits])
    tables = [
        table([f], [[0, 2**n - 1, 1], *rng.integers(0, 2**n, (2, 3)).tolist()])
        for f, n in enumerate(bits)
    ]
    some = program_by_hand([3] * len(bits), [prior, 0, 0], tables)
    found = layouts(some)["bit-slice"]
    for k, kernel in enumerate(found):
        assert_program_agrees(some, kernel, (16, 32)[k % 2])


@pytest.mark.parametrize("family", ["lanes", "packed"])
@settings(max_examples=examples(15), deadline=None, derandomize=True)
@given(data=st.data(), seed=st.integers(0, 2**32 - 1))
def test_tables_of_few_bits_are_printed_as_they_are_meant(family, data, seed):
    """Bits of tables and of the prior decide in which steps a pair of tables is added."""
    rng = np.random.default_rng(seed)
    n_classes, n_tables = data.draw(st.integers(2, 9)), data.draw(st.integers(1, 7))
    bits = data.draw(st.lists(st.integers(0, 3), min_size=n_tables + 1, max_size=n_tables + 1))
    prior, *drawn = (rng.integers(0, 1 << b, (4, n_classes)) for b in bits)
    tables = [table([f], rows.tolist()) for f, rows in enumerate(drawn)]
    some = program_by_hand([4] * n_tables, prior[0].tolist(), tables)
    found = layouts(some).get(family, [])
    assume(found)
    assert_program_agrees(
        some, data.draw(st.sampled_from(found)), data.draw(st.sampled_from([16, 32]))
    )


def test_the_largest_state_of_a_feature_that_no_table_reads_is_not_needed():
    """A walk over tables reads those of the others, and straight-line code checks them."""
    base = hand.naive_integer()
    model = replace(base, tables=(np.zeros_like(base.tables[0]), *base.tables[1:]))
    program, _ = optimize(program_of(model))
    walks = [kernel for kernel in layouts(program)["packed"] if kernel.walk.form == "own"]
    assert walks
    for kernel in walks:
        assert_agrees(model, program, kernel, 32, partial(reference.costs, model))


@settings(max_examples=examples(25), deadline=None, derandomize=True)
@given(data=st.data(), model=models(max_classes=9, max_bits=6))
def test_any_model_is_printed_as_it_is_meant(data, model):
    program, _ = optimize(program_of(model))
    found = layouts(program)
    kernel = data.draw(st.sampled_from(found[data.draw(st.sampled_from(sorted(found)))]))
    int_bits = data.draw(st.sampled_from([16, 32]))
    assert_agrees(model, program, kernel, int_bits, partial(reference.costs, model))


@pytest.mark.parametrize("int_bits", WIDTHS)
@pytest.mark.parametrize("name", hand.NAMED)
def test_entry_points_around_the_kernel_are_printed_as_they_are_meant(name, int_bits):
    """Readings at thresholds, states out of range, gaps, and streamed features."""
    model = hand.NAMED[name]()
    entries = {"raw", "scores", "trusted", "stream"}
    if why_not(model) is None:
        entries.add("missing")
    files = emit_c(model, EmitOptions("m", frozenset(entries))).files
    if "missing" in entries:
        entries.add("raw_missing")
    with Printed(model, files, entries, int_bits=int_bits, fast_bits=WIDTHS[int_bits]) as printed:
        effort = Effort(n_random=8)
        some = [*cases(model, None, effort)]
        if "missing" in entries:
            some += missing_cases(model, None, effort, has_raw="raw" in printed.entries)
        outcome = compare(printed, map(thinned, some))
    assert outcome.agree, outcome.first_mismatch


@pytest.mark.parametrize("name", ["tan_float", "ties", "sum_65536"])
def test_c_of_constant_time_is_printed_as_it_is_meant(name):
    """Scores are not read before they are set: the interpreter is given none."""
    model = hand.NAMED[name]()
    entries = ENTRIES | {"raw"}
    files = emit_c(model, EmitOptions("m", entries, constant_time=True)).files
    with Printed(model, files, entries) as printed:
        outcome = compare(printed, map(thinned, cases(model, None, Effort(n_random=8))))
    assert outcome.agree, outcome.first_mismatch


def thinned(case, most=40):
    """Return a case with so many of its inputs, from first to last."""
    k = np.unique(np.linspace(0, len(case.x) - 1, most).astype(int)) if len(case.x) else []
    fields = {name: getattr(case, name) for name in ("x", "y", "scores", "is_missing")}
    return replace(case, **{name: v if v is None else v[k] for name, v in fields.items()})
