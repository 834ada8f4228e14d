"""The price of a kernel behind discretizers, and of the textbook classifier from readings."""

import numpy as np
import pytest

from bncc.discretize.feature import Feature
from bncc.emit.emitter import EmitOptions, emit_candidate
from bncc.fixed_point import QFormat
from bncc.lower.choose import families_for, layouts_for
from bncc.lower.cost_model import (
    DISCRETIZERS,
    FAMILY,
    LEVELS,
    OF_FOUND,
    OF_READINGS,
    code_bytes,
    decision_cost,
    has_weights,
    table_bytes,
    weights_of,
)
from bncc.lower.discretizers.choice import searched
from bncc.lower.discretizers.counts import CODE, STORED, WORK, Counts
from bncc.lower.discretizers.rates import rates_of
from bncc.lower.entry_price import EntryPrices
from bncc.lower.estimate import entry_times
from bncc.lower.kernels.families import FAMILIES, FOR_TREES
from bncc.lower.kernels.packed.layout import PackedKernel
from bncc.lower.request import Request
from bncc.lower.state_cost import (
    DECIDING,
    STATE_ENTRY,
    StateTerms,
    code_of,
    hands_over,
    state_terms,
    terms_of,
    work_of,
)
from bncc.lower.textbook_readings import (
    bytes_of_readings,
    code_of_readings,
    expected_looks,
    textbook_of_readings,
    work_of_readings,
)
from bncc.model.model import Model
from bncc.program.pipeline import program_of
from bncc.structure.graph import forest


def model_of(*features, parents=None):
    """Return a network of three classes over some features."""
    rng = np.random.default_rng(0)
    parents = parents or [None] * len(features)
    rows = [
        f.n_states * (1 if j is None else features[j].n_states)
        for f, j in zip(features, parents, strict=True)
    ]
    return Model(
        features,
        ("a", "b", "c"),
        forest(parents),
        QFormat(4, 0),
        rng.integers(0, 15, 3),
        tuple(rng.integers(0, 15, (n, 3)) for n in rows),
        {},
    )


def sensor(name="a", kind="int16", *cuts):
    return Feature(name, kind, len(cuts) + 1, cuts)


INTS = tuple(sensor(f"x{i}", "int16", 10, 20, 300) for i in range(3))
MIXED = (
    sensor("u", "uint8", 3, 9),
    sensor("f", "float32", 1.0, 2.0, 3.0),
    Feature("c", "state", 4),
)


def kernels(model, target="cortex-m0"):
    program = program_of(model)
    for family in families_for(target):
        yield from layouts_for(program, family, target)


def test_every_kernel_but_trees_has_weights_behind_discretizers():
    for target, level in (("cortex-m0", "-Os"), ("cortex-m4", "-O2"), ("avr", "-O2")):
        model = model_of(*INTS, parents=[None, 0, 1])
        program = program_of(model)
        for kernel in kernels(model, target):
            plan = searched(INTS, "linear", rates_of(target))
            terms = state_terms(program, kernel, plan, may_copy=False)
            assert terms.instructions(target, level) > 0
            assert terms.code_bytes(target, level) > terms.finding_bytes(target, level) > 0
    assert {name for name in FAMILIES if not has_weights(name + OF_FOUND)} == FOR_TREES


def test_weights_are_as_many_as_operations():
    for (name, _, _), (work, code) in weights_of(DISCRETIZERS).items():
        assert (name, len(work), len(code)) == (DISCRETIZERS, len(WORK), len(CODE))
    assert work_of(Counts({WORK[1]: 2})) == (0, 2, *(0,) * (len(WORK) - 2))
    assert code_of(Counts({}, {CODE[0]: 1})) == (1, *(0,) * (len(CODE) - 1))


def test_a_kernel_without_weights_of_its_own_is_priced_as_called(monkeypatch):
    model = model_of(*INTS)
    program, kernel = program_of(model), next(kernels(model))
    counts = searched(INTS, "linear", rates_of(None)).counts
    terms = terms_of(program, kernel, counts, is_handed=False)
    own = terms.instructions(), terms.code_bytes()
    monkeypatch.setattr("bncc.lower.state_cost.has_weights", lambda family: False)
    finding = StateTerms(program, kernel, terms.found).finding_bytes()
    assert terms.code_bytes() == STATE_ENTRY + finding + code_bytes(kernel)
    assert terms.instructions() > decision_cost(kernel)
    assert own != (terms.instructions(), terms.code_bytes())


def test_few_states_are_handed_over_by_kernels_that_decide():
    assert hands_over(8, is_loop=False, decides=True)
    assert not hands_over(9, is_loop=False, decides=True)
    assert not hands_over(8, is_loop=True, decides=True)
    assert not hands_over(8, is_loop=False, decides=False)
    lines = searched(MIXED, "linear", rates_of(None))
    program = program_of(model_of(*MIXED))
    for kernel in kernels(model_of(*MIXED)):
        copied = state_terms(program, kernel, lines, may_copy=True).found
        called = state_terms(program, kernel, lines, may_copy=False).found
        n_stored = 0 if kernel.family in DECIDING else len(MIXED)
        assert copied.work[STORED] == copied.code[STORED] == n_stored
        assert called.work[STORED] == called.code[STORED] == len(MIXED)
        assert called.rom_bytes == copied.rom_bytes


def test_the_families_that_decide_are_those_whose_text_does():
    model = model_of(*MIXED)
    options = EmitOptions("m", target="avr", optimize="speed")
    prices = EntryPrices(Request(model, options))
    for kernel in kernels(model, "avr"):
        (found,) = prices.of(prices.request.program, kernel)
        layout = emit_candidate(model, found, options).layout
        assert layout.text.decides == (kernel.family in DECIDING)
        assert layout.hands_over == layout.text.decides


