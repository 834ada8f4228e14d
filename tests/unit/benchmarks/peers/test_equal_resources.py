"""The README's table of trees and forests follows from the pages of both comparisons."""

from benchmarks.peers.equal_resources import (
    OURS,
    Pair,
    Point,
    against_papers,
    equal,
    frontier,
    summary,
    within_ours,
)

LETTER = """\
<!-- table: letter -->
| peer | by | error | flash | instr. | bncc | error | flash | instr. |
| --- | --: | --: | --: | --: | --: | --: | --: | --: |
| **rf10** | emlearn | 7.00 | 1,600 | 600 | 9 tables | 7.00 | 950 | 640 |
| rf20 | emlearn | 9.00 | 1,600 | 600 | 9 tables | 4.00 | 950 | 640 |
| **dt8** | emlearn | 22.00 | 2,420 | 341 | none; least error: 6 tables | 22.50 | 2,372 | 324 |
| **dt4** | emlearn | 37.50 | 668 | 334 | none is as small and as quick |  |  |  |
| **lr** | by hand | 25.00 | 596 | 3,176 | none; least error: 3 tables | 49.00 | 524 | 1,708 |
<!-- end of table: letter -->
"""
SETS = """\
<!-- table: sets-1 -->
| set | classes | error | flash | mean | worst | error | flash | mean | p | ... | ... | ... | ... |
| --- | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: |
| one | 4 | 9.00 | 987 | 291 | 400 | - | - | - | - | - | - | - | - |
<!-- end of table: sets-1 -->
<!-- table: sets-4 -->
| set | classes | error | flash | mean | worst | error | flash | mean | p | ... | ... | ... | ... |
| --- | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: |
| one | 4 | 2.00 | 4,087 | 291 | 400 | 3.00 | 500 | 118 | 0.08 | - | - | - | - |
| two | 4 | 2.00 | 1,015 | 87 | 90 | 2.00 | 500 | 98 | 1.0 | 1.50 | 964 | 131 | **0.01 worse** |
<!-- end of table: sets-4 -->
<!-- table: sets-16 -->
<!-- end of table: sets-16 -->
"""
OTHERS = "".join(LETTER.replace("letter", name) for name in ("satimage", "usps"))


def test_only_the_frontier_of_a_kind_counts():
    (forest,) = frontier(LETTER, "letter", ("rf", "et"))
    assert forest == Pair("rf10", Point(7.0, 1600, 600), Point(7.0, 950, 640))
    assert [pair.name for pair in frontier(LETTER, "letter", ("dt",))] == ["dt8", "dt4"]


def test_losses_and_baselines_without_a_fit_are_shown():
    trees = list(frontier(LETTER, "letter", ("dt",)))
    assert summary(trees) == ("0 of 2", "22.00 / 22.50", "22.00 / 22.50", "1")
    assert summary(list(frontier(LETTER, "letter", ("rf",)))) == (
        "1 of 1", "7.00 / 7.00", "none", "0"
    )  # fmt: skip


def test_baselines_are_within_the_limits_of_our_choice():
    one, two = within_ours(SETS, 4, "forest")
    assert one == Pair("one", None, Point(2.0, 4087, 291))
    assert two == Pair("two", Point(1.5, 964, 131), Point(2.0, 1015, 87))
    assert summary([one, two]) == ("0 of 1", "1.50 / 2.00", "1.50 / 2.00", "1")
    trees = list(within_ours(SETS, 4, "tree"))
    assert summary(trees) == ("2 of 2", "2.50 / 2.00", "none", "0")
    assert [pair.name for pair in within_ours(SETS, 1, "tree")] == ["one"]


def test_nothing_that_fits_has_no_median():
    assert summary([Pair("tree", Point(1.0, 1, 1), None)]) == ("0 of 1", "", "none", "1")


def test_every_part_is_a_row_unless_sets_are_missing():
    lines = equal(LETTER + OTHERS, SETS).splitlines()
    assert len(lines) == 2 + len(against_papers(LETTER + OTHERS)) + 2
    assert lines[2].startswith("| letter | trees | flash, instructions | 0 of 2 |")
    assert lines[-1].startswith(f"| 2 sets, 4 KB | best forest | {OURS} | 0 of 1 |")
