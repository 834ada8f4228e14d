"""Features that work without the extra torch, and the messages where it is needed."""

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

import pytest

from bncc.data.readers import bundled_path

ROOT = Path(__file__).resolve().parents[2]

_PROGRAM = """
import json, sys, traceback
from importlib.machinery import PathFinder

find = PathFinder.find_spec
PathFinder.find_spec = classmethod(
    lambda cls, name, *rest: None if name.split(".")[0] == "torch" else find(name, *rest)
)
from bncc.cli.main import main

codes = []
for words in json.loads(sys.argv[1]):
    try:
        main([*words, "--quiet"])
    except SystemExit as done:
        codes.append(done.code or 0)
assert "torch" not in sys.modules
print(json.dumps(codes))
"""


def without_torch(folder: Path, *commands: Sequence[object]) -> tuple[list[int], str]:
    """Run command lines in a process without torch; return exit codes and messages."""
    words = json.dumps([[str(word) for word in command] for command in commands])
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM, words],
        cwd=folder, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1]), done.stderr


@pytest.mark.cc
def test_what_a_firmware_needs_works(
    readings: Path, tmp_path: Path, require_tool: Callable[[str], str]
) -> None:
    """Native training by descent and by boosting, counting, and all commands for models."""
    require_tool("gcc")
    model, tables = tmp_path / "m.bncc", tmp_path / "t.bncc"
    commands = [
        ["train", readings, "-o", tmp_path / "ml.bncc", "--parameters", "ml"],
        ["train", readings, "-o", model, "--epochs", 2],
        ["train", readings, "-o", tmp_path / "tan.bncc", "--structure", "tan-subset",
         "--epochs", 2],
        ["train", readings, "-o", tables, "--structure", "tables", "--epochs", 2],
        ["inspect", tables],
        ["evaluate", model, readings],
        ["predict", model, readings, "-o", tmp_path / "p.csv"],
        ["explain", model, readings, "--row", 1],
        ["emit-c", tables, "-o", tmp_path / "c"],
        ["verify", model, "--random", 50],
        ["baseline", readings, "--classifier", "gaussian-nb"],
        ["targets"],
    ]  # fmt: skip
    codes, said = without_torch(tmp_path, *commands)
    assert codes == [0] * len(commands), said


@pytest.mark.firmware
def test_a_target_is_measured(
    model: Path, tmp_path: Path, require_bench: Callable[..., object]
) -> None:
    require_bench("cortex-m0")
    codes, said = without_torch(tmp_path, ["bench", model, "--target", "cortex-m0"])
    assert codes == [0], said


def test_what_needs_it_names_the_remedy(readings: Path, tmp_path: Path) -> None:
    out = ("-o", tmp_path / "m.bncc")
    remedy = "needs torch, which is not installed; run `pip install -e '.[torch]'` in bncc's clone"
    commands = {
        "the torch engine": ["train", readings, *out, "--engine", "torch"],
        "the device 'cuda'": ["train", readings, *out, "--device", "cuda"],
        "a neural network as a baseline": ["baseline", readings, "--classifier", "dnn"],
        "--baselines with dnn or cnn": [
            "sweep", readings, "--study", tmp_path / "s.db", "--baselines", "all", "--trials", 1,
        ],
        "the search for neural networks": ["reproduce", "s3-budget", "--data", tmp_path],
    }  # fmt: skip
    codes, said = without_torch(tmp_path, *commands.values())
    assert codes == [2] * len(commands), said
    assert [line.removeprefix("bncc: error: ") for line in said.splitlines()] == [
        f"{what} {remedy}" for what in commands
    ]
    assert not (tmp_path / "m.bncc").exists()


@pytest.mark.slow
def test_a_fresh_environment_without_torch_does_it(
    readings: Path, tmp_path: Path, missing: Callable[[str], NoReturn]
) -> None:
    """As in docs/how-to/ci.md: `pip install CLONE` installs no torch, and `emit-c` works."""
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    python = tmp_path / "venv" / "bin" / "python"
    install = [python, "-m", "pip", "install", "-qq", "--disable-pip-version-check"]
    probe = subprocess.run([*install, "--no-deps", "click"], capture_output=True, check=False)
    if probe.returncode:
        missing("needs a package index")
    subprocess.run([*install, ROOT], check=True)
    listed = subprocess.run(
        [python, "-m", "pip", "list", "--format=json"], check=True, capture_output=True, text=True
    )
    installed = {each["name"].lower() for each in json.loads(listed.stdout)}
    assert "bncc-compiler" in installed
    assert not {name for name in installed if name.startswith(("torch", "nvidia", "triton"))}
    model = tmp_path / "rooms.bncc"
    for words in (
        ("train", bundled_path("wifi"), "-o", model, "--structure", "naive", "--parameters", "ml"),
        ("emit-c", model, "-o", tmp_path / "c", "--target", "cortex-m0"),
        ("inspect", model),
        ("evaluate", model, bundled_path("wifi")),
    ):
        command = [tmp_path / "venv" / "bin" / "bncc", *words]
        subprocess.run(command, check=True, cwd=tmp_path, capture_output=True, env={})
