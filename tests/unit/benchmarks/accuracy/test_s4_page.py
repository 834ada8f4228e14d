"""The page of S4's study: the format of tables."""

from pathlib import Path

from benchmarks.accuracy.s4_page import PAGE, median_table, network_table, ratio_table, win_table
from bncc.papers.s4_study import LEARNERS, Draw, Reached


def results():
    """Return one sample of two networks; each learner scores one less, and is one arc nearer."""
    return {
        Draw(network, Path(network), 500, 1): {
            name: Reached(-10.0 * (k + 1) - shift, -50.0, 0.5, 9 - k, 9, 4)
            for k, name in enumerate(LEARNERS)
        }
        for network, shift in (("asia", 0.0), ("alarm", 1000.0))
    }


def test_ratios_stand_beside_the_papers():
    lines = ratio_table(results(), (500,)).splitlines()
    assert lines[0] == "|  | 500, paper | 500, ours |"
    assert "| BDeu CL | 1.00 (10) | 1.00 (2) |" in lines
    assert "| BDeu MMHC | 1.06 (0) | 1.50 (0) |" in lines  # (20 / 10 + 1020 / 1010) / 2
    assert "| SHD HC |  | 0.56 (2) |" in lines
    assert "| BIC MMHC | 1.07 (1) | 1.00 (0) |" in lines


def test_wins_are_added_over_sizes():
    lines = win_table(results(), (500,)).splitlines()
    assert lines[2] == "| BDeu | 2/0/0 | 2/0/0 | 2/0/0 | 2/0/0 |"
    assert lines[3] == "| BIC | 0/2/0 | 0/2/0 | 0/2/0 | 0/2/0 |"
    assert lines[5] == "| SHD | 0/0/2 | 0/0/2 | 0/0/2 | 0/0/2 |"


def test_the_best_of_a_row_is_bold():
    lines = median_table(results(), (500,), "BDeu").splitlines()
    assert lines[3] == "| alarm 500 | **-1,010** | -1,020 | -1,030 | -1,040 | -1,050 |"
    lines = median_table(results(), (500,), "SHD").splitlines()
    assert lines[2] == "| asia 500 | 9 | 8 | 7 | 6 | **5** |"


def test_networks_have_the_sizes_of_the_slides():
    assert "| asia | 8 | 8 |" in network_table(("asia",))
    assert PAGE.name == "s4.md"
