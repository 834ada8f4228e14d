"""The time limit of a proof: it ends long steps too, and what follows has its own time."""

from time import monotonic

import pytest

from bncc.prove.code import Code
from bncc.prove.deadline import Deadline
from bncc.prove.prove import Proof, prove
from bncc.prove.values import UndecidedError
from bncc.prove.words import Words
from bncc.targets import find_target
from tests import models as hand

PAST = -1.0


def test_a_deadline_is_a_time_of_the_clock():
    Deadline().check()
    Deadline(monotonic() + 1e6).check()
    over = Deadline(PAST)
    assert over.is_over
    with pytest.raises(UndecidedError, match="time-limit"):
        over.check()
    over.lift()
    over.check()
    assert not over.is_over


def test_operations_give_up_in_their_loops():
    """Within one overlay of two partitions, as within every sum."""
    words = Words((((0, 99),), ((0, 99),)))
    cells = [((x, x),) for x in range(100)]
    p, q = (words.partitions.of_axis(axis, cells) for axis in range(2))
    late = Words(words.full)
    late.partitions.check_time = Deadline(PAST).check
    for give_up in (
        lambda: late.partitions.overlay(p, q, 1 << 20),
        lambda: late.partitions.of_axis(0, cells),
        lambda: late.value(1, ()),
    ):
        with pytest.raises(UndecidedError, match="time-limit"):
            give_up()
    assert words.partitions.overlay(p, q, 1 << 20) is not None


def test_a_proof_without_time_says_so():
    code = Code(find_target("rv32"), ((0, bytes.fromhex("13000000")),), {"f": 0}, "")
    model = hand.NAMED["naive_integer"]()
    found = prove(model, code, "f", "predict", time_limit=0)
    assert (found.status, found.reason) == ("undecided", "time-limit")


def test_what_was_not_done_for_lack_of_time_has_that_reason(monkeypatch):
    """Operations may give up in another way where a part of them has no time."""
    code = Code(find_target("rv32"), ((0, bytes.fromhex("13000000")),), {"f": 0}, "")
    deadline = Deadline()
    proof = Proof(hand.NAMED["naive_integer"](), code, "f", "predict", deadline)

    def go(entry):
        monkeypatch.setattr(deadline, "_at", PAST)
        raise UndecidedError("bits", "a part took too long")

    monkeypatch.setattr(proof.run, "go", go)
    assert proof.verdict()[:2] == ("undecided", "time-limit")
    assert not deadline.is_over, "what follows has its own time"
