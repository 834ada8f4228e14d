"""Choice of the program compared with a peer: by validation error among those that fit."""

import json
from dataclasses import replace

import pytest

from benchmarks.peers import equal_resources, peer_models, peer_points
from benchmarks.peers.peer_choices import (
    CHOICES,
    Chosen,
    against,
    choose,
    form_of,
    programs_of,
    read_choices,
    write_choices,
)
from benchmarks.peers.peer_forms import CUTS, FORMS, Form, emissions, emit_command, way_of
from benchmarks.peers.peer_models import Program, Trained, measure
from benchmarks.peers.peer_page import Row, command_rows, counts, peer_rows, tables_of
from benchmarks.peers.peers import Peer, peers_of
from benchmarks.peers.uint8_sets import SETS
from bncc.cli.emit_c import command as emit_c
from bncc.cli.train import command as train
from bncc.train.options import OPTIONS
from bncc.train.settings import TrainSettings

PEER = Peer("dt", "emlearn inline", True, False, 10.0, 1000, 500)


def ours(key, validation, flash, instructions):
    words = (f"bncc train {key}", f"bncc emit-c {key}")
    return Chosen(key, "size", f"form {key}", validation, flash, instructions, "digest", *words)


FITS = ours("b", 8.0, 1000, 500.0)


def test_of_what_fits_the_lowest_validation_error_is_chosen():
    others = [ours("a", 9.0, 900, 400.0), ours("c", 1.0, 1001, 100.0), ours("d", 1.0, 100, 500.5)]
    assert against(PEER, [*others, FITS]) is FITS


def test_of_equal_validation_errors_the_smallest_is_chosen():
    assert against(PEER, [FITS, replace(FITS, form="a", flash=999)]).flash == 999


def test_where_nothing_fits_nothing_is_chosen():
    assert against(PEER, [ours("c", 1.0, 1001, 100.0)]) is None
    row = Row(PEER, None, None)
    assert not row.is_dominated
    assert "none within its flash and instructions" in peer_rows([row])


@pytest.mark.parametrize(
    ("change", "error", "is_dominated"),
    [
        ({}, 10.0, True),
        ({}, 10.004, True),
        ({}, 10.006, False),
        ({"flash": 1001}, 1.0, False),
        ({"instructions": 500.1}, 1.0, False),
    ],
)
def test_a_baseline_is_dominated_in_all_three_figures_by_one_program(change, error, is_dominated):
    assert Row(PEER, replace(FITS, **change), error).is_dominated is is_dominated


def test_the_frontier_and_the_added_trees_are_counted_apart():
    rows = [
        Row(PEER, FITS, 9.0),
        Row(replace(PEER, is_frontier=False), FITS, 9.0),
        Row(replace(PEER, is_frontier=False, is_added=True), FITS, 11.0),
    ]
    lines = counts({"letter": rows, "usps": rows[:1]}).splitlines()
    assert lines[2] == "| letter | 2 of 3 | 1 of 1 | 0 of 1 |"
    assert lines[4] == "| total | 3 of 4 | 2 of 2 | 0 of 1 |"


def test_the_readme_reads_the_frontier_and_the_added_trees_of_the_page():
    others = [replace(PEER, model=f"dt{k}", is_frontier=False, is_added=k == 1) for k in (1, 2)]
    rows = [Row(PEER, FITS, 9.0), Row(others[0], FITS, 11.0), Row(others[1], FITS, 9.0)]
    page = f"<!-- table: letter -->\n{peer_rows(rows)}<!-- end of table: letter -->\n"
    pairs = list(equal_resources.frontier(page, "letter", ("dt",)))
    assert {pair.name: pair.is_as_accurate for pair in pairs} == {"dt": True, "dt1": False}


def test_every_chosen_program_has_its_commands():
    rows = [Row(PEER, FITS, 9.0), Row(PEER, FITS, 9.0), Row(PEER, None, None)]
    (line,) = command_rows(rows).splitlines()[2:]
    assert line == "| form b, size | `bncc train b` | `bncc emit-c b` |"
    assert tables_of({"usps": rows}).keys() == {"counts", "usps", "usps commands"}


