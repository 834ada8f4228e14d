"""The claim of bit-exactness on the papers' data, by the scripts that measure it."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks import target_matrix
from benchmarks.agreement_matrix import full_matrix, quick_matrix, run
from benchmarks.reference_models import Recipe, Reference
from bncc.build.targets import TARGETS
from bncc.data.dataset import Column, Table
from tests import models as hand


def check(tasks, require_tool) -> None:
    for compiler in ("gcc", "clang"):
        require_tool(compiler)
    total = run(tasks)
    assert total.models == len(tasks)
    assert total.builds == sum(len(task.builds) for task in tasks)
    assert total.inputs > 10_000 * len(tasks)
    assert total.mismatches == 0, total.stories


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


def check_on_targets(runs, processes) -> None:
    outcomes = list(target_matrix.outcomes(runs, {}, processes))
    total = target_matrix.total(runs, outcomes)
    assert total.failed == total.mismatches == 0, [o for o in outcomes if not o.agree]
    assert total.runs == len(runs)
    for outcome in outcomes:
        assert outcome.strength.startswith("200 data rows, 1,000 random states, every row of ")
        assert outcome.checked > 2_000


@pytest.mark.firmware
@pytest.mark.shared
@pytest.mark.parametrize("target", TARGETS)
def test_the_narrowest_and_the_widest_agree_on_a_target(shared_data, require_bench, target):
    """TAN on letter, whose classes are the most and whose tables are the largest."""
    require_bench(target)
    recipes = [Recipe("letter", "chow-liu", bits) for bits in (1, 8)]
    runs = [target_matrix.Run(recipe, target, shared_data) for recipe in recipes]
    check_on_targets(runs, processes=1)


@pytest.mark.firmware
@pytest.mark.shared
@pytest.mark.slow
def test_the_whole_matrix_agrees_on_targets(shared_data, require_bench):
    """Three sets, two structures, four widths, nine machines."""
    for target in TARGETS:
        require_bench(target)
    runs = target_matrix.matrix(shared_data)
    assert len(runs) == 3 * 2 * 4 * 9
    check_on_targets(runs, processes=2)


@pytest.fixture
def small(monkeypatch, tmp_path):
    """Let the matrix speak of one small model on this machine; return its command's words."""
    model = hand.naive_integer()
    columns = [
        Column(f.name, "integer", np.arange(-20, 20), np.zeros(40, dtype=bool))
        for f in model.features
    ]
    known = Reference(model, Table(tuple(columns)))
    monkeypatch.setattr(target_matrix, "reference", lambda recipe, data: known)
    (tmp_path / "paper").mkdir()
    words = ["--data", str(tmp_path), "--target", "host", "--dataset", "letter", "--processes", "1"]
    return [*words, "--log", str(tmp_path / "log.jsonl")]


@pytest.mark.cc
def test_finished_runs_are_not_run_again(small, monkeypatch, capsys):
    """A log, even one cut off in the middle of a line, spares what it holds; new C does not."""
    assert target_matrix.main(small) == 0
    first = capsys.readouterr().out
    log = Path(small[-1])
    whole = log.read_text()
    assert len(target_matrix.read(log)) == 8
    log.write_text(whole[: whole.rindex("{") + 40])
    assert len(target_matrix.read(log)) == 7
    assert target_matrix.main(small) == 0
    again = capsys.readouterr()
    assert again.err.count("done before") == 7
    assert again.out.split(",")[:5] == first.split(",")[:5]
    assert len(target_matrix.read(log)) == 8
    monkeypatch.setattr(target_matrix, "_digest", lambda emission: "another")
    target_matrix.main(small)
    assert "done before" not in capsys.readouterr().err


@pytest.mark.cc
def test_a_mismatch_fails_the_matrix_and_is_tried_again(small, monkeypatch, capsys):
    """Exit status 1, the input in words; the next run looks again."""
    honest = target_matrix.emit_c

    def wrong(model, options):
        emission = honest(model, options)
        text = emission.files["m.c"].replace("< lowest", "> lowest")
        assert text != emission.files["m.c"]
        return replace(emission, files={**emission.files, "m.c": text})

    monkeypatch.setattr(target_matrix, "emit_c", wrong)
    for _ in range(2):
        assert target_matrix.main(small) == 1
        said = capsys.readouterr()
        assert "done before" not in said.err
        assert "the C says" in said.out
        assert "8 failed" in said.out
