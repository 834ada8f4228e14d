"""``--confidence``, ``--max-error`` and ``--with confidence`` through every command."""

import csv

import numpy as np
import pytest

from bncc.model.file import load_model
from tests.dwelling import csv_of
from tests.recorded_files import write_recordings

NAIVE = ("--structure", "naive", "--parameters", "ml", "--folds", "0", "--drop", "group")


@pytest.fixture
def rows(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(csv_of())
    return path


def test_it_is_chosen_reported_and_used(run_json, run, rows, tmp_path):
    others, model = tmp_path / "others.csv", tmp_path / "m.bncc"
    others.write_text(csv_of(seed=1))
    facts = run_json("train", rows, "-o", model, *NAIVE, "--max-error", "0.3", "--test", others)
    found = facts["confidence"]
    assert found["least_margin"] > 0
    assert found["held_out"]["error_bound"] <= 0.3 < found["held_out"]["error"]
    assert run_json("inspect", model)["confidence"] == found
    rated = run_json("evaluate", model, others, "--with", "confidence")
    assert rated["confidence"] == found["test"]
    assert "confidence" not in run_json("evaluate", model, others)
    said = run_json("predict", model, others, "--with", "confidence")
    y = [line.split(",")[3] for line in others.read_text().splitlines()[1:]]
    wrong = np.array([a != b for a, b in zip(said["prediction"], y, strict=True)])
    accepted = np.array(said["accepted"], dtype=bool)
    assert accepted.sum() == found["test"]["accepted"]
    assert wrong[accepted].mean() == pytest.approx(found["test"]["error_accepted"])
    assert {*said["confidence"]} <= {*found["percent"]}
    table = tmp_path / "said.csv"
    run_json("predict", model, others, "--with", "confidence", "-o", table)
    with table.open() as stream:
        assert next(csv.reader(stream)) == ["prediction", "margin", "confidence", "accepted"]
    assert run_json("verify", model, "--with", "confidence")["agree"]


def test_without_a_largest_error_all_are_accepted(run_json, rows, tmp_path):
    model = tmp_path / "m.bncc"
    facts = run_json("train", rows, "-o", model, *NAIVE, "--confidence")
    assert facts["confidence"]["least_margin"] == 0
    assert facts["confidence"]["test"] is None
    assert len(load_model(model).confidence.margins) > 1
    plain = run_json("train", rows, "-o", tmp_path / "plain.bncc", *NAIVE)
    assert "confidence" not in plain


def test_a_search_rates_its_choice(run_json, rows, tmp_path):
    model = tmp_path / "m.bncc"
    facts = run_json(
        "train", rows, "-o", model, "--drop", "group", "--structure", "naive", "--max-flash", "2k",
        "--confidence",
    )  # fmt: skip
    assert facts["confidence"] == run_json("inspect", model)["confidence"]
    found = facts["resources"]
    assert found["entries"] == ["predict-raw", "scores", "confidence"]
    assert found["flash"] <= 2048
    again = run_json(
        "emit-c", model, "-o", tmp_path / "c", "--max-flash", "2k", "--with", "confidence",
        "--target", found["target"], "--optimize", found["optimize"],
    )  # fmt: skip
    assert again["resources"]["flash"] == found["flash"]


def test_misuse_is_one_clear_sentence(run_json, refused, rows, tmp_path):
    model = tmp_path / "m.bncc"
    train = ("train", rows, "-o", model, *NAIVE)
    for text in ("2", "much", "nan"):
        assert "use a fraction such as 0.02" in refused(*train, "--max-error", text)
    assert "800 rows cannot show an error of at most 0.1 %" in refused(
        *train, "--max-error", "0.001"
    )
    assert "no margin keeps the error" in refused(*train, "--max-error", "0.02")
    assert not model.exists()
    search = ("--max-flash", "2k", "--with", "confidence")
    assert "train it with --confidence" in refused(*train[:-4], *train[-2:], *search)
    run_json(*train)
    for command in ("evaluate", "predict"):
        assert "the model has no confidence" in refused(
            command, model, rows, "--with", "confidence"
        )
    assert "the model has no confidence" in refused(
        "emit-c", model, "--with", "confidence", "-o", "c"
    )
    run_json(*train, "--confidence", "--force")
    marginal = ("--with", "confidence", "--missing", "marginal")
    assert "does not support --missing marginal" in refused("evaluate", model, rows, *marginal)


@pytest.mark.cc
def test_windows_of_recordings_are_rated(run_json, tmp_path):
    folder, model = write_recordings(tmp_path / "r"), tmp_path / "m.bncc"
    run_json(
        "train", folder, "-o", model, "--window", "20", "--hop", "10", "--groups", "person",
        "--class", "state", "--channels", "x,y", "--time", "time", "--time-unit", "ms",
        *NAIVE[:-2], "--confidence",
    )  # fmt: skip
    times = ("--time", "time", "--time-unit", "ms")
    said = run_json("predict", model, folder, *times, "--with", "confidence")
    assert {*said["accepted"]} == {1}
    agreed = run_json("verify", model, "--data", folder, *times, "--with", "confidence")
    assert agreed["agree"]
    assert agreed["targets"]["host"]["samples"]["mismatches"] == 0
