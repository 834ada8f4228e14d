"""The check of an input as C text."""

from bncc.compiler.input_check import InputCheck, input_check
from bncc.emit.input_check import ConditionText, check_text


def test_a_loop_compares_with_one_number_or_an_array() -> None:
    assert check_text(InputCheck(3, 4)).last == "4U"
    various = check_text(InputCheck(3, None))
    assert (various.last, various.conditions, various.has_joint) == ("", (), False)


def test_one_condition_per_limit() -> None:
    check = input_check([4, 1, 5, 4, 5, 4, 4, 4], optimize="speed", rom_bytes=0)
    found = check_text(check)
    assert found.conditions == (
        ConditionText("1 state", ("x[1] > 0U",)),
        ConditionText("4 states", ("(x[0] | x[3] | x[5] | x[6]) > 3U || x[7] > 3U",)),
        ConditionText("5 states", ("x[2] > 4U || x[4] > 4U",)),
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
