"""``bncc baseline``, and baselines in a sweep: trained, measured, repeated by their command."""

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from bncc.cli import console
from bncc.data.readers import bundled_path
from bncc.search import trial
from bncc.search.study import read_study
from tests.cli.sweeping import SPACE

Run = Callable[..., Result]
RunJson = Callable[..., dict[str, Any]]
Refused = Callable[..., str]

WIFI = bundled_path("wifi")


def test_the_object_is_that_of_a_trial(run_json: RunJson) -> None:
    found = run_json("baseline", WIFI, "--classifier", "tree", "--option", "leaves=8")
    assert found["family"] == "tree"
    assert 0 < found["error_validation"] < 0.2
    assert found["error_test"] is None
    assert found["bits"] > 0
    assert found["costs"] == {}


def test_progress_is_told(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Trainings, epochs of a network, measurements and the training for the C."""
    monkeypatch.setattr(console, "EVERY", 0.0)
    monkeypatch.setattr(trial, "_baseline_cost", lambda *given: "none")
    words = ("--option", "epochs=2", "--repeats", 2, "--target", "host", "-o", tmp_path / "c")
    lines = run("baseline", WIFI, "--classifier", "dnn", *words).stderr.splitlines()
    shares = [int(line.split(": ")[2].split(" %")[0]) for line in lines if ": dnn: " in line]
    assert shares == sorted(shares)
    assert "bncc: dnn: 8 %, training 1 of 2: without validation rows, epoch 1 of 2" in lines
    assert "bncc: dnn: 67 %, training 2 of 2: trained" in lines
    assert "bncc: dnn: 67 %, measuring on host" in lines
    assert "bncc: dnn for the C: 100 %, trained" in lines


def test_the_report_is_for_people(run: Run) -> None:
    said = run("baseline", WIFI, "--classifier", "categorical-nb").output
    assert "validation error" in said
    assert "operations per decision" in said


@pytest.mark.firmware
def test_the_c_is_measured(run_json: RunJson, require_tool: Callable[[str], str]) -> None:
    """The C of a network needs no generator."""
    require_tool("arm-none-eabi-gcc")
    words = ("--option", "epochs=3", "--option", "layers=2", "--target", "cortex-m0")
    found = run_json("baseline", WIFI, "--classifier", "dnn", *words)
    cost = found["costs"]["cortex-m0"]
    assert 300 < cost["flash"] < 4000
    assert 500 < cost["mean"] <= cost["most"]


def test_the_c_is_written(run: Run, tmp_path: Path) -> None:
    words = ("--option", "epochs=1", "-o", tmp_path / "net")
    run("baseline", WIFI, "--classifier", "dnn", *words)
    assert sorted(path.name for path in (tmp_path / "net").iterdir()) == ["m.c", "m.h"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--classifier", "tree", "--option", "leafs=8"), "unknown baseline option 'leafs'"),
        (("--classifier", "tree", "--option", "name=forest"), "--option name is not allowed"),
        (("--classifier", "svm", "-o", "svm"), "there is no C for this classifier"),
        (("--classifier", "cnn"), "do not form a square image"),
        (("--classifier", "dnn", "--option", "bits=9"), "choose 1 .. 8"),
        (("--classifier", "dnn", "--option", "layers=9"), "9 layers"),
        (("--classifier", "dnn", "--option", "activation=tanh"), "use relu or sign"),
        (
            ("--classifier", "dnn", "--option", "memory=1", "--option", "operations=1"),
            "set one of them",
        ),
    ],
)
def test_bad_options_get_one_sentence(refused: Refused, words: tuple[str, ...], says: str) -> None:
    assert says in refused("baseline", WIFI, *words)


def test_a_sweep_draws_both_and_picks_a_network(
    run: Run, run_json: RunJson, tmp_path: Path
) -> None:
    """The command of a baseline reproduces its figures."""
    space = tmp_path / "space.toml"
    space.write_text(SPACE)
    words = ("--study", tmp_path / "s.db", "--space", space, "--target", "none", "--repeats", 1)
    baselines = ("--baselines", "tree,forest,linear,gaussian-nb,categorical-nb")
    run("sweep", WIFI, *words, "--trials", 12, *baselines, "--pick", tmp_path / "best.bncc")
    assert (tmp_path / "best.bncc").exists()
    (study,) = read_study(str(tmp_path / "s.db"))
    baselines = [point for point in study.points if not point.is_network]
    assert 2 <= len(baselines) <= 10
    assert len({point.family for point in baselines}) >= 2
    again = run_json(*shlex.split(baselines[0].command)[1:])
    assert again["error_validation"] == baselines[0].validation.mean
    assert again["bits"] == baselines[0].bits
    said = run("report", tmp_path / "s.db", "--format", "md", "-o", tmp_path / "r.md")
    assert said.exit_code == 0
    text = (tmp_path / "r.md").read_text()
    assert "no arcs" not in text.replace("chow-liu (no arcs", "")
