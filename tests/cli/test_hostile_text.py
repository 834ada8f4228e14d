"""Hostile text in labels and training records, and the remains of a killed process."""

import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from bncc.cli.main import main
from bncc.model.atomic import YOUNG
from bncc.model.file import to_bytes
from tests import models as hand
from tests.cli.conftest import invoke, write_csv

Run = Callable[..., Result]
Refused = Callable[..., str]
QUICK = ("--parameters", "ml")

ESCAPES = (
    "\x1b[31mred\x1b[0m",
    "\x1b]0;title\x07",
    "bell\x07",
    "csi\x9b2J",
    "\x1b[1mbold",
    "\u202eleft",
)
"""Class labels that a terminal would obey."""


@pytest.fixture
def escaping(run: Run, tmp_path: Path) -> tuple[Path, Path]:
    """Return rows whose names, labels and cells have terminal escapes, and a model of them."""
    header = ["x\x1b[2J", "t", "class"]
    rows = [[k % 6, ESCAPES[(k + k // 7) % 6], ESCAPES[k % 6]] for k in range(60)]
    data = write_csv(tmp_path / "d.csv", header, rows)
    run("train", data, "-o", tmp_path / "m.bncc", *QUICK, "--structure", "naive")
    return data, tmp_path / "m.bncc"


@pytest.mark.parametrize("is_terminal", [False, True])
@pytest.mark.parametrize(
    "arguments",
    [
        ["explain", "m", "d"], ["evaluate", "m", "d"], ["inspect", "m"], ["inspect", "m", "--dot"],
        ["inspect", "m", "--ir"], ["verify", "m"], ["export-bif", "m", "-o", "n.bif"],
        ["emit-c", "m", "-o", "c"], ["train", "d", "-o", "again", "--parameters", "ml"],
        ["predict", "m", "d"], ["predict", "m", "d", "--scores"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_labels_do_nothing_to_a_terminal(
    arguments: list[str],
    is_terminal: bool,
    escaping: tuple[Path, Path],
    require_tool: Callable[[str], str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from click.testing import _NamedTextIOWrapper

    if arguments[0] == "verify":
        require_tool("gcc")
    monkeypatch.chdir(tmp_path)
    data, model = escaping
    monkeypatch.setattr(_NamedTextIOWrapper, "isatty", lambda self: is_terminal, raising=False)
    words = [str({"m": model, "d": data}.get(word, word)) for word in arguments]
    result = CliRunner().invoke(main, words, color=True)  # otherwise click removes some escapes
    assert result.exit_code == 0, result.output
    if arguments[0] == "predict" and not is_terminal:
        assert "\x1b[31mred\x1b[0m" in result.stdout  # a pipe or a file gets the label itself
        return
    # Bold is what tables have on terminals, and stderr a progress bar there; no label has either.
    shown = result.stdout
    if is_terminal:
        shown = shown.replace("\x1b[1m", "").replace("\x1b[0m", "")
    assert [c for c in shown if not c.isprintable() and c != "\n"] == []
    assert [label for label in ESCAPES if label in result.output] == []


RECORDS = ("x", [1], {"a": 1}, True, -1, 1.5, 10**400, 10**30)
"""Recorded values that are not error rates."""


@pytest.mark.parametrize("part", ["train", "validation", "test"])
def test_an_error_rate_that_is_none_is_named(
    refused: Refused, run: Run, tmp_path: Path, part: str
) -> None:
    """The digest is correct, so the file was written this way."""
    for k, record in enumerate(RECORDS):
        model = hand.general_network()
        training = {**model.training, f"error_{part}": record}
        path = tmp_path / f"{k}.bncc"
        path.write_bytes(to_bytes(replace(model, training=training)))
        for options in ([], ["--json"]):
            line = refused("inspect", path, *options)
            assert f"as its error_{part}, which is no fraction from 0 to 1; train" in line
            assert len(line) < 240
        run("emit-c", path, "-o", tmp_path / f"c{k}", "--name", "m")
        assert "error  " not in (tmp_path / f"c{k}" / "m.h").read_text("utf-8").split("digest")[0]


@pytest.mark.parametrize(
    "key",
    ["epochs", "seed", "structure", "parameters", "class_name", "quantized", "structure_options",
     "confusion", "recall", "identity", "epochs_done", "interim", "veto"],
)  # fmt: skip
def test_a_forged_training_record_is_no_internal_error(tmp_path: Path, key: str) -> None:
    path = tmp_path / "m.bncc"
    for record in (*RECORDS, None, "\x1b[2J", 0):
        model = hand.general_network()
        training = {**model.training, "interim": True, key: record}
        path.write_bytes(to_bytes(replace(model, training=training)))
        for arguments in (
            ("inspect", path), ("export-bif", path, "-o", tmp_path / "n.bif", "--force"),
            ("emit-c", path, "-o", tmp_path / "c", "--force"),
        ):  # fmt: skip
            result = invoke(*arguments)
            assert result.exit_code in (0, 2), (record, result.output)
            assert "\x1b" not in result.output


def test_what_a_killed_run_left_goes_with_the_next(
    run: Run, model: Path, readings: Path, tmp_path: Path
) -> None:
    """``kill -9`` while the predictions are being written."""
    script = (
        "import os, signal, sys; os.fsync = lambda file: os.kill(os.getpid(), signal.SIGKILL)\n"
        "from bncc.cli.main import main; main()"
    )
    out = tmp_path / "p.csv"
    command = ["predict", str(model), str(readings), "-o", str(out)]
    killed = subprocess.run([sys.executable, "-c", script, *command], timeout=120)
    assert killed.returncode == -9
    left = [path for path in tmp_path.iterdir() if path.name.startswith(".bncc-")]
    assert len(left) == 1
    time.sleep(2 * YOUNG)
    run(*command)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        [out.name, model.name, readings.name]
    )
