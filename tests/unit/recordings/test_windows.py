"""Windows, their panes, and their lengths as text."""

from fractions import Fraction

import numpy as np
import pytest

from bncc.errors import OptionError
from bncc.recordings.windows import Windows, common_labels, merged, samples_of, windows_of


@pytest.mark.parametrize(
    ("text", "rate", "samples"),
    [
        ("128", None, 128),
        ("2s", Fraction(50), 100),
        ("500ms", Fraction(50), 25),
        ("2.56s", Fraction(50), 128),
        ("1s", Fraction("59.94"), 60),
        ("10ms", Fraction(50), 1),
        ("9ms", Fraction(50), 0),
    ],
)
def test_lengths_are_samples_or_durations(text: str, rate: Fraction | None, samples: int) -> None:
    assert samples_of(text, rate, "--window") == samples


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("2s", "--hop 2s is a duration, but the rate is unknown; pass --rate or --time"),
        ("2.5", "--hop '2.5' is no number of samples or duration"),
        ("2min", "is no number of samples or duration"),
        ("-2", "is no number of samples or duration"),
    ],
)
def test_other_lengths_are_refused(text: str, message: str) -> None:
    with pytest.raises(OptionError) as caught:
        samples_of(text, None, "--hop")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("length", "hop", "near"),
    [(100, 33, (99, 33)), (128, 127, (128, 128)), (7, 2, (7, 1)), (100, 49, (100, 50))],
)
def test_a_window_that_is_no_multiple_of_its_hop_names_the_nearest_pair(
    length: int, hop: int, near: tuple[int, int]
) -> None:
    with pytest.raises(OptionError) as caught:
        windows_of(length, hop)
    assert str(caught.value).endswith(f"the nearest pair is --window {near[0]} --hop {near[1]}")
    pairs = [(n * h, h) for h in range(1, 130) for n in range(1, 130)]
    changes = [abs(a - length) + abs(h - hop) for a, h in pairs]
    assert min(changes) == abs(near[0] - length) + abs(near[1] - hop)


@pytest.mark.parametrize(("length", "hop"), [(0, 0), (4, 0), (4, 5), (2**21, 1)])
def test_impossible_windows_are_refused(length: int, hop: int) -> None:
    with pytest.raises(OptionError, match="choose 1 <= --hop <= --window"):
        windows_of(length, hop)


def test_panes_merge_to_windows() -> None:
    windows = Windows(6, 2)
    values = np.array([5, 1, 4, 0, 7, 2, 3, 3, 9])
    assert windows.count(9) == 2
    assert windows.count(5) == 0
    assert merged(values, windows, "add").tolist() == [19, 19]
    assert merged(values, windows, "min").tolist() == [0, 0]
    assert merged(values, windows, "max").tolist() == [7, 7]
    assert common_labels(np.array([1] * 7 + [2, 2]), windows).tolist() == [1, -1]


def test_a_share_of_the_samples_may_have_the_label() -> None:
    windows, labels = Windows(6, 2), np.array([1] * 5 + [2, 2, 2, -1, -1])
    assert common_labels(labels, windows).tolist() == [-1, -1, -1]
    assert common_labels(labels, windows, 5 / 6).tolist() == [1, -1, -1]
    assert common_labels(labels, windows, 0.51).tolist() == [1, -1, -1]
    assert common_labels(np.array([-1] * 5 + [2]), windows, 0.51).tolist() == [-1]
    with pytest.raises(OptionError, match=r"choose 0\.5 < --purity"):
        common_labels(labels, windows, 0.5)
