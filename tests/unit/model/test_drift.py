"""Drift: tests of homogeneity, Holm's correction, distances, and the table of read-outs."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from bncc.errors import DataError
from bncc.model.counters import FULL, Counters, Counts
from bncc.model.drift import ReadOut, drifts_of, holm, p_value, read_outs_of

CLASSES = ("rest", "run", "walk")
HELD = Counts((500, 300, 200), (250, 250, 500), 50, 900, 90)
COUNTERS = Counters((0, 4, 9), HELD)


def found(counts, held=HELD, *, alpha=0.01, least=0.05):
    """Return what changed in one read-out."""
    counters = replace(COUNTERS, expected=held)
    return drifts_of(
        counters, CLASSES, [ReadOut("now", counts)], alpha=alpha, least_distance=least
    )[0]


def test_the_p_value_is_that_of_a_chi_square_test():
    whole = chi2_contingency([[500, 300, 200], [40, 40, 20]], correction=False).pvalue
    assert p_value((500, 300, 200), (40, 40, 20)) == pytest.approx(whole)
    assert p_value((10, 0), (7, 0)) == 1.0
    assert p_value((5,), (9,)) == 1.0


def test_categories_with_few_decisions_are_joined():
    joined = chi2_contingency([[900, 100], [80, 20]], correction=False).pvalue
    assert p_value((900, 90, 10), (80, 19, 1)) == pytest.approx(joined)
    # The joined ones are still few, and so join the rest.
    assert p_value((990, 6, 4), (99, 1, 0)) == 1.0


def test_the_correction_is_that_of_holm():
    assert holm([]) == []
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.4, 0.9]) == pytest.approx([0.8, 0.9])
    assert holm([0.9, 0.6]) == [1.0, 1.0]


def test_equal_shares_are_no_change():
    same = found(Counts((5000, 3000, 2000), (2500, 2500, 5000), 500, 9000, 900))
    assert not same.changed
    assert [each.counters for each in same.comparisons] == [
        "classes", "margins", "switches", "unknown",
    ]  # fmt: skip
    assert all(each.distance == pytest.approx(0) for each in same.comparisons)
    assert all(each.p_adjusted == 1.0 for each in same.comparisons)


def test_changes_are_said_in_words_the_largest_first():
    now = found(Counts((500, 380, 120), (750, 50, 200), 150, 450, 540))
    assert now.changed
    assert [each.counters for each in now.comparisons] == [
        "margins", "switches", "unknown", "classes",
    ]  # fmt: skip
    margins, switches, unknown, classes = now.comparisons
    assert margins.distance == pytest.approx(0.5)
    assert margins.sentences == ("margins below 4: 75.0 % of decisions, 25.0 % in training",)
    assert switches.sentences == ("switches of the class: 54.5 % of decisions, 9.1 % in training",)
    assert unknown.sentences == (
        "readings of no known class: 15.0 % of decisions, 5.0 % in training",
    )
    assert classes.sentences == (
        "class 'run': 38.0 % of decisions, 30.0 % in training",
        "class 'walk': 12.0 % of decisions, 20.0 % in training",
    )
    assert (classes.shares, classes.training) == ((0.5, 0.38, 0.12), (0.5, 0.3, 0.2))
    assert all(each.changed for each in now.comparisons)


def test_a_change_is_significant_and_large():
    tiny = Counts((20800, 12000, 7200), (10000, 10000, 20000), 2000)
    large = Counts((27, 8, 5), (10, 10, 20), 2)
    held = replace(HELD, classes=(50000, 30000, 20000), margins=(25000, 25000, 50000))
    held = replace(held, unknown=5000)
    assert found(tiny, held).comparisons[0].p_adjusted < 0.001
    assert not found(tiny, held).changed
    assert found(tiny, held, least=0.01).changed
    by_name = {each.counters: each for each in found(large).comparisons}
    assert by_name["classes"].distance == pytest.approx(0.175)
    assert not found(large).changed
    assert found(large, alpha=0.5).changed


@pytest.mark.parametrize(
    ("counts", "names"),
    [
        (Counts((0, 0, 0), (0, 0, 0)), set()),
        (Counts((1, 0, 0), (0, 0, 0)), set()),
        (Counts((8, 8, 8), (8, 8, 8)), {"classes", "margins"}),
        (Counts((8, 8, 8), (8, 8, 8), 25), {"classes", "margins", "unknown"}),
        (Counts((8, 8, 8), (8, 8, 8), None, 0, 0), {"classes", "margins"}),
    ],
)
def test_what_was_not_counted_is_not_compared(counts, names):
    assert {each.counters for each in found(counts).comparisons} == names


def test_one_bin_is_not_compared():
    held = Counts((5, 3, 2), (10,))
    drifts = drifts_of(
        Counters((0,), held), CLASSES, [ReadOut("a", held)], alpha=0.01, least_distance=0
    )
    assert [each.counters for each in drifts[0].comparisons] == ["classes"]


def test_false_alarms_are_rare_and_drift_is_found():
    """Independent decisions of the shares of training, and of others."""
    rng = np.random.default_rng(0)
    alarms = changes = 0
    for _ in range(300):
        held = Counts(
            tuple(rng.multinomial(1000, (0.5, 0.3, 0.2)).tolist()),
            tuple(rng.multinomial(1000, (0.25, 0.25, 0.5)).tolist()),
        )
        for shares in ((0.5, 0.3, 0.2), (0.35, 0.3, 0.35)):
            now = Counts(
                tuple(rng.multinomial(800, shares).tolist()),
                tuple(rng.multinomial(800, (0.25, 0.25, 0.5)).tolist()),
            )
            is_changed = found(now, held, alpha=0.05, least=0.0).changed
            alarms += is_changed and shares[0] == 0.5
            changes += is_changed and shares[0] != 0.5
    assert 3 <= alarms <= 30
    assert changes == 300


NAMES = COUNTERS.layout(has_unknown=True).names
ROW = [str(value) for value in HELD.values]


def test_a_table_has_a_row_for_each_read_out():
    read = read_outs_of("c.csv", ["time", *NAMES], [["monday", *ROW], ["tuesday", *ROW]], COUNTERS)
    assert [each.name for each in read] == ["monday", "tuesday"]
    assert [each.counts for each in read] == [HELD, HELD]
    assert read_outs_of("c.csv", NAMES, [ROW], COUNTERS) == [ReadOut("row 1", HELD)]
    turned = read_outs_of("c.csv", NAMES[::-1], [ROW[::-1]], COUNTERS)
    assert turned[0].counts == HELD
    whole = read_outs_of("c.csv", [*NAMES, "last"], [[*ROW, "3"]], COUNTERS)
    assert whole[0].counts == HELD
    few = read_outs_of("c.csv", NAMES[:6], [ROW[:6]], COUNTERS)
    assert few[0].counts == Counts(HELD.classes, HELD.margins)
    assert read_outs_of("c.csv", [" a", " classes[0] ", *NAMES[1:]], [["x", *ROW]], COUNTERS)


@pytest.mark.parametrize(
    ("names", "row", "message"),
    [
        (NAMES[1:], ROW[1:], r"has no column 'classes\[0\]'"),
        (NAMES[:8], ROW[:8], "has no column 'switches'"),
        (["classes[0] ", *NAMES], ["1", *ROW], r"has 2 columns 'classes\[0\]'"),
        ([*NAMES, "classes[3]"], [*ROW, "1"], r"has the column 'classes\[3\]', which the model"),
        (NAMES, ROW[1:], "row 1: expected 9 cells, found 8; fix the row"),
        (NAMES, ["-1", *ROW[1:]], r"row 1: '-1' in column 'classes\[0\]' is not a counter; use"),
        (NAMES, [str(FULL), *ROW[1:]], "'65535' in column"),
        (NAMES, ["", *ROW[1:]], "'' in column"),
        (NAMES, ["1" * 5000, *ROW[1:]], "is not a counter"),
        (NAMES, ["5", *ROW[1:]], "classes have 505 decisions and margins 1000; read out all"),
    ],
)
def test_a_table_of_other_counters_is_refused(names, row, message):
    with pytest.raises(DataError, match=message):
        read_outs_of("c.csv", names, [row], COUNTERS)


def test_a_column_that_is_not_compared_is_refused():
    """Unknown readings of another model would be ignored."""
    known = replace(COUNTERS, expected=replace(HELD, unknown=None))
    with pytest.raises(DataError, match="has the column 'unknown', which the model does not count"):
        read_outs_of("c.csv", NAMES, [ROW], known)


def test_a_table_without_rows_is_refused():
    with pytest.raises(DataError, match=r"'c\.csv' has no rows under its header; add a row"):
        read_outs_of("c.csv", NAMES, [], COUNTERS)
