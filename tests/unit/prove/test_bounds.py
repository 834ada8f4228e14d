"""Bounds of emitted C by proofs: which entry points have one, and what is said of the others."""

import sys
from types import SimpleNamespace

import pytest

from bncc.device.machine import HarnessError
from bncc.emit.emitter import EmitOptions, emit_c
from bncc.errors import ToolchainError
from bncc.prove import bounds
from bncc.prove.build import LinkedProgram
from bncc.prove.verdict import Verdict
from bncc.resources import ProvedBound
from bncc.targets import find_target
from tests import models as hand

BENCH = SimpleNamespace(target=find_target("rv32"))


@pytest.fixture
def verdicts(monkeypatch):
    """Return ``verdicts(**by_entry)``: prove an entry point, or have another verdict about it."""

    def install(**by_entry):
        def verdict_of(model, program, entry, *, time_limit):
            assert time_limit == bounds.LIMIT
            said = by_entry.get(entry.replace("-", "_"), {"status": "proved"})
            return Verdict(entry=entry, target="rv32", instructions=90, stack=16, **said)

        monkeypatch.setattr(bounds, "verdict_of", verdict_of)
        monkeypatch.setattr(bounds, "linked_program", lambda *given: LinkedProgram(None, {}))
        return hand.int32_thresholds(), emit_c(
            hand.int32_thresholds(), EmitOptions("m", frozenset({"trusted"}), target="rv32")
        )

    return install


def test_every_entry_point_of_the_c_has_a_bound_or_a_reason(verdicts):
    undecided = {"status": "undecided", "reason": "cells"}
    proved, others = bounds.proved_bounds(*verdicts(predict=undecided), BENCH, "-Os")
    bound = ProvedBound(90, 16)
    assert proved == [("predict_raw", bound), ("predict_trusted", bound)]
    assert others == [("predict", "cells")]


def test_without_a_decoder_nothing_is_proved(verdicts, monkeypatch):
    monkeypatch.setattr(bounds, "find_spec", lambda name: None)
    proved, others = bounds.proved_bounds(*verdicts(), BENCH, "-Os")
    assert proved == []
    assert dict(others) == dict.fromkeys(
        ("predict_raw", "predict", "predict_trusted"), "without capstone"
    )


def test_a_decoder_that_does_not_load_is_named(verdicts, monkeypatch):
    monkeypatch.setitem(sys.modules, "capstone", None)
    monkeypatch.setattr(bounds, "find_spec", lambda name: object())
    with pytest.raises(ToolchainError, match=r"does not load .*; install it again by"):
        bounds.proved_bounds(*verdicts(), BENCH, "-Os")


def test_a_target_without_proofs_has_no_reasons_either(verdicts):
    bench = SimpleNamespace(target=find_target("x86"))
    assert bounds.proved_bounds(*verdicts(), bench, "-Os") == ([], [])


def test_a_refuted_program_is_not_emitted(verdicts):
    refuted = {"status": "refuted", "reason": "wrong-class", "input": {"x": 1}, "actual": 2}
    with pytest.raises(HarnessError, match="it is a bug in bncc"):
        bounds.proved_bounds(*verdicts(trusted=refuted), BENCH, "-Os")
