"""The table of budgets: its searches and its text."""

import click
import pytest

from benchmarks.accuracy.budgets import (
    FOLDS,
    KILOBYTES,
    LINES,
    cells,
    entries_of,
    page,
    part_of,
    parts,
    summary,
)


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
    assert "| 9.50 (2), 9.48 / 9.3 |" in line
    assert line.count("- (0)") == 3


def test_searches_on_bins_are_not_those_on_readings():
    """Earlier versions had bins alone, without a mark."""
    old, bins, raw = {"set": "letter"}, {"bins": True}, {"bins": False}
    assert entries_of([old, bins, raw], in_bins=True) == [old, bins]
    assert entries_of([old, bins, raw], in_bins=False) == [raw]


def test_the_page_shows_means_alone():
    entries = [found("letter", 4, 0.07), found("letter", 4, 0.08), found("letter", 16, 0.03)]
    (line,) = (line for line in page(entries).splitlines() if "letter" in line)
    assert line == "| letter | - | 7.50 | 3.00 | - |"


def test_every_set_has_lines_for_its_budgets():
    assert set(LINES) == set(FOLDS)
    assert {name: len(lines) for name, lines in LINES.items() if len(lines) != len(KILOBYTES)} == {
        "spambase": 2
    }


def test_rows_of_the_papers_come_with_raw_readings(shared_data):
    """In the order of the papers' folds: each row has the class that it has there."""
    data = shared_data
    for name, fold in (("letter", 1), ("satimage", 5), ("usps", 1)):
        raw, bins = (parts(data, name, fold, in_bins=in_bins) for in_bins in (False, True))
        for own, binned in zip(raw, bins, strict=True):
            assert own.n_rows == binned.n_rows
            pairs = set(zip(own.y.tolist(), binned.y.tolist(), strict=True))
            assert len(pairs) == len(own.classes) == len(set(own.y.tolist()))
