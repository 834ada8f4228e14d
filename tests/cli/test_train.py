"""``bncc train``: every option of the contract, and the resulting model."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import Result

from bncc.model.file import load_model
from tests.cli.conftest import HEADER, sensor_rows, write_csv

Run = Callable[..., Result]
RunJson = Callable[..., dict[str, Any]]
Refused = Callable[..., str]

FIELDS = {
    "model", "error_train", "error_validation", "error_test", "n_features", "n_classes",
    "structure", "parameters", "q_format", "table_entries", "free_parameters", "table_bits",
    "epochs", "seconds", "seed", "confusion", "recall", "confusion_of",
    "error_cross_validation", "folds", "error_interval", "interval_method", "used_features",
}  # fmt: skip
QUICK = ("--parameters", "ml")


def test_json_has_exactly_the_fields_of_the_contract(
    run_json: RunJson, readings: Path, tmp_path: Path
) -> None:
    path = tmp_path / "m.bncc"
    found = run_json("train", readings, "-o", path, *QUICK)
    assert set(found) == FIELDS
    assert found["model"] == str(path)
    assert (found["n_features"], found["n_classes"]) == (3, 3)
    assert found["structure"] == "chow-liu"
    assert found["parameters"] == "ml"
    assert set(found["q_format"]) == {"int_bits", "frac_bits"}
    assert sum(found["q_format"].values()) == 6
    assert found["table_bits"] == 6 * found["table_entries"]
    assert 0 <= found["error_train"] < 0.3
    assert found["error_test"] is None
    assert found["seed"] == 0
    assert found["seconds"] > 0


def test_confusion_and_recall_are_of_the_rows_that_say_most_of_new_readings(
    run: Run, run_json: RunJson, readings: Path, tmp_path: Path
) -> None:
    """Test rows where there are any, otherwise validation rows, otherwise training rows."""
    path = tmp_path / "m.bncc"
    tested = run_json("train", readings, "-o", path, *QUICK, "--test", readings)
    assert tested["confusion_of"] == "test"
    assert load_model(path).training["confusion"] == tested["confusion"]
    evaluated = run_json("evaluate", path, readings)
    for key in ("confusion", "recall"):
        assert tested[key] == evaluated[key]
    assert tested["recall"] == [row[c] / 80 for c, row in enumerate(tested["confusion"])]
    crossed = run_json("train", readings, "-o", tmp_path / "c", *QUICK)
    assert (crossed["confusion_of"], np.sum(crossed["confusion"])) == ("cross-validation", 240)
    held = run_json("train", readings, "-o", tmp_path / "h", *QUICK, "--folds", "0")
    assert (held["confusion_of"], np.sum(held["confusion"])) == ("validation", 24)
    assert 1 - np.trace(held["confusion"]) / 24 == held["error_validation"]
    alone = run_json(
        "train", readings, "-o", tmp_path / "a", *QUICK, "--validation", "0", "--folds", "0"
    )
    assert (alone["confusion_of"], np.sum(alone["confusion"])) == ("train", 240)
    said = run("train", readings, "-o", tmp_path / "p", *QUICK).stdout
    assert "confusion matrix of the rows of all folds" in said
    assert re.search(r"true \\ predicted .* recall\nkind 0 .* \d+\.\d %", said)


def test_people_read_what_was_learned_and_what_comes_next(
    run: Run, readings: Path, tmp_path: Path
) -> None:
    path = tmp_path / "m.bncc"
    said = run("train", readings, "-o", path, *QUICK).stdout
    for word in ("240", "chow-liu", "3 in column 'class'", f"bncc verify {path}", "bncc emit-c"):
        assert word in said


def test_people_read_the_bits_of_tables_that_learned_them(
    run: Run, readings: Path, tmp_path: Path
) -> None:
    learned = ["--structure", "tan-all", "--structure-option", "widths=2,4", "--epochs", "4"]
    said = run("train", readings, "-o", tmp_path / "m.bncc", *learned).stdout
    (line,) = (line for line in said.splitlines() if line.startswith("widths"))
    counts = re.findall(r"(1 table|[23] tables) of (1 bit\b|[0234] bits)", line)
    assert sum(int(tables[0]) for tables, _ in counts) == 3
    assert "widths" not in run("train", readings, "-o", tmp_path / "n.bncc", *QUICK).stdout


def test_quiet_is_silent(run: Run, readings: Path, tmp_path: Path) -> None:
    result = run("train", readings, "-o", tmp_path / "m.bncc", *QUICK, "--quiet")
    assert result.output == ""
    assert (tmp_path / "m.bncc").exists()


def test_same_input_and_options_give_the_same_bytes(
    run: Run, readings: Path, tmp_path: Path
) -> None:
    for name in ("a", "b"):
        run("train", readings, "-o", tmp_path / name, *QUICK, "--seed", 3)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_states_are_taken_as_given(run_json: RunJson, tmp_path: Path) -> None:
    rows = [[k % 3, (k // 3) % 2, k % 3] for k in range(60)]
    data = write_csv(tmp_path / "d.csv", ["a", "b", "class"], rows)
    out = tmp_path / "m.bncc"
    run_json("train", data, "-o", out, *QUICK, "--discretize", "none", "--structure", "naive")
    assert [feature.kind for feature in load_model(out).features] == ["state", "state"]
    assert load_model(out).n_states == (3, 2)


def test_the_class_column_is_named_or_called_class_or_last(
    run_json: RunJson, tmp_path: Path
) -> None:
    rows = [[k % 2, k % 3, k % 5] for k in range(60)]
    for header, options, n_classes in (
        (["class", "b", "c"], [], 2),
        (["a", "b", "c"], [], 5),
        (["a", "b", "class"], ["--class", "b"], 3),
    ):
        data = write_csv(tmp_path / "d.csv", header, rows)
        out = tmp_path / "m.bncc"
        found = run_json("train", data, "-o", out, *QUICK, *options, "--force")
        assert found["n_classes"] == n_classes


def test_test_rows_are_measured_and_an_unknown_class_is_wrong(
    run: Run, run_json: RunJson, readings: Path, tmp_path: Path
) -> None:
    rows = [*sensor_rows(30, seed=1), [5, 0.1, "red", "kind 9"]]
    held = write_csv(tmp_path / "t.csv", HEADER, rows)
    found = run_json("train", readings, "-o", tmp_path / "m.bncc", *QUICK, "--test", held)
    wrong = found["error_test"] * 31
    assert wrong == pytest.approx(round(wrong))
    assert wrong >= 1
    note = (
        "bncc: 1 of 31 test rows have a class that the model does not know; they count as errors "
        "and are excluded from the confusion matrix\n"
    )
    words = ("train", readings, "-o", tmp_path / "m.bncc", *QUICK, "--force", "--test")
    assert note in run(*words, held).stderr
    assert "does not know" not in run(*words, readings).stderr


def test_a_fold_gives_training_and_test_rows(run_json: RunJson, tmp_path: Path) -> None:
    X = np.array([[k % 3 + 1, k % 2 + 1] for k in range(60)], dtype=np.uint8)
    t = (X[:, 0] - 1).astype(np.uint8)
    arrays = {"x_tr_fold1": X[:40], "t_tr_fold1": t[:40], "x_te_fold1": X[40:]}
    np.savez(tmp_path / "d.npz", **arrays, t_te_fold1=t[40:])
    out = tmp_path / "m.bncc"
    found = run_json("train", tmp_path / "d.npz", "--fold", 1, "-o", out, *QUICK)
    assert found["error_test"] == 0
    assert load_model(out).training["n_train"] == 40
    assert run_json("evaluate", out, tmp_path / "d.npz", "--fold", 1)["n"] == 20
    predicted = run_json("predict", out, tmp_path / "d.npz", "--fold", 1)
    assert predicted["prediction"] == [str(c) for c in t[40:]]
    assert run_json("verify", out, "--data", tmp_path / "d.npz", "--fold", 1)["agree"] is True


def test_of_a_test_file_with_folds_the_test_rows_count(run_json: RunJson, tmp_path: Path) -> None:
    X = np.array([[k % 3, k % 2] for k in range(60)])
    fold = {"idx_tr_fold1": np.arange(50), "idx_te_fold1": np.arange(50, 60)}
    np.savez(tmp_path / "d.npz", x=X, t=X[:, 0])
    np.savez(tmp_path / "t.npz", x=X, t=X[:, 0], **fold)
    out = tmp_path / "m.bncc"
    found = run_json("train", tmp_path / "d.npz", "--test", tmp_path / "t.npz", "-o", out, *QUICK)
    assert found["error_test"] == 0
    assert load_model(out).training["n_test"] == 10


def test_a_fold_and_a_test_file_exclude_each_other(refused: Refused, tmp_path: Path) -> None:
    X = np.arange(40).reshape(20, 2) % 4
    arrays = {"x_tr_fold1": X, "t_tr_fold1": X[:, 0], "x_te_fold1": X, "t_te_fold1": X[:, 0]}
    np.savez(tmp_path / "d.npz", **arrays)
    data = tmp_path / "d.npz"
    line = refused("train", data, "--fold", 1, "--test", data, "-o", tmp_path / "m", *QUICK)
    assert "drop --test or --fold" in line


def test_rows_without_a_class_are_left_out_and_told(
    run: Run, readings: Path, tmp_path: Path
) -> None:
    with readings.open("a") as stream:
        stream.write("1,2,red,?\n")
    result = run("train", readings, "-o", tmp_path / "m.bncc", *QUICK)
    assert result.stderr == "bncc: 1 of 241 rows have no class and are ignored\n"


def test_an_option_without_effect_is_told(run: Run, readings: Path, tmp_path: Path) -> None:
    result = run("train", readings, "-o", tmp_path / "m.bncc", *QUICK, "--epochs", 5, "--eta", 2)
    assert "--epochs has no effect with --parameters ml" in result.stderr
    assert "--eta has no effect with --parameters ml" in result.stderr


def test_an_existing_model_is_refused_before_any_work(
    refused: Refused, run: Run, readings: Path, model: Path
) -> None:
    before = model.read_bytes()
    assert "--force" in refused("train", readings.parent / "absent.csv", "-o", model)
    assert model.read_bytes() == before
    run("train", readings, "-o", model, "--force", *QUICK, "--bits", 2)
    assert model.read_bytes() != before
