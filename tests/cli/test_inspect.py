"""``bncc inspect``: card, drawings and the program before and after the passes."""

import re
import shutil
import subprocess
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import Result

from bncc.discretize.feature import Feature
from bncc.fixed_point import QFormat
from bncc.model.card import table_widths
from bncc.model.file import load_model, model_digest, save_model
from bncc.model.model import Model
from bncc.report.structure_picture import dot_of, svg_of
from bncc.structure.graph import Structure, forest, one_parent_each
from tests import models
from tests.cli.conftest import write_csv

Run = Callable[..., Result]
RunJson = Callable[..., dict[str, Any]]
Refused = Callable[..., str]

HOSTILE = ('a"b', "*/ x", "two\nlines", "<script>&", "\\", "ünï", "int", "x" * 80)


def hostile_model() -> Model:
    """Return a chain over features whose names are meant to break drawings."""
    n = len(HOSTILE)
    return Model(
        features=tuple(Feature(name, "state", 2) for name in HOSTILE),
        classes=("c0", 'c"1'),
        structure=forest([None, *range(n - 1)]),
        q_format=QFormat(2, 1),
        prior=np.zeros(2, dtype=np.int64),
        tables=tuple(np.ones((2 if i == 0 else 4, 2), dtype=np.int64) for i in range(n)),
    )


def test_json_describes_the_model(run_json: RunJson, model: Path) -> None:
    found = run_json("inspect", model)
    loaded = load_model(model)
    assert found["model"] == str(model)
    assert found["features"] == ["light", "slope", "color"]
    assert found["classes"] == ["kind 0", "kind 1", "kind 2"]
    assert found["n_states"] == list(loaded.n_states)
    assert found["table_widths"] == table_widths(loaded)
    assert found["digest"] == model_digest(loaded)
    assert all(parents[-1] == "class" for parents in found["parents"])
    assert sum(len(parents) for parents in found["parents"]) == 3 + 2
    for field in ("error_train", "structure", "parameters", "q_format", "table_bits", "seed"):
        assert field in found


def test_readings_and_provenance_are_reported(
    run: Run, run_json: RunJson, model: Path, tmp_path: Path
) -> None:
    found, training = run_json("inspect", model), load_model(model).training
    assert found["readings"].keys() == {"light", "slope"}
    for name, seen in found["readings"].items():
        assert seen == {**training["readings"][name], "unit": None}
    assert found["data"] == training["data"]
    assert found["bncc"] == training["bncc"]
    said = run("inspect", model).stdout
    assert f"240 rows of 4 columns; sha256 of their file {found['data']['sha256']}" in said
    light = found["readings"]["light"]
    assert f"  {light['min']} .. {light['max']}  " in said
    assert re.search(r"^bncc +0\.", said, re.MULTILINE)


def test_units_are_reported_and_forged_records_are_not(
    run: Run, run_json: RunJson, model: Path, tmp_path: Path
) -> None:
    loaded, path = load_model(model), tmp_path / "other.bncc"
    readings = dict(loaded.training["readings"])
    readings["light"] = {**readings["light"], "unit": "lx"}
    changed = {"readings": readings, "data": {"rows": "*"}, "bncc": 3, "error_interval": [2, 1]}
    changed["options"] = [1]
    save_model(replace(loaded, training={**loaded.training, **changed}), path)
    found = run_json("inspect", path)
    assert found["readings"]["light"]["unit"] == "lx"
    assert found["data"] is found["bncc"] is found["options"] is None
    said = run("inspect", path).stdout
    assert f"{readings['light']['max']} lx" in said
    assert "sha256" not in said
    assert "interval" not in said
    old = {key: value for key, value in loaded.training.items() if key not in changed}
    save_model(replace(loaded, training=old), path, overwrite=True)
    assert run_json("inspect", path)["readings"] is None
    assert "in training" not in run("inspect", path).stdout


