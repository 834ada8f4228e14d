"""``bncc features``: recordings become a table that ``bncc train`` reads."""

import csv
import gzip
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from bncc.cli.main import main

Refused = Callable[..., str]
RunJson = Callable[..., dict[str, Any]]


def rows(seed: int) -> Iterator[str]:
    """Yield samples of two persons: still, then a square wave with noise."""
    state = seed
    for k in range(600):
        state = (state * 1103515245 + 12345) % 2**31
        moves = (k // 100) % 2
        x = 400 * moves * (k // 5 % 2) + (state >> 16) % 40
        yield f"{k * 20},{x},{(state >> 20) % 9 - 4},{'move' if moves else 'still'}"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder of four recordings of two persons."""
    home = tmp_path / "recordings"
    home.mkdir()
    for k in range(4):
        lines = ["time,x,y,state,person", *(f"{row},p{k % 2}" for row in rows(k + 1))]
        (home / f"walk{k}.csv.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    return home


OPTIONS = ("--time", "time", "--time-unit", "ms", "--groups", "person", "--class", "state",
           "--window", "400ms", "--hop", "200ms")  # fmt: skip


def test_recordings_become_a_table_and_a_model(
    folder: Path, tmp_path: Path, run_json: RunJson
) -> None:
    table = tmp_path / "t.csv"
    facts = run_json("features", folder, "-o", table, *OPTIONS)
    # A recording has 59 windows, and one of them spans each of the five changes of state.
    assert facts["windows"] == 4 * 54
    assert facts["left_out"] == 4 * 5
    assert facts["labels"] == {"move": 108, "still": 108}
    assert (facts["rate"], facts["window"], facts["hop"]) == (50.0, 20, 10)
    first = facts["features"][0]
    assert (first["name"], first["type"]) == ("x.sum", "int32")
    assert (first["low"], first["high"]) == (-20 * 2**15, 20 * (2**15 - 1))
    with table.open(encoding="utf-8") as file:
        header, *lines = list(csv.reader(file))
    assert header == [*(each["name"] for each in facts["features"]), "recording", "person", "start",
                      "state"]  # fmt: skip
    assert lines[0][-4:] == ["walk0", "p0", "0", "still"]
    trained = run_json(
        "train", table, "--class", "state", "--groups", "person", "--drop", "recording",
        "--drop", "start", "--parameters", "ml", "--structure", "naive", "-o", tmp_path / "m.bncc",
    )  # fmt: skip
    assert trained["n_features"] == len(facts["features"])
    assert trained["error_validation"] < 0.1


def test_the_command_to_train_is_printed_and_works(
    folder: Path, tmp_path: Path, run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    said = run("features", folder, "-o", "t.csv", *OPTIONS, "--features", "sum,change").stdout
    (line,) = [line for line in said.splitlines() if line.startswith("train with")]
    words = line.removeprefix("train with").split()
    assert words[:2] == ["bncc", "train"]
    result = CliRunner().invoke(main, [*words[1:], "--parameters", "ml", "--structure", "naive"])
    assert result.exit_code == 0, result.output
    assert Path("MODEL.bncc").exists()


def test_the_same_recordings_have_the_same_bytes(
    folder: Path, tmp_path: Path, run: Callable[..., Any]
) -> None:
    tables = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for table in tables:
        run("features", folder, "-o", table, *OPTIONS, "--quiet")
    assert tables[0].read_bytes() == tables[1].read_bytes()


def test_test_recordings_have_the_levels_of_the_training(
    folder: Path, tmp_path: Path, run: Callable[..., Any]
) -> None:
    (tmp_path / "test").mkdir()
    other = tmp_path / "test" / "walk9.csv.gz"
    (folder / "walk3.csv.gz").rename(other)
    learn, test = tmp_path / "learn.csv", tmp_path / "test.csv"
    run("features", folder, "-o", learn, *OPTIONS, "--signals", "x,jerk(x,y)",
        "--features", "above(q90),range,y.level-crossings(q50)")  # fmt: skip
    run("features", other.parent, "-o", test, *OPTIONS, "--like", learn)
    headers = [path.read_text("utf-8").splitlines()[0] for path in (learn, test)]
    assert headers[0] == headers[1]
    names = next(csv.reader([headers[0]]))
    assert names[1:4:2] == ["x.range", "jerk(x,y).range"]
    assert names[4].startswith("y.level-crossings(")
    assert "q" not in names[0]


def test_recordings_too_short_are_named(folder: Path, tmp_path: Path, run: Any) -> None:
    (folder / "short.csv").write_text("time,x,y,state,person\n0,1,1,still,p0\n20,1,1,still,p0\n")
    result = run("features", folder, "-o", tmp_path / "t.csv", *OPTIONS, "--ignore", "move")
    assert "1 of 5 recordings have no window, such as 'short'" in result.stderr
    assert "still 108" in result.stdout
    assert "move 1" not in result.stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--window", "20", "--hop", "7"), "the nearest pair is --window 21 --hop 7"),
        (("--window", "2s", "--rate", "x"), "'x' is not a rate in Hz"),
        (("--window", "700"), "the longest without a gap has 600; choose a shorter --window"),
        (("--window", "20", "--rate", "100"), "is 100 Hz, but the time steps are those of 50 Hz"),
        (("--window", "20", "--like", "a.csv", "--features", "sum"), "--like names signals and"),
        (("--window", "20", "--intervals", "a.csv"), "--intervals replaces the class column"),
        (("--window", "20", "--channels", "x,z"), "has no column 'z'"),
        (("--window", "20", "--features", "mean"), "'mean' is no feature; choose sum, min, max"),
        (("--window", "20", "--signals", "jerk(x,w)"), "'jerk(x,w)' is no signal"),
        (("--window", "20", "--sample-type", "int32"), "'int32' is no sample type"),
        (("--window", "20", "--like", "walk.csv"), "has no column of a feature"),
    ],
)  # fmt: skip
def test_errors_are_one_sentence(
    folder: Path,
    tmp_path: Path,
    refused: Refused,
    monkeypatch: pytest.MonkeyPatch,
    options: tuple[str, ...],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("walk.csv").write_text("a,b\n1,2\n")
    output = tmp_path / "t.csv"
    assert message in refused("features", folder, "-o", output, *OPTIONS[:-4], *options)
    assert not output.exists()


@pytest.mark.shared
def test_gestures_of_a_watch_become_a_table(
    shared_data: Path, tmp_path: Path, run_json: RunJson
) -> None:
    path = shared_data / "streams/emlearn_cgestures.csv.gz"
    facts = run_json(
        "features", path, "-o", tmp_path / "t.csv",
        "--recording", "recording", "--groups", "subject", "--window", "2s", "--hop", "1s",
        "--rate", "100", "--signals", "acc_x,acc_y,acc_z,jerk(acc_x,acc_y,acc_z)",
    )  # fmt: skip
    assert facts["recordings"] == 23
    assert len(facts["features"]) == 4 * 16
    with gzip.open(path, "rt", encoding="utf-8") as file:
        lengths = Counter(row["recording"] for row in csv.DictReader(file))
    n_windows = sum(max(0, n // 100 - 1) for n in lengths.values())
    assert facts["windows"] + facts["left_out"] == n_windows > 50
    assert len(facts["too_short"]) == sum(n < 200 for n in lengths.values()) > 0