def test_there_are_37_peers_on_the_frontier_and_five_added_trees():
    found = [peer for name in SETS for peer in peers_of(name)]
    assert sum(peer.is_frontier for peer in found) == 37
    assert sum(peer.is_added for peer in found) == 5
    assert not any(peer.is_added and peer.is_frontier for peer in found)
    for name in SETS:
        models = [peer.model for peer in peers_of(name)]
        assert len(set(models)) == len(models) > 40


def test_choices_are_read_back_and_those_of_other_sets_stay(tmp_path):
    path = tmp_path / "choices.json"
    write_choices(path, {"letter": {"dt": FITS, "rf": FITS, "lr": None}, "usps": {"dt": None}})
    write_choices(path, {"usps": {"dt": FITS}})
    assert read_choices(path) == {
        "letter": {"dt": FITS, "rf": FITS, "lr": None},
        "usps": {"dt": FITS},
    }
    assert len(json.loads(path.read_text())["letter"]["programs"]) == 1


def test_the_committed_choices_are_those_of_forms_and_peers():
    if not CHOICES.exists():
        pytest.skip("no choices are committed")
    found = read_choices(CHOICES)
    assert found.keys() == set(SETS)
    for name, choices in found.items():
        assert list(choices) == [peer.model for peer in peers_of(name)]
        for peer in peers_of(name):
            one = choices[peer.model]
            if one is not None:
                assert one.flash <= peer.flash
                assert one.instructions <= peer.instructions
                assert one.way in map(way_of, emissions(form_of(one.form)))


def test_forms_differ_in_name_and_words():
    assert len({form.key for form in FORMS}) == len({form.title for form in FORMS}) == len(FORMS)
    assert all(bool(form.rows) != bool(form.leaves) for form in FORMS)


def test_few_rows_are_also_laid_out_as_cuts():
    ways = [[way_of(options) for options in emissions(Form(n, rows=16))] for n in (8, 9)]
    goals = ["balanced", "size", "speed"]
    assert ways == [[*goals, f"--kernel {CUTS}"], goals]
    assert not any(options.kernel for options in emissions(Form(8, leaves=8)))


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.key)
def test_the_command_trains_with_the_settings_that_were_measured(form):
    words = form.train_command("letter.npz", "m.bncc")
    assert words[:2] == ("bncc", "train")
    given = train.make_context("train", list(words[2:])).params
    assert TrainSettings(**{name: given[name] for name in OPTIONS}) == form.settings()
    assert (given["data_path"], given["fold"], given["output"]) == ("letter.npz", 1, "m.bncc")


@pytest.mark.parametrize("options", emissions(Form(3, rows=8)), ids=way_of)
def test_the_command_emits_with_the_options_that_were_measured(options):
    words = emit_command(options, "m.bncc")
    given = emit_c.make_context("emit-c", list(words[2:])).params
    for field in ("name", "optimize", "kernel", "target"):
        assert given[field] == getattr(options, field)
    assert not given["entries"]


def test_what_is_in_the_log_is_not_measured_again(tmp_path, monkeypatch):
    programs = (Program("size", 100, 10.5, "digest"),)
    known = [Trained("usps", form.key, 5.0, programs) for form in FORMS[:2]]
    monkeypatch.setattr(peer_models, "FORMS", FORMS[:2])
    with peer_models.appending(tmp_path / "measured.jsonl") as append:
        for one in known:
            append(one)
    found = list(measure(tmp_path, ("usps",), jobs=1))
    assert found == [(known[0], 1, 2), (known[1], 2, 2)]


def test_selection_reads_no_test_error(tmp_path, monkeypatch):
    form = Form(8, rows=8)
    one = Trained("usps", form.key, 5.0, (Program("size", 1, 1.0, "digest"),))
    monkeypatch.setattr(peer_points, "measure", lambda *_: iter([(one, 1, 1)]))
    monkeypatch.setattr(peer_points, "test_error", None)
    output = tmp_path / "choices.json"
    peer_points.select(tmp_path, ("usps",), 1, output)
    (chosen,) = programs_of(one, "try/peers/usps.npz")
    assert read_choices(output) == {"usps": choose(peers_of("usps"), [chosen])}
    assert "error" not in output.read_text().replace("validation error", "")
