"""Every option of ``bncc train``: its effect, or one line about why it has none yet."""

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from bncc.cli.train import command
from bncc.structure.catalog import STRUCTURES, option_keys
from bncc.train.options import OPTIONS
from tests.cli.conftest import HEADER, write_csv

Run = Callable[..., Result]
RunJson = Callable[..., dict[str, Any]]
Refused = Callable[..., str]
QUICK = ("--parameters", "ml")


@pytest.mark.parametrize(
    "options",
    [
        *[["--discretize", d] for d in ("mdl", "quantile", "width", "median")],
        ["--discretize", "quantile", "--n-bins", "3"],
        *[["--structure", s] for s in ("chow-liu", "naive", "forest", "random")],
        ["--structure", "forest", "--structure-option", "alpha=10"],
        ["--parameters", "bdeu", "--structure-option", "alpha=2"],
        ["--parameters", "margin", "--lambda", "0.1", "--eta", "5", "--epochs", "9"],
        ["--bits", "3"],
        ["--bits", "8", "--int-bits", "5"],
        ["--bits", "4", "--frac-bits", "-1"],
        ["--int-bits", "4", "--frac-bits", "2"],
        ["--float"],
        ["--size-weight", "0"],
        ["--class-weight", "balanced"],
        ["--seed", "7"],
        ["--engine", "torch"],
        ["--threads", "1"],
        ["--device", "cpu"],
        ["--validation", "0.3"],
        ["--validation", "0"],
    ],
)
def test_every_option_that_counting_knows(
    run_json: RunJson, readings: Path, tmp_path: Path, options: Sequence[str]
) -> None:
    parameters = [] if "--parameters" in options else ["--parameters", "ml"]
    found = run_json("train", readings, "-o", tmp_path / "m.bncc", *parameters, *options)
    assert found["error_train"] < 0.4
    if "--float" not in options:
        bits = {"3": 3, "8": 8, "4": 4}.get(options[1], 6) if options[0] == "--bits" else 6
        assert found["table_bits"] == bits * found["table_entries"]


@pytest.mark.parametrize(
    "options",
    [
        ["--parameters", "hybrid", "--lambda", "10", "--gamma", "2", "--eta", "5"],
        ["--parameters", "cross-entropy", "--bits", "4", "--dropout", "0.2", "--jitter", "0.1"],
        ["--parameters", "free", "--bits", "2", "--average", "0.9", "--quantize-from", "0"],
        ["--float", "--threads", "1", "--device", "cpu", "--engine", "torch"],
        ["--engine", "native", "--device", "cpu", "--bits", "3"],
        ["--structure", "tan-subset", "--structure-option", "parents=2", "--size-weight", "1e-5"],
        ["--structure", "tan-all", "--structure-option", "price=bits", "--size-weight", "1e-6"],
        ["--structure", "tan-subset", "--structure-option", "widths=2,4", "--bits", "4"],
        ["--structure", "tan-all", "--structure-option", "step=0.1", "--parameters", "ml"],
        ["--structure", "tan-heuristic", "--structure-option", "width=1", "--float"],
        ["--structure", "tan-all", "--parameters", "bdeu", "--structure-option", "alpha=5"],
    ],
)
def test_every_option_of_gradient_descent(
    run_json: RunJson, readings: Path, tmp_path: Path, options: Sequence[str]
) -> None:
    steps = ["--epochs", "3", "--batch-size", "32", "--lr", "0.05"]
    found = run_json("train", readings, "-o", tmp_path / "m.bncc", *options, *steps)
    assert found["epochs"] == 3
    assert found["error_train"] < 0.4


def test_float_has_no_number_format(run_json: RunJson, readings: Path, tmp_path: Path) -> None:
    found = run_json("train", readings, "-o", tmp_path / "m.bncc", *QUICK, "--float")
    assert found["q_format"] is None


def test_a_target_without_a_budget_has_no_effect(run: Run, readings: Path, tmp_path: Path) -> None:
    done = run("train", readings, "-o", tmp_path / "m", *QUICK, "--target", "avr")
    assert "--target has no effect without --max-flash" in done.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--bits", "0"], "choose 1 to 8"),
        (["--size-weight", "0.1"], "choose --structure tan-subset, tan-all or tan-heuristic"),
        (["--structure", "tan-all", "--structure-option", "order=D"], "order=D is unknown"),
        (["--structure", "tan-all", "--structure-option", "price=flash"], "price=flash is unknown"),
        (["--structure", "tan-all", "--structure-option", "widths=2,7"], "or --bits 7"),
        (
            ["--structure", "tan-all", "--structure-option", "widths=2", "--float"],
            "leave out the option, or",
        ),
        (["--structure", "tan-heuristic"], "features do not form a square image; set its width"),
        (["--bits", "4", "--int-bits", "1", "--frac-bits", "1"], "leave out one of the three"),
        (["--float", "--bits", "4"], "leave out --float, or the bits"),
        (["--structure-option", "alpha"], "KEY=VALUE"),
        (["--structure-option", "alpha=1", "--structure-option", "alpha=2"], "given twice"),
        (["--structure-option", "oak=1"], "unknown option 'oak'"),
        (
            ["--structure-option", "inputs=3", "--max-flash", "2k"],
            "'inputs' of structure 'chow-liu'; it is one of boosted tables: add --structure tables",
        ),
        (["--structure", "forest", "--structure-option", "alpha=x"], "positive number"),
        (["--validation", "1.5"], "fraction"),
        (["--epochs", "0"], "at least 1"),
        (["--fold", "2"], "drop --fold"),
        (["--class", "absent"], "there is no column 'absent'"),
        (["--test", "absent.csv"], "does not exist"),
        (["-o", "no/such/m.bncc"], "create it first"),
    ],
)
def test_a_bad_option_is_one_line(
    refused: Refused, readings: Path, tmp_path: Path, options: list[str], message: str
) -> None:
    assert message in refused("train", readings, "-o", tmp_path / "m", *options)


