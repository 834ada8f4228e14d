"""Verification and measurement on targets with two wheels and nothing else installed."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bncc.model.file import save_model
from bncc.targets import TARGETS
from tests import models as hand

pytestmark = pytest.mark.firmware

WHEELS = [target.name for target in TARGETS.values() if "ziglang" in target.flags]


@pytest.fixture
def alone(tmp_path: Path, require_bench):
    """Return ``alone(command)``: run bncc on a model with no program on the path; its JSON."""
    for target in WHEELS:
        require_bench(target, "ziglang", "unicorn")
    save_model(hand.tan_float(), tmp_path / "m.bncc")
    (tmp_path / "nowhere").mkdir()
    env = {name: value for name, value in os.environ.items() if name != "CC"}

    def run(command: str, targets: list[str], *options: str) -> dict[str, Any]:
        chosen = [word for target in targets for word in ("--target", target)]
        done = subprocess.run(
            (sys.executable, "-m", "bncc", command, "m.bncc", *chosen, *options, "--json"),
            cwd=tmp_path, env=env | {"PATH": str(tmp_path / "nowhere")}, capture_output=True,
            text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        answer: dict[str, Any] = json.loads(done.stdout)
        assert list(answer["targets"]) == targets
        return answer

    return run


def test_the_wheels_serve_every_target_but_avr():
    """Figures for LLVM's AVR code would be useless."""
    assert set(TARGETS) - set(WHEELS) == {"avr"}


@pytest.mark.long
def test_verify_needs_two_wheels_and_no_compiler(alone):
    """Nothing is on the path, not even a C compiler."""
    answer = alone("verify", WHEELS, "--random", "50")
    assert answer["agree"]
    for target, outcome in answer["targets"].items():
        assert outcome["mismatches"] == 0 < outcome["checked"]
        assert outcome["toolchain"].startswith("ziglang ")
        assert (", unicorn " in outcome["toolchain"]) or target == "x86"  # may run on its own


@pytest.mark.parametrize("target", ["cortex-m0", "rv32"])
def test_bench_needs_two_wheels_and_no_compiler(alone, target):
    """Bytes, stack and instructions, ours and the textbook's."""
    (figures,) = alone("bench", [target])["targets"].values()
    assert figures["toolchain"].startswith("ziglang ")
    assert figures["simulator"].startswith("unicorn ")
    for measured in (figures, figures["baseline"]):
        assert measured["flash"] > 100
        assert measured["predict"]["instructions"]["min"] > 20
