"""The page of twelve sets and the figures in its file."""

import json
from dataclasses import asdict

import click
import pytest

from benchmarks.accuracy.twenty_sets import RESULTS, Results
from benchmarks.peers import twelve_sets
from benchmarks.peers.tree_peers import Candidate, Grown
from benchmarks.peers.twelve_sets import (
    KINDS,
    OURS,
    Entry,
    best_forest,
    best_of,
    chosen_rows,
    outcome,
    p_value,
    read,
    rivals,
    set_rows,
    summary,
)


def entry(kind, wrong, held=0.1, flash=4000, name="some"):
    return Entry(name, kind, f"the {kind}", held, wrong, 200, flash, 1234.5)


def found(mine, tree, forest, soft=199):
    kinds = {OURS: mine, "tree": tree, "forest": forest, "soft forest": soft}
    held = {"soft forest": 0.2}
    return {kind: entry(kind, wrong, held.get(kind, 0.1)) for kind, wrong in kinds.items()}


def test_as_many_wrong_rows_are_a_tie():
    wrongs = [(1, 2), (2, 2), (3, 2)]
    assert [outcome(entry("a", a), entry("b", b)) for a, b in wrongs] == ["win", "tie", "loss"]


def test_rows_held_out_choose_the_votes_of_the_forest_then_flash():
    hard, soft = entry("forest", 9, held=0.1), entry("soft forest", 5, held=0.2)
    assert best_forest({"forest": hard, "soft forest": soft}) is hard
    smaller = entry("soft forest", 9, held=0.1, flash=3000)
    assert best_forest({"forest": hard, "soft forest": smaller}) is smaller


@pytest.mark.parametrize("kind", KINDS)
def test_the_best_of_all_is_that_of_the_test_rows_whichever_votes(kind):
    wrong = {each: 8 if each == kind else 9 for each in KINDS}
    assert rivals(found(1, *wrong.values()))["best of all"].kind == kind


def test_of_the_finalists_all_folds_choose_then_bytes():
    ones = [Grown(Candidate(None, None, None, error, 1), None, 2) for error in (0.3, 0.1, 0.1)]
    fitting = list(zip(ones, (100, 300, 200), strict=True))
    assert best_of(fitting, lambda one: one.error) == (0.1, 200, ones[2])


def test_wins_ties_and_losses_are_counted_against_each():
    text = summary({"a": found(5, 9, 5), "b": found(5, 6, 4), "c": found(5, 7, 6)})
    lines = [line.split(" | ")[:4] for line in text.splitlines()[2:]]
    assert lines == [
        ["| tree", "3", "0", "0"],
        ["| forest", "1", "1", "1"],
        ["| best of all", "1", "1", "1"],
    ]


def test_the_p_is_wilcoxons_and_certain_where_nothing_differs():
    """All of six differences have one sign: 2 of 2**6 orders of signs are as extreme."""
    assert p_value([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]) == pytest.approx(2 / 64)
    assert p_value([0.0, 0.0]) == 1.0


def test_losses_are_shown():
    text = set_rows({"some": found(20, 10, 30)}, {"some": (600, 3, 2)})
    row = text.splitlines()[2]
    assert row.startswith("| some | 600 | 3 | 2 | 10.00 | 4,000 | 1,234 | 5.00 |")
    assert row.endswith("| loss | win |")


def test_both_votes_of_forests_are_shown():
    text = chosen_rows({"some": found(1, 2, 30, soft=20)})
    assert text.splitlines()[2].endswith("| the forest | 15.00 | 10.00 |")


def test_what_is_in_the_file_is_not_measured_again(tmp_path, monkeypatch):
    path = tmp_path / "found.jsonl"
    assert read(path) == {}
    entries = found(1, 2, 3)
    path.write_text("".join(f"{json.dumps(asdict(one))}\n" for one in entries.values()))
    assert read(path) == {"some": entries}
    asked = []
    monkeypatch.setattr(twelve_sets, "find_toolchain", lambda target: (None,))
    monkeypatch.setattr(twelve_sets, "theirs", lambda *_: asked.append("theirs") or iter(()))
    assert list(twelve_sets.measure("some", None, None, entries)) == []
    assert asked == []
    assert list(twelve_sets.measure("some", None, None, {"tree": entries["tree"]})) == []
    assert asked == ["theirs"]


def test_ours_is_the_choice_of_the_page_of_twenty_sets(tmp_path):
    results = Results(tmp_path, RESULTS)
    one = twelve_sets.ours("banknote", results)
    figures = results.known("banknote", 4096).figures()
    assert (one.error, one.flash, one.words) == (figures.error, figures.flash, figures.words)
    with pytest.raises(click.ClickException, match=r"run `python -m benchmarks\.accuracy"):
        twelve_sets.ours("banknote", Results(tmp_path, tmp_path / "nothing.jsonl"))
