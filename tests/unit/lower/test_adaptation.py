"""Places of offsets, and widths of sums with them."""

import pytest

from bncc.errors import IrError
from bncc.lower.adaptation import OffsetTables, plan_adaptation
from bncc.model.adaptation import Adaptation
from bncc.structure.decision_tables import DecisionTable

TABLES = (DecisionTable((4, 2), ((0, 3), (1,))), DecisionTable((1,), ((5,),)))


def offsets(step: int, margin: int = 1, n_tables: int = 2, n_classes: int = 5) -> OffsetTables:
    return OffsetTables(Adaptation((0, 1)[:n_tables], step, margin), TABLES[:n_tables], n_classes)


def test_comparisons_add_the_bytes_of_rows() -> None:
    plan = plan_adaptation(offsets(8, 20), 100, 8)
    assert [row.start for row in plan.rows] == [0, 18]
    # Three bytes for five classes; the second feature counts fastest.
    assert plan.rows[0].added == ((4, 0, 6), (4, 3, 6), (2, 1, 3))
    assert plan.rows[1].added == ((1, 5, 3),)
    assert (plan.n_bytes, plan.at_type, plan.shift, plan.initial) == (24, "uint8_t", 3, "0x77U")
    assert (plan.n_cuts, plan.additions, plan.comparisons) == (4, 44, 8)
    assert (plan.learn_additions, plan.learn_comparisons) == (49, 19)


def test_an_offset_of_each_class_needs_no_states() -> None:
    plan = plan_adaptation(offsets(1, n_tables=0), 100, 8)
    assert (plan.n_bytes, plan.reads, plan.largest_sum, plan.sum_type) == (3, False, 116, "uint8_t")


@pytest.mark.parametrize(
    ("largest", "step", "margin", "bits"),
    [
        (255 - 31, 1, 1, 8),
        (255 - 30, 1, 1, 16),
        (255 - 31, 1, 2, 16),
        (2**16 - 1 - 301, 8, 61, 16),
        (2**16 - 301, 8, 61, 32),
        (2**32 - 1 - 31, 1, 1, 32),
    ],
)
def test_a_sum_holds_the_largest_score_all_offsets_and_the_margin(
    largest: int, step: int, margin: int, bits: int
) -> None:
    plan = plan_adaptation(offsets(step, margin), largest, 8)
    assert plan.largest_sum == largest + 30 * step + margin
    assert plan.sum_bits == bits


def test_a_sum_is_not_narrower_than_scores_and_not_wider_than_a_word() -> None:
    assert plan_adaptation(offsets(1), 3, 16).sum_bits == 16
    with pytest.raises(IrError, match="exceed 32 bits"):
        plan_adaptation(offsets(1), 2**32 - 31, 32)


def test_many_rows_need_longer_addresses() -> None:
    wide = DecisionTable((0,), (tuple(range(127)),))
    for n_classes, kind in ((4, "uint8_t"), (5, "uint16_t")):
        found = OffsetTables(Adaptation((0,), 1, 1), (wide,), n_classes)
        assert plan_adaptation(found, 9, 8).at_type == kind


def test_offsets_have_no_more_bytes_than_an_address_of_16_bits() -> None:
    """The C would clear them in a loop without an end, and add up rows of the wrong place."""

    def wide(n_rows: int) -> OffsetTables:
        table = DecisionTable((0,), (tuple(range(n_rows - 1)),))
        return OffsetTables(Adaptation((0,), 1, 1), (table,), 2)

    assert plan_adaptation(wide(2**16 - 1), 9, 8).n_bytes == 2**16 - 1
    with pytest.raises(IrError, match="take 65536 bytes, more than 65535; train with"):
        plan_adaptation(wide(2**16), 9, 8)
