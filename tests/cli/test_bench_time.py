"""``bncc bench --part --clock``: cycles, time and energy, and the errors where there are none."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from tests.cli.contract import KEYS

Run = Callable[..., Result]
RunJson = Callable[..., dict[str, Any]]
Refused = Callable[..., str]

pytest.importorskip("capstone", reason="capstone is not installed")

ENDS = ("min", "mean", "max")


@pytest.fixture
def m0(require_bench) -> None:
    """Skip a test if nothing builds for or simulates a Cortex-M0."""
    require_bench("cortex-m0", simulator="unicorn")


def check_time(facts: dict[str, Any], clock: int, picojoules: float | None) -> None:
    """Compare time and energy with the cycles, whatever the model."""
    cycles = facts["cycles"]
    assert 0 < cycles["min"] <= cycles["mean"] <= cycles["max"]
    for end in ENDS:
        assert facts["microseconds"][end] == pytest.approx(1e6 * cycles[end] / clock)
        if picojoules is not None:
            assert facts["microjoules"][end] == pytest.approx(cycles[end] * picojoules / 1e6)
    assert (facts["microjoules"] is None) == (picojoules is None)


@pytest.mark.firmware
def test_a_part_adds_cycles_time_and_energy_beside_the_instructions(
    run: Run, run_json: RunJson, m0: None, model: Path
) -> None:
    options = ("bench", model, "--part", "stm32f030", "--clock", "24M", "--rows", 20)
    facts = run_json(*options)["targets"]["cortex-m0"]
    assert set(facts) == {*KEYS, "timing_model"}
    for measured in (facts, facts["baseline"]):
        for entry in ("predict", "trusted", "raw"):
            check_time(measured[entry], 24_000_000, 3.6 * 6.2e-3 / 24e6 * 1e12)
            assert measured[entry]["instructions"]["min"] < measured[entry]["cycles"]["min"]
            assert measured[entry]["cycles"]["mean_low"] == measured[entry]["cycles"]["mean_high"]
    assert facts["timing_model"]["part"] == "stm32f030"
    assert facts["timing_model"]["clock"] == 24_000_000
    assert {"name", "source", "error"} <= set(facts["timing_model"])
    text = run(*options).stdout
    for what in ("predict, cycles", "raw, microseconds", "trusted, microjoules"):
        assert what in text
    assert "cycles of Arm Cortex-M0 at 24 MHz, by Arm DDI 0432C" in text
    assert "energy: typical 6.2 mA at 3.6 V and 24 MHz" in text


@pytest.mark.firmware
def test_a_clock_alone_adds_cycles_and_time(
    run: Run, run_json: RunJson, m0: None, model: Path
) -> None:
    options = ("bench", model, "--target", "cortex-m0", "--clock", "48M", "--rows", 5)
    facts = run_json(*options)["targets"]["cortex-m0"]
    check_time(facts["predict"], 48_000_000, None)
    text = run(*options).stdout
    assert "predict, microseconds" in text
    assert "microjoules" not in text


@pytest.mark.firmware
def test_an_avr_has_time_from_the_cycles_of_its_simulator(
    run: Run, run_json: RunJson, require_bench, model: Path
) -> None:
    require_bench("avr")
    options = ("bench", model, "--part", "atmega328p", "--clock", "8M", "--rows", 5)
    facts = run_json(*options)["targets"]["avr"]
    assert list(facts["predict"]) == ["cycles", "microseconds", "microjoules"]
    check_time(facts["predict"], 8_000_000, 5 * 5.2e-3 / 8e6 * 1e12)
    assert facts["timing_model"]["error"].startswith("exact")
    assert run(*options).stdout.count("predict, cycles") == 1


@pytest.mark.firmware
def test_all_targets_leave_out_those_without_a_timing(
    run: Run, m0: None, require_bench, model: Path
) -> None:
    require_bench("rv32")
    done = run("bench", model, "--clock", "16M", "--rows", 2)
    assert "rv32 is measured without time: cores of rv32 differ" in done.stderr
    assert "cycles of Arm Cortex-M0 at 16 MHz" in done.stdout


REFUSED = {
    ("--part", "stm32f030", "--clock", "60M"): "stm32f030 runs at 48 MHz at most; lower --clock",
    ("--part", "z80"): "there is no part 'z80'; choose from atmega328p, avr, rp2040, ",
    ("--part", "rp2040", "--target", "avr"): "rp2040 runs the code of cortex-m0, not of avr",
    ("--part", "ibex"): "ibex is a core, which runs at any clock; add --clock, as in 48M",
    ("--part", "esp32c3"): "the wait states and currents of esp32c3 are not known; use --ta",
    ("--target", "cortex-m7", "--clock", "1M"): "no timing of cortex-m7 is known",
    ("--target", "rv32", "--clock", "1M"): "add --part ibex or picorv32",
    ("--part", "stm32f030", "--simulator", "qemu"): "counted on unicorn; leave out --simulator",
    ("--clock", "fast"): "'fast' is not a clock such as 48M, 32k or 8000000",
    ("--clock", "24"): "'24' is 24 Hz; add a unit, as in 24M",
    ("--clock", "0"): "'0' is not a clock",
    ("--clock", "0.0001k"): "'0.0001k' is not a clock",
}


@pytest.mark.parametrize("options", REFUSED)
def test_what_cannot_be_timed_is_one_line(
    refused: Refused, options: tuple[str, ...], model: Path
) -> None:
    assert REFUSED[options] in refused("bench", model, *options)


def test_without_capstone_there_is_the_command_that_installs_it(
    refused: Refused, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bncc.timing.timebase.find_spec", lambda name: None)
    said = refused("bench", model, "--part", "stm32f030")
    assert "counting cycles needs capstone" in said
    assert "[prove]" in said
