"""``bncc predict``: one row per input, labels and whole-number margins."""

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from click.testing import Result

from bncc.cli.predict import prediction_columns
from bncc.data.readers import read_table
from bncc.discretize.feature import states_of
from bncc.model.file import load_model
from bncc.model.reference import predict, scores
from tests import models
from tests.cli.conftest import HEADER, sensor_rows, write_csv

Run = Callable[..., Result]
RunJson = Callable[..., dict[str, Any]]
Refused = Callable[..., str]


def parse(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_each_row_has_the_decision_and_its_margin(run: Run, model: Path, readings: Path) -> None:
    rows = parse(run("predict", model, readings, "--scores").stdout)
    loaded = load_model(model)
    X = states_of(loaded.features, read_table(readings))
    s = scores(loaded, X)
    assert [row["prediction"] for row in rows] == [loaded.classes[c] for c in predict(loaded, X)]
    assert [int(row["margin"]) for row in rows] == np.sort(s, axis=1)[:, 1].tolist()
    for c, label in enumerate(loaded.classes):
        assert [int(row[f"score:{label}"]) for row in rows] == s[:, c].tolist()


def test_without_scores_there_are_two_columns(run: Run, model: Path, readings: Path) -> None:
    assert run("predict", model, readings).stdout.splitlines()[0] == "prediction,margin"


def test_a_tie_has_margin_0_and_goes_to_the_first_class() -> None:
    columns = prediction_columns(models.naive_integer(), np.array([[5, 0, 0]]), with_scores=False)
    assert columns == {"prediction": ["c1"], "margin": [0]}


def test_no_rows_give_no_predictions() -> None:
    empty = np.zeros((0, 3), dtype=np.int64)
    columns = prediction_columns(models.naive_integer(), empty, with_scores=True)
    assert columns["prediction"] == columns["margin"] == []


def test_data_need_no_class(run: Run, model: Path, tmp_path: Path) -> None:
    rows = [row[:3] for row in sensor_rows(5)]
    data = write_csv(tmp_path / "d.csv", HEADER[:3], rows)
    assert len(parse(run("predict", model, data).stdout)) == 5


def test_rows_without_class_are_classified_too(run: Run, model: Path, tmp_path: Path) -> None:
    data = write_csv(tmp_path / "d.csv", HEADER, [[1, 2, "red", "?"], [1, "?", "pink", "kind 1"]])
    assert len(parse(run("predict", model, data).stdout)) == 2


def test_a_file_is_written_on_demand(
    run: Run, refused: Refused, run_json: RunJson, model: Path, readings: Path, tmp_path: Path
) -> None:
    out = tmp_path / "p.csv"
    said = run("predict", model, readings, "-o", out).stdout
    assert said == f"wrote 240 predictions to {out}\n"
    assert len(parse(out.read_text())) == 240
    assert "--force" in refused("predict", model, readings, "-o", out)
    found = run_json("predict", model, readings, "-o", out, "--force")
    assert found == {"output": str(out), "n": 240}


def test_json_holds_the_columns(run_json: RunJson, model: Path, readings: Path) -> None:
    found = run_json("predict", model, readings, "--scores")
    assert found["n"] == len(found["prediction"]) == len(found["margin"]) == 240
    assert set(found["scores"]) == {"kind 0", "kind 1", "kind 2"}
    assert "scores" not in run_json("predict", model, readings)


def test_class_has_no_effect_and_says_so(
    run: Run, refused: Refused, model: Path, readings: Path
) -> None:
    result = run("predict", model, readings, "--class", "class")
    assert "--class has no effect here" in result.stderr
    assert "no column 'oak'" in refused("predict", model, readings, "--class", "oak")
