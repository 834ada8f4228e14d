"""Counted operations of kernels that compare readings, in small programs."""

import pytest

from bncc.emit.emitter import EmitOptions, emit_c
from bncc.lower.entry_price import STATE_ENTRY, EntryPrices
from bncc.lower.kernels.branches.trees import Node
from bncc.lower.kernels.families import FAMILIES
from bncc.lower.reading_comparisons import expected_visits, line_counts, tree_counts
from bncc.lower.reading_cost import reading_terms, tree_terms
from bncc.lower.reading_keys import compared_integers
from bncc.lower.reading_lists import bit_shifts, lanes_counts, loop_counts, packed_counts
from bncc.lower.request import Request
from bncc.program.pipeline import program_of
from tests.agreement.test_direct_readings import model_of
from tests.cut_programs import cut_program
from tests.tree_programs import tree_program

TREE = Node(0, 2, above=Node(0, 3, above=1, below=2), below=3)
"""Three leaves, two of them behind the second comparison of the same feature."""


def test_a_byte_machine_shifts_whole_bytes_at_once():
    assert [bit_shifts(bits) for bits in (0, 3, 8, 9, 24)] == [0, 3, 0, 9, 0]


def test_a_node_is_visited_as_often_as_its_leaves_are_reached():
    root, second = expected_visits(TREE)
    assert (root.share, root.is_first, root.least) == (1, True, 2)
    assert (second.share, second.is_first, second.least) == (pytest.approx(2 / 3), False, 3)


def test_trees_execute_what_is_visited_and_hold_every_node():
    some = tree_program(8, 16, 3, 5, 8, seed=1)
    for kernel in FAMILIES["branches"](some):
        every = [each for tree in kernel.trees for each in expected_visits(tree)]
        work, code = tree_counts(some, kernel, "readings")
        assert work["comparisons"] == pytest.approx(kernel.expected_comparisons)
        assert work["trees"] == code["trees"] == 5
        assert code["leaves"] == sum(kernel.n_nodes) + 5
        none = tree_counts(some, kernel, "readings", [])
        assert (none[0]["comparisons"], none[1]) == (0, code)
        assert tree_terms(some, kernel, None, every) == reading_terms(some, kernel)


def test_refilling_a_long_row_takes_the_bits_that_are_left_in_shifts():
    """Costs of 3 bits: the third one of a row takes two bits of the first byte."""
    program = program_of(model_of("int16"))
    for kernel in FAMILIES["cut-packed"](program):
        compared = compared_integers(program, "readings", kernel)
        work, code = packed_counts(program, kernel, compared)
        n_tables, n_classes, bits = len(kernel.cuts), program.n_classes, kernel.cost_bits
        refilled = [c * bits % 8 for c in range(1, n_classes) if -c * bits % 8 < bits]
        assert work["costs"] == n_tables * n_classes
        if code["long rows"]:
            assert work["bytes of rows"] == n_tables * kernel.row_bytes
            assert work["bits of their shifts"] <= n_tables * len(refilled) * (bits - 1)
        else:
            assert work["bytes of rows"] == work["bits of their shifts"] == 0


def test_cuts_of_a_shape_s_only_table_are_known_to_compilers():
    some = cut_program(8, 16, 3, 4, 16, seed=2)
    compared = compared_integers(some, "readings")
    for kernel in FAMILIES["cut-lanes"](some):
        work, code = lanes_counts(some, kernel, compared)
        single = [shape for shape in kernel.straight if shape.n_tables == 1]
        assert code["known tables"] == len(single)
        assert code["shapes in lines"] == kernel.n_straight - len(single)
        in_lines = sum(work[f"cuts in lines of {bits} bits"] for bits in (8, 16, 32))
        known = code["known cuts"]
        assert work["cuts in the loop"] + in_lines + known == kernel.n_cuts
        is_all = len(single) == len(kernel.shapes)
        assert (work["bytes of cuts, all known"] > 0) == is_all


def test_cuts_of_a_loop_have_strides_or_not():
    some = cut_program(8, 16, 3, 6, 8, seed=3, share_of_grids=0.0)
    compared = compared_integers(some, "readings")
    for kernel in FAMILIES["cut-loop"](some):
        work, code = loop_counts(some, kernel, compared)
        doubled, others = (
            sum(work[f"{name} of {bits} bits"] for bits in (8, 16, 32))
            for name in ("cuts without strides", "cuts")
        )
        assert {doubled, others} == {0, sum(kernel.n_cuts)}
        assert (doubled > 0) == kernel.is_doubled
        assert code["numbers of cuts"] == (not kernel.same_n_cuts)


def test_straight_lines_compare_every_cut():
    program = program_of(model_of("float32"))
    for kernel in FAMILIES["cuts"](program):
        work, code = line_counts(program, kernel)
        assert work["cuts"] == code["cuts"] == kernel.n_cuts
        assert work["bytes of readings"] == 4 * kernel.n_cuts
        assert code["further cuts"] == kernel.n_cuts - work["readings"]


def test_layouts_that_find_states_are_priced_with_their_entry_point():
    """As in the estimate, so that they compare with those that compare readings."""
    model = model_of("float32")
    request = Request(model, EmitOptions("m", optimize="size", target="cortex-m0"))
    prices, program = EntryPrices(request), program_of(model)
    kernel = next(iter(FAMILIES["cut-packed"](program)))
    states = prices.priced(program, kernel, "states").flash
    emission = emit_c(
        model,
        EmitOptions(
            "m", optimize="size", target="cortex-m0", kernel="cut-packed", compare="states"
        ),
    )
    constants = emission.layout.labels.n_bytes + emission.layout.labels.starts.n_bytes
    assert states > STATE_ENTRY
    assert emission.estimate.flash - states == pytest.approx(constants, abs=60)
