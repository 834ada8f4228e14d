"""A budget search finds the same model to the bit: killed and resumed, here and elsewhere."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from bncc.search import budget_search
from bncc.search.ensemble_race import JudgedSum
from tests.cli.conftest import SUM

Run = Callable[..., Result]
Refused = Callable[..., str]

LOG = "search.log"
NETWORK = ("--structure", "naive", "--parameters", "ml", "--max-flash", "400")


@pytest.fixture(scope="module")
def network(few: Path, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Return the model of an undisturbed search for a network, which keeps no log."""
    return trained(few, tmp_path_factory.mktemp("whole"), "net")


KILLED = """
import os, signal, sys
from bncc.search.log import Log
add, left = Log.add, [{n}]
def counted(self, key, result):
    kept = add(self, key, result)
    left[0] -= 1
    if not left[0]:
        os.kill(os.getpid(), signal.SIGKILL)
    return kept
Log.add = counted
from bncc.cli.main import main
main(sys.argv[1:])
"""
"""A search that is killed once it has logged so many more results."""


def begun(
    few: Path, folder: Path, name: str, *options: object, program: str = ""
) -> "subprocess.Popen[str]":
    """Begin a search in a process of its own."""
    words = ["train", few, "-o", folder / "m.bncc", *(SUM if name == "sum" else NETWORK), *options]
    (folder / "scratch").mkdir(exist_ok=True)
    return subprocess.Popen(
        [sys.executable, *(("-c", program) if program else ("-m", "bncc")), *map(str, words)],
        text=True,
        env={**os.environ, "TMPDIR": str(folder / "scratch")},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def trained(few: Path, folder: Path, name: str, *options: object) -> bytes:
    """Run a search to its end, and return the model file."""
    process = begun(few, folder, name, *options)
    _, said = process.communicate(timeout=600)
    assert process.returncode == 0, said
    return (folder / "m.bncc").read_bytes()


def lines_of(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines(keepends=True) if path.exists() else []


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "jobs"),
    [
        pytest.param("sum", 1, marks=pytest.mark.slow),
        pytest.param("net", 1, marks=pytest.mark.slow),
        ("sum", 2),
    ],
)
def test_a_killed_search_goes_on_to_the_same_model(
    few: Path, request: pytest.FixtureRequest, tmp_path: Path, name: str, jobs: int
) -> None:
    kept = tmp_path / "kept"
    options = ("--checkpoint", kept, "--resume", "--jobs", jobs)
    log = kept / LOG
    before: list[bytes] = []
    for n_more in (1, 2):
        killed = begun(few, tmp_path, name, *options, program=KILLED.format(n=n_more))
        killed.communicate()
        assert killed.returncode == -signal.SIGKILL
        found = [line for line in lines_of(log) if line.endswith(b"\n")]
        # No logged result is lost or computed again.
        assert found[: len(before)] == before
        keys = [line.partition(b", ")[0] for line in found]
        assert len(set(keys)) == len(keys)
        before = found
        with log.open("ab") as file:
            file.write(b'{"key": "0123')  # a line that a power failure truncated
    assert not (tmp_path / "m.bncc").exists()
    found = trained(few, tmp_path, name, *options)
    whole = request.getfixturevalue("network" if name == "net" else "searched")
    assert found == (whole if name == "net" else whole.model)
    assert list(kept.iterdir()) == []


def test_several_processes_find_the_same(few: Path, network: bytes, tmp_path: Path) -> None:
    assert trained(few, tmp_path, "net", "--jobs", 3) == network
    assert list((tmp_path / "scratch").iterdir()) == []


@pytest.fixture
def stopped(
    run: Run, few: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Result]:
    """Return a function that begins a search, which Ctrl-C ends after its first candidates."""
    judge = budget_search.judged_sums

    def interrupted(*given: Any) -> Iterator[JudgedSum]:
        for one in judge(*given):
            yield one
            signal.raise_signal(signal.SIGINT)

    def begin(*options: object) -> Result:
        with monkeypatch.context() as patch:
            patch.setattr(budget_search, "judged_sums", interrupted)
            return run("train", few, "-o", tmp_path / "m.bncc", *SUM, *options, code=130)

    return begin


