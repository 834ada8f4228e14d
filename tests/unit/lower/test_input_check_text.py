"""The input check as C text."""

from bncc.lower.input_check import ConditionText, InputCheck, WordsText, check_text, input_check


def test_a_loop_compares_with_one_number_or_an_array() -> None:
    assert check_text(InputCheck(3, 4)).last == "4U"
    various = check_text(InputCheck(3, None))
    assert (various.last, various.conditions, various.has_joint) == ("", (), False)


def test_one_condition_per_limit() -> None:
    check = input_check([4, 1, 5, 4, 5, 4, 4, 4], optimize="speed", rom_bytes=0)
    found = check_text(check)
    assert found.conditions == (
        ConditionText("1 state", ("x[1] > 0U",)),
        ConditionText("4 states", ("((x[0] | x[3] | x[5] | x[6]) > 3U) || (x[7] > 3U)",)),
        ConditionText("5 states", ("(x[2] > 4U) || (x[4] > 4U)",)),
    )
    assert found.has_joint


def test_states_alone_are_not_joint() -> None:
    check = input_check([4, 8, 5, 5], optimize="speed", rom_bytes=0)
    assert not check_text(check).has_joint


def test_long_conditions_are_wrapped_before_an_operator() -> None:
    found = check_text(input_check([5] * 30, optimize="speed", rom_bytes=0))
    (condition,) = found.conditions
    assert len(condition.lines) > 1
    assert all(line.startswith("|| ") for line in condition.lines[1:])
    assert " ".join(condition.lines).count(" > 4U") == 30


def test_words_are_tested_four_at_a_time() -> None:
    """The first state is the lowest lane, in the word and in what is added."""
    check = input_check([5, 4, 3, 2] * 6, optimize="speed", rom_bytes=0, target="cortex-m4")
    assert check_text(check).words == WordsText(
        type="uint32_t",
        n_lanes=4,
        lane_bits=8,
        half=127,
        lanes=(
            "(uint32_t)x[0]",
            "((uint32_t)x[1] << 8U)",
            "((uint32_t)x[2] << 16U)",
            "((uint32_t)x[3] << 24U)",
        ),
        groups=(
            tuple((first, "0x7E7D7C7BU") for first in (0, 4, 8, 12)),
            ((16, "0x7E7D7C7BU"), (20, "0x7E7D7C7BU")),
        ),
        highest="0x80808080U",
    )


def test_an_addend_has_all_its_digits() -> None:
    check = input_check([5] * 7 + [128], optimize="speed", rom_bytes=0, target="x86")
    words = check_text(check).words
    assert words is not None
    assert words.groups == (((0, "0x007B7B7B7B7B7B7BU"),),)
