"""Networks learned with the class as a variable like any other, from readings to C."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import Result

Run = Callable[..., Result]
RunJson = Callable[..., dict[str, Any]]
NAMES = ("network-hill-climb", "tabu", "mmhc", "curriculum")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Return a file in which a and b decide the class, which decides c; d is uninformative."""
    rng = np.random.default_rng(1)
    a, b, d = rng.integers(0, 2, (3, 400))
    y = (a & b) ^ (rng.random(400) < 0.05)
    c = np.where(rng.random(400) < 0.8, y, 1 - y)
    lines = (",".join(f"s{state}" for state in row) for row in zip(a, b, c, d, y, strict=True))
    path = tmp_path / "d.csv"
    path.write_text("a,b,c,d,class\n" + "\n".join(lines) + "\n")
    return path


@pytest.mark.cc
@pytest.mark.parametrize("name", NAMES)
def test_what_is_learned_compiles_and_agrees(
    run_json: RunJson, table: Path, tmp_path: Path, name: str
) -> None:
    path = tmp_path / "m.bncc"
    found = run_json("train", table, "-o", path, "--structure", name, "--parameters", "ml")
    assert found["structure"] == name
    assert found["error_train"] < 0.25
    assert len(run_json("inspect", path)["parents"]) == 4
    verified = run_json("verify", path, "--target", "host")
    assert verified["agree"] is True


def test_a_class_that_nothing_tells_is_said_to_be_alone(
    run: Run, run_json: RunJson, table: Path, tmp_path: Path
) -> None:
    lines = table.read_text().splitlines()
    rows = [line.split(",") for line in lines[1:]]
    shuffled = np.random.default_rng(3).permutation([row[-1] for row in rows])
    alone = [",".join([*row[:-1], label]) for row, label in zip(rows, shuffled, strict=True)]
    table.write_text("\n".join([lines[0], *alone]) + "\n")
    path = tmp_path / "m.bncc"
    done = run("train", table, "-o", path, "--structure", "mmhc", "--parameters", "ml")
    assert "no feature was found to say anything of the class" in done.stderr
    assert "try --structure forest" in done.stderr
    assert run_json("evaluate", path, table)["error"] == pytest.approx(
        1 - max(np.mean(shuffled == label) for label in ("s0", "s1"))
    )


def test_options_without_effect_are_named(run: Run, table: Path, tmp_path: Path) -> None:
    options = ("score=bic", "alpha=3", "level=0.1")
    asked = [word for option in options for word in ("--structure-option", option)]
    done = run("train", table, "-o", tmp_path / "m", "--structure", "tabu", *asked)
    assert "alpha has no effect without score=bdeu" in done.stderr
    assert "level has no effect without candidates=mmpc" in done.stderr


def test_a_table_that_would_be_too_large_is_refused(
    run: Run, refused: Callable[..., str], table: Path, tmp_path: Path
) -> None:
    line = refused(
        "train", table, "-o", tmp_path / "m", "--structure", "tabu",
        "--structure-option", "max-entries=1",
    )  # fmt: skip
    assert "a variable has 2 states, more than the 1 entries" in line