def test_features_that_are_read_are_named_where_others_are_not(
    run: Run, run_json: RunJson, model: Path, tmp_path: Path
) -> None:
    assert run_json("inspect", model)["used_features"] == ["light", "slope", "color"]
    assert re.search("^features +3$", run("inspect", model).stdout, re.MULTILINE)
    header = [*(f"x{k}" for k in range(9)), "class"]
    rows = [[*(k % 2 ** (j + 1) for j in range(9)), f"kind {k * 8 // 64}"] for k in range(64)]
    data, path = write_csv(tmp_path / "rows.csv", header, rows), tmp_path / "m.bncc"
    tables = ("--structure", "tables", "--structure-option", "inputs=2", "--epochs", "1")
    said = run("train", data, "-o", path, *tables, "--folds", "0").stdout
    facts = run_json("inspect", path)
    names = facts["used_features"]
    assert len(names) == 2
    assert set(names) == {name for table in facts["tables"] for name in table["features"]}
    words = f"9, of which decisions read 2: {', '.join(names)}\n"
    for text in (said, run("inspect", path).stdout):
        assert re.search(f"^features +{words}", text, re.MULTILINE)
    found = run_json("train", data, "-o", path, "--force", *tables, "--folds", "0")
    assert found["used_features"] == names


@pytest.mark.parametrize(
    ("n_read", "words"),
    [(0, "0: none"), (6, "6: x0, x1, x2, x3, x4, x5"), (8, "8: x0, x1, x2, x3, x4, x5, 2 more")],
)
def test_many_names_are_counted(run: Run, tmp_path: Path, n_read: int, words: str) -> None:
    """A feature whose table is the same for all classes is not read."""
    model = Model(
        features=tuple(Feature(f"x{k}", "state", 2) for k in range(9)),
        classes=("a", "b"),
        structure=forest([None] * 9),
        q_format=QFormat(2, 1),
        prior=np.zeros(2, dtype=np.int64),
        tables=tuple(np.eye(2, dtype=np.int64) * (k < n_read) for k in range(9)),
    )
    save_model(model, tmp_path / "m.bncc")
    said = run("inspect", tmp_path / "m.bncc").stdout
    assert re.search(f"^features +9, of which decisions read {words}$", said, re.MULTILINE)


def test_the_class_is_a_parent_only_where_it_is(run_json: RunJson, tmp_path: Path) -> None:
    save_model(models.general_network(), tmp_path / "m.bncc")
    parents = run_json("inspect", tmp_path / "m.bncc")["parents"]
    flags = models.general_network().structure.class_is_parent
    assert [("class" in names) for names in parents] == list(flags)


def test_people_read_the_card(run: Run, model: Path) -> None:
    said = run("inspect", model).stdout
    for word in ("chow-liu", "kind 0 kind 1 kind 2", "int16", "blue green red", "digest", "train"):
        assert word in said


def test_a_model_made_by_hand_has_a_card_too(run: Run, tmp_path: Path) -> None:
    save_model(models.naive_integer(), tmp_path / "m.bncc")
    assert "not recorded" in run("inspect", tmp_path / "m.bncc").stdout


def test_a_gate_is_named_with_its_shares(run: Run, run_json: RunJson, tmp_path: Path) -> None:
    record = {"gate": {"answers": 0.75, "differing": 0.0025}}
    model = replace(models.gated(models.sum_of_tables(), 2, 5), training=record)
    save_model(model, tmp_path / "m.bncc")
    said = run("inspect", tmp_path / "m.bncc").stdout
    assert "3 tables over 8 cuts of 3 features, a gate of margin 5 behind table 1" in said
    assert "\ngate        the first 2 tables decide 75.0 % of held-out rows, 0.25 %" in said
    facts = run_json("inspect", tmp_path / "m.bncc")
    assert facts["gate"] == {"tables": 2, "margin": 5, **record["gate"]}
    said = run("inspect", tmp_path / "m.bncc", "--ir").stdout
    assert said.count("gate: tables 0 .. 1 decide with a margin of 5") == 2


def test_a_front_is_named_before_the_tables_behind_it(
    run: Run, run_json: RunJson, tmp_path: Path
) -> None:
    save_model(models.sum_with_front(), tmp_path / "m.bncc")
    save_model(models.sum_of_tables(), tmp_path / "p.bncc")
    said = run("inspect", tmp_path / "m.bncc").stdout
    assert "front of 3 leaves, 2 of them sure; 3 tables over 8 cuts" in said
    assert "\nfront       sure leaves decide 50.0 % of the training rows" in said
    assert re.search(r"^front +3 +5  tree of 2 nodes, 2 deep; hall > -7", said, re.MULTILINE)
    leaves = run("inspect", tmp_path / "m.bncc", "-v").stdout.split("front, leaf")
    assert "front, leaf" not in said
    assert [line.split(maxsplit=2) for line in leaves[1].splitlines()[1:4]] == [
        ["0", "c1", "hall <= -7"],
        ["1", "tables", "hall > -7; mode is idle or run"],
        ["2", "c2", "hall > -7; mode is stop"],
    ]
    found = run_json("inspect", tmp_path / "m.bncc")
    assert found["sure_front"] == {"leaves": 3, "sure": 2, "answers": 0.5, "differing": 0.0025}
    assert [table["rows"] for table in found["tables"]] == [3, 6, 3, 8]
    assert '[label="front\\n3 rows"' in run("inspect", tmp_path / "m.bncc", "--dot").stdout
    assert "sure_front" not in run_json("inspect", tmp_path / "p.bncc")


