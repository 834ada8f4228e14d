"""``--structure-option order=none`` from end to end: tables whose arcs form a cycle."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import Result

from bncc.model.file import load_model
from tests.cli.conftest import write_csv

Run = Callable[..., Result]
RunJson = Callable[..., dict[str, Any]]
Refused = Callable[..., str]

NOTE = "so this is a sum of tables and not a Bayesian network"
STEPS = ("--epochs", "30", "--lambda", "0", "--structure-option", "step=0.1")


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return readings whose first two together determine the class, and much of each other."""
    rng = np.random.default_rng(2)
    draws = rng.integers(0, [2, 3, 3], (400, 3)).tolist()
    rows = [[f"a{u}", f"b{(u + c) % 3}", f"n{noise}", f"k{c}"] for c, u, noise in draws]
    return write_csv(tmp_path_factory.mktemp("pair") / "pair.csv", ["a", "b", "n", "class"], rows)


@pytest.mark.parametrize("structure", ["tan-subset", "tan-all", "tan-heuristic"])
def test_a_cycle_is_learned_told_and_carried_through_all_commands(
    run: Run, run_json: RunJson, pair: Path, tmp_path: Path, structure: str
) -> None:
    path = tmp_path / "m.bncc"
    options = ["--structure", structure, "--structure-option", "order=none", *STEPS]
    options += ["--structure-option", "width=1"] if structure == "tan-heuristic" else []
    told = run("train", pair, "-o", path, *options).stderr
    assert re.search(rf"the arcs form a cycle \(a -> b -> a\), {NOTE}", told)
    assert load_model(path).structure.parents[:2] == ((1,), (0,))
    result = run("evaluate", path, pair)
    assert NOTE in result.stderr
    assert "error     0.00 %" in result.stdout
    assert run("predict", path, pair).stdout.count("\n") == 401
    assert run_json("inspect", path)["cycle"] == ["a", "b"]


@pytest.mark.cc
def test_the_c_of_a_cycle_is_verified(
    run_json: RunJson, require_tool: Callable[[str], None], pair: Path, tmp_path: Path
) -> None:
    require_tool("gcc")
    path, options = tmp_path / "m.bncc", ["--structure-option", "order=none", *STEPS]
    run_json("train", pair, "-o", path, "--structure", "tan-all", *options)
    assert run_json("verify", path, "--data", pair)["agree"]
    files = run_json("emit-c", path, "-o", tmp_path / "c")["files"]
    header = next(name for name in files if name.endswith(".h") and "vectors" not in name)
    assert "not -ln p: arcs form a cycle" in (tmp_path / "c" / Path(header).name).read_text()


def test_with_an_order_nothing_is_said(run: Run, pair: Path, tmp_path: Path) -> None:
    result = run("train", pair, "-o", tmp_path / "m.bncc", "--structure", "tan-all", *STEPS)
    assert NOTE not in result.stderr
    assert load_model(tmp_path / "m.bncc").structure.is_bayesian_network


def test_a_random_tree_has_an_order(refused: Refused, pair: Path, tmp_path: Path) -> None:
    options = ["--structure", "random", "--structure-option", "order=none"]
    line = refused("train", pair, "-o", tmp_path / "m.bncc", *options)
    assert "choose order=random" in line
