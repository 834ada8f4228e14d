"""Summary of a study: the least validation error within each budget, in two sentences."""

from dataclasses import replace

import pytest

from bncc.report.page import structure_words
from bncc.report.words import advise, memory, percent, points_between
from bncc.search.trial_result import Footprint, Point, Rate, Study
from tests import studies

STUDY = studies.study(80)


def point(number: int, family: str, wrong: int, flash: int, bits: int = 3) -> Point:
    """Return a point with so many of 1000 validation rows wrong and so many bytes."""
    return replace(
        STUDY.points[0],
        number=number,
        family=family,
        validation=Rate((wrong / 1000,), 1000),
        test=Rate((0.1,), 50),
        q_format=(bits, 0),
        costs={"rv32": Footprint(flash, 0, 8, "instructions", 611.4, 700)},
    )


def with_points(*points: Point) -> Study:
    return replace(STUDY, points=points)


def test_the_sentences_of_a_small_study() -> None:
    study = with_points(point(1, "naive", 112, 3812), point(2, "chow-liu", 180, 1500, bits=2))
    (advice,) = advise(study, "rv32", [4096])
    assert advice.point is study.points[0]
    assert advice.sentences == (
        "In 4 KB of flash on rv32, the most accurate model is naive with 3 bits, with an error "
        "rate of 11.2 % (9.4 to 13.3) on validation rows and 10.0 % on test rows; it takes 3,812 "
        "bytes and 611 instructions per call of predict (from states).",
        "Half as much flash adds 6.8 points to the error rate: chow-liu with 2 bits in 1,500 "
        "bytes.",
    )


def test_half_of_a_budget_is_told_by_the_budget() -> None:
    study = with_points(point(1, "naive", 112, 2049), point(2, "chow-liu", 180, 2048))
    for budget, said in (
        (2048, "No measured model fits in half as much flash."),
        (
            4096,
            "Half as much flash adds 6.8 points to the error rate: chow-liu with 3 bits in 2,048 "
            "bytes.",
        ),
        (8192, "It fits in half as much flash, too."),
    ):
        (advice,) = advise(study, "rv32", [budget])
        assert advice.sentences[1] == said


def test_a_search_that_ended_with_naive_bayes_says_so() -> None:
    bare = replace(point(1, "tan-subset", 112, 900), parents=(("class",), ("class",)))
    (advice,) = advise(with_points(bare), "rv32", [1024])
    assert "tan-subset (no arcs, so naive) with 3 bits, with an error rate" in advice.sentences[0]


def test_a_difference_within_the_interval_is_told_as_one() -> None:
    study = with_points(point(1, "naive", 112, 3812), point(2, "chow-liu", 120, 1500, bits=1))
    (advice,) = advise(study, "rv32", [4096])
    assert advice.sentences[1] == (
        "Half as much flash adds 0.8 points to the error rate, within the interval: chow-liu with "
        "1 bit in 1,500 bytes."
    )


def test_a_budget_in_which_nothing_fits() -> None:
    (advice,) = advise(with_points(point(1, "naive", 112, 3812)), "rv32", [2000])
    assert advice.point is None
    assert advice.sentences == (
        "No measured model fits in 2,000 bytes of flash on rv32.",
        "The smallest is naive with 3 bits: 3,812 bytes, with an error rate of 11.2 % on "
        "validation rows.",
    )


def test_test_rows_choose_nothing() -> None:
    better = replace(point(1, "naive", 100, 900), test=Rate((0.9,), 50))
    worse = replace(point(2, "naive", 101, 900), test=Rate((0.0,), 50))
    (advice,) = advise(with_points(worse, better), "rv32", [1024])
    assert advice.point is better


@pytest.mark.parametrize("target", ["cortex-m0", "avr", None])
def test_each_budget_gets_the_best_that_fits(target: str | None) -> None:
    def size(point: Point) -> float:
        if target is None:
            return (point.bits + 7) // 8
        cost = point.footprint(target)
        return float("inf") if cost is None else cost.flash

    found = advise(STUDY, target)
    assert len(found) >= 2
    for advice in found:
        fitting = [p for p in STUDY.points if size(p) <= advice.budget]
        assert advice.point in fitting
        assert advice.point.validation.mean == min(p.validation.mean for p in fitting)
    chosen = [advice.point.number for advice in found if advice.point]
    assert len(set(chosen)) == len(chosen)


def test_ties_go_to_the_smaller_one() -> None:
    study = with_points(point(1, "naive", 50, 900), point(2, "naive", 50, 800))
    (advice,) = advise(study, "rv32", [1024])
    assert advice.point is study.points[1]


def test_a_huge_classifier_is_still_told() -> None:
    (advice,) = advise(with_points(point(1, "naive", 50, 10**6)), "rv32")
    assert advice.point is not None


def test_boosted_tables_are_not_taken_for_naive_bayes() -> None:
    one = replace(point(1, "tables", 112, 900), parents=((), ()), operations=8 * 13)
    (advice,) = advise(with_points(one), "rv32", [1024])
    assert "is boosted tables with 3 bits, with an error rate of 11.2 %" in advice.sentences[0]
    tables = (
        (("hall", ("≤ 2", "2 .. 4", "> 4")), ("mode", ("a", "b"))),
        (("hall", ("≤ 1", "> 1")),),
    )
    assert structure_words(replace(one, tables=tables)).startswith(
        "2 boosted tables with 4 cuts of 2 features."
    )


def test_a_study_that_does_not_record_its_tables_says_so() -> None:
    """They add C costs for each of 12 tables and the prior."""
    one = replace(point(1, "tables", 112, 900), parents=((), ()), operations=8 * 13)
    assert structure_words(one, 8) == (
        "12 boosted tables; this study does not record the features and cuts that they read."
    )
    assert structure_words(one).startswith("Boosted tables; this study does not record")


def test_figures_in_words() -> None:
    assert [percent(x) for x in (0, 0.0025, 0.0225, 0.5)] == ["0.0 %", "0.25 %", "2.3 %", "50.0 %"]
    assert points_between(0.1, 0.11) == "1.0 point"
    assert points_between(0.1, 0.1004) == "0.04 points"
    assert [memory(n) for n in (900, 1024, 1536)] == ["900 bytes", "1 KB", "1,536 bytes"]
