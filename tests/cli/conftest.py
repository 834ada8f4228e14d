"""Fixtures of the command line's tests: running it, small tables, a trained model."""

import csv
import gzip
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

from bncc.cli import demo
from bncc.cli.main import main
from bncc.data.readers import bundled_path
from bncc.errors import ToolchainError
from tests.cli.sweeping import Sweeps

Run = Callable[..., Result]


def invoke(*args: object) -> Result:
    """Run one command line in this process."""
    return CliRunner().invoke(main, [str(arg) for arg in args])


@pytest.fixture(autouse=True)
def few_folds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cross-validate in two folds by default: most tests are about other things."""
    monkeypatch.setattr("bncc.cli.train.DEFAULT_FOLDS", 2)


@pytest.fixture(autouse=True)
def no_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    """Print no lines of progress, whose number depends on the time that a test takes."""
    monkeypatch.setattr("bncc.cli.console.EVERY", inf)


@pytest.fixture
def run() -> Run:
    """Return ``run(*args) -> Result``: a command that must succeed."""

    def succeed(*args: object, code: int = 0) -> Result:
        result = invoke(*args)
        assert result.exit_code == code, result.output
        return result

    return succeed


@pytest.fixture
def run_json() -> Callable[..., dict[str, Any]]:
    """Return ``run_json(*args)``: the one JSON object that a command prints on stdout."""

    def parse(*args: object, code: int = 0) -> dict[str, Any]:
        result = invoke(*args, "--json")
        assert result.exit_code == code, result.output
        lines = result.stdout.splitlines()
        assert len(lines) == 1, result.stdout
        parsed = json.loads(lines[0])
        assert isinstance(parsed, dict)
        return parsed

    return parse


@pytest.fixture
def refused() -> Callable[..., str]:
    """Return ``refused(*args)``: the one line on stderr of a command that exits with 2."""

    def fail(*args: object, code: int = 2) -> str:
        result = invoke(*args)
        assert result.exit_code == code, result.output
        assert result.stdout == ""
        lines = result.stderr.splitlines()
        assert len(lines) == 1, result.stderr
        assert lines[0].startswith("bncc: error: ")
        return lines[0].removeprefix("bncc: error: ")

    return fail


def no_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    """Prevent compilers and simulators from pricing a model."""

    def find(*_: object, **__: object) -> None:
        raise ToolchainError("no compiler is installed")

    monkeypatch.setattr("bncc.device.cross.find_toolchain", find)


@pytest.fixture(scope="session")
def few(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a tenth of the wifi data, so that five folds are evaluated quickly."""
    head, *rows = gzip.decompress(Path(bundled_path("wifi")).read_bytes()).decode().splitlines()
    path = tmp_path_factory.mktemp("few") / "few.csv"
    path.write_text("\n".join([head, *rows[::10]]) + "\n")
    return path


@pytest.fixture
def few_of_demo(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give ``bncc demo`` an eighth of its rows."""
    with gzip.open(bundled_path(demo.NAME), "rt", encoding="utf-8") as stream:
        head, *rows = stream.read().splitlines()
    path = tmp_path_factory.mktemp("robot") / "robot.csv.gz"
    with gzip.open(path, "wt", encoding="utf-8") as stream:
        stream.write("\n".join([head, *rows[::8]]) + "\n")
    monkeypatch.setattr(demo, "bundled_path", lambda name: path)


SUM = ("--structure", "tables", "--epochs", "2", "--max-flash", "250")
"""Options of a short search for boosted tables."""


@dataclass(frozen=True)
class Searched:
    """Result of an undisturbed search without a log: its model file, its standard output."""

    model: bytes
    said: str


@pytest.fixture(scope="session")
def searched(few: Path, tmp_path_factory: pytest.TempPathFactory) -> Searched:
    """Return the result of the search of `few` with the options `SUM`, made once."""
    path = tmp_path_factory.mktemp("searched") / "m.bncc"
    result = invoke("train", few, "-o", path, *SUM)
    assert result.exit_code == 0, result.output
    return Searched(path.read_bytes(), result.stdout)


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """Price models by estimate."""
    no_tools(monkeypatch)


def write_csv(path: Path, header: Sequence[str], rows: Sequence[Sequence[object]]) -> Path:
    """Write a table with the quoting that its cells need."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerows([header, *rows])
    return path


def sensor_rows(n: int = 240, seed: int = 0) -> list[list[object]]:
    """Return rows of an integer, a float and a text column that distinguish three classes."""
    rng = np.random.default_rng(seed)
    rows: list[list[object]] = []
    for k in range(n):
        c = k % 3
        light = int(rng.integers(0, 40) + 40 * c)
        slope = round(float(rng.normal(c, 0.6)), 3)
        color = ("red", "green", "blue")[int(rng.integers(0, 3)) if rng.random() < 0.4 else c]
        rows.append([light, slope, color, f"kind {c}"])
    return rows


HEADER = ("light", "slope", "color", "class")


@pytest.fixture
def readings(tmp_path: Path) -> Path:
    """Return a CSV file of 240 rows, three features, three classes."""
    return write_csv(tmp_path / "readings.csv", HEADER, sensor_rows())


@pytest.fixture(scope="session")
def trained_bytes(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Return the bytes of a model of `readings`, trained once."""
    folder = tmp_path_factory.mktemp("trained")
    data = write_csv(folder / "readings.csv", HEADER, sensor_rows())
    result = invoke("train", data, "-o", folder / "m.bncc", "--parameters", "ml")
    assert result.exit_code == 0, result.output
    return (folder / "m.bncc").read_bytes()


@pytest.fixture
def model(tmp_path: Path, trained_bytes: bytes) -> Path:
    """Return the file of a model of `readings`."""
    path = tmp_path / "sensor.bncc"
    path.write_bytes(trained_bytes)
    return path


@pytest.fixture
def sweeps(tmp_path: Path) -> Iterator[Sweeps]:
    """Return a function that starts sweeps in their own processes; remaining ones are killed."""
    found = Sweeps(tmp_path)
    yield found
    found.end()
