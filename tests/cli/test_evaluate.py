"""``bncc evaluate``: the errors of the integer model, counted."""

from collections.abc import Callable
from dataclasses import replace
from math import isclose, log
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import Result

from bncc.cli.evaluate import evaluation
from bncc.data.readers import read_table
from bncc.discretize.feature import states_of
from bncc.errors import DataError
from bncc.model.file import load_model, save_model
from bncc.model.reference import predict
from tests import models
from tests.cli.conftest import HEADER, sensor_rows, write_csv

Run = Callable[..., Result]
RunJson = Callable[..., dict[str, Any]]
Refused = Callable[..., str]


def test_json_counts_what_the_integer_model_gets_wrong(
    run_json: RunJson, model: Path, readings: Path
) -> None:
    found = run_json("evaluate", model, readings)
    table = read_table(readings)
    loaded = load_model(model)
    said = predict(loaded, states_of(loaded.features, table))
    truth = np.array([loaded.classes.index(row[3]) for row in sensor_rows()])  # type: ignore[arg-type]
    assert found["n"] == 240
    assert found["errors"] == int((said != truth).sum())
    assert found["error"] == found["errors"] / 240
    assert np.array(found["confusion"]).sum() == 240
    assert np.trace(np.array(found["confusion"])) == 240 - found["errors"]
    assert np.array(found["confusion"]).sum(axis=1).tolist() == [80, 80, 80], "rows are true"
    assert found["recall"] == [row[c] / 80 for c, row in enumerate(found["confusion"])]
    assert found["missing_cells"] == 0
    assert found["classes"] == ["kind 0", "kind 1", "kind 2"]


def test_log_loss_is_that_of_the_integer_costs() -> None:
    model = models.naive_integer()
    found = evaluation(model, np.array([[0, 0]]), np.array([1]))
    # costs 3, 7, 20 in quarter nats: p(1) = e^-1.75 / (e^-0.75 + e^-1.75 + e^-5)
    weights = [2.718281828459045 ** (-cost / 4) for cost in (3, 7, 20)]
    assert isclose(found["log_loss"], -log(weights[1] / sum(weights)), rel_tol=1e-9)


def test_no_rows_cannot_be_evaluated() -> None:
    model = models.naive_integer()
    with pytest.raises(DataError, match="no row is left to evaluate"):
        evaluation(model, np.zeros((0, 2), dtype=np.int64), np.zeros(0, dtype=np.int64))


def test_the_rows_of_the_training_are_told(
    run: Run, model: Path, readings: Path, tmp_path: Path
) -> None:
    """By the digest of their file, whatever it is called; not where the record has none."""
    copy = tmp_path / "copy.csv"
    copy.write_bytes(readings.read_bytes())
    note = (
        f"bncc: the model was trained on '{copy}', so this error is optimistic; name rows that "
        "the training did not use\n"
    )
    assert run("evaluate", model, copy).stderr == note
    others = write_csv(tmp_path / "o.csv", HEADER, sensor_rows(seed=1))
    assert run("evaluate", model, others).stderr == ""
    known = load_model(model)
    for data in (None, {**known.training["data"], "of": "values"}):
        other = replace(known, training={**known.training, "data": data})
        save_model(other, tmp_path / "m.bncc", overwrite=True)
        assert run("evaluate", tmp_path / "m.bncc", copy).stderr == ""


def test_an_unknown_class_is_an_error_and_is_told(
    run: Run, run_json: RunJson, model: Path, tmp_path: Path
) -> None:
    rows = [[5, 0.1, "red", "kind 9"], [5, 0.1, "red", "kind 9"]]
    data = write_csv(tmp_path / "d.csv", HEADER, rows)
    found = run_json("evaluate", model, data)
    assert (found["errors"], found["error"], found["log_loss"]) == (2, 1.0, None)
    assert found["recall"] == [None, None, None]
    result = run("evaluate", model, data)
    assert "2 of 2 rows have a class that the model does not know" in result.stderr
    assert "100.00 %" in result.stdout


