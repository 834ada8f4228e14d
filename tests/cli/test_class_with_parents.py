"""A class with parents, in the output of inspect and explain, and in training."""

from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from click.testing import Result

from bncc.model.file import save_model
from bncc.report.structure_picture import dot_of, svg_of
from bncc.structure.graph import Structure
from bncc.train import learn_network as learn
from tests import models as hand

Run = Callable[..., Result]
RunJson = Callable[..., dict[str, Any]]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "m.bncc"
    save_model(hand.class_with_parents(), path)
    return path


def test_inspect_names_the_parents_of_the_class(run: Run, run_json: RunJson, model: Path) -> None:
    facts = run_json("inspect", model)
    assert facts["class_parents"] == ["far", "above"]
    assert facts["given"] == ["beside", "far"]
    assert facts["parents"] == [[], [], ["beside", "class"], []]
    lines = [line.split() for line in run("inspect", model).stdout.splitlines()]
    assert ["(class)", "2", "far,", "above", "4", "4"] in lines


def test_explain_tells_what_the_table_of_the_class_says(
    run_json: RunJson, model: Path, tmp_path: Path
) -> None:
    data = tmp_path / "d.csv"
    data.write_text("above,beside,below,far,class\n1,2,0,0,c0\n")
    facts = run_json("explain", model, data, "--row", "1")
    said = facts["contributions"][-1]
    assert (said["table"], len(said["reads"])) == ("4", 2)
    # row (far 0, above 1) costs 6 and 1 halves of a nat
    assert said["nats"] == {"c0": -1.25, "c1": 1.25}


def test_drawings_lead_arcs_to_the_class() -> None:
    dot = dot_of(hand.class_with_parents())
    assert "  x3 -> c;" in dot
    assert 'x1 [label="beside\\n3 states", style=dotted];' in dot
    svg = svg_of(hand.class_with_parents())
    texts = [node.text for node in ElementTree.fromstring(svg).iter() if node.tag.endswith("text")]
    assert texts[0].endswith("solid frame, and has parents itself")
    assert texts[1:] == ["above (2)", "beside (3)", "below (2)", "far (2)", "class"]
    assert svg.count("marker-end=") == 3


def test_training_counts_such_tables_and_says_so(
    run_json: RunJson, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 2, (80, 3))
    data, path = tmp_path / "d.csv", tmp_path / "m.bncc"
    data.write_text("a,b,y\n" + "".join(f"{a},{b},{a if c else b}\n" for a, b, c in rows))
    above = Structure(((), ()), (False, False), class_parents=(0, 1))
    monkeypatch.setattr(learn, "learn_structure", lambda *_: above)
    options = ("train", data, "--discretize", "none", "-o", path, "--force")
    facts = run_json(*options)
    assert (facts["parameters"], facts["epochs"]) == ("ml", None)
    assert "the class has parents: tables were counted" in run(*options).stderr
    assert run_json("verify", path)["agree"]