def test_a_threshold_below_all_readings_tells_missing_ones(run: Run, tmp_path: Path) -> None:
    sum_of_tables = models.NAMED["sum_of_tables"]()
    lowest = -float(np.finfo(np.float32).max)
    first = Feature("rpm", "float32", 4, thresholds=(lowest, 2.5, 8.0))
    features = (first, *sum_of_tables.features[1:])
    save_model(replace(sum_of_tables, features=features), tmp_path / "m.bncc")
    said = run("inspect", tmp_path / "m.bncc").stdout
    assert "e+38" not in said
    assert "(not missing) 2.5 8" in said
    assert "rpm not missing, rpm > 8" in said


def test_many_features_are_cut_short_without_v(run: Run, tmp_path: Path) -> None:
    one = models.naive_integer()
    many = replace(
        one,
        features=tuple(Feature(f"f{i}", "state", 2) for i in range(250)),
        structure=forest([None] * 250),
        tables=(one.tables[1],) * 250,
    )
    save_model(many, tmp_path / "m.bncc")
    assert "and 50 more features" in run("inspect", tmp_path / "m.bncc").stdout
    assert "f249" in run("inspect", tmp_path / "m.bncc", "-v").stdout


def test_dot_lists_every_arc(run: Run, run_json: RunJson, model: Path) -> None:
    said = run("inspect", model, "--dot").stdout
    assert said.startswith("digraph structure {\n")
    assert said.count("c -> x") == 3
    assert len(re.findall(r"x\d -> x\d", said)) == 2
    assert run_json("inspect", model, "--dot")["dot"] == said


def test_hostile_names_stay_inside_dot_labels(tmp_path: Path) -> None:
    text = dot_of(hostile_model())
    labels = re.findall(r'label="((?:[^"\\]|\\.)*)"', text)
    assert len(labels) == len(HOSTILE) + 1
    assert r"a\"b" in text
    assert len(text.splitlines()) == 2 * len(HOSTILE) + 2 + len(HOSTILE) - 1 + 2
    if shutil.which("dot"):
        subprocess.run(["dot", "-Tsvg"], input=text, text=True, check=True, capture_output=True)


def test_svg_is_well_formed_with_a_box_for_every_feature() -> None:
    root = ET.fromstring(svg_of(hostile_model()))
    space = "{http://www.w3.org/2000/svg}"
    boxes = root.findall(f"{space}g")
    assert len(boxes) == len(HOSTILE)
    assert len(root.findall(f"{space}path")) == len(HOSTILE) - 1
    titles = [box.findtext(f"{space}title") for box in boxes]
    assert titles[:4] == ['a"b', "*/ x", r"two\nlines", "<script>&"]


def test_boxes_do_not_overlap_and_lie_inside() -> None:
    space = "{http://www.w3.org/2000/svg}"
    one = models.naive_integer()
    many = replace(
        one,
        features=tuple(Feature(f"feature {i}", "state", 2) for i in range(60)),
        structure=forest([None, 0, 0, 1, 1, *[None] * 55]),
    )
    root = ET.fromstring(svg_of(many))
    frames = [box.find(f"{space}rect") for box in root.findall(f"{space}g")]
    found = [
        (float(f.get("x", "")), float(f.get("y", "")), float(f.get("width", "")))
        for f in frames
        if f is not None
    ]
    for k, (x, y, width) in enumerate(found):
        assert x >= 0
        assert x + width <= float(root.get("width", ""))
        assert y + 26 <= float(root.get("height", ""))
        for other_x, other_y, other_width in found[:k]:
            apart = abs(y - other_y) >= 26 or x >= other_x + other_width or x + width <= other_x
            assert apart


