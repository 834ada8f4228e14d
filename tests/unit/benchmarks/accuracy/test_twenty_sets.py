"""The page of twenty sets, the order of its measurements, and the figures of an earlier commit."""

import json
import re
from dataclasses import asdict, replace

import numpy as np
import pytest
from click.testing import CliRunner

from benchmarks.accuracy import earlier_choice, earlier_figures, twenty_sets
from benchmarks.accuracy.twenty_sets import ALL, BUDGETS, EQUAL_BUDGETS, PAGE, Asked, Known, Results
from benchmarks.shared.decisions import Figures, packed
from benchmarks.shared.markdown import held
from benchmarks.shared.memory import Memory
from benchmarks.shared.sensor_sets import OF_UCI, SETS
from bncc.errors import ToolchainError


def results(folder):
    return Results(folder, folder / "twenty.jsonl")


def know(folder, key, wrong=7, flash=900):
    one = Known(11, "4f958142", asdict(figures(wrong, flash)), {}, {})
    Memory(folder / "twenty.jsonl").put(key, asdict(one))


def figures(wrong=3, flash=900, learned=50.0):
    missed = np.arange(100) < wrong
    return Figures("words", packed(missed), 100, flash, 60.0, 70, learned)


def test_there_are_twenty_sets_and_the_earlier_commit_has_the_same():
    assert len(set(ALL)) == 20
    assert set(SETS) < set(ALL)
    assert set(earlier_choice.SETS) == set(ALL)
    assert set(earlier_choice.UCI) == set(OF_UCI)
    assert len(earlier_choice.FEW_CLASSES) == 8
    assert {(name, 4096) for name in ALL} <= set(earlier_choice.RUNS)


def test_the_page_has_a_place_for_every_table(tmp_path):
    text = PAGE.read_text("utf-8")
    places = {name: held(text, name) for name in twenty_sets.tables([], results(tmp_path), [])}
    assert set(places) == set(re.findall("<!-- table: (.+) -->", text))


def test_flash_at_equal_error_takes_the_most_accurate_models_of_eight_sets_alone():
    names = ("phoneme", "vowel")
    assert [Asked(names, BUDGETS).ours(name) for name in names] == [BUDGETS, BUDGETS]
    asked = Asked(names, BUDGETS, prefer="error")
    assert [asked.ours(name) for name in names] == [EQUAL_BUDGETS, ()]
    assert not asked.compares(4096)
    assert Asked(names, (4096,), prefer="error").ours("phoneme") == (4096,)


PAID = {"front": [[60.0, 0.1], [600.0, 0.1]]}


@pytest.fixture
def fake(monkeypatch, tmp_path):
    """Run no search and no baseline, know no earlier choice, and note what is asked for."""
    asked = []

    class Forests:
        def __init__(self, name, *_):
            self.name = name

        def best(self, kind, limits):
            asked.append((self.name, kind, limits.flash, limits.instructions))
            return figures(5) if kind == "tree" else None

    class Rows:
        classes = ("a", "b")

    def ours(train, test, budget, prefer):
        asked.append(budget)
        return (None, {}) if budget == 1024 else (asdict(figures(flash=budget - 1)), PAID)

    monkeypatch.setattr(twenty_sets, "parts", lambda data, name: (Rows, Rows))
    monkeypatch.setattr(twenty_sets, "find_toolchain", lambda target: (None,))
    monkeypatch.setattr(twenty_sets, "LimitedForests", Forests)
    monkeypatch.setattr(twenty_sets, "_ours", ours)
    monkeypatch.setattr(twenty_sets, "earlier", dict)
    monkeypatch.setattr(twenty_sets, "RESULTS", tmp_path / "twenty.jsonl")
    return asked


def test_baselines_have_our_flash_and_half_as_many_instructions_more(tmp_path, fake):
    asked = Asked(("vowel",), (1024, 4096))
    results(tmp_path).measure(None, "vowel", asked)
    limits = (4095, 75.0)
    assert fake == [1024, 4096, ("vowel", "tree", *limits), ("vowel", "forest", *limits)]
    results(tmp_path).measure(None, "vowel", asked)
    assert len(fake) == 4
    assert results(tmp_path).forms(("vowel", "letter"), (1024, 4096)) == {
        ("vowel", 1024): {},
        ("vowel", 4096): PAID,
    }
    (row,) = results(tmp_path).rows(("vowel", "letter"), (1024, 4096))
    assert (row.budget, row.ours.flash, row.tree.wrong, row.forest) == (4096, 4095, 5, None)


def test_a_search_again_measures_its_baselines_again(tmp_path, fake):
    asked = Asked(("vowel",), (4096,))
    results(tmp_path).measure(None, "vowel", asked)
    results(tmp_path).measure(None, "vowel", replace(asked, again=True))
    assert [each if isinstance(each, int) else each[1] for each in fake] == [
        *(4096, "tree", "forest", 4096, "tree", "forest")
    ]


def test_a_result_has_the_commit_of_its_search(tmp_path, fake):
    results(tmp_path).measure(None, "vowel", Asked(("vowel",), (4096,)))
    assert re.fullmatch("[0-9a-f]{8,}", results(tmp_path).known("vowel", 4096).commit)


