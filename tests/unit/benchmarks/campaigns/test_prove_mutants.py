"""The campaign of mutants of proved code: a slice of it, and that it notices a wrong prover."""

import json

import pytest
from click.testing import CliRunner

from benchmarks.campaigns import prove_mutants
from bncc.model.file import save_model
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
