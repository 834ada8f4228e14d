"""The page of S2's study: significant differences, and the format of tables."""

import pytest

from benchmarks.accuracy.s2_page import (
    LEARNERS,
    comparison_table,
    left_out_table,
    set_table,
    verdict,
)
from bncc.papers.s2 import TABLES, Comparison, Row
from bncc.papers.s2_study import PERCENTS, WITH_MISSING, SetResult, missing_name


@pytest.mark.parametrize(
    ("paper", "ours", "expected"),
    [
        ((40, 1, 19, None, 0.01), (30, 0, 20, 0.02), "both"),
        ((40, 1, 19, None, 0.01), (20, 0, 30, 0.02), "opposed"),
        ((40, 1, 19, None, 0.01), (30, 0, 20, 0.2), "paper"),
        ((40, 1, 19, None, None), (30, 0, 20, None), "paper"),
        ((30, 1, 29, None, 0.4), (30, 0, 20, 0.02), "ours"),
        ((30, 1, 29, None, 0.4), (30, 0, 20, 0.4), "neither"),
    ],
)
def test_a_difference_is_found_where_its_p_is_small(paper, ours, expected):
    wins, ties, losses, p = ours
    found = Comparison(wins, ties, losses, 0.0, p, True)
    assert verdict(Row("ETAN", "TAN", "error", paper), found) == expected


def result(shift):
    """Return a result in which later learners have greater values."""
    keys = [*LEARNERS, *(missing_name(name, p) for name in WITH_MISSING for p in PERCENTS)]
    values = {key: shift + k for k, key in enumerate(keys)}
    return SetResult(1234, 10, values, values, values, {})


def test_tables_have_a_line_for_each_comparison_and_set():
    studies = {"once": [result(0.0), result(1.0)], "again": [result(0.5)]}
    for name, rows in TABLES.items():
        lines = comparison_table(name, studies).splitlines()
        assert len(lines) == len(rows) + 2
    lines = comparison_table("s2-table2", studies).splitlines()
    assert "| S-ETAN vs NB zero-one | 40/1/19 (0.002) | 0/0/2 (0.25) | 0/0/1 (0.5) |" in lines[2]
    assert lines[2].endswith("| -0.8679, 4.0000 | paper |")
    lines = set_table({"iris": result(0.0), "zoo": result(2.0)}).splitlines()
    assert lines[2].startswith("| iris | 1,234 | **0.00** (0.000) | 1.00 (1.000) |")
    assert lines[-1].startswith("| mean |  | 1.00 (1.000) | 2.00 (2.000) |")
    assert "| trains | too few rows" in left_out_table()
