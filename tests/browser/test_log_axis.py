"""A front at the bottom of the plots gets a logarithmic axis, with a place for an error of 0."""

from dataclasses import replace

import pytest

from bncc.search.trial_result import Point, Rate, Study
from tests.browser.conftest import STUDY, Open
from tests.browser.test_linked import brush

pytestmark = pytest.mark.browser

TABLES = ((("light", ("≤ 2.5", "> 2.5")), ("hum", ("≤ 1", "> 1"))), (("hum", ("≤ 3", "> 3")),))


def accurate(point: Point) -> Point:
    """Return the trial as one of boosted tables with an error of 0 to 1 %."""
    rate = Rate((point.number % 7 / 600,), 600)
    return replace(point, family="tables", validation=rate, tables=TABLES, parents=())


LOW = replace(
    STUDY, points=tuple(accurate(p) if p.family == "tan-subset" else p for p in STUDY.points)
)


def zeros(study: Study) -> list[int]:
    return [point.number for point in study.points if point.validation.mean == 0]


def test_the_axis_is_logarithmic_and_all_errors_have_a_place(open_page: Open) -> None:
    opened = open_page([LOW])
    text = opened.page.locator("#views").inner_text()
    assert text.count("Error rate (logarithmic) against") == 3
    counts = [opened.drawn(k) for k in range(3)]
    assert counts == [len(LOW.points)] * 3
    view = opened.page.locator(".view").first.bounding_box()
    heights = {
        point.validation.mean: opened.page.evaluate(
            "(number) => window.bnccReport.place(0, number)[1]", point.number
        )
        for point in LOW.points
        if point.family == "tables"
    }
    lowest, *others = sorted(heights)
    assert lowest == 0
    assert len(others) >= 3
    assert heights[0] > max(heights[error] for error in others)
    assert view["y"] < heights[others[0]]
    assert heights[others[0]] - heights[others[2]] > 20  # 1, 2 and 3 rows of 600 are apart


def test_a_brush_to_the_bottom_line_holds_errors_of_0(open_page: Open) -> None:
    opened = open_page([LOW])
    opened.page.locator("#views").scroll_into_view_if_needed()
    brush(opened, 0, (0.13, 0.02), (0.98, 0.9))
    assert opened.drawn(1) == opened.shown()
    opened.page.locator("#table tbody tr").first.wait_for()
    best = opened.page.locator("#status").inner_text()
    assert "boosted tables" in best
    assert "0.0 % on validation rows" in best
    assert any(f"trial {number}," in best for number in zeros(LOW))


def test_a_front_over_the_whole_axis_stays_linear(open_page: Open) -> None:
    text = open_page([STUDY]).page.locator("main").inner_text()
    assert "Error rate against flash" in text
    assert "logarithmic" not in text


def test_pictures_of_boosted_tables_have_features_and_levels(open_page: Open) -> None:
    text = open_page([LOW]).page.locator("#structures").text_content()
    assert "2 boosted tables with 3 cuts of 2 features" in text
    assert "Tables that read each feature" in text
    assert "≤ 2.5" in text
