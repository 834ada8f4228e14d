"""The program that answers inputs on a stream, and the sanitizers that watch it."""

import numpy as np
import pytest

from bncc.device import harness
from bncc.device.harness import Harness, HarnessError, build_harness
from bncc.errors import ToolchainError
from bncc.model.reference import predict, scores
from bncc.toolchain.tools import host_compilers
from tests import models as hand
from tests.unit.device.by_hand import FILES, MODEL, spoiled

pytestmark = pytest.mark.cc
X = hand.all_states(MODEL)


@pytest.fixture
def build(require_tool):
    require_tool("gcc")
    return lambda files, **options: build_harness(MODEL, files, **options)


@pytest.mark.parametrize("sanitize", [False, True])
def test_all_entries_answer_as_the_reference(build, sanitize):
    """With sanitizers and without."""
    with build(FILES, sanitize=sanitize) as program:
        assert np.array_equal(program.predict(X), predict(MODEL, X))
        assert np.array_equal(program.trusted(X), predict(MODEL, X))
        y, s = program.scores(X)
        assert np.array_equal(y, predict(MODEL, X))
        assert np.array_equal(s, scores(MODEL, X))
        assert program.raw(np.array([[101.0, 0.0], [-32768.0, 1.0]])).tolist() == [2, 0]
        assert program.predict(np.array([[3, 0]])).tolist() == [-1]
        assert program.predict(X[:0]).shape == (0,)


READS = [
    pytest.param("x[0] > 2 || x[1] > 1", "x[2] > 2 || x[1] > 1", id="state behind the last"),
    pytest.param("x[0] > 2 || x[1] > 1", "x[-1] > 2 || x[1] > 1", id="state before the first"),
    pytest.param("light[3 * x[1] + c]", "light[4 * x[1] + c]", id="table entry"),
    pytest.param("s[c] = (uint8_t)(s[c] - least)", "s[c + 1] = (uint8_t)(s[c] - least)",
                 id="score behind the last"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new"), READS)
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_an_access_out_of_bounds_is_stopped(require_tool, compiler, old, new):
    """Inputs and outputs lie in objects of exactly their size."""
    require_tool(compiler)
    (tool,) = host_compilers(compiler)
    with (
        build_harness(MODEL, spoiled(old, new), compiler=tool, opt_level="-O0") as program,
        pytest.raises(HarnessError, match=r"was stopped: (AddressSan|hand\.c:)") as caught,
    ):
        program.scores(X)
    assert caught.value.exit_code == 1
    assert "/" not in str(caught.value)
    assert "0x" not in str(caught.value)


def test_a_raw_reading_behind_the_last_is_stopped(build):
    """Also raw rows have exactly their size."""
    with (
        build(spoiled("x[1] > 0", "x[2] > 0"), opt_level="-O0") as program,
        pytest.raises(HarnessError, match="was stopped"),
    ):
        program.raw(np.zeros((1, 2)))


def test_a_program_that_never_ends_is_stopped(build, monkeypatch):
    """After a while it is reported like a crash."""
    monkeypatch.setattr(harness, "RUN_LIMIT", 0.5)
    endless = spoiled("int best = 0;", "int best = 0; while (x[0] < 9) { }")
    with (
        build(endless, sanitize=False, opt_level="-O0") as program,
        pytest.raises(HarnessError, match="did not end within 0 s; try fewer inputs"),
    ):
        program.predict(X)


def test_a_compile_error_leaves_nothing_behind(build):
    """It is reported in one sentence, and the folder is gone."""
    with pytest.raises(ToolchainError, match="failed: "):
        build(spoiled("int c;", "int c"))


def reply(*parts: bytes):
    return Harness(MODEL, frozenset({"predict", "raw"}), lambda request: b"".join(parts), "gcc")


def test_the_protocol_is_entry_count_and_rows():
    """What another machine's harness is sent, and how its answer is read."""
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
