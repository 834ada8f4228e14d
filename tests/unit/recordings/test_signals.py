"""Signals: channels, jerk, sums and differences."""

import numpy as np
import pytest

from bncc.errors import OptionError
from bncc.recordings.recording import SampleFormat
from bncc.recordings.signals import signal_of, signals_of, split_list

FORM = SampleFormat(-10, 20)
SAMPLES = np.array([[1, -10, 20], [20, 20, 0], [-10, -10, 7]])


@pytest.mark.parametrize(
    ("text", "bounds", "values"),
    [
        ("x", (-10, 20), [1, 20, -10]),
        ("jerk(x,y)", (0, 60), [0, 49, 60]),
        ("jerk( z )", (0, 30), [0, 20, 7]),
        ("x+y", (-20, 40), [-9, 40, -20]),
        ("y - x", (-30, 30), [-11, 0, 0]),
        ("a-b", (-10, 20), [20, 0, 7]),
        ("x-a-b", (-30, 30), [-19, 20, -17]),
    ],
)
def test_values_and_bounds(text: str, bounds: tuple[int, int], values: list[int]) -> None:
    signal = signal_of(text, ["x", "y", "a-b", "z"])
    samples = SAMPLES[:, [0, 1, 2, 2]]
    assert signal.bounds(FORM) == bounds
    assert (signal.offsets(samples, FORM) + bounds[0]).tolist() == values


@pytest.mark.parametrize("text", ["w", "jerk()", "jerk(x,w)", "x+w", "x-", "x*y", ""])
def test_other_signals_are_refused(text: str) -> None:
    with pytest.raises(OptionError, match=r"is no signal; write a channel, jerk\(A,B,...\)"):
        signal_of(text, list("xyz"))


def test_lists_are_split_outside_parentheses() -> None:
    assert split_list("a, jerk(a,b),b-a") == ["a", "jerk(a,b)", "b-a"]
    assert [each.name for each in signals_of(None, "xy")] == ["x", "y"]
    with pytest.raises(OptionError, match="a signal is named twice"):
        signals_of("x,x", "xy")
