"""Requests to a program on a stream, its answers, and refusals."""

import numpy as np
import pytest

from bncc.device.machine import Harness, HarnessError, check_raw_size, cost_dtype
from bncc.errors import ToolchainError
from tests import models as hand
from tests.unit.device.by_hand import MODEL

X = hand.all_states(MODEL)


def test_a_raw_row_of_another_size_is_a_mistake_in_bncc():
    """Better a sentence than garbage."""
    with pytest.raises(ToolchainError, match="4 in Python"):
        check_raw_size(MODEL, 8)
    check_raw_size(MODEL, 4)


def test_scores_may_have_any_width():
    """From one to eight bytes."""
    assert [cost_dtype(n).itemsize for n in (1, 2, 4, 8)] == [1, 2, 4, 8]


def reply(*parts: bytes):
    return Harness(MODEL, frozenset({"predict", "raw"}), lambda request: b"".join(parts), "gcc")


def test_the_protocol_is_entry_count_and_rows():
    """The bytes sent to the harness of a target, and the interpretation of its answer."""
    sent = []

    def exchange(request: bytes) -> bytes:
        sent.append(request)
        return b"\x02" + bytes(4) + b"\x00\x01" + b"\x00\x07\x00\x08\x01\x00"

    program = Harness(MODEL, frozenset({"scores"}), exchange, "big", byte_order=">")
    y, s = program.scores(np.array([[2, 1]]))
    assert sent == [b"s\x01\x00\x00\x00\x02\x01"]
    assert y.tolist() == [1]
    assert s.tolist() == [[7, 8, 256]]


def test_a_program_that_stops_early_is_reported():
    """No answer at all, too few answers, or a raw row of another size."""
    with pytest.raises(HarnessError, match="wrote nothing"):
        reply(b"").predict(X)
    with pytest.raises(HarnessError, match="answered 2 of 6 inputs"):
        reply(b"\x01", bytes(4), bytes(4)).predict(X)
    with pytest.raises(HarnessError, match="8 bytes in the C and 4 in Python"):
        reply(b"\x01\x08\x00\x00\x00", bytes(2)).raw(np.zeros((1, 2)))
