"""The picture of boosted tables shows the features that they read, with counts, and levels."""

import xml.etree.ElementTree as ET

from bncc.report.ensemble_picture import ensemble_svg

SPACE = "{http://www.w3.org/2000/svg}"
TABLES = (
    (("hall", ("≤ 2", "2 .. 4", "> 4")), ("mode", ("a", "b"))),
    (("hall", ("≤ 1", "> 1")),),
)


def texts(drawing: str) -> list[str]:
    return [text.text or "" for text in ET.fromstring(drawing).iter(f"{SPACE}text")]


def test_features_are_counted_and_levels_drawn() -> None:
    drawn = texts(ensemble_svg(TABLES))
    assert drawn[1:5] == ["hall", "2", "mode", "1"]
    assert "Levels of all tables" in drawn
    assert drawn[drawn.index("table 0: 6 rows") :] == [
        "table 0: 6 rows", "hall", "≤ 2", "2 .. 4", "> 4", "mode", "a", "b",
        "table 1: 2 rows", "hall", "≤ 1", "> 1",
    ]  # fmt: skip


def test_bars_are_as_long_as_the_counts() -> None:
    paths = ET.fromstring(ensemble_svg(TABLES)).iter(f"{SPACE}path")
    lengths = [float(path.get("d", "").split("h")[1]) for path in paths]
    assert lengths[0] == 2 * lengths[1] > 0


def test_what_is_left_out_is_said() -> None:
    many = tuple(((f"x{k}", tuple(f"> {j}" for j in range(9))),) for k in range(20))
    drawn = texts(ensemble_svg(many))
    assert "Levels of the first 12 of 20 tables" in drawn
    assert "and 8 more features" in drawn
    assert "3 more" in drawn
    assert "table 11: 9 rows" in drawn
    assert "table 12: 9 rows" not in drawn


def test_everything_is_inside_the_picture() -> None:
    many = tuple(((f"feature {k}", ("≤ 1.234", "1.234 .. 9.876", "> 9.876")),) for k in range(9))
    drawing = ET.fromstring(ensemble_svg(many))
    width, height = float(drawing.get("width", "0")), float(drawing.get("height", "0"))
    for rect in list(drawing.iter(f"{SPACE}rect"))[1:]:
        x, y, w, h = (float(rect.get(key, "nan")) for key in ("x", "y", "width", "height"))
        assert 0 <= x <= x + w <= width
        assert 0 <= y <= y + h <= height


def test_names_are_escaped() -> None:
    assert "&lt;b&gt;" in ensemble_svg(((("<b>", ("a", "b")),),))
