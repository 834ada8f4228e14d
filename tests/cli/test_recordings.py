"""Recordings as the DATA of commands, for models with a front end."""

import csv
import re
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from bncc import on_device
from bncc.device.samples import StreamSources
from bncc.emit.emitter import Emission
from bncc.model.file import load_model, save_model
from bncc.recordings.front_end import FrontEnd
from tests.cli.test_provenance import files_below, printed_command
from tests.recorded_files import HEADER, recorded_model, rows, write_recordings

Run = Callable[..., Result]
RunJson = Callable[..., dict[str, Any]]
Refused = Callable[..., str]

TIME = ("--time", "time", "--time-unit", "ms")


@pytest.fixture(scope="session")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of four recordings of 600 samples each."""
    return write_recordings(tmp_path_factory.mktemp("recorded") / "walks")


@pytest.fixture(scope="session")
def sampled(recordings: Path) -> Path:
    """Return the file of a model with a front end, of windows of 20 samples every 10."""
    path = recordings.parent / "walks.bncc"
    save_model(recorded_model(recordings), path)
    return path


def write_one(path: Path, n: int = 600, header: str = HEADER, step: int = 20) -> Path:
    """Write a recording to a file, with samples `step` milliseconds apart."""
    lines = (row.split(",", 1) for row in rows(1, n))
    text = [f"{k * step},{rest}" for k, (_, rest) in enumerate(lines)]
    path.write_text("\n".join([header, *text]), encoding="utf-8")
    return path


def mutated(monkeypatch: pytest.MonkeyPatch, old: str, new: str) -> None:
    """Change the C that gets samples."""
    original = on_device.decision_sources

    def changed(front_end: FrontEnd, emission: Emission) -> StreamSources:
        built = original(front_end, emission)
        text, n = re.subn(old, new, built.files["m.c"])
        assert n == 1
        return replace(built, files={**built.files, "m.c": text})

    monkeypatch.setattr(on_device, "decision_sources", changed)


@pytest.mark.cc
def test_the_c_agrees_on_hostile_and_recorded_samples(
    run_json: RunJson, run: Run, sampled: Path, recordings: Path
) -> None:
    found = run_json("verify", sampled, "--random", 20)
    assert found["agree"] is True
    alone = found["targets"]["host"]["samples"]
    assert set(alone) == {"checked", "windows", "mismatches", "toolchain"}
    assert alone["mismatches"] == 0
    assert alone["checked"] > 15_000
    both = run_json("verify", sampled, "--random", 20, "--data", recordings, *TIME)
    host = both["targets"]["host"]
    assert host["samples"]["checked"] == alone["checked"] + 4 * 600
    assert host["samples"]["windows"] == alone["windows"] + 4 * 59
    assert "236 data rows" in host["strength"]
    said = run("verify", sampled, "--random", 20, "--data", recordings, "--sanitize").stdout
    assert "hostile ones and those of the recordings, sample by sample" in said


@pytest.mark.cc
@pytest.mark.parametrize(
    ("old", "new", "decides"),
    [
        (r"return (m_predict_raw\(&?x\));", r"return (\1 == 0) ? 1 : 0;", True),
        (r"position < M_HOP", "position <= M_HOP", False),
    ],
)
def test_a_wrong_decision_is_exit_code_1_and_says_where(
    run: Run, run_json: RunJson, sampled: Path, monkeypatch: pytest.MonkeyPatch, old: str,
    new: str, decides: bool,
) -> None:  # fmt: skip
    mutated(monkeypatch, old, new)
    said = run("verify", sampled, "--random", 20, code=1).stdout
    assert "host: the C agrees with the Python model, bit for bit" in said
    assert "host: the C DISAGREES with the Python model on" in said
    assert "of recording 'hostile " in said
    report = run_json("verify", sampled, "--random", 20, code=1)
    assert report["agree"] is False
    samples = report["targets"]["host"]["samples"]
    assert 0 < samples["mismatches"] < samples["checked"]
    first = samples["first_mismatch"]
    assert set(first) == {"recording", "sample", "expected", "found"}
    assert first["expected"] in load_model(sampled).classes
    assert first["sample"] % 10 == 9
    assert (first["found"] is not None) == decides


@pytest.mark.firmware
@pytest.mark.parametrize("target", ["cortex-m0", "avr", "rv32", "big-endian"])
def test_targets_agree_on_samples(
    run_json: RunJson, require_bench: Callable[[str], Any], sampled: Path, recordings: Path,
    target: str,
) -> None:  # fmt: skip
    require_bench(target)
    options = ["--random", 20, "--target", target, "--data", recordings / "walk1.csv.gz"]
    found = run_json("verify", sampled, *options)["targets"][target]["samples"]
    assert found["mismatches"] == 0
    assert found["checked"] > 15_000


def test_a_model_without_front_end_has_no_samples(
    run_json: RunJson, run: Run, model: Path, readings: Path
) -> None:
    found = run_json("verify", model, "--random", 20)
    assert "samples" not in found["targets"]["host"]
    said = run("verify", model, "--random", 20, "--data", readings, "--time", "t").stderr
    assert "--time have no effect: the model reads no recordings" in said


def test_features_are_readings_of_a_model_with_a_front_end(
    run_json: RunJson, sampled: Path, tmp_path: Path
) -> None:
    """A table of bncc features is no recording."""
    names = [feature.name for feature in load_model(sampled).inputs]
    table = tmp_path / "t.csv"
    cells = [f'"{name}"' for name in names]
    table.write_text("\n".join([",".join(["x", "y", *cells]), ",".join("0" * (2 + len(names)))]))
    found = run_json("verify", sampled, "--random", 20, "--data", table)
    assert "1 data row" in found["targets"]["host"]["strength"]


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("time,a,y,state,person", "has neither the channels 'x', 'y' of the model nor its feat"),
        ("t,x,y,state,person", "has no column 'time'"),
    ],
)  # fmt: skip
def test_other_columns_are_refused(
    refused: Refused, sampled: Path, tmp_path: Path, header: str, message: str
) -> None:
    path = write_one(tmp_path / "w.csv", header=header)
    assert message in refused("verify", sampled, "--data", path, *TIME)


def test_another_rate_is_refused(refused: Refused, sampled: Path, tmp_path: Path) -> None:
    path = write_one(tmp_path / "w.csv", step=10)
    said = refused("verify", sampled, "--data", path, *TIME)
    assert "takes samples at 50 Hz, but the time steps of" in said
    assert "are those of 100 Hz" in said


def test_the_rate_of_the_model_tells_gaps(run_json: RunJson, sampled: Path, tmp_path: Path) -> None:
    """At 50 Hz a step of 31 ms is one, though the others are of 21 ms, a rate that is accepted."""
    path = write_one(tmp_path / "w.csv", step=21)
    head, *lines = path.read_text(encoding="utf-8").splitlines()
    later = (line.split(",", 1) for line in lines[55:])
    lines[55:] = [f"{int(time) + 10},{rest}" for time, rest in later]
    path.write_text("\n".join([head, *lines]), encoding="utf-8")
    assert run_json("predict", sampled, path, *TIME)["start"][:6] == [0, 10, 20, 30, 55, 65]


def test_recordings_without_a_window_are_refused(
    refused: Refused, sampled: Path, tmp_path: Path
) -> None:
    path = write_one(tmp_path / "w.csv", 19)
    said = refused("verify", sampled, "--data", path)
    assert "no window of 20 samples: the longest recording without a gap has 19" in said


def test_recordings_have_no_folds(refused: Refused, sampled: Path, recordings: Path) -> None:
    assert "recordings have no folds" in refused(
        "verify", sampled, "--data", recordings, "--fold", 1
    )


def test_every_window_of_recordings_is_classified(
    run: Run, run_json: RunJson, sampled: Path, recordings: Path, tmp_path: Path
) -> None:
    """As rows of the table of bncc features are, and with and without labels."""
    model = load_model(sampled)
    found = run_json("predict", sampled, recordings, *TIME)
    assert found["n"] == 4 * 59
    assert found["recording"] == [f"walk{k}" for k in range(4) for _ in range(59)]
    assert found["start"] == [10 * k for _ in range(4) for k in range(59)]
    assert found["end"] == [start + 19 for start in found["start"]]
    table = tmp_path / "t.csv"
    names = ",".join(feature.name for feature in model.inputs)
    options = ["--window", 20, "--hop", 10, "--class", "state", "--features", names]
    run("features", recordings, "-o", table, *TIME, *options, "--groups", "person", "--quiet")
    of_table = run_json("predict", sampled, table)
    with table.open(encoding="utf-8") as file:
        places = [(row["recording"], int(row["start"])) for row in csv.DictReader(file)]
    keys = zip(found["recording"], found["start"], strict=True)
    values = zip(found["prediction"], found["margin"], strict=True)
    by_place = dict(zip(keys, values, strict=True))
    expected = list(zip(of_table["prediction"], of_table["margin"], strict=True))
    assert [by_place[place] for place in places] == expected
    assert len({*of_table["prediction"]}) == 3
    bare = tmp_path / "bare.csv"
    samples = [row.split(",")[1:3] for row in rows(2)]
    bare.write_text("\n".join(["y,x", *(f"{y},{x}" for x, y in samples)]))
    alone = run_json("predict", sampled, bare)
    assert alone["prediction"] == found["prediction"][2 * 59 : 3 * 59]
    assert alone["recording"] == ["bare"] * 59
    run("predict", sampled, bare, "-o", tmp_path / "p.csv", "--scores", "--class", "state")
    (head, first, *_) = (tmp_path / "p.csv").read_text(encoding="utf-8").splitlines()
    assert head.startswith("recording,start,end,prediction,margin,score:")
    assert first.startswith("bare,0,19,")


def test_a_gap_ends_a_window(run_json: RunJson, sampled: Path, tmp_path: Path) -> None:
    path = write_one(tmp_path / "w.csv")
    head, *lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join([head, *lines[:55], *lines[60:]]), encoding="utf-8")
    assert run_json("predict", sampled, path)["n"] == 58
    starts = run_json("predict", sampled, path, *TIME)["start"]
    assert starts[:6] == [0, 10, 20, 30, 55, 65]


def test_the_error_is_that_of_windows_with_one_label(
    run_json: RunJson, run: Run, sampled: Path, recordings: Path
) -> None:
    # A recording has 59 windows, and one of them spans each of the five changes of state.
    found = run_json("evaluate", sampled, recordings, *TIME, "--class", "state")
    assert (found["n"], found["left_out"], found["recordings"]) == (4 * 54, 4 * 5, 4)
    assert found["classes"] == ["run", "still", "walk"]
    assert found["errors"] < 10
    assert found["interval_method"] == "Wilson, effective number of rows from 4 recordings"
    low, high = found["error_interval"]
    assert 0 <= low <= found["error"] <= high
    assert "groups" not in found
    ignoring = run_json("evaluate", sampled, recordings, *TIME, "--class", "state",
                        "--groups", "person", "--ignore", "run")  # fmt: skip
    assert ignoring["n"] == 4 * 2 * 18
    assert ignoring["interval_method"] == "Wilson, effective number of rows from 2 groups"
    assert [group["group"] for group in ignoring["groups"]] == ["p0", "p1"]
    said = run("evaluate", sampled, recordings, *TIME, "--groups", "person").stdout
    assert "of 216 windows)" in said
    assert "macro F1  " in said
    assert "left out  20 windows without a single label" in said


def test_labels_of_intervals_are_evaluated(
    run_json: RunJson, run: Run, sampled: Path, tmp_path: Path
) -> None:
    path = write_one(tmp_path / "w.csv")
    intervals = tmp_path / "labels.csv"
    intervals.write_text("recording,start,end,label\nw,0,100,walk\nw,100,200,fly\n")
    found = run_json("evaluate", sampled, path, "--intervals", intervals)
    assert found["n"] == 18
    # The first samples are of someone who runs, and no class is called fly.
    assert (found["errors"], found["macro_f1"], found["interval_method"]) == (18, 0.0, "Wilson")
    result = run("evaluate", sampled, path, "--intervals", intervals)
    assert "9 of 18 windows have a class that the model does not know" in result.stderr


def test_labels_of_recordings_have_no_effect_on_tables(
    run: Run, model: Path, readings: Path
) -> None:
    options = ["--ignore", "kind 1", "--intervals", "absent.csv"]
    said = run("evaluate", model, readings, *options).stderr
    assert "--intervals and --ignore have no effect: the model reads no recordings" in said


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--class", "state", "--intervals", "a.csv"), "--intervals replaces the class column"),
        (("--class", "gait"), "has no column 'gait'"),
        (("--groups", "state"), "has no single group in column 'state'"),
        (("--recording", "time", "--time", "time"), "column 'time' has two roles"),
    ],
)
def test_wrong_roles_are_one_line(
    refused: Refused, sampled: Path, recordings: Path, options: tuple[str, ...], message: str
) -> None:
    assert message in refused("evaluate", sampled, recordings, *options)


@pytest.mark.firmware
@pytest.mark.parametrize(("target", "unit"), [("cortex-m0", "instructions"), ("avr", "cycles")])
def test_the_whole_c_is_measured_on_samples(
    run: Run, run_json: RunJson, require_bench: Callable[[str], Any], sampled: Path,
    recordings: Path, target: str, unit: str,
) -> None:  # fmt: skip
    require_bench(target)
    options = ["--target", target, "--rows", 5, "--optimize", "size"]
    facts = run_json("bench", sampled, *options)["targets"][target]
    found = facts["samples"]
    assert set(found) == {
        "toolchain", "simulator", "optimization", "flash", "ram", "state", "stack", "push",
        "decision", "per_sample", "of", "n_samples", "n_windows",
    }  # fmt: skip
    assert (found["of"], found["optimization"]) == ("hostile samples", "-Os")
    assert found["flash"] > facts["flash"]
    assert found["ram"] == found["state"] + found["stack"]
    push, decision = found["push"][unit], found["decision"][unit]
    assert 0 < push["min"] < found["per_sample"][unit] < decision["mean"]
    assert decision["min"] <= decision["mean"] <= decision["max"] == push["max"]
    assert found["n_samples"] > 3000
    assert found["n_windows"] > 200
    result = run("bench", sampled, *options, "--data", recordings, *TIME)
    assert " 2,400 samples of the recordings with 236 windows, not a bound" in result.stdout
    assert f"sample with a decision, {unit}" in result.stdout
    assert "mean over a hop of 10" in result.stdout


@pytest.mark.firmware
@pytest.mark.parametrize(("target", "unit"), [("cortex-m0", "instructions"), ("avr", "cycles")])
def test_the_header_has_the_time_and_the_stack_of_a_sample(
    run_json: RunJson, require_bench: Callable[[str], Any], sampled: Path, tmp_path: Path,
    target: str, unit: str,
) -> None:  # fmt: skip
    require_bench(target)
    options = ["--target", target, "--optimize", "size"]
    found = run_json("emit-c", sampled, "-o", tmp_path / "c", "--name", "m", "--measure", *options)
    samples = found["bounds"]["samples"]
    measured = run_json("bench", sampled, *options, "--rows", 5)["targets"][target]["samples"]
    assert samples["state"] == measured["state"]
    assert (samples["every"]["max"], samples["n_windows"]) == (
        measured["push"][unit]["max"],
        measured["n_windows"],
    )
    # What the compiler reports bounds what is observed.
    assert 0 < measured["stack"] <= found["bounds"]["stack"]["push"]
    header = (tmp_path / "c/m.h").read_text(encoding="utf-8").replace("\n * ", " ")
    every = samples["every"]
    said = f"push: {every['min']} .. {every['max']} {unit} observed over {samples['n_samples']}"
    assert said in header
    assert f"A stream takes {samples['state']} bytes." in header
    assert f"#define M_PUSH_STACK {found['bounds']['stack']['push']}U" in header


@pytest.mark.cc
def test_windows_of_recordings_are_test_vectors(
    run: Run, require_tool: Callable[[str], str], sampled: Path, recordings: Path, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    gcc = require_tool("gcc")
    folder = tmp_path / "c"
    run("emit-c", sampled, "-o", folder, "--name", "m", "--data", recordings, *TIME)
    assert "#define M_N_VECTORS 32U" in (folder / "m_vectors.h").read_text("utf-8")
    build = [gcc, "-std=c99", "m.c", "m_selftest.c", "-o", "t"]
    subprocess.run(build, cwd=folder, check=True)
    assert subprocess.run([folder / "t"], check=False).returncode == 0
    (folder / "t").unlink()
    _, *words = printed_command(folder)
    monkeypatch.chdir(recordings.parent)
    words[words.index("-o") + 1] = str(tmp_path / "again")
    run(*words)
    assert files_below(tmp_path / "again") == files_below(folder)


def test_options_of_recordings_need_data(run: Run, sampled: Path, tmp_path: Path) -> None:
    said = run("emit-c", sampled, "-o", tmp_path / "c", *TIME).stderr
    assert "--class, --fold and --time have no effect without --data" in said