@pytest.mark.parametrize("optimize", ["balanced", "size", "speed"])
@pytest.mark.parametrize("features", [INTS, MIXED])
def test_the_price_is_the_estimate_of_the_entry_point(optimize, features):
    model = model_of(*features)
    options = EmitOptions("m", target="cortex-m0", optimize=optimize)
    prices = EntryPrices(Request(model, options))
    for kernel in kernels(model):
        (found,) = prices.of(prices.request.program, kernel)
        layout = emit_candidate(model, found, options).layout
        times = entry_times(layout, "cortex-m0", LEVELS[optimize])
        assert times["predict-raw"] == found.instructions


def test_products_of_states_take_as_many_turns_as_the_states_have_bits():
    """States 0 .. 3 have 0, 1, 2, 2 bits, the largest one two of them."""
    naive = program_of(model_of(*INTS))
    tree = program_of(model_of(*INTS, parents=[None, 0, None]))
    both = program_of(model_of(*INTS, parents=[None, 0, 1]))
    for program, n_products in ((naive, 0), (tree, 2), (both, 4)):
        for kernel in FAMILIES["packed"](program):
            assert isinstance(kernel, PackedKernel)
            products, walked, turns, additions = kernel.product_work
            assert (products, walked) == (n_products, 0)
            assert turns == n_products / 2 * (2 + 5 / 4)
            assert additions == n_products / 2 * (2 + 4 / 4)


def test_a_walk_multiplies_for_every_feature():
    some = model_of(*INTS, parents=[None, 0, None])
    program = program_of(some)
    whole = program.tables[1]
    wide = type(whole)("x2", (0, 1, 2), np.tile(whole.costs, (4, 1)), whole.entry_bits)
    program = type(program)(
        program.features, program.classes, program.frac_bits, program.prior, (wide,)
    )
    for kernel in FAMILIES["packed"](program):
        assert kernel.product_work == (0, 6, 12, 12)


def test_entry_points_from_states_and_from_readings_are_priced_together():
    model = model_of(*INTS)

    def price(*entries):
        options = EmitOptions("m", target="cortex-m0", priced=entries)
        prices = EntryPrices(Request(model, options))
        return prices.priced(prices.request.program, next(kernels(model)), "states")

    raw, states, both = price("predict-raw"), price("predict"), price("predict", "predict-raw")
    assert max(raw.flash, states.flash) < both.flash < raw.flash + states.flash
    assert both.instructions == max(raw.instructions, states.instructions)


def test_lines_store_the_states_that_they_find_and_loops_in_turns():
    flat = (*MIXED, sensor("flat"))
    found = searched(flat, "linear", rates_of(None), unread=(3,)).counts
    assert found.work[STORED] == found.code[STORED] == 3
    assert searched(INTS, "linear", rates_of(None)).counts.work.get(STORED, 0) == 0
    codes = (Feature("a", "state", 4), Feature("b", "state", 3))
    assert searched(codes, "linear", rates_of(None)).counts.work[STORED] == 0


def test_the_textbook_searches_from_the_first_threshold_on():
    model = model_of(*INTS)
    program = program_of(model)
    even, first = [np.ones(4)] * 3, [np.array([1.0, 0, 0, 0])] * 3
    assert expected_looks(program, even) == [2.25] * 3
    assert expected_looks(program, first) == [1.0] * 3
    assert expected_looks(program, [np.zeros(4)] * 3) == [2.25] * 3
    slow, fast = (textbook_of_readings(program, known, "cortex-m0") for known in (even, first))
    assert slow.flash == fast.flash
    assert slow.instructions > fast.instructions


def test_the_textbook_counts_types_of_readings():
    program = program_of(model_of(*MIXED))
    looks = expected_looks(program, [np.ones(n) for n in program.n_states])
    # turns, calls, codes, floats; thresholds, of 32 bits, of floats; features in a loop
    n_u, n_f = (1 + 2 + 2) / 3, (1 + 2 + 3 + 3) / 4
    assert work_of_readings(program, looks)[-8:] == (0, 3, 1, 1, n_u + n_f, n_f, n_f, 3)
    # a loop, calls, with a marker; functions of numbers, of 32 bits, of floats, of codes
    assert code_of_readings(program)[-11:-4] == (0, 3, 2, 1, 0, 1, 1)
    assert bytes_of_readings(program) == table_bytes(program) + 2 + 3 * 4
    ints = program_of(model_of(*INTS))
    assert work_of_readings(ints, [2.5] * 3)[-8:] == (3, 0, 0, 0, 7.5, 0, 0, 3)
    assert code_of_readings(ints)[-11:-4] == (1, 0, 0, 1, 0, 0, 0)
    assert bytes_of_readings(ints) == table_bytes(ints) + 9 * 2 + 2 * 4 + 3
    assert has_weights(FAMILY + OF_READINGS)


def test_the_textbook_has_no_loop_over_two_features_or_two_classes():
    two = INTS[:2]
    few = model_of(*two)
    pair = Model(
        two,
        ("a", "b"),
        forest([None, 0]),
        few.q_format,
        few.prior[:2],
        (few.tables[0][:, :2], np.tile(few.tables[1][:, :2], (4, 1))),
        {},
    )
    # several classes, several features, parents, these with several classes
    assert code_of_readings(program_of(model_of(*INTS)))[-4:] == (1, 1, 0, 0)
    assert code_of_readings(program_of(model_of(*INTS, parents=[None, 0, None])))[-4:] == (1,) * 4
    assert code_of_readings(program_of(few))[-4:] == (1, 0, 0, 0)
    assert code_of_readings(program_of(pair))[-4:] == (0, 0, 1, 0)
    assert work_of_readings(program_of(few), [2.5] * 2)[-1] == 0
