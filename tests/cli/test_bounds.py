"""``bncc emit-c --constant-time --measure``: the options reach the C, its header and the JSON."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from bncc.data.readers import bundled_path

Run = Callable[..., Result]
RunJson = Callable[..., dict[str, Any]]
Refused = Callable[..., str]

MOST_OF_CALLER = 8
"""Instructions that pass arguments, call, and take the result."""


def test_constant_time_reaches_the_c_and_refuses_what_branches(
    run: Run, refused: Refused, model: Path, tmp_path: Path
) -> None:
    run("emit-c", model, "-o", tmp_path / "c", "--constant-time")
    assert "no branch depends on" in (tmp_path / "c" / "sensor.h").read_text()
    told = refused("emit-c", model, "-o", tmp_path, "--constant-time", "--kernel", "packed")
    assert "leave out --kernel" in told


@pytest.mark.parametrize("target", [[], ["--target", "host"]])
def test_only_a_machine_that_is_simulated_is_measured(
    refused: Refused, model: Path, tmp_path: Path, target: list[str]
) -> None:
    told = refused("emit-c", model, "-o", tmp_path / "c", "--measure", *target)
    assert "add --target with one of" in told
    assert not (tmp_path / "c").exists()


@pytest.mark.firmware
def test_measured_bounds_are_in_header_and_json(
    run_json: RunJson, require_bench: Callable[..., object], model: Path, tmp_path: Path
) -> None:
    require_bench("cortex-m0")
    options = ("--target", "cortex-m0", "--measure", "--constant-time")
    found = run_json("emit-c", model, "-o", tmp_path / "a", *options)["bounds"]
    header = (tmp_path / "a" / "sensor.h").read_text()
    for entry, stack in found["stack"].items():
        assert f"#define SENSOR_{entry.upper()}_STACK {stack}U" in header
    count = found["counts"]["predict"]
    assert count["exact"]
    assert count["min"] == count["max"]
    assert f"#define SENSOR_PREDICT_INSTRUCTIONS {count['min']}U" in header
    run_json("emit-c", model, "-o", tmp_path / "b", *options)
    assert (tmp_path / "b" / "sensor.h").read_text() == header


@pytest.mark.firmware
def test_proved_bounds_are_in_header_and_json(
    run: Run, run_json: RunJson, require_bench: Callable[..., object], tmp_path: Path
) -> None:
    """They hold for the inputs that are measured too, of which the count includes the call."""
    require_bench("cortex-m0")
    model = tmp_path / "rooms.bncc"
    data = bundled_path("wifi")
    run("train", data, "--structure", "naive", "--parameters", "ml", "--folds", 0, "-o", model)
    options = ("-o", tmp_path / "a", "--target", "cortex-m0", "--measure", "--with", "scores")
    found = run_json("emit-c", model, *options)["bounds"]
    header = (tmp_path / "a" / "rooms.h").read_text()
    assert found["undecided"] == {}
    assert set(found["proved"]) == {"predict", "predict_raw", "scores"}
    for entry, bound in found["proved"].items():
        macro = f"#define ROOMS_{entry.upper()}_MAX_INSTRUCTIONS {bound['instructions']}U"
        assert macro in header.splitlines()
        assert 0 <= found["stack"][entry] <= bound["stack"]
    for entry, count in found["counts"].items():
        assert count["exact"] is False
        assert 0 <= found["proved"][entry]["instructions"] - (count["max"] - MOST_OF_CALLER) < 100
    said = run("emit-c", model, *options, "--force").stdout
    bound = found["proved"]["predict"]
    line = f"proved    predict: {bound['instructions']} instructions and {bound['stack']} bytes"
    assert line in said
