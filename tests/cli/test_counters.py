"""``--counters``, ``--with counters`` and ``bncc drift`` through every command."""

import csv
import io

import pytest

from bncc.discretize.feature import states_of
from bncc.model.file import load_model
from bncc.model.reference import scores
from tests.dwelling import csv_of, dataset

NAIVE = ("--structure", "naive", "--parameters", "ml", "--folds", "0")


@pytest.fixture
def rows(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(csv_of())
    return path


@pytest.fixture
def model(run_json, rows, tmp_path):
    path = tmp_path / "m.bncc"
    run_json("train", rows, "-o", path, *NAIVE, "--groups", "group", "--counters")
    return path


def table_of(path, *read_outs):
    """Write read-outs, names and counters, as a table."""
    names = [*read_outs[0][1]]
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["time", *names])
    writer.writerows([name, *counts.values()] for name, counts in read_outs)
    path.write_text(text.getvalue())
    return path


def counted(path, **options):
    """Return the counters of a model file after some readings in time order."""
    model, rows = load_model(path), dataset(**options)
    found = scores(model, states_of(model.features, rows.table))
    return model.counters.counted(found, None, rows.time_sequences).columns


def test_drift_is_told_from_rows_like_those_of_training(run, run_json, model, tmp_path):
    facts = run_json("inspect", model)["counters"]
    assert sum(facts["expected"]["classes"]) == 800
    same, other = counted(model, seed=1), counted(model, seed=2, noise=5.0)
    assert [*same][:3] == ["classes[0]", "classes[1]", "classes[2]"]
    assert [*same][-2:] == ["stays", "switches"]
    assert same["stays"] + same["switches"] == 796
    table = table_of(tmp_path / "c.csv", ("monday", same))
    done = run("drift", table, "--model", model)
    assert done.stdout.startswith("monday, 800 decisions: no change; largest distance 0.0")
    table_of(table, ("monday", same), ("tuesday", other))
    found = run("drift", table, "--model", model, code=1)
    assert "monday, 800 decisions: no change" in found.stdout
    assert "tuesday, 800 decisions: changed\n  " in found.stdout
    assert "% in training\n    distance of " in found.stdout
    assert "p < 0.0001" in found.stdout
    payload = run_json("drift", table, "--model", model, code=1)
    assert (payload["changed"], payload["alpha"], payload["least_distance"]) == (True, 0.01, 0.1)
    assert [each["changed"] for each in payload["read_outs"]] == [False, True]
    comparison = payload["read_outs"][1]["comparisons"][0]
    assert comparison.keys() == {
        "counters", "shares", "training", "distance", "p", "p_adjusted", "changed", "sentences",
    }  # fmt: skip
    run("drift", table, "--model", model, "--least-distance", "1")


def test_a_read_out_without_decisions_is_named(run, model, tmp_path):
    zeros = dict.fromkeys(counted(model), 0)
    found = run("drift", table_of(tmp_path / "c.csv", ("new", zeros)), "--model", model)
    assert found.stdout == "new, no decisions: nothing to compare\n"
    assert "new has no decisions" in found.stderr


def test_the_c_agrees_and_is_emitted(run_json, model, rows, tmp_path):
    assert run_json("verify", model, "--data", rows, "--with", "counters")["agree"]
    run_json("emit-c", model, "--with", "counters", "-o", tmp_path / "c", "--name", "m")
    assert "m_counters_t" in (tmp_path / "c" / "m.h").read_text()


def test_a_budget_counts_counters(run, run_json, model, tmp_path):
    command = ("emit-c", model, "-o", tmp_path / "c", "--force", "--optimize", "size")
    less, more = (
        run_json(*command, *added)["resources"]["flash"] for added in ((), ("--with", "counters"))
    )
    limit = ("--max-flash", str((less + more) // 2))
    run(*command, *limit)
    found = run(*command, *limit, "--with", "counters", code=1)
    assert "bytes of flash: raise the budget" in found.stderr
    assert "(all functions)" in run(*command, "--with", "counters").stdout


@pytest.mark.parametrize("extra", ["counters", "adapt"])
def test_a_search_counts_what_is_chosen_after_the_model(run_json, refused, rows, tmp_path, extra):
    model = tmp_path / "s.bncc"
    train = ("train", rows, "-o", model, "--structure", "naive", "--max-flash", "3k")
    option = {"counters": ("--counters",), "adapt": ("--adapt", "auto")}[extra]
    facts = run_json(*train, "--groups", "group", *option)
    found = facts["resources"]
    assert found["entries"] == ["predict-raw", "scores", extra]
    assert found["flash"] <= 3072
    limits = ("--max-flash", "3k", "--target", found["target"], "--optimize", found["optimize"])
    again = run_json("emit-c", model, "-o", tmp_path / "c", *limits, "--with", extra)
    assert again["resources"]["flash"] == found["flash"]
    without = refused(
        *train[:-2], "--force", "--drop", "group", "--max-flash", "3k", "--with", extra
    )
    assert f"train it with {option[0]}" in without
    assert f"or leave out the entry point {extra}" in without


def test_what_has_no_counters_is_refused(run, run_json, rows, model, tmp_path):
    plain, table = tmp_path / "plain.bncc", tmp_path / "c.csv"
    run_json("train", rows, "-o", plain, *NAIVE, "--drop", "group")
    for command in (
        ("emit-c", plain, "-o", tmp_path / "c", "--with", "counters"),
        ("drift", rows, "--model", plain),
    ):
        found = run(*command, code=2)
        assert "the model has no counters; train it with --counters" in found.stderr
    table.write_text("")
    run("drift", table, "--model", model, code=2)
    table.write_text("a,b\n1,2\n")
    found = run("drift", table, "--model", model, code=2)
    assert found.stderr.count("\n") == 1
    assert "has no column 'classes[0]'" in found.stderr
