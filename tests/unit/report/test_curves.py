"""Charts: positions of points, labels of axes, and escaping of text."""

import re
import xml.etree.ElementTree as ET

import pytest

from bncc.report.curves import Chart, Line, Panel, Point, svg_of

SVG = "{http://www.w3.org/2000/svg}"


def chart_of(*panels: Panel, is_log: bool = False) -> Chart:
    return Chart("a title", "across", "up", panels, is_log)


def panel_of(*points: tuple[float, float], level: float | None = None) -> Panel:
    return Panel("set", (Line("one", tuple(Point(x, y) for x, y in points), level=level),))


def texts(svg: str) -> list[str]:
    return [element.text or "" for element in ET.fromstring(svg).iter(f"{SVG}text")]


def marks(svg: str) -> list[tuple[float, float]]:
    """Return the places of the discs, the one of the legend left out."""
    discs = list(ET.fromstring(svg).iter(f"{SVG}circle"))[1:]
    return [(float(disc.attrib["cx"]), float(disc.attrib["cy"])) for disc in discs]


def test_larger_values_lie_further_right_and_higher_up() -> None:
    (x1, y1), (x2, y2), (x3, y3) = marks(svg_of(chart_of(panel_of((1, 30), (2, 10), (3, 20)))))
    assert x2 - x1 == pytest.approx(x3 - x2, abs=0.11)
    assert y1 < y3 < y2
    assert y2 - y3 == pytest.approx(y3 - y1, abs=0.11)


def test_equal_ratios_are_equal_distances_on_a_logarithmic_axis() -> None:
    svg = svg_of(chart_of(panel_of((10, 1), (100, 2), (1000, 3)), is_log=True))
    (x1, _), (x2, _), (x3, _) = marks(svg)
    assert x2 - x1 == pytest.approx(x3 - x2, abs=0.11)
    assert {"10", "20", "50", "1,000", "across (logarithmic)"} <= set(texts(svg))


def test_the_axes_go_from_tick_to_tick() -> None:
    svg = svg_of(chart_of(panel_of((1, 4.3), (8, 6.6))))
    said = texts(svg)
    assert said[2:] == [*"01234567", *"12345678", "set", "across", "up"]


def test_errors_are_drawn_from_nothing_on() -> None:
    (_, y1), (_, y2) = marks(svg_of(chart_of(panel_of((1, 10), (2, 20)))))
    assert 340 - 52 - y1 == pytest.approx(y1 - y2, abs=0.11)


@pytest.mark.parametrize(
    ("points", "upward", "across"),
    [
        (((5, 0.0),), ["0", "0.1"], ["5"]),
        (((8, 25.0),), ["0", "5", "10", "15", "20", "25"], ["8"]),
        (((1, 0.01), (2, 0.02), (3, 0.01)), ["0", "0.1"], ["1", "2", "3"]),
        (((1, 4.0), (2, 3.0), (4, 3.0)), [f"{k / 2:g}" for k in range(9)], ["1", "2", "3", "4"]),
    ],
)
def test_few_points_have_ticks_that_can_be_told_apart(
    points: tuple[tuple[float, float], ...], upward: list[str], across: list[str]
) -> None:
    said = texts(svg_of(chart_of(panel_of(*points))))
    assert said[2:-3] == [*upward, *across]


def test_ticks_of_a_logarithmic_axis_are_whole() -> None:
    assert texts(svg_of(chart_of(panel_of((2617, 0)), is_log=True)))[4:5] == ["2,617"]
    three = panel_of((2617, 0), (2618, 0), (2619, 0))
    assert texts(svg_of(chart_of(three, is_log=True)))[4:7] == ["2,617", "2,618", "2,619"]


@pytest.mark.parametrize("is_log", [False, True])
def test_levels_alone_leave_the_horizontal_axis_bare(is_log: bool) -> None:
    said = texts(svg_of(chart_of(panel_of(level=0.2), is_log=is_log)))
    assert said[2:6] == ["0", "0.1", "0.2", "set"]


def test_a_logarithmic_axis_of_a_narrow_range_has_ticks_too() -> None:
    said = texts(svg_of(chart_of(panel_of((2600, 1), (3900, 2)), is_log=True)))
    assert {"3,000", "3,500"} <= set(said)


def test_a_level_is_within_the_axis() -> None:
    said = texts(svg_of(chart_of(panel_of((10, 4), (11, 5), level=2.0))))
    assert "2" in said


def test_one_point_alone_can_be_drawn() -> None:
    for is_log in (False, True):
        (x, _), *others = marks(svg_of(chart_of(panel_of((5, 5)), is_log=is_log)))
        assert (x, others) == ((56 + 640 - 14) / 2, [])


def test_panels_lie_side_by_side_and_lines_differ_without_color() -> None:
    panel = Panel("set", tuple(Line(name, (Point(1, 1), Point(2, 2))) for name in "abc"))
    svg = svg_of(chart_of(panel, panel))
    first, second = re.findall(r'<text x="([\d.]+)"[^>]*>set</text>', svg)
    assert float(second) - float(first) == 344
    root = ET.fromstring(svg)
    assert len(list(root.iter(f"{SVG}rect"))) == 1 + 1 + 2 * 2
    assert len({path.get("stroke-dasharray") for path in root.iter(f"{SVG}path")}) == 3


def test_points_that_are_not_joined_have_no_stroke() -> None:
    line = Line("one", (Point(1, 1), Point(2, 2)), is_joined=False)
    assert 'stroke-width="2"' not in svg_of(chart_of(Panel("set", (line,))))


def test_any_text_is_safe() -> None:
    line = Line("<a>&", (Point(1, 1, '"<b>'),))
    said = texts(svg_of(Chart("<t>", "<x>", "<y>", (Panel("<p>", (line,)),))))
    assert {"<a>&", '"<b>', "<t>", "<x>", "<y>", "<p>"} <= set(said)
