"""The node with failing sensors: its findings on two boards, and the origin of its rows."""

import gzip
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.docs.blocks import blocks, matches

EXAMPLES = Path(__file__).resolve().parents[2] / "firmware_examples"
NODE = EXAMPLES / "uno_node"
SIMULATORS = {
    "uno": ("avr-gcc", "simavr"),
    "microbit": ("arm-none-eabi-gcc", "qemu-system-arm"),
}


@pytest.mark.firmware
@pytest.mark.parametrize("board", SIMULATORS)
def test_it_finds_the_sensors_that_fail(
    board: str, tmp_path: Path, require_tool: Callable[[str], str]
) -> None:
    """Failure and recovery of sensors, and the accuracy without detection."""
    for tool in ("make", *SIMULATORS[board]):
        require_tool(tool)
    copy = tmp_path / "firmware_examples"
    shutil.copytree(EXAMPLES, copy, ignore=shutil.ignore_patterns("build", "__pycache__"))
    command = ["make", "run", f"BNCC={shlex.quote(sys.executable)} -m bncc", f"BOARD={board}"]
    done = subprocess.run(command, cwd=copy / NODE.name, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (shown,) = (block.text for block in blocks(NODE / "README.md") if block.language == "text")
    assert matches(shown, done.stdout)


def test_its_rows_are_written_again(tmp_path: Path) -> None:
    """By the script that ships, from rows that ship."""
    test = EXAMPLES / "microbit_occupancy" / "data" / "test.csv.gz"
    subprocess.run([sys.executable, NODE / "failing.py", test, tmp_path], check=True)
    for name in ("delivered.csv.gz", "failing.csv.gz"):
        written, shipped = (at / name for at in (tmp_path, NODE / "data"))
        assert gzip.decompress(written.read_bytes()) == gzip.decompress(shipped.read_bytes())