def test_missing_and_unseen_cells_are_counted_and_classified(
    run_json: RunJson, model: Path, tmp_path: Path
) -> None:
    rows = [["?", 0.1, "red", "kind 0"], [5, "", "violet", "kind 0"]]
    found = run_json("evaluate", model, write_csv(tmp_path / "d.csv", HEADER, rows))
    assert found["missing_cells"] == 2
    assert found["n"] == 2


def test_people_see_the_confusion_matrix(run: Run, model: Path, readings: Path) -> None:
    said = run("evaluate", model, readings, "--quiet").stdout
    assert "error " in said
    assert "true \\ predicted  kind 0  kind 1  kind 2" in said
    (head,) = (line for line in said.splitlines() if "predicted" in line)
    assert head.endswith("recall")


def test_a_large_confusion_matrix_is_left_to_json(run: Run, tmp_path: Path) -> None:
    rows = [[k % 40, k % 7, f"c{k % 40}"] for k in range(400)]
    data = write_csv(tmp_path / "d.csv", ["a", "b", "class"], rows)
    run("train", data, "-o", tmp_path / "m", "--parameters", "ml", "--structure", "naive")
    assert "40 classes is in --json" in run("evaluate", tmp_path / "m", data).stdout


def test_the_class_of_training_is_found_where_the_last_column_is_a_feature(
    run: Run, run_json: RunJson, refused: Refused, tmp_path: Path
) -> None:
    rows = [[k % 3, f"k{k % 3}", k % 2] for k in range(60)]
    data = write_csv(tmp_path / "d.csv", ["a", "kind", "b"], rows)
    out = tmp_path / "m.bncc"
    run("train", data, "-o", out, "--parameters", "ml", "--class", "kind")
    assert run_json("evaluate", out, data)["errors"] == 0
    assert "name the class column" in refused("evaluate", out, data, "--class", "b")


def test_rows_without_a_class_are_left_out(run: Run, model: Path, tmp_path: Path) -> None:
    rows = [[5, 0.1, "red", "kind 0"], [5, 0.1, "red", "?"]]
    result = run("evaluate", model, write_csv(tmp_path / "d.csv", HEADER, rows))
    assert "1 of 2 rows have no class" in result.stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("light,slope,class\n1,2,kind 1\n", "'color'"),
        ("light,slope,color,class\n", "no rows"),
        ("light,slope,color,class\n1,2,red\n", "found 3"),
        ("light,slope,color,class\n1.5,2,red,kind 1\n", "had integers in training"),
        ("light,slope,color,class\ndark,2,red,kind 1\n", "'light' had numbers"),
        ("light,slope,color,class\n1,inf,red,kind 1\n", "infinite"),
        ("", "empty"),
    ],
)
def test_bad_data_is_one_line(
    refused: Refused, model: Path, tmp_path: Path, text: str, message: str
) -> None:
    (tmp_path / "d.csv").write_text(text)
    assert message in refused("evaluate", model, tmp_path / "d.csv")


def test_absent_files_are_one_line(refused: Refused, model: Path, readings: Path) -> None:
    assert "does not exist" in refused("evaluate", model, "absent.csv")
    assert "bncc train" in refused("evaluate", "absent.bncc", readings)


def test_a_damaged_model_is_never_used(refused: Refused, model: Path, readings: Path) -> None:
    whole = model.read_bytes()
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 4
    for damaged in (whole[:-1], whole[: len(whole) // 2], b"", bytes(flipped), b"PK\x03\x04"):
        model.write_bytes(damaged)
        assert "is not a bncc model, or is truncated or corrupt" in refused(
            "evaluate", model, readings
        )


def test_a_model_saved_by_hand_knows_no_class_column(refused: Refused, tmp_path: Path) -> None:
    save_model(models.naive_integer(), tmp_path / "m.bncc")
    data = write_csv(tmp_path / "d.csv", ["pressure", "light"], [[1, 2]])
    assert "name the class column" in refused("evaluate", tmp_path / "m.bncc", data)
