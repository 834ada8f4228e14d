"""Checked readings on the command line: units, ranges, `--with checked`, `--range-margin`."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bncc.model.file import load_model, save_model
from bncc.model.ranges import ReadingRange, reading_ranges
from tests import models as hand
from tests.cli.conftest import Run, write_csv

RunJson = Callable[..., dict[str, Any]]
Refused = Callable[..., str]
HEADER = ["distance [cm]", "light", "ground", "class"]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    rows: list[list[object]] = []
    for k in range(60):
        near = k % 2 == 0
        reading = (10 + k if near else 200 + k, f"{0.5 + k / 8}", "wet" if k % 3 else "dry")
        rows.append([*reading, "near" if near else "far"])
    rows[7][1] = "?"
    return write_csv(tmp_path / "rows.csv", HEADER, rows)


@pytest.fixture
def model(run: Run, data: Path, tmp_path: Path) -> Path:
    units = tmp_path / "units.csv"
    units.write_text("column,unit\nlight,klx\n")
    path = tmp_path / "yard.bncc"
    quick = ("--structure", "naive", "--parameters", "ml", "--validation", 0)
    run("train", data, "-o", path, "--units", units, *quick)
    return path


def test_training_records_ranges_and_units(model: Path) -> None:
    """The ranges of all training rows; the unit from the file or from the brackets."""
    trained = load_model(model)
    assert reading_ranges(trained.features, trained.training) == (
        ReadingRange(10, 259, "cm"),
        ReadingRange(0.5, 7.875, "klx"),
        ReadingRange(None, None),
    )


def test_the_header_has_ranges_units_and_named_constants(
    run: Run, model: Path, tmp_path: Path
) -> None:
    run("emit-c", model, "-o", tmp_path / "c", "--with", "checked", "--range-margin", 12.5)
    header = (tmp_path / "c" / "yard.h").read_text()
    assert "training: 10 .. 259 cm; missing: state" in header
    assert "training: 0.5 .. 7.875 klx; missing: state" in header
    assert "float light; /* light in klx; NaN when missing */" in header
    assert "int16_t distance_cm; /* distance [cm]; INT16_MIN when missing */" in header
    for constant in (
        "YARD_FEATURE_DISTANCE_CM = 0", "YARD_FEATURE_LIGHT = 1", "YARD_FEATURE_GROUND = 2",
        "YARD_N_STATES_GROUND = 2", "YARD_CATEGORY_GROUND_DRY = 0", "YARD_CATEGORY_GROUND_WET = 1",
    ):  # fmt: skip
        assert re.search(rf"^    {constant},?$", header, re.MULTILINE)
    assert "#define YARD_ERR_MISSING (-5)\n" in header
    assert "#define YARD_ERR_RANGE (-6)\n" in header
    assert "by more than 12.5 % of the width of that range" in re.sub(r"\s*\n \* ", " ", header)
    assert "int16_t yard_predict_raw_checked(const yard_raw_t *x);" in header


@pytest.mark.cc
def test_a_range_margin_without_checks_has_no_effect_and_says_so(
    run: Run, model: Path, tmp_path: Path
) -> None:
    note = "--range-margin has no effect without --with checked"
    margin = ("--range-margin", 5)
    assert note in run("emit-c", model, "-o", tmp_path / "c", *margin).stderr
    assert note in run("verify", model, *margin).stderr
    entry = ("--entry", "checked")
    assert run("emit-c", model, "-o", tmp_path / "d", *margin, *entry).stderr == ""


@pytest.mark.cc
@pytest.mark.parametrize("margin", [0, 10])
def test_verify_compares_checked_readings(
    run_json: RunJson, require_tool: Callable[[str], str], model: Path, data: Path, margin: int
) -> None:
    require_tool("gcc")
    outcome = run_json(
        "verify", model, "--with", "checked", "--range-margin", margin, "--data", data
    )
    assert outcome["agree"]
    assert "within their limits and with one beyond" in outcome["targets"]["host"]["strength"]


@pytest.mark.firmware
def test_the_measured_stack_includes_the_checks(
    run: Run, require_bench: Callable[..., object], model: Path, tmp_path: Path
) -> None:
    require_bench("cortex-m0")
    options = ("--with", "checked", "--target", "cortex-m0", "--measure")
    run("emit-c", model, "-o", tmp_path / "c", *options)
    header = (tmp_path / "c" / "yard.h").read_text()
    checked, raw = (
        int(re.findall(rf"#define YARD_PREDICT_RAW{part}_STACK (\d+)U", header)[0])
        for part in ("_CHECKED", "")
    )
    assert checked >= raw


def test_a_model_without_ranges_names_training_as_the_remedy(
    refused: Refused, tmp_path: Path
) -> None:
    old = tmp_path / "old.bncc"
    save_model(hand.naive_integer(), old)
    said = refused("emit-c", old, "-o", tmp_path / "c", "--with", "checked")
    assert "train it again with this version of bncc" in said
    assert not (tmp_path / "c").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--constant-time",), "do not request constant time"),
        (("--range-margin", "nan"), "choose 0 .. 1000000"),
        (("--range-margin", "-1"), "choose 0 .. 1000000"),
    ],
)
def test_what_makes_no_sense_is_refused(
    refused: Refused, model: Path, tmp_path: Path, options: tuple[str, ...], message: str
) -> None:
    said = refused("emit-c", model, "-o", tmp_path / "c", "--with", "checked", *options)
    assert message in said


def test_a_wrong_file_of_units_is_refused_before_training(
    refused: Refused, data: Path, tmp_path: Path
) -> None:
    """The message has the line; units of omitted columns and of the class are harmless."""
    units = tmp_path / "units.csv"
    units.write_text("column,unit\nground,-\nclass,-\nlihgt,klx\n")
    options = ("--units", units, "--drop", "ground")
    said = refused("train", data, "-o", tmp_path / "m.bncc", *options)
    assert "line 4: there is no column 'lihgt'" in said
    assert not (tmp_path / "m.bncc").exists()
