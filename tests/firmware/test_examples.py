"""The firmware examples build, run in a simulator, and give Python's answers."""

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "firmware_examples"

pytestmark = pytest.mark.firmware


@pytest.fixture
def uno_robot(tmp_path: Path, require_tool: Callable[[str], str]) -> Path:
    """Return a copy of the Arduino Uno example, without what an earlier build left."""
    for tool in ("make", "avr-gcc", "simavr"):
        require_tool(tool)
    folder = tmp_path / "uno_robot"
    shutil.copytree(EXAMPLES / "uno_robot", folder, ignore=shutil.ignore_patterns("build"))
    return folder


def check(folder: Path) -> subprocess.CompletedProcess[str]:
    """Run `make check` with the bncc of this environment."""
    command = ["make", "check", f"BNCC={sys.executable} -m bncc"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_the_uno_decides_as_python_does(uno_robot: Path) -> None:
    """All vectors agree on a simulated ATmega328P, and the reading gets the robot's right move."""
    done = check(uno_robot)
    assert done.returncode == 0, done.stdout + done.stderr
    uart = (uno_robot / "build" / "uart.txt").read_text("utf-8", errors="replace")
    assert "vectors: 32, wrong: 0" in uart
    assert "move: Slight-Right-Turn" in uart


def test_the_uno_notices_a_wrong_answer(uno_robot: Path) -> None:
    """One vector with another class makes the check fail."""
    check(uno_robot)
    vectors = uno_robot / "build" / "robot_vectors.h"
    head, mark, classes = vectors.read_text("utf-8").rpartition("robot_vector_classes")
    brace, values = classes.split("{", 1)
    first = values.split("U", 1)[0].strip()
    wrong = "1" if first == "0" else "0"
    changed = values.replace(f"{first}U", f"{wrong}U", 1)
    vectors.write_text(f"{head}{mark}{brace}{{{changed}", "utf-8")
    done = check(uno_robot)
    assert done.returncode != 0
    assert "FAIL" in done.stdout
