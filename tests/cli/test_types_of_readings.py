"""``--readings``: the C types of numeric columns, from training to the compiled C."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import Result

from bncc import BNClassifier
from bncc.model.file import load_model
from tests.cli.conftest import write_csv

Run = Callable[..., Result]
RunJson = Callable[..., dict[str, Any]]
Refused = Callable[..., str]
HEADER = ("pixel", "tilt", "gap", "level", "class")
QUICK = ("--structure", "naive", "--parameters", "ml", "--folds", "0")


def rows_of(n: int = 120) -> list[list[object]]:
    """Return readings that fit uint8, int8, int8 with missing cells, and int16."""
    rng = np.random.default_rng(0)
    rows: list[list[object]] = []
    for k in range(n):
        c = k % 2
        pixel, tilt = int(rng.integers(0, 128) + 128 * c), int(rng.integers(-120, 5) + 110 * c)
        gap = "?" if k % 11 == 0 else int(rng.integers(0, 60) + 60 * c)
        rows.append([pixel, tilt, gap, int(rng.integers(-900, 300) + 600 * c), "ab"[c]])
    return rows


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return write_csv(tmp_path / "bytes.csv", HEADER, rows_of())


@pytest.fixture
def small(run: Run, table: Path, tmp_path: Path) -> Path:
    run("train", table, "-o", tmp_path / "m.bncc", "--readings", "smallest", *QUICK)
    return tmp_path / "m.bncc"


def kinds_of(model: Path) -> list[str]:
    return [feature.kind for feature in load_model(model).features]


def test_each_column_has_the_smallest_type(run: Run, small: Path) -> None:
    assert kinds_of(small) == ["uint8", "int8", "int8", "int16"]
    assert load_model(small).training["reading_types"] == "smallest"
    assert "uint8" in run("inspect", small).stdout


def test_the_default_is_int16(run: Run, table: Path, tmp_path: Path) -> None:
    run("train", table, "-o", tmp_path / "m.bncc", *QUICK)
    assert kinds_of(tmp_path / "m.bncc") == ["int16"] * 4
    assert "reading_types" not in load_model(tmp_path / "m.bncc").training


@pytest.mark.parametrize("kind", ["int16", "int32", "float32"])
def test_a_type_is_that_of_all_columns(run: Run, table: Path, tmp_path: Path, kind: str) -> None:
    run("train", table, "-o", tmp_path / "m.bncc", "--readings", kind, *QUICK)
    assert kinds_of(tmp_path / "m.bncc") == [kind] * 4


@pytest.mark.parametrize(
    ("kind", "drop", "message"),
    [
        ("uint8", "tilt", "column 'gap' is missing in row 1, for which uint8 has no value"),
        ("int8", "pixel", "column 'level' contains"),
        ("int8", "level", "column 'pixel' contains"),
    ],
)
def test_a_column_that_does_not_fit_is_refused(
    refused: Refused, table: Path, tmp_path: Path, kind: str, drop: str, message: str
) -> None:
    output = tmp_path / "n.bncc"
    line = refused("train", table, "-o", output, "--readings", kind, "--drop", drop, *QUICK)
    assert message in line
    assert "choose --readings smallest" in line
    assert not output.exists()


def test_an_unknown_type_is_refused(refused: Refused, table: Path, tmp_path: Path) -> None:
    assert "int64" in refused("train", table, "-o", tmp_path / "n", "--readings", "int64")


@pytest.mark.parametrize("command", ["predict", "evaluate", "emit-c", "verify", "bench"])
def test_a_missing_byte_is_refused(
    refused: Refused, small: Path, tmp_path: Path, command: str
) -> None:
    rows = [[3, 0, "?", 4, "a"], ["?", 0, 3, 4, "b"]]
    data = write_csv(tmp_path / "gaps.csv", HEADER, rows)
    given = [data] if command in ("predict", "evaluate") else ["--data", data]
    output = ["-o", tmp_path / "c"] if command == "emit-c" else []
    line = refused(command, small, *given, *output)
    assert "column 'pixel' is missing in row 2, but the model reads it as uint8" in line


def test_a_reading_beyond_its_type_has_the_state_of_its_end(
    run_json: RunJson, small: Path, tmp_path: Path
) -> None:
    ends = write_csv(tmp_path / "e.csv", HEADER[:-1], [[255, 127, 0, 9], [0, -127, 0, 9]])
    beyond = write_csv(tmp_path / "b.csv", HEADER[:-1], [[999, 900, 0, 9], [-5, -900, 0, 9]])
    assert run_json("predict", small, ends) == run_json("predict", small, beyond)


@pytest.mark.cc
@pytest.mark.parametrize("options", [(), ("--constant-time",), ("--optimize", "speed")])
def test_the_c_agrees(run_json: RunJson, small: Path, table: Path, options: tuple[str]) -> None:
    more = () if options[:1] == ("--constant-time",) else ("--with", "checked")
    assert run_json("verify", small, "--data", table, *more, *options)["agree"]


@pytest.mark.cc
@pytest.mark.parametrize("kernel", ["cuts", "cut-loop", "cut-packed", "cut-lanes"])
@pytest.mark.parametrize("drop", [("gap", "level", "tilt"), ("pixel", "level"), ()])
def test_the_c_of_boosted_tables_agrees(
    run: Run, run_json: RunJson, table: Path, tmp_path: Path, kernel: str, drop: tuple[str]
) -> None:
    """Arrays of uint8 and of int8, and a struct."""
    model = tmp_path / "t.bncc"
    left_out = [word for name in drop for word in ("--drop", name)]
    few = ("--structure-option", "tables=5", "--epochs", "2", "--folds", "0")
    options = ("--structure", "tables", "--readings", "smallest", *few)
    run("train", table, "-o", model, *options, *left_out)
    assert set(kinds_of(model)) == (
        {"uint8"} if len(drop) == 3 else {"int8"} if drop else {"uint8", "int8", "int16"}
    )
    for goal in ("size", "balanced"):
        assert run_json("verify", model, "--data", table, "--kernel", kernel, "--optimize", goal)[
            "agree"
        ]


def test_the_estimator_has_the_same_option(tmp_path: Path) -> None:
    """From arrays of bytes, data frames, and lists with missing values."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 256, (60, 2)).astype(np.uint8)
    y = (X[:, 0] > 100).astype(int)
    clf = BNClassifier(structure="naive", parameters="ml", readings="smallest").fit(X, y)
    assert [feature.kind for feature in clf.model_.features] == ["uint8", "uint8"]
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1].astype(int) // 2 - 100})
    mixed = BNClassifier(structure="naive", parameters="ml", readings="smallest").fit(frame, y)
    assert [feature.kind for feature in mixed.model_.features] == ["uint8", "int8"]
    assert (clf.predict(X) == mixed.predict(frame)).all()
    with pytest.raises(ValueError, match=r"'x0' is missing in row 1, .* readings int16"):
        clf.predict([[None, 3]])
    with pytest.raises(ValueError, match=r"choose readings='smallest'"):
        BNClassifier(structure="naive", parameters="ml", readings="int8").fit(X, y)
