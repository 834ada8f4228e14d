"""Markdown, CSV, SVG and JSON have the content of the page."""

import csv
import io
import json
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

from bncc.report.formats import report_json, report_md, report_svg, trial_records
from bncc.report.sheets import sheets_of
from bncc.report.table_files import table_bytes
from bncc.search.trial_result import Rate, Study
from tests import studies

STUDY = studies.study(50)


def test_csv_has_a_line_for_each_trial() -> None:
    other = studies.study(5, seed=3, name="b,c", test=False)
    text = table_bytes(trial_records([STUDY, other]), "csv").decode()
    lines = list(csv.DictReader(io.StringIO(text)))
    assert [line["study"] for line in lines] == ["wifi.study"] * 50 + ["b,c"] * 5
    for line, point in zip(lines, (*STUDY.points, *other.points), strict=True):
        assert float(line["error_validation"]) == point.validation.mean
        assert line["command"] == point.command
        assert line["param_lr"] == str(point.params["lr"])
        cost = point.footprint("avr")
        assert line["flash_avr"] == ("" if cost is None else str(cost.flash))
        assert bool(line["misfit_avr"]) == (cost is None)
        assert (line["error_test"] == "") == (point.test is None)


def test_json_holds_all_trials_and_the_front() -> None:
    facts = json.loads(json.dumps(report_json(sheets_of([STUDY], "avr")), allow_nan=False))
    assert (facts["study"], facts["target"]) == ("wifi.study", "avr")
    assert (facts["finished"], facts["failed"]) == (50, 1)
    assert [trial["command"] for trial in facts["trials"]] == [p.command for p in STUDY.points]
    cost = STUDY.points[0].footprint("avr")
    assert cost is not None
    assert facts["trials"][0]["flash"] == cost.flash
    assert facts["trials"][0]["cycles"] == cost.mean
    assert facts["trials"][0]["instructions"] is None
    numbers = {trial["number"] for trial in facts["trials"]}
    assert {trial["number"] for trial in facts["pareto"]} < numbers


def test_markdown_has_sentences_fronts_and_methods() -> None:
    sheets = sheets_of([STUDY])
    text = report_md(sheets, "A | B")
    assert text.startswith("# A \\| B\n")
    assert "Hypervolume" in text
    assert text.count("bncc train") == len(sheets[0].views[0].on_front)
    widths = {line.count(" | ") for line in text.splitlines() if line.startswith("| ")}
    assert len(widths) == 2


def test_markdown_names_families_where_baselines_are_among_them() -> None:
    text = report_md(sheets_of([STUDY]), "T")
    assert "## Structures compared\n\n| Structure |" in text
    text = report_md(sheets_of([studies.with_baselines(STUDY, 1)]), "T")
    assert "## Families compared\n\n| Family |" in text


def test_markdown_names_failed_trials_before_the_recommendations() -> None:
    text = report_md(sheets_of([replace(STUDY, failed={60: "no cut", 61: "no cut"})]), "T")
    listed = "Failed trials:\n\n- 2 trials: no cut (trials 60, 61)\n\n## Recommendations"
    assert listed in text
    assert "Failed trials" not in report_md(sheets_of([replace(STUDY, failed={})]), "T")


def test_svg_says_where_the_error_axis_is_logarithmic() -> None:
    assert "logarithmic" not in report_svg(sheets_of([STUDY]), "T")
    low = replace(
        STUDY,
        points=tuple(
            replace(p, validation=Rate((p.number % 5 / 600,), 600)) if p.number % 4 else p
            for p in STUDY.points
        ),
    )
    assert "error rate on validation rows (logarithmic)" in report_svg(sheets_of([low]), "T")


def test_markdown_escapes_names() -> None:
    study = replace(STUDY, facts={**STUDY.facts, "data": "<b>|`x`"})
    assert r"\<b\>\|\`x\`" in report_md(sheets_of([study]), "T")


@pytest.mark.parametrize("some", [[STUDY], [STUDY, studies.study(1, name="<&>", targets=())]])
def test_svg_is_a_drawing(some: list[Study]) -> None:
    drawing = ET.fromstring(report_svg(sheets_of(some), "T < U"))
    plots = drawing.findall("{http://www.w3.org/2000/svg}svg")
    assert len(plots) == 3 + (len(some) > 1)
    panels = [panel for sheet in sheets_of(some) for panel in sheet.views[0].panels]
    for plot, panel in zip(plots, panels, strict=True):
        texts = plot.findall("{http://www.w3.org/2000/svg}text")
        ticks = [text.text for text in texts if text.get("class") == "tick"]
        assert ticks == [label for scale in (panel.y, panel.x) for _, label in scale.ticks]
        assert [t.text for t in texts if t.get("class") == "name"] == [panel.axis.title]
    assert report_svg(sheets_of(some), "T") == report_svg(sheets_of(some), "T")


def test_names_with_control_characters_leave_the_drawing_well_formed() -> None:
    name = "a\x1b[31m\x00\udcff<b>"
    points = tuple(replace(point, family=name) for point in STUDY.points)
    sheets = sheets_of([replace(STUDY, points=points, name=name)])
    texts = [text.text for text in ET.fromstring(report_svg(sheets, name).encode()).iter()]
    assert texts.count("a\\x1b[31m\\x00\\udcff<b>") >= 3
