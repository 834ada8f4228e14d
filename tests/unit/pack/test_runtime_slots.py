"""Two slots of flash: which one is used, and an update that is interrupted anywhere."""

from collections.abc import Iterator
from random import Random

import numpy as np
import pytest

from bncc.device.blobs import Request, host_runner
from bncc.pack.blob import CODES, COMMIT_BYTES, BlobError, newer
from bncc.pack.runtime import runtime_files
from bncc.pack.writer import pack
from tests import models as hand
from tests.packed import tried

pytestmark = pytest.mark.cc
OLD, NEW = hand.tan_float(), hand.naive_integer()
SIZE = 128
EMPTY = b"\xff" * SIZE


@pytest.fixture(scope="module")
def runner(require_tool):
    require_tool("gcc")
    with host_runner(runtime_files()) as built:
        yield built


def slot(model, sequence: int) -> bytes:
    """Return a slot with a model, erased behind it."""
    return pack(model, sequence).content.ljust(SIZE, b"\xff")


def states(before: bytes, blob: bytes) -> Iterator[bytes]:
    """
    Yield a slot after each byte of an update is erased or written, and within a byte.

    Erasing sets bits and writing clears them; an interrupted byte has some of its bits.
    """
    rng, now = Random(1), bytearray(before)
    written = [*range(COMMIT_BYTES, len(blob)), *range(COMMIT_BYTES)]
    for at, value in [*((at, 0xFF) for at in range(SIZE)), *((at, blob[at]) for at in written)]:
        whole = now[at]
        some = rng.randrange(256)
        now[at] = (whole & ~some) | (value & some)
        yield bytes(now)
        now[at] = value
        yield bytes(now)


@pytest.mark.parametrize("is_second", [False, True])
@pytest.mark.parametrize("before", [EMPTY, slot(NEW, 4), slot(NEW, 65534)[::-1]])
def test_an_interrupted_update_leaves_the_old_or_the_new_model(runner, before, is_second):
    """After every byte, and within each; the new one is used once the last byte is written."""
    old, new = slot(OLD, 5), pack(NEW, 6).content
    found = list(states(before, new))
    pairs = [(each, old) if is_second else (old, each) for each in found]
    of_old, of_new = int(is_second), int(not is_second)
    rows = np.zeros((0, 1), dtype=np.int64)
    answers = runner.answers([Request(first, rows, second) for first, second in pairs])
    opened = [answer.opened for answer in answers]
    assert opened == [of_old] * (len(found) - 1) + [of_new]
    assert opened == [newer(*pair) for pair in pairs]


def test_the_model_that_is_used_decides(runner):
    """The struct is that of the slot which is returned, wherever it is."""
    x, y = tried(OLD, 200)
    later, earlier = slot(OLD, 0), slot(NEW, 65535)
    answers = runner.answers([Request(later, x, earlier), Request(earlier, x, later)])
    assert [answer.opened for answer in answers] == [0, 1]
    assert all(np.array_equal(answer.classes, y) for answer in answers)


@pytest.mark.parametrize(
    ("first", "second", "used"),
    [(1, 2, 1), (2, 1, 0), (7, 7, 0), (65535, 0, 1), (0, 65535, 0), (0, 32767, 1), (0, 32768, 0)],
)
def test_sequence_numbers_are_compared_in_serial_arithmetic(runner, first, second, used):
    """A number is later than the 32767 before it."""
    slots = slot(OLD, first), slot(NEW, second)
    (answer,) = runner.answers([Request(slots[0], np.zeros((0, 1), dtype=np.int64), slots[1])])
    assert answer.opened == newer(*slots) == used


def test_two_slots_without_a_model_are_an_error(runner):
    """It is that of the first slot."""
    (answer,) = runner.answers([Request(EMPTY, np.zeros((0, 1), dtype=np.int64), EMPTY)])
    assert answer.opened == CODES["MAGIC"]
    with pytest.raises(BlobError, match="no blob of this version"):
        newer(EMPTY, EMPTY)


@pytest.mark.parametrize("size", [0, 1, 23, 24])
def test_slots_that_are_too_small_are_not_read_beyond_their_ends(runner, size):
    """Sanitizers stop the program at a read outside."""
    slots = pack(OLD).content[:size], pack(NEW).content[:size]
    (answer,) = runner.answers([Request(slots[0], np.zeros((0, 1), dtype=np.int64), slots[1])])
    assert answer.opened == CODES["SIZE"]
    with pytest.raises(BlobError, match="longer than the space"):
        newer(*slots)