def test_a_run_without_baselines_is_completed_by_one_with_them(tmp_path, fake):
    results(tmp_path).measure(None, "vowel", Asked(("vowel",), (4096,), has_baselines=False))
    assert fake == [4096]
    results(tmp_path).measure(None, "vowel", Asked(("vowel",), (4096,)))
    assert [each if isinstance(each, int) else each[1] for each in fake] == [
        *(4096, "tree", "forest")
    ]


def test_a_report_measures_nothing_and_leaves_the_page(tmp_path, fake):
    before = PAGE.read_bytes()
    know(tmp_path, "vowel 4096")
    ended = CliRunner().invoke(twenty_sets.main, ["-o", str(tmp_path), "--report"])
    assert ended.exit_code == 0, ended.output
    assert "| vowel | 11 | 7.00 | 900 | 60 | 70 |" in ended.output
    assert fake == []
    assert PAGE.read_bytes() == before


def test_a_part_is_written_on_request(tmp_path, fake, monkeypatch):
    know(tmp_path, "vowel 4096", wrong=9)
    page = tmp_path / "page.md"
    page.write_bytes(PAGE.read_bytes())
    monkeypatch.setattr(twenty_sets, "PAGE", page)
    know(tmp_path, "vowel 4096")
    ended = CliRunner().invoke(twenty_sets.main, ["-o", str(tmp_path), "--report", "--write"])
    assert ended.exit_code == 0, ended.output
    assert "| vowel | 11 | 7.00 | 900 | 60 | 70 |" in page.read_text("utf-8")
    (line,) = (tmp_path / "twenty.jsonl").read_text("utf-8").splitlines()
    assert json.loads(line)["key"] == "vowel 4096"


def test_after_a_set_that_fails_the_others_are_measured(tmp_path, fake, monkeypatch):
    def ours(train, test, budget, prefer):
        if not fake:
            fake.append("failed")
            raise ToolchainError("no compiler")
        return asdict(figures(wrong=7)), {}

    monkeypatch.setattr(twenty_sets, "_ours", ours)
    options = ["-o", str(tmp_path), "--sets", "vowel,krkopt", "--budgets", "4096"]
    ended = CliRunner().invoke(twenty_sets.main, options)
    assert ended.exit_code == 1
    assert "vowel no compiler" in ended.output
    assert "| krkopt | 2 | 7.00 |" in ended.output
    assert "| vowel |" not in ended.output
    assert CliRunner().invoke(twenty_sets.main, options).exit_code == 0


def test_flash_at_equal_error_is_of_the_most_accurate_models_in_all_known_budgets(
    tmp_path, fake, monkeypatch
):
    before = {("phoneme", size): figures(wrong, size) for size, wrong in ((512, 9), (4096, 3))}
    monkeypatch.setattr(twenty_sets, "earlier", lambda: before)
    assert list(results(tmp_path).equals(ALL)) == []
    for size in (768, 2048):
        know(tmp_path, f"phoneme {size}", 4096 // size, size)
    assert list(results(tmp_path).equals(ALL)) == []
    for size in (768, 2048):
        know(tmp_path, f"phoneme {size} error", 4096 // size, size)
    found = {one.budget: one for one in results(tmp_path).equals(ALL)}
    assert (found[512].ours, found[512].ratio) == (768, 1.5)
    assert (found[4096].ours, found[4096].ratio) == (2048, 0.5)


def test_an_unknown_set_is_refused(tmp_path):
    ended = CliRunner().invoke(twenty_sets.main, ["-o", str(tmp_path), "--sets", "letter"])
    assert ended.exit_code == 2
    assert "'letter'" in ended.output


def result(folder, name, said, y, **changed):
    said, y = np.array(said), np.array(y)
    facts = {
        "set": name, "budget": 4096, "words": "some", "wrong": int((said != y).sum()),
        "n_test": len(y), "n_classes": 2, "flash": 900, "mean": 60.5, "worst": 70, "seconds": 1.0,
    }  # fmt: skip
    np.savez(folder / f"{name}.4096.npz", said=said, y=y)
    (folder / f"{name}.4096.json").write_text(json.dumps(facts | changed))


def test_results_of_the_earlier_commit_are_collected_with_their_errors(tmp_path, monkeypatch):
    folder, path = tmp_path / "results", tmp_path / "earlier.csv"
    folder.mkdir()
    result(folder, "vowel", [0, 1, 1, 0], [0, 1, 0, 0])
    (folder / "krkopt.1024.json").write_text("null")
    monkeypatch.setattr(earlier_figures, "PATH", path)
    ended = CliRunner().invoke(earlier_figures.main, [str(folder)])
    assert ended.exit_code == 0, ended.output
    found = earlier_figures.earlier(path)
    assert list(found) == [("vowel", 4096)]
    one = found["vowel", 4096]
    assert one.missed.tolist() == [False, False, True, False]
    assert (one.error, one.flash, one.mean, one.worst) == (25.0, 900, 60.5, 70)


def test_decisions_of_another_run_are_refused(tmp_path):
    result(tmp_path, "vowel", [0, 1, 1, 0], [0, 1, 0, 0], wrong=2)
    with pytest.raises(ValueError, match="do not match"):
        list(earlier_figures.collected(tmp_path))
