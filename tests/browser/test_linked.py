"""The page is interactive: brushes, filters, sorting and the card of a trial are linked."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from bncc.search.trial_result import Point, Rate, Study
from tests import studies
from tests.browser.conftest import STUDY, Open, Opened

pytestmark = pytest.mark.browser


def brush(opened: Opened, plot: int, start: tuple[float, float], end: tuple[float, float]) -> None:
    """Drag over a plot; positions are fractions of its width and height."""
    box = opened.page.locator(".view").nth(plot).bounding_box()
    mouse = opened.page.mouse
    mouse.move(box["x"] + start[0] * box["width"], box["y"] + start[1] * box["height"])
    mouse.down()
    mouse.move(box["x"] + end[0] * box["width"], box["y"] + end[1] * box["height"], steps=4)
    mouse.up()


def cells(opened: Opened, column: int) -> list[str]:
    """Return a column of the table as it is shown."""
    lines = opened.page.locator(f"#table tbody tr td:nth-child({column})")
    return [text.strip() for text in lines.all_inner_texts()]


def by_flash(study: Study, target: str) -> list[tuple[int, int]]:
    sized = [(cost.flash, p.number) for p in study.points if (cost := p.footprint(target))]
    return sorted(sized)


def test_a_brush_filters_the_other_plots_and_the_table(open_page: Open) -> None:
    opened = open_page()
    opened.page.locator("#views").scroll_into_view_if_needed()
    before = [opened.drawn(k) for k in range(3)]
    assert opened.shown() == len(STUDY.points)
    brush(opened, 0, (0.15, 0.3), (0.55, 0.75))
    shown = opened.shown()
    assert 0 < shown < len(STUDY.points)
    assert opened.drawn(0) == before[0]
    assert opened.drawn(1) == opened.drawn(2) == shown
    assert f"of {shown}" in opened.page.locator("#range").inner_text()
    brush(opened, 2, (0.15, 0.3), (0.5, 0.7))
    assert opened.shown() < shown
    assert opened.drawn(0) < before[0]
    opened.page.get_by_role("button", name="Reset").click()
    opened.page.wait_for_function("document.querySelector('#status').innerText.startsWith('160 ')")
    assert [opened.drawn(k) for k in range(3)] == before


def test_heads_sort_the_table(open_page: Open) -> None:
    opened = open_page()
    assert opened.page.locator("th[aria-sort=ascending]").inner_text().startswith("Validation")
    for direction in ("ascending", "descending"):
        opened.page.get_by_role("button", name="Flash", exact=True).click()
        assert opened.page.locator("th[aria-sort]").get_attribute("aria-sort") == direction
        flash = [int(text.replace(",", "")) for text in cells(opened, 6)]
        assert flash == sorted(flash, reverse=direction == "descending")
        assert len(flash) == 100
    opened.page.locator("#after").click()
    assert opened.page.locator("#range").inner_text() == "101 to 160 of 160"


HEADS: dict[str, Callable[[Point], Any]] = {
    "Trial": lambda p: p.number,
    "Structure": lambda p: p.family,
    "Bits": lambda p: sum(p.q_format or ()),
    "Validation error": lambda p: round(p.validation.mean, 6),
    "Flash": lambda p: cost.flash if (cost := p.footprint("avr")) else None,
    "Cycles": lambda p: cost.mean if (cost := p.footprint("avr")) else None,
    "Table bits": lambda p: p.bits,
}


def coarse(point: Point) -> Point:
    """Return a point with figures that many share, so that there are ties."""
    costs = {
        name: replace(cost, flash=cost.flash // 500 * 500, mean=float(cost.mean // 400 * 400))
        if not isinstance(cost, str)
        else cost
        for name, cost in point.costs.items()
    }
    rate = Rate((round(point.validation.mean, 1),), point.validation.n)
    return replace(point, costs=costs, validation=rate, bits=point.bits // 4000 * 4000)


def test_ties_keep_the_order_of_trials_and_gaps_come_last(open_page: Open) -> None:
    points = tuple(map(coarse, studies.study(90).points))
    assert any(point.footprint("avr") is None for point in points)
    opened = open_page([replace(STUDY, points=points)], target="avr")
    # One header after another: each starts from the order that the last one left.
    for head, value in [*HEADS.items(), *reversed(HEADS.items())]:
        known = [p for p in points if value(p) is not None]
        gaps = [p.number for p in points if value(p) is None]
        assert len({value(p) for p in known}) < len(points) or head == "Trial"
        for sign in (1, -1):
            opened.page.get_by_role("button", name=head, exact=True).first.click()
            way = opened.page.locator("th[aria-sort]").get_attribute("aria-sort")
            assert way == ("ascending" if sign == 1 else "descending")
            ranks = {v: sign * k for k, v in enumerate(sorted({value(p) for p in known}))}
            ordered = sorted(known, key=lambda p: (ranks[value(p)], p.number))
            assert [int(n) for n in cells(opened, 1)] == [p.number for p in ordered] + gaps, head


def test_pointing_at_a_trial_shows_its_command(open_page: Open) -> None:
    opened = open_page()
    opened.page.locator("#views").scroll_into_view_if_needed()
    opened.settle()
    # The leftmost mark of the first plot is the trial of least flash.
    _, number = by_flash(STUDY, "cortex-m0")[0]
    x, y = opened.page.evaluate("(n) => window.bnccReport.place(0, n)", number)
    opened.page.mouse.move(x + 3, y - 2)
    card = opened.page.locator("#hover")
    assert card.is_visible()
    assert card.locator(".command").inner_text() == STUDY.points[number].command
    assert f"trial {number}" in card.inner_text()
    opened.page.mouse.click(x + 3, y - 2)
    assert card.get_by_role("button", name="Copy command").is_visible()
    opened.page.keyboard.press("Escape")
    assert card.is_hidden()


def test_a_row_shows_its_command(open_page: Open) -> None:
    opened = open_page()
    number = int(cells(opened, 1)[3])
    opened.page.locator("#table tbody tr").nth(3).click()
    assert opened.page.locator("#table .command").inner_text() == STUDY.points[number].command


def test_families_are_filtered(open_page: Open) -> None:
    opened = open_page()
    opened.page.get_by_role("button", name="naive", exact=True).click()
    n_naive = sum(point.family == "naive" for point in STUDY.points)
    opened.page.wait_for_function(
        f"document.querySelector('#range').innerText.endsWith('{n_naive}')"
    )
    assert set(cells(opened, 2)) == {"naive"}
    assert opened.drawn(1) == n_naive
    opened.page.get_by_role("button", name="chow-liu", exact=True).click()
    opened.page.wait_for_function(
        f"!document.querySelector('#range').innerText.endsWith(' {n_naive}')"
    )
    assert set(cells(opened, 2)) == {"naive", "chow-liu"}


def test_another_machine_changes_everything(open_page: Open) -> None:
    opened = open_page()
    opened.page.locator("#target").select_option("avr")
    opened.page.wait_for_function(
        "document.querySelector('#views').innerText.includes('Error rate against cycles')"
    )
    sized = by_flash(STUDY, "avr")
    assert opened.drawn(0) == len(sized) < len(STUDY.points)
    opened.page.get_by_role("button", name="Flash", exact=True).click()
    assert int(cells(opened, 6)[0].replace(",", "")) == sized[0][0]
    assert "of flash on avr" in opened.page.locator("#meaning").inner_text()
    assert "of flash on cortex-m0" not in opened.page.locator("#meaning").inner_text()


def test_limits_choose_the_best_that_fits(open_page: Open) -> None:
    opened = open_page()
    opened.page.locator("#flash-limit").fill("0.5 KB")
    opened.page.locator("#time-limit").fill("1,200")
    fitting = [
        point
        for point in STUDY.points
        if (cost := point.footprint("cortex-m0")) and cost.flash <= 512 and cost.mean <= 1200
    ]
    assert opened.shown() == len(fitting)
    best = min(fitting, key=lambda point: (point.validation.mean, point.number))
    assert f"trial {best.number}," in opened.page.locator("#status").inner_text()


@pytest.mark.parametrize("target", ["avr", None])
def test_of_trials_that_err_alike_the_smallest_is_named(
    open_page: Open, target: str | None
) -> None:
    study = studies.study(40, targets=("avr",) if target else ())
    alike = tuple(replace(p, validation=Rate((0.2,), 600)) for p in study.points)
    opened = open_page([replace(study, points=alike)])
    sized = by_flash(study, "avr") if target else sorted((p.bits, p.number) for p in study.points)
    said = f"trial {sized[0][1]},"
    assert opened.shown() == 40
    assert said in opened.page.locator("#status").inner_text()
    assert f"trial {sized[0][1]}" in opened.page.locator("#meaning .card").first.inner_text()


@pytest.mark.parametrize("form", ["csv", "json"])
def test_downloads_hold_what_is_shown(open_page: Open, form: str) -> None:
    opened = open_page(accept_downloads=True)
    opened.page.locator("#flash-limit").fill("400")
    shown = opened.shown()
    with opened.page.expect_download() as coming:
        opened.page.locator(f"#get-{form}").click()
    text = coming.value.path().read_text("utf-8")
    assert coming.value.suggested_filename == f"trials.{form}"
    assert text.count("bncc train") == shown


def test_studies_stand_side_by_side(open_page: Open) -> None:
    other: Any = studies.study(40, seed=5, name="other.study")
    opened = open_page([STUDY, other])
    assert opened.shown() == 200
    opened.page.get_by_role("button", name="other.study", exact=True).click()
    opened.page.wait_for_function("document.querySelector('#range').innerText.endsWith(' 40')")
    assert set(cells(opened, 2)) == {"other.study"}
    assert opened.drawn(2) == 40
