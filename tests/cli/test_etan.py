"""Features without the class, from training to C: ETAN on the command line."""

import csv
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bncc import BNClassifier, load_model

PARAMETERS = ("hybrid", "ml", "bdeu", "cross-entropy", "free")


def write(path, rows):
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    return path


@pytest.fixture
def readings(tmp_path) -> Path:
    """Write rows in which `far` only copies `near`, and `noise` is uninformative."""
    rng = np.random.default_rng(0)
    label = rng.integers(0, 2, 400)
    near = label ^ (rng.random(400) < 0.2)
    far = near ^ (rng.random(400) < 0.1)
    noise = rng.integers(0, 3, 400)
    # Texts, which stay states: MDL would merge numbers independent of the class into one.
    columns = ([f"s{state}" for state in column] for column in (near, far, noise, label ^ near))
    rows = zip(*columns, label, strict=True)
    return write(tmp_path / "t.csv", [("near", "far", "noise", "odd", "label"), *rows])


@pytest.fixture
def noise(tmp_path) -> Path:
    """Write rows without any informative column."""
    rng = np.random.default_rng(1)
    rows = zip(rng.integers(0, 3, 300), rng.integers(0, 4, 300), rng.random(300) < 0.3, strict=True)
    return write(tmp_path / "n.csv", [("a", "b", "label"), *rows])


def flags(path):
    model = load_model(path)
    names = [feature.name for feature in model.features]
    return dict(zip(names, model.structure.class_is_parent, strict=True))


@pytest.mark.cc
@pytest.mark.parametrize("parameters", PARAMETERS)
@pytest.mark.parametrize("structure", ["etan", "sa-etan"])
def test_every_way_to_tables_agrees_with_its_c(run_json, readings, tmp_path, structure, parameters):
    path = tmp_path / "m.bncc"
    given = ["--structure", structure, "--parameters", parameters]
    given += [] if parameters in ("ml", "bdeu") else ["--epochs", 3]
    found = run_json("train", readings, "-o", path, *given)
    assert found["structure"] == structure
    assert not flags(path)["noise"]
    assert run_json("verify", path)["agree"] is True


def test_a_feature_without_the_class_is_counted_and_drawn_without_it(
    run, run_json, readings, tmp_path
):
    path = tmp_path / "m.bncc"
    run("train", readings, "-o", path, "--structure", "etan", "--parameters", "ml")
    assert flags(path) == {"near": True, "far": False, "noise": False, "odd": False}
    found = run_json("inspect", path)
    # The prior, near under odd and the class, far under near, noise, odd.
    assert found["table_entries"] == 2 + 8 + 4 + 3 + 2
    assert found["free_parameters"] == 1 + 4 + 2 + 2 + 1
    dot = run("inspect", path, "--dot").stdout
    assert "c -> x0" in dot
    assert "x0 -> x1" in dot
    assert "c -> x1" not in dot
    run("inspect", path, "--svg", tmp_path / "m.svg")


def test_what_no_decision_depends_on_is_not_in_the_c(run, readings, tmp_path):
    """`odd` is read by the table of `near`; `far` and `noise` are read by no remaining table."""
    path = tmp_path / "m.bncc"
    run("train", readings, "-o", path, "--structure", "etan", "--parameters", "ml")
    program = run("inspect", path, "--ir").stdout.rpartition("table 0")
    assert '"near, odd"[x3:2, x0:2]' in program[2]
    assert "table 1" not in program[2]


@pytest.mark.cc
@pytest.mark.parametrize("parameters", PARAMETERS)
def test_where_nothing_tells_the_class_the_prior_decides(run_json, noise, tmp_path, parameters):
    path = tmp_path / "m.bncc"
    given = ["--structure", "s-etan", "--parameters", parameters]
    found = run_json("train", noise, "-o", path, *given)
    assert not any(flags(path).values())
    assert found["error_train"] == pytest.approx(0.3, abs=0.05)
    assert run_json("verify", path)["agree"] is True


def test_the_estimator_takes_it_too(readings):
    frame = pd.read_csv(readings)
    X, y = frame.drop(columns="label"), frame["label"]
    classifier = BNClassifier(structure="a-etan", parameters="bdeu").fit(X, y)
    assert classifier.score(X, y) > 0.95
    assert not all(classifier.model_.structure.class_is_parent)
