"""``--adapt`` and ``--with adapt`` through every command."""

import pytest

from bncc.model.file import load_model
from tests.dwelling import csv_of
from tests.recorded_files import write_recordings

TABLES = ("--structure", "tables", "--structure-option", "tables=4", "--folds", "0")


@pytest.fixture
def rows(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(csv_of())
    return path


@pytest.mark.cc
def test_it_is_chosen_reported_and_used(run_json, run, rows, tmp_path):
    model = tmp_path / "m.bncc"
    facts = run_json("train", rows, "-o", model, *TABLES, "--groups", "group", "--adapt", "auto")
    found = facts["adaptation"]
    assert found["held_out"]["n_groups"] == 4
    assert run_json("inspect", model)["adaptation"] == found
    assert load_model(model).adaptation.step == found["step"]
    agreed = run_json("verify", model, "--with", "adapt", "--random", "100")
    assert agreed["agree"]
    assert "labels learned" in agreed["targets"]["host"]["strength"]
    run_json("emit-c", model, "--with", "adapt", "-o", tmp_path / "c", "--name", "m")
    assert "m_adaptation_t" in (tmp_path / "c" / "m.h").read_text()


def test_the_next_commands_name_it(run, rows, tmp_path):
    model = tmp_path / "m.bncc"
    rules = ("--groups", "group", "--counters", "--adapt", "auto")
    found = run("train", rows, "-o", model, *TABLES, *rules)
    assert f"bncc verify {model} --with counters --with adapt\n" in found.stdout


def test_misuse_is_one_clear_sentence(run_json, refused, rows, tmp_path):
    model = tmp_path / "m.bncc"
    train = ("train", rows, "-o", model, *TABLES)
    assert "with --groups" in refused(*train, "--drop", "group", "--adapt", "auto")
    assert not model.exists()
    run_json(*train, "--groups", "group")
    refusal = refused("emit-c", model, "--with", "adapt", "-o", tmp_path / "c")
    assert "train it with --adapt auto and --groups" in refusal


@pytest.fixture
def adapting(run_json, rows, tmp_path):
    """Return a model that adapts."""
    model = tmp_path / "adapting.bncc"
    run_json("train", rows, "-o", model, *TABLES, "--groups", "group", "--adapt", "auto")
    return model


@pytest.fixture
def parts(tmp_path):
    """Return the labeled rows of others, the first 100 of each, and the rest."""
    header, *lines = csv_of(seed=1).splitlines()
    files = tmp_path / "mine.csv", tmp_path / "later.csv"
    for file, in_part in zip(files, (lambda k: k < 100, lambda k: k >= 100), strict=True):
        kept = [line for k, line in enumerate(lines) if in_part(k % 200)]
        file.write_text("\n".join([header, *kept, ""]))
    return files


def test_labeled_rows_are_learned_before_a_table_is_decided_on(run, run_json, adapting, parts):
    mine, later = parts
    by_group = ("--groups", "group", "--adapt-rows", mine)
    plain = run_json("evaluate", adapting, later, "--groups", "group")
    found = run_json("evaluate", adapting, later, *by_group)
    effect = found["adaptation"]
    assert (effect["n_groups"], effect["learned"], effect["n"]) == (4, 400, 400)
    assert (effect["error_before"], effect["error"]) == (plain["error"], found["error"])
    assert found["log_loss"] == plain["log_loss"]
    said = run_json("predict", adapting, later, *by_group, "--scores")
    y = [line.split(",")[3] for line in later.read_text().splitlines()[1:]]
    wrong = sum(a != b for a, b in zip(said["prediction"], y, strict=True))
    assert wrong == found["errors"]
    assert {min(row) for row in zip(*said["scores"].values(), strict=True)} == {0}
    together = run_json("predict", adapting, later, "--adapt-rows", mine)
    assert together["prediction"] != said["prediction"]
    found = run("evaluate", adapting, later, "--adapt-rows", mine)
    assert "all rows are those of one device" in found.stderr


def test_without_rows_to_learn_a_part_of_the_data_is_learned(run, run_json, adapting, parts):
    _, later = parts
    found = run_json("evaluate", adapting, later, "--with", "adapt", "--groups", "group")
    assert found["adaptation"]["n"] < found["n"]
    assert found["error"] == run_json("evaluate", adapting, later, "--groups", "group")["error"]
    said = run("evaluate", adapting, later, "--with", "adapt")
    assert "all rows are those of one device" in said.stderr
    assert "adapted   error " in said.stdout


def test_a_filter_takes_adapted_scores(run_json, rows, parts, tmp_path):
    mine, later = parts
    model = tmp_path / "both.bncc"
    rules = ("--groups", "group", "--adapt", "auto", "--filter", "12")
    run_json("train", rows, "-o", model, *TABLES, *rules)
    how = ("--groups", "group", "--adapt-rows", mine)
    found = run_json("evaluate", model, later, *how, "--with", "filter")
    adapted = run_json("evaluate", model, later, *how)
    assert found["filter"]["error_before"] == adapted["error"]
    assert found["filter"]["error"] == found["error"] != adapted["error"]
    said = run_json("predict", model, later, *how, "--with", "filter")
    y = [line.split(",")[3] for line in later.read_text().splitlines()[1:]]
    assert sum(a != b for a, b in zip(said["prediction"], y, strict=True)) == found["errors"]


def test_groups_and_classes_without_a_labeled_row_are_noted(run, adapting, parts, tmp_path):
    mine, later = parts
    header, *lines = mine.read_text().splitlines()
    some = tmp_path / "some.csv"
    some.write_text("\n".join([header, *lines[:100], "3,4,g0,swim", ""]))
    found = run("predict", adapting, later, "--groups", "group", "--adapt-rows", some)
    assert "no row to learn is of group 'g1' and of 2 others" in found.stderr
    assert "1 of 101 rows of" in found.stderr


def test_recordings_are_learned(run, run_json, tmp_path):
    folder, model = write_recordings(tmp_path / "r"), tmp_path / "m.bncc"
    roles = ("--time", "time", "--time-unit", "ms")
    run_json(
        "train", folder, "-o", model, "--window", "20", "--hop", "10", "--groups", "person",
        "--class", "state", "--channels", "x,y", *roles, *TABLES, "--adapt", "auto",
        "--filter", "3",
    )  # fmt: skip
    how = (*roles, "--groups", "person", "--class", "state", "--adapt-rows", folder)
    found = run_json("evaluate", model, folder, *how)
    assert found["adaptation"]["n_groups"] == 2
    assert found["adaptation"]["learned"] == found["n"]
    assert (
        "the rows to learn are among those to judge" in run("evaluate", model, folder, *how).stderr
    )
    said = run_json("predict", model, folder, *how)
    assert len(said["prediction"]) >= found["n"]
    assert run_json("evaluate", model, folder, *how, "--with", "filter")["filter"]["switches"] >= 0


def test_misuse_of_rows_to_learn_is_one_clear_sentence(
    refused, run_json, adapting, parts, tmp_path
):
    mine, later = parts
    for command in ("predict", "evaluate"):
        said = refused(command, adapting, later, "--adapt-rows", mine, "--with", "confidence")
        assert "--with confidence rates the decisions of the model, not adapted ones" in said
        said = refused(command, adapting, later, "--adapt-rows", mine, "--missing", "marginal")
        assert "--with adapt does not support --missing marginal" in said
    assert "name them with --adapt-rows" in refused("predict", adapting, later, "--with", "adapt")
    strange = tmp_path / "strange.csv"
    strange.write_text("a,b,class\n1,2,swim\n")
    said = refused("predict", adapting, later, "--adapt-rows", strange)
    assert "has no row of a class that the model knows" in said
    before = mine.read_bytes()
    said = refused("predict", adapting, later, "--adapt-rows", mine, "-o", mine, "--force")
    assert "input" in said
    assert mine.read_bytes() == before
    strange.write_text("a,b\n1,2\n")
    said = refused("predict", adapting, later, "--adapt-rows", strange)
    assert "strange.csv' of --adapt-rows: " in said
    plain = tmp_path / "plain.bncc"
    run_json("train", mine, "-o", plain, *TABLES, "--groups", "group")
    said = refused("evaluate", plain, later, "--with", "adapt")
    assert "the model does not adapt" in said
