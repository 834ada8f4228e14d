"""The table of budgets: its searches and its text."""

import click
import pytest

from benchmarks.accuracy.budgets import FOLDS, KILOBYTES, LINES, cells, part_of, summary


def found(name, size, error, fold=1):
    return {"set": name, "kilobytes": size, "fold": fold, "seed": 0, "error": error}


def test_first_seeds_come_first_and_of_these_the_largest():
    every = list(cells(("letter", "satimage"), (1, 4), 2))
    assert every[0] == ("letter", 4, 1, 0)
    assert every[1:6] == [("satimage", 4, fold, 0) for fold in range(1, 6)]
    assert [seed for *_, seed in every] == 12 * [0] + 12 * [1]


def test_parts_are_told_by_number():
    assert part_of("2/3") == (1, 3)
    for text in ("0/2", "3/2", "2", "a/b"):
        with pytest.raises(click.BadParameter, match="is not K/N; try 1/2"):
            part_of(text)


def test_the_mean_stands_beside_what_is_to_be_reached():
    entries = [found("satimage", 4, 0.09, fold=1), found("satimage", 4, 0.1, fold=2)]
    (line,) = (line for line in summary(entries).splitlines() if "satimage" in line)
    assert "| 9.50 (2), 10.2 / 9.5 |" in line
    assert line.count("?") == 3


def test_every_set_has_a_line_for_every_budget():
    assert set(LINES) == set(FOLDS)
    assert {len(lines) for lines in LINES.values()} == {len(KILOBYTES)}