def test_a_stopped_search_goes_on_over_its_own_model_alone(
    stopped: Callable[..., Result], refused: Refused, few: Path, tmp_path: Path
) -> None:
    model, kept = tmp_path / "m.bncc", tmp_path / "kept"
    (said,) = stopped("--checkpoint", kept, "--quiet").stderr.splitlines()
    assert said.endswith(
        f"'{model}' is the best of them; repeat the command with --resume to continue from '{kept}'"
    )
    own = model.read_bytes()
    words = ("train", few, "-o", model, *SUM, "--checkpoint", kept, "--resume")
    model.write_bytes(b"of somebody else")
    assert f"'{model}'" in refused(*words)
    assert model.read_bytes() == b"of somebody else"
    model.write_bytes(own)
    before = lines_of(kept / LOG)
    stopped("--checkpoint", kept, "--resume")
    assert model.read_bytes() == own
    assert lines_of(kept / LOG)[: len(before)] == before


def test_a_search_that_is_interrupted_before_a_candidate_can_go_on(
    run: Run, few: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*given: Any) -> Iterator[JudgedSum]:
        signal.raise_signal(signal.SIGINT)
        yield from ()

    kept = tmp_path / "kept"
    monkeypatch.setattr(budget_search, "judged_sums", interrupted)
    words = ("train", few, "-o", tmp_path / "m.bncc", *SUM)
    assert "--resume" not in run(*words, code=130).stderr
    (said,) = run(*words, "--checkpoint", kept, code=130).stderr.splitlines()
    assert said.endswith(f"; repeat the command with --resume to continue from '{kept}'")
    assert not (tmp_path / "m.bncc").exists()


def test_the_log_of_another_search_is_refused(
    stopped: Callable[..., Result], refused: Refused, few: Path, tmp_path: Path
) -> None:
    kept = tmp_path / "kept"
    stopped("--checkpoint", kept)
    words = ("train", few, "-o", tmp_path / "n.bncc", *SUM)
    kind = ("--checkpoint", kept)
    line = refused(*words, *kind)
    assert line == (
        f"'{kept}' contains the log of a search; use --resume to continue it, --force to "
        "start over, or another --checkpoint"
    )
    ours = f"'{kept / LOG}' belongs to another search: "
    remedy = "; repeat the original options, or use another --checkpoint"
    line = refused(*words, "--max-flash", "251", *kind, "--resume")
    assert line == f"{ours}max flash is 251 here and 250 there{remedy}"
    line = refused(*words, "--seed", "1", *kind, "--resume")
    assert line == f"{ours}seed is 1 here and 0 there{remedy}"
    other = tmp_path / "other.csv"
    head, first, *rows = few.read_text().splitlines()
    other.write_text("\n".join([head, *rows, first]) + "\n")
    line = refused("train", other, *words[2:], *kind, "--resume")
    assert line == f"{ours}the rows differ{remedy}"
    (kept / LOG).write_text("a note of mine\n")
    line = refused(*words, *kind, "--resume")
    assert line == f"{ours}it is not the log of a search{remedy}"
    assert (kept / LOG).read_text() == "a note of mine\n"


@pytest.mark.parametrize("damage", [(b'"misses": "', b'"misses": "!'), (b'"flash": ', b'"f": ')])
def test_a_damaged_log_is_said(
    stopped: Callable[..., Result], refused: Refused, few: Path, tmp_path: Path,
    damage: tuple[bytes, bytes],
) -> None:  # fmt: skip
    kept = tmp_path / "kept"
    stopped("--checkpoint", kept)
    log = kept / LOG
    log.write_bytes(log.read_bytes().replace(*damage))
    line = refused("train", few, "-o", tmp_path / "n", *SUM, "--checkpoint", kept, "--resume")
    assert line == f"'{log}' is corrupt; remove it, or use another --checkpoint"


def test_what_keeps_and_shares_a_search_is_checked(
    refused: Refused, run: Run, few: Path, tmp_path: Path
) -> None:
    words = ("train", few, "-o", tmp_path / "m")
    assert "add --checkpoint" in refused(*words, *SUM, "--resume")
    assert "is not a directory" in refused(*words, *SUM, "--checkpoint", few)
    (tmp_path / "kept" / LOG).mkdir(parents=True)
    line = refused(*words, *SUM, "--checkpoint", tmp_path / "kept", "--force")
    assert line.endswith("name another folder with --checkpoint")
    said = run(*words, "--structure", "naive", "--parameters", "ml", "--jobs", 2, "-v").stderr
    assert "--jobs has no effect without --max-flash or --max-instructions" in said