def test_a_test_file_without_classes_is_refused(
    refused: Refused, readings: Path, tmp_path: Path
) -> None:
    held = write_csv(tmp_path / "t.csv", HEADER, [[1, 2, "red", "?"]])
    line = refused("train", readings, "-o", tmp_path / "m", "--test", held)
    assert "no row with a class" in line


def test_columns_are_left_out_on_request(
    run_json: RunJson, refused: Refused, readings: Path, tmp_path: Path
) -> None:
    found = run_json(
        "train", readings, "-o", tmp_path / "m", *QUICK, "--drop", "color", "--drop", "slope"
    )
    assert found["n_features"] == 1
    line = refused("train", readings, "-o", tmp_path / "n", *QUICK, "--drop", "colour")
    assert "no column 'colour' to drop" in line


def test_the_choices_stand_as_in_the_contract() -> None:
    """Defaults first; `bdeu` is ours in addition to the five of the contract."""
    assert STRUCTURES == (
        "chow-liu", "naive", "forest", "random", "tan-subset", "tan-all", "tan-heuristic",
        "hill-climb", "anneal", "etan", "s-etan", "sa-etan", "a-etan", "network-hill-climb",
        "tabu", "mmhc", "curriculum", "tables",
    )  # fmt: skip
    assert OPTIONS["parameters"].shown == (
        "hybrid",
        "ml",
        "margin",
        "cross-entropy",
        "free",
        "bdeu",
    )
    names = {option for parameter in command.params for option in parameter.opts}
    assert names >= {
        "--discretize", "--structure", "--structure-option", "--parameters", "--bits",
        "--int-bits", "--frac-bits", "--float", "--size-weight", "--epochs", "--batch-size",
        "--lr", "--lambda", "--gamma", "--eta", "--seed", "--device", "--engine", "--threads",
        "--validation", "--test", "--fold", "--checkpoint", "--resume", "--max-flash",
        "--max-instructions", "--target", "--class", "--force", "--json", "--quiet", "-v",
    }  # fmt: skip


def test_the_help_names_the_command_that_lists_the_options_of_every_structure(run: Run) -> None:
    text = " ".join(run("train", "--help").stdout.split())
    assert "such as parents=8; see `bncc structures`." in text
    paragraphs = run("structures").stdout.split("\n\n")
    found = {}
    for paragraph in paragraphs:
        head, *lines = paragraph.strip("\n").splitlines()
        name = re.split("[ :]", head)[0]
        found[name] = tuple(line.strip().partition("=")[0] for line in lines)
    assert found == {name: option_keys(name) for name in STRUCTURES}
    assert found["chow-liu"] == ("score", "alpha")
    assert found["sa-etan"] == found["a-etan"] == ("alphas",)


@pytest.mark.parametrize("engine", ["torch", pytest.param("native", marks=pytest.mark.cc)])
@pytest.mark.parametrize("structure", ["naive", "tan-all"])
@pytest.mark.parametrize("parameters", ["hybrid", "cross-entropy", "free"])
def test_a_descent_that_diverges_is_one_sentence(
    refused: Refused, readings: Path, tmp_path: Path, engine: str, structure: str, parameters: str
) -> None:
    asked = ("--engine", engine, "--structure", structure, "--parameters", parameters)
    asked += ("--effort", "quick")
    out = tmp_path / "m.bncc"
    line = refused("train", readings, "-o", out, *asked, "--lr", "1e38", "--epochs", 3)
    assert line == "gradient descent diverged with learning rate 1e+38; choose a smaller --lr"
    assert not out.exists()


@pytest.mark.parametrize("is_sure", [False, True])
def test_a_front_that_is_dropped_is_a_warning_and_a_key(
    run: Run, readings: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_sure: bool
) -> None:
    if not is_sure:
        monkeypatch.setattr("bncc.boosting.front.fit_front", lambda *_: None)
    shape = ("--structure", "tables", "--structure-option", "tables=4", "--epochs", "2")
    front = ("--structure-option", "front=8", "--structure-option", "front-differing=0.5")
    words = ("train", readings, "-o", tmp_path / "m.bncc", *shape, *front, "--quiet", "--json")
    result = run(*words, "--folds", "0")
    assert ("so the model has no front" in result.stderr) == (not is_sure)
    assert json.loads(result.stdout).get("front_dropped", False) == (not is_sure)


@pytest.mark.parametrize("is_sure", [False, True])
def test_a_gate_that_is_dropped_is_a_warning_and_a_key(
    run: Run, readings: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_sure: bool
) -> None:
    if not is_sure:
        monkeypatch.setattr("bncc.boosting.gate.HeldOut.gate", lambda *_: None)
    shape = ("--structure", "tables", "--structure-option", "tables=4", "--epochs", "2")
    gate = ("--structure-option", "gate=1", "--structure-option", "gate-differing=0.5")
    words = ("train", readings, "-o", tmp_path / "m.bncc", *shape, *gate, "--quiet", "--json")
    result = run(*words, "--folds", "0")
    assert ("so the model has no gate" in result.stderr) == (not is_sure)
    facts = json.loads(result.stdout)
    assert facts.get("gate_dropped", False) == (not is_sure)
    assert ("gate" in facts) == is_sure
    assert "front_dropped" not in facts
