"""The campaign of mutants of proved code: a slice of it, and that it notices a wrong prover."""

import json

import pytest
from click.testing import CliRunner

from benchmarks.campaigns import prove_mutants
from benchmarks.campaigns.many_calls import ManyCalls
from bncc.model.file import save_model
from bncc.prove.points import Points
from bncc.prove.specification import specification
from bncc.prove.verdict import Verdict
from tests import models as hand

pytestmark = pytest.mark.firmware


@pytest.fixture
def campaign(require_bench, tmp_path):
    """Return a function that runs the campaign on a small model, and its lines so far."""
    require_bench("cortex-m0", simulator="unicorn")
    path, output = tmp_path / "small.bncc", tmp_path / "mutants.jsonl"
    save_model(hand.naive_integer(), path)

    def run(n, *more):
        words = [path, "--mutants", n, "--inputs", 300, "-o", output, *more]
        result = CliRunner().invoke(prove_mutants.main, list(map(str, words)))
        return result, [json.loads(line) for line in output.read_text().splitlines()]

    run.output = output
    return run


def test_mutants_are_judged_once(campaign):
    """Opcodes and constants in turn; a second run resumes, after half a line too."""
    result, lines = campaign(2)
    assert (result.exit_code, len(lines)) == (0, 6)
    assert "total: 6 mutants" in result.stdout
    assert {line["kind"] for line in lines} == {"opcode", "constant"}
    assert {line["status"] for line in lines} <= {"proved", "refuted", "undecided"}
    assert sum(line["status"] == "refuted" for line in lines) >= 3
    for line in lines:
        assert (line["input"] is not None) is (line["status"] == "refuted")
    campaign.output.write_text(campaign.output.read_text() + '{"binary": "sm')
    result, again = campaign(3)
    assert (result.exit_code, again[:6], len(again)) == (0, lines, 9)


def test_a_wrong_prover_is_noticed(campaign, monkeypatch):
    """One that accepts everything: exit code 1, and the input that disagrees."""

    def accept(model, code, symbol, entry, **_):
        return Verdict("proved", entry, code.target.name)

    monkeypatch.setattr(prove_mutants, "places_of", lambda code, symbol, reads: {
        "opcode": set(range(code.entry(symbol), code.entry(symbol) + 8)), "constant": set(),
    })  # fmt: skip
    monkeypatch.setattr(prove_mutants, "prove", accept)
    result, lines = campaign(2, "--entry", "trusted")
    wrong = [line for line in lines if line["status"] == "wrongly accepted"]
    assert wrong
    assert result.exit_code == 1
    assert set(wrong[0]["input"]) == {"pressure", "light"}
    assert f"{len(wrong)} wrongly accepted" in result.stdout


@pytest.mark.parametrize("target", ["cortex-m0", "cortex-m4", "rv32"])
def test_calls_in_a_loop_give_the_answers(campaign, require_bench, monkeypatch, target):
    """Right code agrees with the model, other answers do not, and changed code is noticed."""
    require_bench(target, simulator="unicorn")
    monkeypatch.setattr(prove_mutants, "SINGLE", 0)
    path = campaign.output.with_name("small.bncc")
    for binary in prove_mutants.built(path, target, "balanced", "-Os", ("trusted", "predict-raw")):
        of = specification(binary.model, binary.entry)
        points = Points(binary.model, binary.entry, of)
        group = points.random(500)
        answers = ManyCalls(binary.code, binary.symbol).answers(points.buffers(group))
        assert not len(prove_mutants.suspects(points, group, answers))
        answers[[7, 333]] ^= 1
        assert prove_mutants.suspects(points, group, answers).tolist() == [7, 333]
        assert prove_mutants.disagreeing(binary, binary.code, 20_000, 1) is None
        changed = (prove_mutants.mutant(binary, 1, k)[0] for k in range(12))
        assert any(prove_mutants.disagreeing(binary, one, 20_000, 1) for one in changed)


def test_a_prover_that_fails_is_listed(campaign, monkeypatch):
    known = prove_mutants.prove

    def fail(model, code, *rest, **more):
        if type(code).__name__ == "Traced":  # the original
            return known(model, code, *rest, **more)
        raise ZeroDivisionError("no")

    monkeypatch.setattr(prove_mutants, "prove", fail)
    result, lines = campaign(1, "--entry", "trusted")
    assert (lines[0]["status"], lines[0]["reason"]) == ("failed", "ZeroDivisionError: no")
    assert "failed: ZeroDivisionError: no 1" in result.stdout
