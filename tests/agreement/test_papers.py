"""Bit-exactness on the papers' data, by the scripts that measure it."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.campaigns import target_matrix, target_runs
from benchmarks.campaigns.agreement_matrix import full_matrix, quick_matrix, run
from benchmarks.campaigns.multiplications import MACHINES
from benchmarks.shared.reference_models import Recipe, Reference
from bncc.data.dataset import Column, Table
from bncc.device.inputs.cases import Effort
from bncc.targets import TARGETS
from tests import models as hand


def check(tasks, require_tool) -> None:
    for compiler in ("gcc", "clang"):
        require_tool(compiler)
    total = run(tasks)
    assert total.models == len(tasks)
    assert total.builds == sum(len(task.builds) for task in tasks)
    assert total.inputs > 10_000 * len(tasks)
    assert total.mismatches == 0, total.stories


@pytest.mark.long
@pytest.mark.cc
@pytest.mark.shared
def test_a_subset_agrees(shared_data, require_tool):
    """Three widths, three kinds of reading, all data sets and structures, few builds."""
    check(quick_matrix(shared_data), require_tool)


@pytest.mark.cc
@pytest.mark.shared
@pytest.mark.slow
def test_the_whole_matrix_agrees(shared_data, require_tool):
    """1 to 8 bits, splits of every kind, all compilers, levels and sanitizers."""
    check(full_matrix(shared_data), require_tool)


def check_on_targets(places, ways, processes=1) -> None:
    outcomes = list(target_matrix.outcomes(places, ways, processes=processes))
    total = target_matrix.total(places, outcomes)
    assert total.failed == total.mismatches == 0, [o for o in outcomes if not o.agree]
    assert total.runs == len(places) * len(ways)
    assert total.compared >= len(places)
    for outcome in outcomes:
        if outcome.c_digest:
            assert outcome.strength.startswith("200 data rows, 1,000 random states, every row of ")
            assert outcome.checked > 2_000


@pytest.mark.firmware
@pytest.mark.shared
@pytest.mark.parametrize("target", TARGETS)
def test_the_narrowest_and_the_widest_agree_on_a_target(
    shared_data, require_bench, require_tool, target
):
    """TAN on letter, whose classes are the most and whose tables are the largest."""
    require_bench(target)
    require_tool(f"{MACHINES[target][1]}objdump")
    recipes = [Recipe("letter", "chow-liu", bits) for bits in (1, 8)]
    places = [target_runs.Place(recipe, target, shared_data) for recipe in recipes]
    check_on_targets(places, ("balanced",))


@pytest.mark.firmware
@pytest.mark.shared
@pytest.mark.slow
def test_the_whole_matrix_agrees_on_targets(shared_data, require_bench, require_tool):
    """Three sets, two structures, four widths, nine targets, every optimization goal."""
    for target in TARGETS:
        require_bench(target)
        require_tool(f"{MACHINES[target][1]}objdump")
    places = target_matrix.matrix(shared_data)
    assert len(places) == 3 * 2 * 4 * 9
    check_on_targets(places, target_runs.WAYS, processes=2)


@pytest.fixture
def small(monkeypatch, tmp_path):
    """Limit the matrix to one small model on the host; return the words of its command."""
    model = hand.naive_integer()
    columns = [
        Column(f.name, "integer", np.arange(-20, 20), np.zeros(40, dtype=bool))
        for f in model.features
    ]
    known = Reference(model, Table(tuple(columns)))
    monkeypatch.setattr(target_runs, "reference", lambda recipe, data: known)
    monkeypatch.setattr(target_matrix, "STRUCTURES", ("naive",))
    monkeypatch.setattr(target_matrix, "WIDTHS", (1, 8))
    (tmp_path / "paper").mkdir()
    words = ["--data", str(tmp_path), "--dataset", "letter", "--processes", "1"]
    for way in ("balanced", "plain", "lanes", "bit-slice"):
        words += ["--way", way]
    return [*words, "--log", str(tmp_path / "log.jsonl"), "--target", "host"]


@pytest.mark.cc
def test_finished_runs_are_not_run_again(small, monkeypatch, capsys):
    """A log, even a truncated one, saves the work that it records; new inputs are run."""
    assert target_matrix.main(small) == 0
    first = capsys.readouterr().out
    log = Path(small[-3])
    whole = log.read_text()
    assert len(target_matrix.read(log)) == 8
    log.write_text(whole[: whole.rindex("{") + 40])
    assert len(target_matrix.read(log)) == 7
    assert target_matrix.main(small) == 0
    again = capsys.readouterr()
    assert again.err.count("done before") == 6  # the others have no layout
    assert again.out.split(",")[:-1] == first.split(",")[:-1]
    assert len(target_matrix.read(log)) == 8
    monkeypatch.setattr(target_runs, "EFFORT", Effort(10))
    target_runs.inputs_of.cache_clear()
    target_matrix.main(small)
    assert "done before" not in capsys.readouterr().err


@pytest.mark.cc
def test_ways_with_the_same_c_are_compared_once(small, capsys):
    """`balanced` chose lanes; another kernel has no layout."""
    assert target_matrix.main(small) == 0
    said = capsys.readouterr()
    ends = [re.sub(r"[\d.]+ s", "", line.partition(": ")[2]) for line in said.err.splitlines()]
    assert ends == ["agrees ()", "agrees ()", "agrees (as balanced)", "no layout"] * 2
    outcomes = target_matrix.read(Path(small[-3])).values()
    checked = sum(outcome.checked for outcome in outcomes if outcome.as_way is None)
    told = f"2 models, 8 runs, 2 without a layout, 0 failed, 4 programs compared on {checked:,} "
    assert said.out.startswith(told)


@pytest.mark.cc
def test_a_mismatch_fails_the_matrix_and_is_tried_again(small, monkeypatch, capsys):
    """Exit status 1, and the input in the report; the next run checks again."""
    spoil(monkeypatch, lambda text: text.replace("< lowest", "> lowest"))
    for _ in range(2):
        assert target_matrix.main(small) == 1
        said = capsys.readouterr()
        assert "done before" not in said.err
        assert "the C says" in said.out


@pytest.mark.firmware
def test_a_multiplication_fails_the_matrix(small, monkeypatch, capsys, require_bench, require_tool):
    """Though every answer agrees."""
    require_bench("x86")
    require_tool("objdump")
    product = "int m_f(int a, int b);\nint m_f(int a, int b) { return a * b; }\n"
    spoil(monkeypatch, lambda text: text + product)
    assert target_matrix.main([*small[:-2], "--target", "x86"]) == 1
    assert "x86 plain: the compiled C holds imul\n" in capsys.readouterr().out


def spoil(monkeypatch, change) -> None:
    """Make the emitter write different C."""
    honest = target_runs.emit_c

    def wrong(model, options):
        emission = honest(model, options)
        text = change(emission.files["m.c"])
        assert text != emission.files["m.c"]
        return replace(emission, files={**emission.files, "m.c": text})

    monkeypatch.setattr(target_runs, "emit_c", wrong)
