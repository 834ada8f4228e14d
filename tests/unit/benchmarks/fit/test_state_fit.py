"""The fit of weights behind discretizers: observed operations, random models, and left-out ones."""

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest

from benchmarks.fit import fit_state_costs
from benchmarks.fit.drawn_models import N_OF_CUTS, drawn_models, network, of_cuts
from benchmarks.fit.observed_counts import observed_work
from benchmarks.fit.state_fit import Row, fit, row_of, textbook_row
from benchmarks.fit.state_samples import Figures, drawn_cases
from bncc.lower.cost_model import DISCRETIZERS, FAMILY, OF_FOUND, OF_READINGS
from bncc.lower.discretizers.choice import in_lines, searched, ways
from bncc.lower.discretizers.counts import CODE, WORK
from bncc.lower.discretizers.rates import rates_of
from bncc.lower.kernels.plain.layout import plain
from bncc.program.pipeline import program_of
from tests.unit.lower.discretizers.test_counts import CODED, EVEN, FLAT, cuts, nonzero

RATES = rates_of(None)


def seen(features, plan, *readings):
    return nonzero(observed_work(features, plan, np.array(readings, dtype=float)))


def test_a_search_is_observed_by_what_it_looks_at():
    plan = searched((EVEN,), "linear", RATES)
    assert seen((EVEN,), plan, [5], [25]) == {"turns": 1, "markers": 1, "thresholds": 2}
    assert seen((EVEN,), plan, [-32768]) == {"turns": 1, "markers": 1}
    features = (cuts(1.0, 2.0, kind="float32"), CODED, FLAT)
    found = seen(features, searched(features, "binary", RATES, unread=(2,)), [1.5, 2, 0])
    assert found == {
        "binary calls": 1,
        "keys of floats": 1,
        "halvings": 2,
        "halvings of 32 bits": 2,
        "codes": 1,
        "constants": 1,
        "stores of constants": 1,
    }
    (missing,) = (cuts(1.0, 2.0, kind="float32"),)
    plan = searched((missing,), "linear", RATES)
    assert seen((missing,), plan, [np.nan]) == {"turns": 1, "keys of floats": 1}


@pytest.mark.parametrize(
    ("method", "readings", "expected"),
    [
        ("tree", [25], {"lines": 1, "bytes compared": 2}),
        ("bytes", [25], {"lines": 1, "bytes compared": 2, "look-ups": 1}),
        ("nibbles", [25], {"lines": 1, "bytes compared": 2, "look-ups": 1, "nibbles": 1}),
        ("bytes", [5], {"lines": 1, "bytes compared": 1}),
    ],
)
def test_a_line_is_observed_by_the_comparisons_it_meets(method, readings, expected):
    way = next(way for way in ways(EVEN, None, RATES) if way.method == method)
    plan = in_lines((EVEN,), None, RATES, {0: way})
    assert seen((EVEN,), plan, readings) == expected


def test_a_guide_is_observed_where_a_reading_has_an_entry():
    feature = cuts(1000, 2000, 3000, 4000, kind="int32")
    way = next(way for way in ways(feature, None, RATES) if way.method == "guided")
    plan = in_lines((feature,), None, RATES, {0: way})
    assert seen((feature,), plan, [2500]) == {"lines": 1, "guides of 32 bits": 1}
    outside = seen((feature,), plan, [900_000])
    assert set(outside) == {"lines", "words compared"}


def test_drawn_models_are_the_same_again_and_read_some_features():
    assert [each.name for each in islice(drawn_models(), 4)] == [
        "network 0",
        "cuts 0",
        "network 1",
        "cuts 1",
    ]
    assert np.array_equal(network(3).inputs.R, network(3).inputs.R)
    some, again = of_cuts(N_OF_CUTS), of_cuts(N_OF_CUTS)
    assert some.program == again.program or str(some.program) == str(again.program)
    assert len(some.program.tables) <= 8
    assert len(some.model.features) >= 20


def test_layouts_of_drawn_models_have_terms():
    for case in islice(drawn_cases(), 8):
        figures = Figures(case.key, 1000, 500.0)
        row = (row_of if case.chosen else textbook_row)(case, figures, is_trained=False)
        assert (len(row.observed), len(row.expected), len(row.code)) == (
            len(WORK),
            len(WORK),
            len(CODE),
        )
        assert row.figures == (500.0, 1000)
        assert row.family == case.family


def rows():
    """Return rows whose figures are sums of their terms, of three models."""
    rng, found = np.random.default_rng(0), []
    n = len(plain(program_of(network(0).model)).work)
    for k in range(60):
        kernel = tuple(rng.integers(1, 40, n).astype(float).tolist())
        counts = tuple(rng.integers(0, 9, len(WORK)).astype(float).tolist())
        code = tuple(rng.integers(0, 9, len(CODE)).astype(float).tolist())
        time = 3 * sum(kernel) + 2 * sum(counts)
        flash = 100 + 5 * sum(kernel[:2]) + 4 * sum(code)
        size = (*kernel[:2], 0.0, 0.0)
        found.append(
            Row(
                f"m{k % 3}", k % 3 < 2, "plain", "cortex-m0", "-Os", (time, flash), 100,
                (kernel, kernel, size), counts, counts, code,
            )
        )  # fmt: skip
    return found


def test_figures_that_are_sums_are_fitted_with_a_model_and_without():
    weights, errors = fit(rows())
    assert set(weights) == {
        ("plain" + OF_FOUND, "cortex-m0", "-Os"),
        (DISCRETIZERS, "cortex-m0", "-Os"),
    }
    work, code = weights["plain" + OF_FOUND, "cortex-m0", "-Os"]
    assert work == pytest.approx([3] * len(work), rel=0.3)
    assert code[:2] == pytest.approx([5, 5], rel=0.3)
    assert {row.source for row, _ in errors} == {"m0", "m1"}
    assert np.abs([each for _, each in errors]).max() < 0.1


def test_the_textbook_has_weights_of_readings():
    some = [
        replace(each, family=FAMILY, kernel=(*each.kernel[:2], each.kernel[2])) for each in rows()
    ]
    weights, _ = fit(some)
    assert (FAMILY + OF_READINGS, "cortex-m0", "-Os") in weights


def test_shares_are_printed_with_a_model_in_the_fit_and_not(capsys):
    cases = list(islice(drawn_cases(), 8))
    found = [(case, Figures(case.key, 900 + k, 500.0 + k)) for k, case in enumerate(cases)]
    weights = fit_state_costs.fit_and_report(found, {cases[0].source})
    out = capsys.readouterr().out
    assert "fitted to 8 layouts" in out
    assert weights
