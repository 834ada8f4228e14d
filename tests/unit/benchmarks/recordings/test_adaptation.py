"""Halves of a person's windows, and the rows of the table."""

import numpy as np
import pytest

from benchmarks.recordings.adaptation import HALVES, WAYS, rows_of_page

Y = np.repeat([0, 1, 0, 1, 0], [6, 8, 4, 4, 6])
RECORDING = np.repeat([3, 4], [14, 14])


@pytest.mark.parametrize(
    ("way", "labeled", "others"),
    [
        ("runs", [*range(3), *range(6, 10), 14, 15, 18, 19, *range(22, 25)], 3),
        ("others", [*range(14), *range(22, 28)], 14),
        ("recordings", [*range(14)], 14),
    ],
)
def test_no_window_is_in_both_halves(way: str, labeled: list[int], others: int) -> None:
    half = WAYS[way](Y, RECORDING)
    assert half.labeled.tolist() == labeled
    assert not {*half.labeled.tolist()} & {*half.judged.tolist()}
    assert {*half.learned.tolist()} <= {*labeled}
    assert half.judged.min() >= others


def test_the_table_has_a_gap_where_a_personal_model_is_better() -> None:
    def person(adapted: float, personal: float) -> dict[str, dict[str, float]]:
        errors = {"plain": 0.1, "adapted": adapted, "in_time_order": 0.1, "personal": personal}
        return dict.fromkeys(HALVES, errors)

    first = rows_of_page([person(0.04, 0.0), person(0.12, 0.0)])[0]
    assert first[1:] == ["10.0", "8.0", "10.0", "0.0", "20 %", "+2.0, +0.0", "1, 0", "1, 0"]
    assert rows_of_page([person(0.05, 0.2)])[0][5] == "-"
