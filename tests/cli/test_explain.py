"""``bncc explain``: the contribution of each table for a row, and counterfactuals."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from click.testing import Result

from bncc.model.file import save_model
from bncc.report.table_pictures import explanation_svg
from tests import models as hand

Run = Callable[..., Result]
RunJson = Callable[..., dict[str, Any]]
Refused = Callable[..., str]


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    save_model(hand.sum_of_tables(), tmp_path / "m.bncc")
    rows = ["hall,volt,mode,idle", "-9,3,run,1", "600,,stop,2", "0,10,fly,3"]
    (tmp_path / "rows.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return tmp_path / "m.bncc", tmp_path / "rows.csv"


def test_a_front_is_named_and_its_sure_leaves_are_said_to_decide(
    run: Run, run_json: RunJson, files: tuple[Path, Path]
) -> None:
    model = files[0].with_name("front.bncc")
    save_model(hand.sum_with_front(), model)
    facts = run_json("explain", model, files[1], "--row", "1")
    parts = facts["contributions"]
    assert [part["table"] for part in parts] == ["prior", "front", "1", "2", "3"]
    assert parts[1]["nats"]["c1"] > 0 > parts[1]["nats"]["c0"] == parts[1]["nats"]["c2"]
    assert facts["decision"] == "c1"
    svg = files[0].with_name("e.svg")
    said = run("explain", model, files[1], "--row", "1", "--svg", svg).stdout
    assert said.startswith("predicted class c1 by a sure leaf of the front\n")
    assert re.search(r"^front  +\+8\.33 ", said, re.MULTILINE)
    assert facts["decided_by"] == "front"
    assert "the prior and 3 tables behind the front are not read" in said
    assert not re.search(r"^(0|1|2|3|prior|all) ", said, re.MULTILINE)
    assert ">front</text>" in svg.read_text(encoding="utf-8")
    left = run("explain", model, files[1], "--row", "3").stdout
    assert left.startswith("predicted class c2, ahead of ")
    assert "not read" not in left
    assert re.search(r"^all ", left, re.MULTILINE)
    assert run_json("explain", model, files[1], "--row", "3")["decided_by"] == "tables"
    assert "decided_by" not in run_json("explain", *files, "--row", "1")


def test_json_tells_of_the_prior_and_of_every_table(
    run_json: RunJson, files: tuple[Path, Path]
) -> None:
    facts = run_json("explain", *files, "--row", "1")
    parts = facts["contributions"]
    assert facts["row"] == 1
    assert [part["table"] for part in parts] == ["prior", "0", "1", "2"]
    assert parts[0]["nats"] == pytest.approx({"c0": 2 / 3, "c1": -5 / 6, "c2": 1 / 6})
    assert parts[1]["reads"] == ["hall <= -7", "mode is idle or run"]
    assert facts["readings"] == {"hall": "-9", "volt": "3", "mode": "run", "idle": "1"}


def test_missing_readings_are_called_so(run_json: RunJson, files: tuple[Path, Path]) -> None:
    facts = run_json("explain", *files, "--row", "2")
    assert facts["readings"]["volt"] is None
    assert facts["contributions"][2]["reads"] == ["volt is missing"]
    assert facts["contributions"][3]["reads"][2] == "volt > 9 or missing"


def test_people_see_the_largest_parts_first_and_the_margin(
    run: Run, files: tuple[Path, Path]
) -> None:
    lines = run("explain", *files).stdout.splitlines()
    assert re.fullmatch(r"predicted class c\d, ahead of c\d by a score of \d+\.\d\d", lines[0])
    ahead = [float(line.split()[3]) for line in lines[3:7]]
    assert sorted(map(abs, ahead), reverse=True) == [abs(value) for value in ahead]
    assert float(lines[7].split()[1]) == pytest.approx(sum(ahead), abs=0.03)


def test_a_network_is_ahead_by_nats(run: Run, tmp_path: Path) -> None:
    save_model(hand.naive_integer(), tmp_path / "m.bncc")
    (tmp_path / "rows.csv").write_text("pressure,light\n7,1\n", encoding="utf-8")
    first = run("explain", tmp_path / "m.bncc", tmp_path / "rows.csv").stdout.splitlines()[0]
    assert re.fullmatch(r"predicted class c\d, ahead of c\d by \d+\.\d\d nats", first)


def test_a_row_beyond_the_last_is_refused(refused: Refused, files: tuple[Path, Path]) -> None:
    assert "row 4 does not exist, as " in refused("explain", *files, "--row", "4")


def test_a_picture_has_a_step_for_each_table_and_ends_at_the_margin(
    run: Run, run_json: RunJson, refused: Refused, files: tuple[Path, Path], tmp_path: Path
) -> None:
    drawn = tmp_path / "why.svg"
    facts = run_json("explain", *files, "--svg", drawn)
    assert facts["svg"] == str(drawn)
    space = "{http://www.w3.org/2000/svg}"
    root = ET.fromstring(drawn.read_text("utf-8"))
    bars = [bar for bar in root.findall(f"{space}rect") if bar.get("x") is not None]
    assert len(bars) == len(facts["contributions"]) + 3
    texts = [text.text for text in root.findall(f"{space}text")]
    assert f"ahead of {facts['second']} by {facts['margin']:.2f}:" in str(texts[0])
    steps = [float(str(text)) for text in texts if re.fullmatch(r"[+-]\d+\.\d\d", str(text))]
    assert sum(steps[:4]) == pytest.approx(facts["margin"], abs=0.03)
    assert steps[4:] == sorted(steps[4:], reverse=True)
    assert steps[4] - steps[5] == pytest.approx(facts["margin"], abs=0.03)
    ends = [float(bar.get("x", "")) + float(bar.get("width", "")) for bar in bars]
    assert max(ends) < float(root.get("width", ""))
    assert "--force" in refused("explain", *files, "--svg", drawn)


def test_many_tables_are_one_last_step() -> None:
    nats = {"<yes>": 1.0, "no": -1.0}
    parts = [{"table": str(t), "reads": [], "nats": nats} for t in range(20)]
    facts = {"decision": "<yes>", "second": "no", "margin": 40.0, "contributions": parts}
    drawn = explanation_svg(facts)
    ET.fromstring(drawn)
    assert ">6 more<" in drawn
    assert ">+12.00<" in drawn


def test_the_thresholds_closest_to_a_row_change_its_prediction(
    run: Run, run_json: RunJson, readings: Path, model: Path, tmp_path: Path
) -> None:
    """A row with one reading moved by the margin has the class that is named; one step less not."""
    facts = run_json("explain", model, readings, "--row", "5")
    margins = facts["margins"]
    shares = [each["share"] for each in margins if each["share"] is not None]
    assert shares == sorted(shares)
    header, *rows = readings.read_text("utf-8").splitlines()
    names, row = header.split(","), rows[4].split(",")
    moved, expected = [], []
    for each in margins:
        assert each["reading"] == pytest.approx(float(row[names.index(each["feature"])]))
        for sign, flip in ((-1, each["down"]), (1, each["up"])):
            if flip is not None:
                assert flip["reading"] == pytest.approx(each["reading"] + sign * flip["change"])
                assert flip["decision"] != facts["decision"]
                cells = list(row)
                cells[names.index(each["feature"])] = repr(flip["reading"])
                moved.append(",".join(cells))
                expected.append(flip["decision"])
    assert moved
    data = tmp_path / "moved.csv"
    data.write_text("\n".join([header, *moved]) + "\n", encoding="utf-8")
    run("predict", model, data, "-o", tmp_path / "out.csv")
    said = (tmp_path / "out.csv").read_text("utf-8").splitlines()[1:]
    assert [line.split(",")[0] for line in said] == expected


def test_people_see_how_far_readings_are_from_a_change(
    run: Run, run_json: RunJson, files: tuple[Path, Path]
) -> None:
    """A missing reading and a category have no distance."""
    said = run("explain", *files, "--row", "3").stdout
    assert said.endswith(
        "\n\nclosest thresholds, for each reading alone:\n"
        "reading  now  down to      up to\n"
        "hall     0    -7 (-7): c0  513 (+513): c1\n"
        "volt     10   3 (-7): c0   no change\n"
    )
    assert "closest thresholds" not in run("explain", *files, "--row", "2").stdout
    missing = run_json("explain", *files, "--row", "2")["margins"]
    assert {each["feature"] for each in missing} == {"hall"}
    assert all(each["down"] is each["up"] is None for each in missing)
