"""Pictures of boosted tables: each row in the sensor's units, its contribution in colors."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from click.testing import Result

from bncc.discretize.feature import Feature
from bncc.discretize.state_words import between, span
from bncc.model.explanation import contributions
from bncc.model.file import save_model
from bncc.model.model import Model
from bncc.report.structure_picture import svg_of
from bncc.structure.decision_tables import TableEnsemble
from tests import models as hand

SPACE = "{http://www.w3.org/2000/svg}"
Run = Callable[..., Result]


def sheets_of(model: Model, **options: bool) -> list[ET.Element]:
    """Return the drawn tables, the prior first."""
    return ET.fromstring(svg_of(model, **options)).findall(f"{SPACE}g")


def texts_of(sheet: ET.Element) -> list[str]:
    return ["".join(text.itertext()) for text in sheet.findall(f"{SPACE}text")]


def cells_of(sheet: ET.Element) -> list[float]:
    """Return the text of a table's cells, row by row."""
    titles = (rect.findtext(f"{SPACE}title") for rect in sheet.findall(f"{SPACE}rect"))
    return [float(title) for title in titles if title is not None]


def titled(model: Model, t: int) -> ET.Element:
    return next(s for s in sheets_of(model) if texts_of(s)[0].startswith(f"table {t},"))


def test_cells_say_what_the_tables_contribute() -> None:
    model = hand.sum_of_tables()
    prior, *rest = sheets_of(model)
    first = contributions(model, np.zeros((1, model.n_features), dtype=int))[0]
    assert cells_of(prior) == pytest.approx(first[0], abs=0.005)
    for t, table in enumerate(model.tables):
        assert len(cells_of(titled(model, t))) == table.size
        assert cells_of(titled(model, t))[:3] == pytest.approx(first[1 + t], abs=0.005)
    apart = [float(texts_of(sheet)[0].split()[3]) for sheet in rest]
    assert apart == sorted(apart, reverse=True)


def test_a_front_is_named_and_leaves_the_colors_to_the_tables() -> None:
    model = hand.sum_with_front()
    _, front, *_ = sheets_of(model)
    assert texts_of(front)[0].startswith("front, spread ")
    assert len(cells_of(front)) == 9

    def fills(sheet: ET.Element) -> list[str]:
        return [rect.attrib["fill"] for rect in sheet.findall(f"{SPACE}rect")]

    plain = hand.sum_of_tables()
    for t in range(3):
        assert fills(titled(model, t + 1)) == fills(titled(plain, t))


def test_levels_stand_in_the_units_of_the_sensor() -> None:
    texts = texts_of(titled(hand.sum_of_tables(), 0))
    assert texts[1:3] == ["hall", "mode"]
    assert "≤ -7" in texts
    assert "idle or run" in texts


def test_few_tables_are_drawn_unless_all_are_asked_for() -> None:
    model = hand.sum_of_tables()
    many = replace(
        model, structure=TableEnsemble(model.structure.tables * 6), tables=model.tables * 6
    )
    assert len(sheets_of(many)) == 1 + 12
    assert len(sheets_of(many, show_all=True)) == 1 + 18


def test_all_lies_inside_and_odd_names_do_no_harm() -> None:
    model = hand.sum_of_tables()
    odd = replace(model, classes=("<&>", "a class of a very long name", "x\ny"))
    root = ET.fromstring(svg_of(odd))
    width, height = float(root.get("width", "")), float(root.get("height", ""))
    for sheet in root.findall(f"{SPACE}g"):
        x, y = map(float, re.findall(r"[\d.]+", sheet.get("transform", "")))
        for rect in sheet.findall(f"{SPACE}rect"):
            assert x + float(rect.get("x", "")) + float(rect.get("width", "")) <= width
            assert y + float(rect.get("y", "")) + float(rect.get("height", "")) <= height
    assert "rotate" in ET.tostring(root, encoding="unicode")
    assert "x\\ny" in texts_of(root.findall(f"{SPACE}g")[0])


def test_the_command_draws_a_sum(run: Run, tmp_path: Path) -> None:
    save_model(hand.sum_of_tables(), tmp_path / "m.bncc")
    run("inspect", tmp_path / "m.bncc", "--svg", tmp_path / "s.svg")
    assert "3 of 3 tables" in (tmp_path / "s.svg").read_text("utf-8")


@pytest.mark.parametrize(
    ("feature", "first", "last", "words"),
    [
        (Feature("a", "int16", 3, (4, 9)), 0, 0, "≤ 4"),
        (Feature("a", "int16", 3, (4, 9)), 1, 1, "4 .. 9"),
        (Feature("a", "int16", 3, (4, 9)), 1, 2, "> 4"),
        (Feature("a", "int16", 4, (4, 9)), 1, 3, "> 4 or ?"),
        (Feature("a", "int16", 4, (4, 9)), 0, 3, "any or ?"),
        (Feature("a", "int16", 4, (4, 9)), 3, 3, "?"),
        (Feature("a", "int16", 4, (-32768, 4, 9)), 0, 0, "?"),
        (Feature("a", "int16", 4, (-32768, 4, 9)), 0, 1, "≤ 4 or ?"),
        (Feature("a", "int16", 4, (-32768, 4, 9)), 1, 1, "≤ 4"),
        (Feature("a", "int16", 4, (-32768, 4, 9)), 1, 3, "any"),
        (Feature("a", "int16", 4, (-32768, 4, 9)), 2, 2, "4 .. 9"),
        (Feature("a", "float32", 2, (0.123456789,)), 0, 0, "≤ 0.1235"),
        (Feature("a", "state", 9), 0, 3, "0 .. 3"),
        (Feature("a", "state", 9), 4, 4, "4"),
        (Feature("a", "state", 9), 4, 8, "> 3"),
        (Feature("a", "category", 3, categories=("red", "green")), 1, 2, "green or ?"),
    ],
)
def test_a_span_of_states_in_few_characters(
    feature: Feature, first: int, last: int, words: str
) -> None:
    assert span(feature, first, last) == words


def test_a_missing_reading_below_all_others_is_called_so_in_a_clause() -> None:
    lowest = Feature("a", "int16", 4, (-32768, 4, 9))
    assert between(lowest, 0, 0) == "a is missing"
    assert between(lowest, 0, 1) == "a <= 4 or missing"
    assert between(lowest, 1, 2) == "a <= 9"
    assert between(lowest, 3, 3) == "a > 9"
