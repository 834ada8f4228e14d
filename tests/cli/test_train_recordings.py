"""``bncc train`` on recordings: windows, features and a model that takes samples."""

import csv
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bncc.cli import recorded_parts
from bncc.data.dataset import Column, Table
from bncc.discretize.feature import states_of
from bncc.model.file import load_model
from bncc.model.reference import predict
from bncc.recordings.recording import Recordings
from bncc.search import front_end_choice
from tests.cli.conftest import invoke, no_tools
from tests.recorded import LABELS, recordings

Refused = Callable[..., str]
RunJson = Callable[..., dict[str, Any]]

OPTIONS = ("--window", "32", "--hop", "16", "--recording", "recording", "--groups", "person",
           "--class", "state", "--sample-type", "-2048..2047")  # fmt: skip


def write(path: Path, of: Recordings) -> Path:
    """Write recordings to a file."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["recording", "person", *of.channels, "state"])
        for each in of.recordings:
            for sample, label in zip(each.samples.tolist(), each.labels.tolist(), strict=True):
                writer.writerow([each.name, each.group, *sample, of.labels[label]])
    return path


@pytest.fixture(scope="module")
def train(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("train") / "train.csv", recordings(4))


@pytest.fixture(scope="module")
def test(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("test") / "test.csv", recordings(6, 320))


def test_a_model_of_recordings_takes_samples(
    train: Path, test: Path, tmp_path: Path, run_json: RunJson
) -> None:
    path = tmp_path / "m.bncc"
    words = (*OPTIONS, "--test", test, "--structure", "naive", "--rate", "50")
    facts = run_json("train", train, "-o", path, *words)
    assert facts["front_end"] == {"channels": ["x", "y"], "samples": [-2048, 2047], "window": 32,
                                  "hop": 16, "rate": "50"}  # fmt: skip
    assert facts["error_test"] < 0.1
    model = load_model(path)
    front_end = model.front_end
    assert front_end is not None
    values = front_end.values(recordings(1).recordings[0].samples)
    present = np.zeros(len(values), dtype=np.bool_)
    columns = (
        Column(column.name, "integer", values[:, k], present)
        for k, column in enumerate(front_end.columns)
    )
    decided = predict(model, states_of(model.features, Table(tuple(columns))))
    # Windows at the borders of labels aside
    assert [LABELS[k] for k in decided[[10, 60, 100]]] == list(LABELS)
    assert "samples" in invoke("inspect", path).output


def test_no_note_advises_to_drop_a_feature_of_windows(tmp_path: Path) -> None:
    """There is no column to drop: a feature that rises from window to window is one of many."""
    data, table = tmp_path / "ramp.csv", tmp_path / "table.csv"
    rows = [f"{k // 400},{k},{'ab'[k // 100 % 2]}" for k in range(1600)]
    data.write_text("\n".join(["recording,x,label", *rows]), encoding="utf-8")
    of = (data, "--window", "10", "--recording", "recording", "--features", "sum,range")
    model = ("--structure", "naive", "--parameters", "ml", "-o", tmp_path / "m.bncc")
    assert "--drop" not in invoke("train", *of, *model).stderr
    invoke("features", *of, "-o", table)
    words = ("--groups", "recording", "--drop", "start", "--force")
    assert "drop it with --drop" in invoke("train", table, *words, *model).stderr


def test_features_and_signals_are_those_that_are_named(
    train: Path, tmp_path: Path, run_json: RunJson
) -> None:
    words = ("--signals", "x,jerk(x,y)", "--features", "sum,above(q90)", "--structure", "naive")
    run_json("train", train, "-o", tmp_path / "m.bncc", *OPTIONS, *words)
    names = [feature.name for feature in load_model(tmp_path / "m.bncc").inputs]
    assert names[0] == "x.sum"
    assert names[1].startswith("x.above(")
    assert "q90" not in names[1]
    assert names[2:] == ["jerk(x,y).sum", names[3]]


@pytest.mark.parametrize("limits", [(), ("--max-flash", "1500")])
def test_the_time_of_features_is_part_of_that_of_training(
    train: Path,
    tmp_path: Path,
    run_json: RunJson,
    monkeypatch: pytest.MonkeyPatch,
    limits: tuple[str, ...],
) -> None:
    no_tools(monkeypatch)
    monkeypatch.setattr(front_end_choice, "FINALISTS", 1)
    times = iter([5.0, 5005.0])
    monkeypatch.setattr(recorded_parts, "perf_counter", lambda: next(times))
    words = (*OPTIONS, *limits, "--structure", "naive")
    assert run_json("train", train, "-o", tmp_path / "m.bncc", *words)["seconds"] > 5000


LIMITS = ("--max-flash", "1500", "--max-ram", "200")


def test_a_program_is_within_its_limits(
    train: Path, tmp_path: Path, run_json: RunJson, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By estimates, where no tools are installed."""
    no_tools(monkeypatch)
    monkeypatch.setattr(front_end_choice, "FINALISTS", 2)
    path = tmp_path / "m.bncc"
    facts = run_json("train", train, "-o", path, *OPTIONS, *LIMITS, "--structure", "tables")
    program = facts["program"]
    assert program["how"] == "estimated"
    assert facts["resources"]["instructions_per_sample"] == program["mean"]
    assert facts["resources"]["ram"] == program["state"]
    assert program["flash"] <= 1500
    assert program["state"] + program["stack"] <= 200
    model = load_model(path)
    assert model.front_end is not None
    windows = model.front_end.windows
    assert (facts["window"], facts["hop"]) == (windows.length, windows.hop)
    assert facts["features"] == [column.name for column in model.front_end.columns]
    # The channel of noise is not computed.
    assert {column.signal.name for column in model.front_end.columns} == {"x"}
    assert facts["error_validation"] < 0.1
    again = tmp_path / "again.bncc"
    run_json("train", train, "-o", again, *OPTIONS, *run_json("inspect", path)["options"])
    other = load_model(again)
    assert other.inputs == model.inputs
    assert all(map(np.array_equal, other.tables, model.tables))


