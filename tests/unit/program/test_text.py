"""Programs as text."""

from bncc.program.pipeline import optimize, program_of
from bncc.program.text import print_program
from tests import models as hand
from tests.unit.lower.by_hand import program, table


def test_a_program_prints_features_classes_prior_tables_and_range():
    assert print_program(program_of(hand.naive_integer())) == (
        "program: 2 features, 3 classes, 2 tables, 576 bits, unit 2^-2 nats\n"
        'feature 0: "pressure" int16, 3 states, thresholds [-5 100], missing -> 0\n'
        'feature 1: "light" int16, 2 states, thresholds [0], missing -> 0\n'
        'classes: "c0", "c1", "c2"\n'
        "prior: 2 2 2\n"
        'table 0: "pressure"[x0:3] u32, 3 rows, costs 0 .. 15\n'
        'table 1: "light"[x1:2] u32, 2 rows, costs 1 .. 3\n'
        "sums: u32, 3 .. 20\n"
    )


def test_rows_are_printed_on_demand():
    lines = print_program(program_of(hand.naive_integer()), rows=True).splitlines()
    start = lines.index('table 1: "light"[x1:2] u32, 2 rows, costs 1 .. 3')
    assert lines[start + 1 : start + 3] == ["  0: 1 2 3", "  1: 3 2 1"]


def test_offsets_in_the_prior_and_narrow_widths_show():
    program, _ = optimize(program_of(hand.category_with_missing()))
    text = print_program(program)
    assert "prior: 0 21\n" in text
    assert 'table 1: "weight"[x0:4, x1:3] u8, 12 rows, costs 0 .. 1\n' in text
    assert "sums: u8, " in text


def test_a_folded_prior_shows():
    program, _ = optimize(program_of(hand.tan_float()))
    assert "prior: none\n" in print_program(program)


def test_a_category_prints_its_labels_as_json():
    text = print_program(program_of(hand.category_with_missing()))
    assert (
        'feature 0: "color" category, 4 states, categories ["red" "gr\\u00fcn" "*/"], '
        "missing -> 3\n"
    ) in text


def test_a_state_prints_neither_thresholds_nor_categories():
    text = print_program(program_of(hand.one_state_feature()))
    assert 'feature 0: "constant" state, 1 states, missing -> 0\n' in text


def test_a_negative_fraction_prints_a_positive_exponent():
    assert "unit 2^1 nats" in print_program(program_of(hand.saturated()))


def test_names_cannot_break_lines():
    text = print_program(program_of(hand.hostile_names()))
    assert text.isascii()
    assert len(text.splitlines()) == 1 + 8 + 1 + 1 + 8 + 1


def test_a_state_map_shows_the_level_of_every_state():
    some = program([2, 4], [0, 0], [table([0, 1], [[0, 1]] * 4, maps={1: (0, 1, 1, 0)})])
    assert 'table 0: "x0,x1"[x0:2, x1:2 of 0 1 1 0] u32, 4 rows, ' in print_program(some)
