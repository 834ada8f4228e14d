"""``--filter`` and ``--with filter`` through every command."""

from itertools import pairwise

import numpy as np
import pytest

from bncc.model.file import load_model
from bncc.model.filter import Filter
from tests.dwelling import csv_of
from tests.recorded_files import write_recordings

NAIVE = ("--structure", "naive", "--parameters", "ml", "--folds", "0")


@pytest.fixture
def rows(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(csv_of())
    return path


def test_it_is_chosen_reported_and_used(run_json, rows, tmp_path):
    others, model = tmp_path / "others.csv", tmp_path / "m.bncc"
    others.write_text(csv_of(seed=1))
    facts = run_json(
        "train", rows, "-o", model, *NAIVE, "--groups", "group", "--filter", "auto",
        "--test", others,
    )  # fmt: skip
    found = facts["filter"]
    assert found["switch"] > 0
    assert found["held_out"]["error"] < found["held_out"]["error_before"]
    inspected = run_json("inspect", model)
    assert inspected["filter"] == found
    filtered = run_json("evaluate", model, others, "--groups", "group", "--with", "filter")
    plain = run_json("evaluate", model, others, "--groups", "group")
    assert filtered["filter"] == found["test"]
    assert filtered["error"] == found["test"]["error"]
    assert np.trace(filtered["confusion"]) == 800 - filtered["errors"]
    assert plain["error"] == found["test"]["error_before"]
    assert "filter" not in plain
    said = run_json("predict", model, others, "--groups", "group", "--with", "filter", "--scores")
    y = [line.split(",")[3] for line in others.read_text().splitlines()[1:]]
    wrong = np.mean([a != b for a, b in zip(said["prediction"], y, strict=True)])
    assert wrong == filtered["error"]
    assert {min(row) for row in zip(*said["scores"].values(), strict=True)} == {0}


def test_a_price_may_be_given(run_json, rows, tmp_path):
    facts = run_json(
        "train", rows, "-o", tmp_path / "m.bncc", *NAIVE, "--groups", "group", "--filter", "9"
    )
    assert facts["filter"] == {"switch": 9, "held_out": None, "test": None}
    assert load_model(tmp_path / "m.bncc").filter == Filter(9)


def test_nothing_changes_without_it(run_json, rows, tmp_path):
    facts = run_json("train", rows, "-o", tmp_path / "m.bncc", *NAIVE, "--groups", "group")
    assert "filter" not in facts
    assert load_model(tmp_path / "m.bncc").filter is None


def test_misuse_is_one_clear_sentence(run_json, refused, rows, tmp_path):
    model = tmp_path / "m.bncc"
    train = ("train", rows, "-o", model, *NAIVE)
    assert "a filter needs rows in time order" in refused(
        *train, "--filter", "auto", "--drop", "group"
    )
    assert "use auto, or the price of a switch" in refused(*train, "--filter", "much")
    budget = ("--groups", "group", "--max-flash", "2k")
    for asked in ("--with", "--entry"):
        assert "train it with --filter" in refused(
            "train", rows, "-o", model, *budget, asked, "filter"
        )
    run_json(*train, "--groups", "group")
    for command in (("evaluate", model, rows), ("predict", model, rows)):
        assert "the model has no filter" in refused(*command, "--with", "filter")
    assert "the model has no filter" in refused("emit-c", model, "--with", "filter", "-o", "c")
    run_json(*train, "--groups", "group", "--filter", "3", "--force")
    marginal = ("--with", "filter", "--missing", "marginal")
    assert "does not support --missing marginal" in refused("evaluate", model, rows, *marginal)


@pytest.mark.cc
def test_recordings_are_filtered_by_segment(run_json, tmp_path):
    folder, model = write_recordings(tmp_path / "r"), tmp_path / "m.bncc"
    facts = run_json(
        "train", folder, "-o", model, "--window", "20", "--hop", "10", "--groups", "person",
        "--class", "state", "--channels", "x,y", "--time", "time", "--time-unit", "ms", *NAIVE,
        "--filter", "40",
    )  # fmt: skip
    assert facts["filter"]["switch"] == 40
    times = ("--time", "time", "--time-unit", "ms")
    said = run_json("predict", model, folder, *times, "--with", "filter")
    found = run_json("evaluate", model, folder, *times, "--with", "filter")
    assert 0 < found["n"] <= len(said["prediction"])
    assert found["filter"]["switches"] <= found["filter"]["switches_before"]
    agreed = run_json("verify", model, "--data", folder, *times, "--with", "filter")
    assert agreed["agree"]
    assert agreed["targets"]["host"]["samples"]["mismatches"] == 0


def test_a_switch_may_need_several_decisions_in_a_row(run_json, refused, rows, tmp_path):
    model = tmp_path / "m.bncc"
    train = ("train", rows, "-o", model, *NAIVE, "--groups", "group", "--filter-hold", "3")
    assert "3 decisions in a row need a filter" in refused(*train)
    facts = run_json(*train, "--filter", "9")
    assert (facts["filter"]["switch"], facts["filter"]["hold"]) == (9, 3)
    assert load_model(model).filter == Filter(9, 3)
    said = run_json("predict", model, rows, "--groups", "group", "--with", "filter")["prediction"]
    found = run_json("evaluate", model, rows, "--groups", "group", "--with", "filter")
    y = [line.split(",")[3] for line in rows.read_text().splitlines()[1:]]
    assert sum(a != b for a, b in zip(said, y, strict=True)) == found["errors"]
    at = [k for k in range(1, 200) if said[k] != said[k - 1]]
    assert all(b - a >= 3 for a, b in pairwise(at))


@pytest.mark.cc
def test_a_decision_may_wait_for_rows(run, run_json, refused, rows, tmp_path):
    model, plain = tmp_path / "m.bncc", tmp_path / "p.bncc"
    train = ("train", rows, *NAIVE, "--groups", "group")
    assert "a lag of 2 needs a filter" in refused(*train, "-o", model, "--filter-lag", "2")
    assert "a lag changes no decision with --filter 0" in refused(
        *train, "-o", model, "--filter-lag", "2", "--filter", "0"
    )
    facts = run_json(*train, "-o", model, "--filter-lag", "2", "--filter", "9")
    assert (facts["filter"]["switch"], facts["filter"]["lag"]) == (9, 2)
    run_json(*train, "-o", plain, "--filter", "9")
    assert load_model(model).filter == Filter(9, lag=2)
    asked = (rows, "--groups", "group", "--with", "filter")
    said, found = run_json("predict", model, *asked), run_json("evaluate", model, *asked)
    y = [line.split(",")[3] for line in rows.read_text().splitlines()[1:]]
    wrong = sum(a != b for a, b in zip(said["prediction"], y, strict=True))
    assert wrong == found["errors"] < run_json("evaluate", plain, *asked)["errors"]
    report = run("evaluate", model, *asked).stdout
    assert "nats, of the model alone" in report
    assert "of the model alone" not in run("evaluate", model, rows).stdout
    agreed = run_json("verify", model, "--with", "filter", "--random", "100")
    assert agreed["agree"]
    run("emit-c", model, "--with", "filter", "-o", tmp_path / "c", "--name", "m")
    header = " ".join((tmp_path / "c/m.h").read_text().replace("*", " ").split())
    assert "a row is decided 2 rows later" in header


@pytest.mark.parametrize("how", ["dwell", "matrix"])
def test_prices_of_transitions_may_be_learned(run, run_json, refused, rows, tmp_path, how):
    model = tmp_path / "m.bncc"
    train = ("train", rows, "-o", model, *NAIVE, "--groups", "group", "--filter-transitions", how)
    assert "transitions need a filter" in refused(*train)
    done = run(*train, "--filter", "auto")
    warning = {
        "dwell": "has learned how long classes last",
        "matrix": "which class follows which",
    }
    assert warning[how] in done.stderr
    assert "a transition costs at most" in done.stdout
    found = run_json("inspect", model)["filter"]
    assert len(found["transitions"]) == 3
    assert max(map(max, found["transitions"])) == found["switch"] > 0
    assert found["held_out"]["error"] < found["held_out"]["error_before"]
    said = run_json("predict", model, rows, "--groups", "group", "--with", "filter")["prediction"]
    judged = run_json("evaluate", model, rows, "--groups", "group", "--with", "filter")
    y = [line.split(",")[3] for line in rows.read_text().splitlines()[1:]]
    assert sum(a != b for a, b in zip(said, y, strict=True)) == judged["errors"]
    assert run_json("verify", model, "--with", "filter", "--random", "100")["agree"]