@pytest.mark.firmware
@pytest.mark.parametrize("target", ["cortex-m0", "avr"])
def test_a_measured_program_is_within_its_limits(
    train: Path,
    test: Path,
    tmp_path: Path,
    target: str,
    require_bench: Callable[..., object],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    require_bench(target)
    monkeypatch.setattr(front_end_choice, "FINALISTS", 1)
    path, unit = tmp_path / "m.bncc", "cycles" if target == "avr" else "instructions"
    words = ("--target", target, f"--max-{unit}-per-sample", "400", "--test", test,
             "--structure", "naive")  # fmt: skip
    done = invoke("train", train, "-o", path, *OPTIONS, *LIMITS, *words)
    assert done.exit_code == 0, done.output
    assert "bytes of flash" in done.output
    model = load_model(path)
    assert model.front_end is not None
    facts = json.loads(invoke("inspect", path, "--json").output)
    assert facts["error_test"] < 0.1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--hop", "8"), "--hop is for recordings; add --window"),
        (("--sample-type", "int8"), "--sample-type is for recordings; add --window"),
        (("--max-ram", "1k"), "--max-ram limits a program that takes samples; add --window"),
        (("--window", "9", "--hop", "4"), "the nearest pair is --window"),
        ((*OPTIONS, "--max-ram", "1k"), "--max-ram needs a limit on flash, too; add --max-flash"),
        ((*OPTIONS[2:], "--window", "auto"), "--hop does not apply to --window auto"),
        ((*OPTIONS, *LIMITS, "--max-cycles-per-sample", "9"), "use --max-instructions-per-sample"),
        ((*OPTIONS, "--drop", "y"), "name the columns to use with --channels"),
        ((*OPTIONS, "--fold", "1"), "--fold does not apply to recordings"),
        ((*OPTIONS, "--units", "u.csv"), "--units does not apply to recordings"),
        ((*OPTIONS, "--intervals", "i.csv"), "--intervals replaces the class column"),
    ],
)
def test_what_cannot_be_done_is_refused(
    train: Path, tmp_path: Path, refused: Refused, words: tuple[str, ...], message: str
) -> None:
    assert message in refused("train", train, "-o", tmp_path / "m.bncc", *words)
    assert not (tmp_path / "m.bncc").exists()


def test_a_budget_without_room_for_a_feature_is_refused(
    train: Path, tmp_path: Path, refused: Refused
) -> None:
    words = (*OPTIONS, "--max-flash", "90")
    said = refused("train", train, "-o", tmp_path / "m.bncc", *words, code=1)
    assert "alone takes about 140 bytes of flash" in said


def test_the_length_of_windows_can_be_chosen(train: Path, tmp_path: Path) -> None:
    path = tmp_path / "m.bncc"
    words = ["auto" if word == "32" else word for word in OPTIONS if word not in ("--hop", "16")]
    features = ("--features", "range,change", "--structure", "naive")
    done = invoke("train", train, "-o", path, *words, *features)
    assert done.exit_code == 0, done.output
    assert "are the shortest of low validation error: 16 " in done.stderr
    front_end = load_model(path).front_end
    assert front_end is not None
    assert front_end.windows.hop == front_end.windows.length // 2


def test_the_list_of_features_can_be_chosen(train: Path, tmp_path: Path, refused: Refused) -> None:
    words = (*OPTIONS, "--features", "auto", "--structure", "naive", "--parameters", "ml")
    done = invoke("train", train, "-o", tmp_path / "m.bncc", *words)
    assert done.exit_code == 0, done.output
    found = re.search(r"features (\S+) have the lowest validation error: (.*)", done.stderr)
    assert found is not None
    errors = dict(one.split(" ")[:2] for one in found[2].split("; "))
    assert len(errors) == 6
    assert float(errors[found[1]]) == min(map(float, errors.values()))
    said = refused("features", train, "-o", tmp_path / "t.csv", *OPTIONS, "--features", "auto")
    assert "'auto' is no feature" in said


def test_one_person_is_not_enough(tmp_path: Path, refused: Refused) -> None:
    alone = write(tmp_path / "one.csv", recordings(1))
    said = refused("train", alone, "-o", tmp_path / "m.bncc", *OPTIONS)
    assert "all windows are in one group of 'person'" in said


def test_test_recordings_have_the_same_channels(
    train: Path, tmp_path: Path, refused: Refused
) -> None:
    other = tmp_path / "other.csv"
    other.write_text(train.read_text().replace("recording,person,x,y", "recording,person,x,z", 1))
    said = refused("train", train, "-o", tmp_path / "m.bncc", *OPTIONS, "--test", other)
    assert "have other channels" in said
