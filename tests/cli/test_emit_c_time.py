"""``bncc emit-c`` with cycles in the header, and with limits on cycles, time and energy."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from bncc.cli.timing_options import time_limit
from bncc.errors import OptionError
from bncc.targets.base import MHZ
from bncc.timing.timebase import timebase

Run = Callable[..., Result]
RunJson = Callable[..., dict[str, Any]]
Refused = Callable[..., str]

pytest.importorskip("capstone", reason="capstone is not installed")

PART = ("--part", "stm32f030", "--clock", "24M")


@pytest.fixture
def m0(require_bench) -> None:
    """Skip a test if nothing builds for or simulates a Cortex-M0."""
    require_bench("cortex-m0", simulator="unicorn")


@pytest.mark.firmware
def test_measured_cycles_and_their_source_are_in_the_header(
    run_json: RunJson, m0: None, model: Path, tmp_path: Path
) -> None:
    done = run_json("emit-c", model, "-o", tmp_path / "c", "--measure", *PART)
    cycles, counts = done["bounds"]["cycles"], done["bounds"]["counts"]
    assert set(cycles) == set(counts) == {"predict", "predict_raw"}
    for entry in cycles:
        assert counts[entry]["min"] < cycles[entry]["min"] <= cycles[entry]["max"]
    header = next((tmp_path / "c").glob("*.h")).read_text("utf-8")
    words = " ".join(header.replace("\n * ", " ").split())
    found = cycles["predict_raw"]
    assert f"predict_raw: {found['min']} .. {found['max']} cycles over the same inputs" in words
    assert "Cycles of Arm Cortex-M0 at 24 MHz (stm32f030, wait states 0), by Arm DDI" in words
    assert "Executed instructions are not cycles" not in words
    assert "--clock 24000000" in words
    assert "--part stm32f030" in words


@pytest.mark.firmware
def test_time_and_energy_of_the_slowest_input_are_told_as_in_train(
    run: Run, run_json: RunJson, m0: None, model: Path, tmp_path: Path
) -> None:
    options = ("emit-c", model, "-o", tmp_path / "c", "--force")
    facts = run_json(*options, *PART)
    most = facts["resources"]["cycles"]["predict-raw"]["max"]
    assert facts["microseconds"] == pytest.approx(most / 24)
    assert 0 < facts["microjoules"] < 1
    assert facts["timing_model"]["part"] == "stm32f030"
    said = f"at most {most:,} cycles, {most / 24:.2f} microseconds, "
    assert said in run(*options, *PART, "--max-microseconds", 100).stdout
    assert "timing_model" not in run_json(*options)


@pytest.mark.firmware
def test_c_that_exceeds_a_limit_of_time_is_refused(
    run: Run, refused: Refused, m0: None, model: Path, tmp_path: Path
) -> None:
    """With the figures; within the limit it is written, at the next goal if need be."""
    to = tmp_path / "c"
    for option, value in (("cycles", 9), ("microseconds", 0.5), ("microjoules", 1e-3)):
        options = (*PART, f"--max-{option}", value)
        said = refused("emit-c", model, "-o", to, *options, code=1)
        assert f"which exceeds --max-{option} {value:g}; raise the limit or train" in said
        assert "predict_raw takes up to" in said
        assert not to.exists()
    run("emit-c", model, "-o", to, *PART, "--max-microseconds", 1e4)
    assert list(to.glob("*.c"))


REFUSED = {
    ("--max-cycles", "9"): "--max-cycles needs a core with a clock; add --part, or --target",
    ("--clock", "1M", "--max-cycles", "9"): "--clock needs a core; add --part, or --target",
    ("--part", "rp2040", "--max-microjoules", "9"): "no current of rp2040 is known.*use --max-mic",
    ("--part", "stm32f030", "--clock", "49M"): "stm32f030 runs at 48 MHz at most",
    ("--part", "rp2040", "--target", "avr"): "rp2040 runs the code of cortex-m0, not of avr",
}


@pytest.mark.parametrize("options", REFUSED)
def test_limits_that_cannot_be_checked_are_one_line(
    refused: Refused, model: Path, tmp_path: Path, options: tuple[str, ...]
) -> None:
    said = refused("emit-c", model, "-o", tmp_path / "c", *options)
    assert re.search(REFUSED[options], said)


def test_the_strictest_limit_counts() -> None:
    base = timebase("cortex-m0", "stm32f030", 48 * MHZ)
    assert time_limit(base, None, None, None) is None
    found = time_limit(base, 4800, 50, 1)
    assert found is not None
    assert (found.option, found.cycles) == ("--max-microjoules 1", pytest.approx(48 / 41.04e-3))
    found = time_limit(base, 4800, 50, 100)
    assert found is not None
    assert (found.option, found.cycles) == ("--max-microseconds 50", pytest.approx(2400))
    found = time_limit(base, 100, 50, 100)
    assert found is not None
    assert (found.option, found.cycles) == ("--max-cycles 100", 100)
    alone = timebase("cortex-m0", None, MHZ)
    with pytest.raises(OptionError, match="no current of cortex-m0 is known"):
        time_limit(alone, None, None, 1)
