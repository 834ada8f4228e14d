"""``bncc train`` and ``bncc sweep`` with limits on cycles, time and energy."""

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from bncc.cli.timing_options import TimeLimit, limited_time, time_limit
from bncc.errors import OptionError
from bncc.model.file import load_model
from bncc.targets.base import MHZ
from bncc.targets.timing import CountedCore
from bncc.timing.timebase import timebase
from tests.cli.sweeping import SPACE

Run = Callable[..., Result]
RunJson = Callable[..., dict[str, Any]]
Refused = Callable[..., str]

pytest.importorskip("capstone", reason="capstone is not installed")

PART = ("--part", "stm32f030", "--clock", "24M")
NAIVE = ("--structure", "naive", "--parameters", "ml")


@pytest.fixture
def m0(require_bench) -> None:
    """Skip a test if nothing builds for or simulates a Cortex-M0."""
    require_bench("cortex-m0", simulator="unicorn")


@pytest.mark.long
@pytest.mark.firmware
def test_a_search_prices_cycles_and_emit_c_accepts_its_model(
    run: Run, run_json: RunJson, refused: Refused, m0: None, readings: Path, tmp_path: Path
) -> None:
    path = tmp_path / "m.bncc"
    limit = ("--max-microseconds", 500, *PART)
    found = run_json("train", readings, "-o", path, *NAIVE, *limit)
    assert found["budget"] == {
        "flash": None, "instructions": None, "cycles": 12000, "target": "cortex-m0",
    }  # fmt: skip
    spans = found["resources"]["cycles"]["predict-raw"]
    counts = found["resources"]["instructions"]["predict-raw"]
    assert counts["min"] < spans["min"] <= spans["mean"] <= spans["max"] <= 12000
    assert found["resources"]["core"] == {
        "core": "cortex-m0", "states": 0, "has_prefetch": True,
    }  # fmt: skip
    assert found["price"]["cycles"] == spans["max"]
    assert found["microseconds"] == pytest.approx(spans["max"] / 24)
    assert found["microjoules"] > 0
    assert found["timing_model"]["part"] == "stm32f030"
    assert load_model(path).training["resources"] == found["resources"]
    goal = ("--optimize", found["resources"]["optimize"])
    emitted = run_json("emit-c", path, "-o", tmp_path / "c", *goal, *limit)
    assert emitted["resources"] == found["resources"]
    # The same C has no cycles without the part.
    plain = run_json(
        "emit-c", path, "-o", tmp_path / "d", *goal, "--target", "cortex-m0"
    )["resources"]  # fmt: skip
    assert plain["cycles"] is None
    too_few = ("--max-cycles", 20, *PART)
    said = refused("train", readings, "-o", tmp_path / "n.bncc", *NAIVE, *too_few, code=1)
    assert "no candidate fits in 20 cycles on cortex-m0, where the smallest takes" in said
    assert "cycles; raise the budget, or drop columns" in said
    shown = run("train", readings, "-o", path, "--force", *NAIVE, *limit).stdout
    assert f"at most {spans['max']:,} cycles, " in shown
    assert "--part stm32f030 --clock 24000000" in shown
    (line,) = (line for line in shown.splitlines() if "bncc emit-c" in line)
    assert line.endswith(" --part stm32f030 --clock 24000000 --max-cycles 12000")
    assert run(*shlex.split(line)[1:], "--force").exit_code == 0


REFUSED = {
    ("--max-cycles", "9", "--target", "rv32"): "--max-cycles needs a core with a clock; add --part",
    ("--max-cycles", "9", *PART, "--max-instructions", "9"): (
        "--max-instructions and --max-cycles 9 limit the same time; leave out one of them"
    ),
    (*PART, "--max-instructions", "9"): "--max-instructions counts no cycles; use --max-cycles",
    (*PART, "--target", "avr"): "stm32f030 runs the code of cortex-m0, not of avr",
    ("--part", "rp2040", "--max-microjoules", "1"): "no current of rp2040 is known",
}


@pytest.mark.parametrize("options", REFUSED)
def test_limits_that_make_no_sense_are_refused(
    refused: Refused, readings: Path, tmp_path: Path, options: tuple[str, ...]
) -> None:
    said = refused("train", readings, "-o", tmp_path / "m.bncc", *options)
    assert REFUSED[options] in said


def test_a_part_without_a_budget_is_idle(run: Run, readings: Path, tmp_path: Path) -> None:
    done = run("train", readings, "-o", tmp_path / "m.bncc", *NAIVE, *PART)
    assert "--part has no effect without --max-flash or --max-instructions" in done.stderr
    assert "--clock has no effect" in done.stderr


def test_limits_become_whole_cycles() -> None:
    base = timebase("cortex-m0", "stm32f030", 48 * MHZ)
    assert limited_time(None, 9, None) == {"instructions": 9, "core": None}
    found = limited_time(base, None, TimeLimit(base, 100.9, "--max-microseconds 2.1"))
    assert found == {"instructions": 100, "core": CountedCore("cortex-m0", 1)}
    avr = timebase("avr", "atmega328p", 8 * MHZ)
    assert limited_time(avr, 9, None) == {"instructions": 9, "core": None}
    with pytest.raises(OptionError, match="counts no cycles"):
        limited_time(base, 9, None)
    slow = timebase("cortex-m0", "stm32f030", 1000)
    with pytest.raises(OptionError, match="less than one cycle at 1,000 Hz; raise it or the"):
        time_limit(slow, None, 15.0, None)


@pytest.mark.firmware
def test_a_sweep_measures_cycles_time_and_energy(
    run: Run, run_json: RunJson, refused: Refused, m0: None, readings: Path, tmp_path: Path
) -> None:
    (tmp_path / "space.toml").write_text(SPACE)
    study = tmp_path / "s.db"
    options = (
        "sweep", readings, "--study", study, "--space", tmp_path / "space.toml", *PART,
        "--trials", 2, "--repeats", 1,
    )  # fmt: skip
    found = run_json(*options, "--max-microjoules", 1000)
    assert found["best"] is not None
    for trial in found["pareto"]:
        assert trial["instructions"] is None
        cost = trial["costs"]["cortex-m0"]
        assert (cost["unit"], cost["mean"]) == ("cycles", trial["cycles"])
        assert cost["microseconds"] == pytest.approx(trial["cycles"] / 24)
        assert 0 < cost["microjoules"] < 1000
        assert "--part stm32f030 --clock 24000000" in trial["command"]
    said = run(*options, "--max-cycles", 1, code=1).stderr
    assert "raise --max-flash or --max-cycles, or continue" in said
    assert "--clock is 24000000 there and 12000000 here" in refused(*options, "--clock", "12M")
    report = run_json("report", study, "-o", tmp_path / "r.md")
    assert report["trials"][0]["costs"]["cortex-m0"]["microjoules"] > 0
    page = (tmp_path / "r.md").read_text("utf-8")
    assert "Hypervolume, microseconds" in page
    assert "| Cycles | Microseconds | Microjoules |" in page
    run_json("report", study, "-o", tmp_path / "r.csv")
    assert "microjoules_cortex-m0" in (tmp_path / "r.csv").read_text("utf-8").splitlines()[0]
    run_json("report", study, "-o", tmp_path / "r.html")
    assert '"microjoules"' in (tmp_path / "r.html").read_text("utf-8")
