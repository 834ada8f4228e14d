"""``--unknown`` and ``--with unknown`` through every command."""

import csv

import numpy as np
import pytest

from bncc.model.file import load_model
from tests.dwelling import csv_of
from tests.recorded_files import write_recordings

NAIVE = ("--structure", "naive", "--parameters", "ml", "--folds", "0")
ALIENS = [f"{300 + k},-200,g0,alien" for k in range(20)]


@pytest.fixture
def rows(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(csv_of())
    return path


def test_it_is_chosen_reported_and_used(run_json, rows, tmp_path):
    others, aliens, model = (tmp_path / name for name in ("others.csv", "aliens.csv", "m.bncc"))
    others.write_text(csv_of(seed=1))
    aliens.write_text(csv_of(seed=1) + "\n".join([*ALIENS, ""]))
    facts = run_json(
        "train", rows, "-o", model, *NAIVE, "--drop", "group", "--unknown", "0.05", "--test", others
    )
    found = facts["unknown"]
    assert found["held_out"]["false_alarms"] <= 40
    assert found["test"]["n"] == 800
    assert run_json("inspect", model)["unknown"] == found
    alone = run_json("evaluate", model, others, "--with", "unknown")
    assert alone["unknown"] == found["test"]
    assert "unknown" not in run_json("evaluate", model, others)
    grouped = run_json("evaluate", model, aliens, "--with", "unknown", "--groups", "group")
    rated = grouped["unknown"]
    assert (rated["n"], rated["n_unknown"], rated["detected"]) == (800, 20, 20)
    assert rated["false_alarms"] == found["test"]["false_alarms"]
    assert rated["worst_group"] > rated["false_alarms"] / 800
    said = run_json("predict", model, aliens, "--with", "unknown")
    known = np.array(said["known"], dtype=bool)
    assert (~known[:800]).sum() == rated["false_alarms"]
    assert not known[800:].any()
    table = tmp_path / "said.csv"
    run_json("predict", model, aliens, "--with", "unknown", "-o", table)
    with table.open() as stream:
        assert next(csv.reader(stream)) == ["prediction", "margin", "known"]
    assert run_json("verify", model, "--data", aliens, "--with", "unknown")["agree"]


def test_folds_hold_out_whole_groups(run_json, run, rows, tmp_path):
    model = tmp_path / "m.bncc"
    train = ("train", rows, "-o", model, *NAIVE, "--groups", "group", "--unknown", "0.05")
    facts = run_json(*train)
    assert facts["unknown"]["held_out"]["worst_group"] > 0.0
    assert facts["unknown"]["test"] is None


def test_a_search_has_a_rule_for_its_choice(run_json, rows, tmp_path):
    model = tmp_path / "m.bncc"
    facts = run_json(
        "train", rows, "-o", model, "--drop", "group", "--structure", "naive", "--max-flash", "2k",
        "--unknown", "0.1",
    )  # fmt: skip
    assert facts["unknown"] == run_json("inspect", model)["unknown"]
    assert load_model(model).unknown.ranges.keys() == {"a", "b"}


def test_misuse_is_one_clear_sentence(run_json, refused, rows, tmp_path):
    model = tmp_path / "m.bncc"
    train = ("train", rows, "-o", model, *NAIVE, "--drop", "group")
    for text in ("2", "many", "nan"):
        assert "use a fraction such as 0.05" in refused(*train, "--unknown", text)
    assert "800 rows cannot show a rate of 0.1 % false alarms; use 999" in refused(
        *train, "--unknown", "0.001"
    )
    assert not model.exists()
    search = ("train", rows, "-o", model, "--max-flash", "2k", "--with", "unknown")
    assert "train it with --unknown 0.05, or leave out the entry point unknown" in refused(*search)
    run_json(*train)
    none = "the model knows no unknown readings"
    assert none in refused("emit-c", model, "--with", "unknown", "-o", tmp_path / "c")
    for command in ("evaluate", "predict"):
        assert none in refused(command, model, rows, "--with", "unknown")
    run_json(*train, "--unknown", "0.05", "--force")
    for more, message in (
        (("--missing", "marginal"), "does not support --missing marginal"),
        (("--with", "filter"), "the model has no filter"),
    ):
        assert message in refused("evaluate", model, rows, "--with", "unknown", *more)


@pytest.mark.cc
def test_windows_of_recordings_are_told(run_json, tmp_path):
    folder, model = write_recordings(tmp_path / "r"), tmp_path / "m.bncc"
    run_json(
        "train", folder, "-o", model, "--window", "20", "--hop", "10", "--groups", "person",
        "--class", "state", "--channels", "x,y", "--time", "time", "--time-unit", "ms",
        *NAIVE, "--unknown", "0.1",
    )  # fmt: skip
    times = ("--time", "time", "--time-unit", "ms")
    said = run_json("predict", model, folder, *times, "--with", "unknown")
    assert {*said["known"]} <= {0, 1}
    assert len(said["known"]) == len(said["prediction"])
    agreed = run_json("verify", model, "--data", folder, *times, "--with", "unknown")
    assert agreed["agree"]
    assert agreed["targets"]["host"]["samples"]["mismatches"] == 0
