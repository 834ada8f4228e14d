"""``--adapt`` and ``--with adapt`` through every command."""

import pytest

from bncc.model.file import load_model
from tests.dwelling import csv_of

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