def test_arcs_that_close_cycles_are_drawn_apart() -> None:
    """Two of the six arcs of a pair, and of a ring of three with one more feature."""
    model = models.pseudo_tan()
    said = dot_of(model)
    assert len(re.findall(r"x\d -> x\d", said)) == 6
    assert re.findall(r"(x\d -> x\d) \[color", said) == ["x0 -> x1", "x2 -> x3"]
    drawn = svg_of(model)
    assert drawn.count('stroke="#b03a2e"') == 2
    assert drawn.count('marker-end="url(#tip)"') == 6
    assert "red arcs close cycles" in drawn
    assert "red arcs" not in svg_of(models.tan_float())


def test_an_arc_that_closes_a_cycle_at_the_right_lies_inside() -> None:
    wide = replace(
        models.pseudo_tan(),
        features=tuple(Feature(f"a feature of a long name {i}", "state", 2) for i in range(7)),
        structure=one_parent_each([None] * 5 + [6, 5]),
    )
    drawn = svg_of(wide)
    (red,) = re.findall(r'd="M([^"]*)" fill="none" stroke="#b03a2e"', drawn)
    reach = max(float(x) for x in re.findall(r"[\d.]+", red)[::2])
    assert 1400 < reach <= float(ET.fromstring(drawn).get("width", ""))


def test_people_and_programs_are_told_of_a_cycle(
    run: Run, run_json: RunJson, tmp_path: Path
) -> None:
    save_model(models.pseudo_tan(), tmp_path / "m.bncc")
    assert "not a Bayesian network" in run("inspect", tmp_path / "m.bncc").stdout
    assert run_json("inspect", tmp_path / "m.bncc")["cycle"] == ["x0", "x1"]
    save_model(models.tan_float(), tmp_path / "tree.bncc")
    assert "Bayesian network" not in run("inspect", tmp_path / "tree.bncc").stdout
    assert run_json("inspect", tmp_path / "tree.bncc")["cycle"] is None


def test_a_feature_without_the_class_has_a_dashed_frame() -> None:
    general = models.general_network()
    n_without = general.structure.class_is_parent.count(False)
    assert svg_of(general).count("stroke-dasharray") == n_without
    none = replace(general, structure=Structure(((),) * 4, (False,) * 4))
    assert svg_of(none).count("stroke-dasharray") == 4


def test_svg_goes_to_a_file(run: Run, refused: Refused, model: Path, tmp_path: Path) -> None:
    result = run("inspect", model, "--svg", tmp_path / "s.svg")
    assert result.stdout == ""
    assert "wrote the structure" in result.stderr
    ET.fromstring((tmp_path / "s.svg").read_text())
    assert "--force" in refused("inspect", model, "--svg", tmp_path / "s.svg")
    run("inspect", model, "--svg", tmp_path / "s.svg", "--force")


def test_ir_shows_the_program_before_and_after(run: Run, run_json: RunJson, model: Path) -> None:
    said = run("inspect", model, "--ir").stdout
    before, after = said.split("; after\n")
    assert "u32" in before
    assert "u8" in after
    assert "shrink-width" in before
    ir = run_json("inspect", model, "--ir")["ir"]
    assert ir["flow"] == "default"
    assert ir["before"] in said
    assert {"name", "fired", "bits_before", "bits_after"} == set(ir["passes"][0])


def test_ir_takes_a_flow(run_json: RunJson, run: Run, refused: Refused, model: Path) -> None:
    ir = run_json("inspect", model, "--ir", "none")["ir"]
    assert ir["passes"] == []
    assert ir["before"] == ir["after"]
    assert "; flow 'none'" in run("inspect", model, "--ir", "none").stdout
    assert "unknown flow 'fast'" in refused("inspect", model, "--ir", "fast")


@pytest.mark.parametrize("option", ["--dot", "--ir"])
def test_quiet_does_not_hide_what_was_asked_for(run: Run, model: Path, option: str) -> None:
    assert run("inspect", model, option, "--quiet").stdout


def test_leaves_of_trees_are_listed_with_their_costs_on_request(run: Run, tmp_path: Path) -> None:
    model = models.trees_of_sensors(3, 2)
    save_model(model, tmp_path / "m.bncc")
    assert "leaf" not in run("inspect", tmp_path / "m.bncc").stdout
    said = run("inspect", tmp_path / "m.bncc", "-v").stdout
    for t, costs in enumerate(model.tables):
        _, _, part = said.partition(f"table {t}, leaf  costs")
        for k, (row, line) in enumerate(zip(costs.tolist(), part.splitlines()[1:], strict=False)):
            assert line.split()[:4] == [str(k), *map(str, row)]
