"""Lanes that are subtracted at once: words of random operations, and scores that gcc subtracts."""

from dataclasses import replace
from itertools import product
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.shared.trained_models import Trained
from bncc.emit.emitter import EmitOptions, emit_c
from bncc.model.reference import predict
from bncc.model.reference import scores as model_scores
from bncc.prove.build import linked_program, verdict_of
from bncc.prove.flow import flow_of
from bncc.prove.lanes import TOPS, Lanes
from bncc.prove.machines import decoder_of
from bncc.prove.replay import Replay, patched
from bncc.prove.values import MASK, Term, UndecidedError, Value
from bncc.prove.words import Words
from tests.tiers import examples
from tests.unit.prove.brute import number, random_number, word

FULL = (((0, 2),),) * 5
POINTS = list(product(range(3), repeat=len(FULL)))
SOME = POINTS[::7]
NOP = bytes.fromhex("00bf")


def in_lanes(rng: Random, words: Words, bits: int) -> Value:
    """Return a sum of a function of each input, in lanes of which none overflows."""
    most, found = (1 << bits) // len(words.full), Value(0)
    for axis in range(len(words.full)):
        partition = words.partitions.of_axis(axis, [((x, x),) for x in range(3)])
        places = range(0, 32, bits)
        values = [sum(rng.randrange(most) << k for k in places) for _ in range(3)]
        term = Term(partition, np.array(values, dtype=np.int64))
        found = words.add(found, words.value(0, [term]))
    return found


def difference(words: Words, x: Value, y: Value, top: int) -> Value:
    """Return the difference in lanes, as gcc writes it."""
    whole = words.sub(
        words.bitwise(x, Value(top), "or"), words.bitwise(y, Value(MASK ^ top), "and")
    )
    same = words.sub(Value(MASK), words.bitwise(x, y, "xor"))
    return words.bitwise(whole, words.bitwise(same, Value(top), "and"), "xor")


@pytest.mark.parametrize("top", TOPS)
@pytest.mark.parametrize("seed", range(3))
def test_a_difference_has_that_of_each_lane(top, seed):
    """Also where a lane of the second word is larger."""
    words, rng, n = Words(FULL), Random(seed), TOPS[top]
    x, y = (in_lanes(rng, words, n) for _ in range(2))
    lanes = words.lanes.lanes(difference(words, x, y, top).base)
    assert len(lanes) == 32 // n
    for point in POINTS:
        for k, (found, bits) in enumerate(lanes):
            a, b = (word(one, point) >> n * k for one in (x, y))
            assert bits == n
            assert (word(found, point) - (a - b)) % (1 << n) == 0


@pytest.mark.parametrize("seed", range(3))
def test_lanes_that_overflow(seed):
    """The difference is that of the words all the same, in lanes of any width."""
    words, rng = Words(FULL), Random(seed)
    x = words.scaled(in_lanes(rng, words, 16), 3)
    y = in_lanes(rng, words, 16)
    for top in TOPS:
        found = difference(words, x, y, top)
        for point in SOME:
            a, b = word(x, point), word(y, point)
            whole = ((a | top) - (b & ~top)) & MASK
            assert number(words, found, point) == whole ^ (~(a ^ b) & top & MASK)


@pytest.mark.parametrize("change", ["no complement", "another word", "other tops"])
def test_what_is_no_difference_has_no_lanes(change):
    words, rng, top = Words(FULL), Random(5), 0x80808080
    x, y, z = (in_lanes(rng, words, 8) for _ in range(3))
    a = words.bitwise(x, Value(top), "or")
    b = words.bitwise(y, Value(MASK ^ top), "and")
    same = words.bitwise(x, z if change == "another word" else y, "xor")
    if change != "no complement":
        same = words.sub(Value(MASK), same)
    kept = 0x80008000 if change == "other tops" else top
    found = words.bitwise(words.sub(a, b), words.bitwise(same, Value(kept), "and"), "xor")
    assert not words.lanes.lanes(found.base)


@pytest.mark.parametrize("seed", range(3))
def test_a_sum_that_may_be_negative_is_shifted(seed):
    """A compiler adds the highest bit of a byte by inverting it."""
    words, rng = Words(FULL * 2), Random(seed)
    points = [tuple(rng.choices(range(3), k=len(words.full))) for _ in range(200)]
    lanes = in_lanes(rng, words, 8)
    tops = sorted(word(lanes, point) >> 24 for point in points)
    total = words.sub(lanes, Value(tops[len(tops) // 2] << 24))
    assert len({word(total, point) >> 31 for point in points}) == 2
    with pytest.raises(UndecidedError, match="bits of a sum"):
        words.shifted(total, 24)
    top = words.moved_down(total, 24)
    byte = words.bitwise(top, Value(128), "xor")
    second = words.low(words.moved_down(total, 8), 8)
    half = words.low(words.moved_down(words.moved_down(total, 8), 8), 24)
    for point in points:
        wanted = word(total, point)
        assert word(byte, point) == wanted >> 24 ^ 128
        assert word(second, point) == wanted >> 8 & 255
        assert number(words, top, point) == wanted >> 24
        assert number(words, half, point) == wanted >> 16


def operation(rng: Random, words: Words, operands):
    """Return a random operation on words, and the same on numbers."""
    (a, at), (b, bt) = rng.choice(operands), rng.choice(operands)
    top = rng.choice(list(TOPS))
    k = rng.choice([top, MASK ^ top, top, MASK ^ top, MASK, random_number(rng)])
    kind = rng.choice(
        ["and", "or", "xor", "mixed", "not", "sub", "sub", "number", "shift", "low", "bit"]
    )
    n = rng.randrange(1, 32)
    if kind == "shift":
        return words.moved_down(a, n), lambda point: (at(point) & MASK) >> n
    if kind == "low":
        return words.low(a, n), lambda point: at(point) & (1 << n) - 1
    if kind == "bit":
        return words.bitwise(a, Value(1 << n), "xor"), lambda point: at(point) ^ 1 << n
    if kind == "number":
        return words.sub(Value(k), a), lambda point: k - at(point)
    if kind == "not":
        return words.sub(Value(MASK), a), lambda point: ~at(point)
    if kind == "sub":
        return words.sub(a, b), lambda point: at(point) - bt(point)
    if kind == "mixed":
        return words.bitwise(a, b, "xor"), lambda point: at(point) ^ bt(point)
    done = {"and": int.__and__, "or": int.__or__, "xor": int.__xor__}[kind]
    return words.bitwise(a, Value(k), kind), lambda point: done(at(point), k)


@pytest.mark.no_cover
@given(st.integers(0, 2**32 - 1))
@settings(max_examples=examples(60), deadline=None)
def test_any_operations_agree_at_every_input(seed):
    """Whatever lanes and masks are combined, a word is right unless it is undecided."""
    rng = Random(seed)
    words = Words(FULL)
    operands = []
    for _ in range(2):
        value = in_lanes(rng, words, rng.choice([8, 16]))
        operands.append((value, lambda point, value=value: word(value, point)))
    for _ in range(rng.randint(2, 9)):
        try:
            found, at = operation(rng, words, operands)
            for point in SOME if words.is_number(found) else ():
                assert number(words, found, point) == at(point) & MASK
        except UndecidedError:
            continue
        operands.append((found, lambda point, at=at: at(point) & MASK))


@pytest.mark.firmware
@pytest.mark.parametrize("target", ["cortex-m0", "cortex-m4", "rv32"])
def test_lanes_that_clang_shifts_are_proved(require_bench, target):
    """It inverts the highest bit of a lane in the place of a sum with a constant."""
    bench = require_bench(target, "ziglang")
    model = Trained("robot", "naive", 4).model(None)
    options = EmitOptions("m", frozenset({"trusted"}), target=target, kernel="lanes")
    program = linked_program(model, emit_c(model, options), bench, "-O2", ("trusted",))
    found = verdict_of(model, program, "trusted", time_limit=60)
    assert found.status == "proved", found.sentence


@pytest.fixture(scope="module")
def scores(require_bench):
    """Return a model, and its program that subtracts four scores in one word."""
    bench = require_bench("cortex-m4", "arm-none-eabi-gcc", "unicorn")
    model = Trained("wifi", "naive", 4).model(None)
    options = EmitOptions(
        "m", frozenset({"trusted", "scores"}), target="cortex-m4", optimize="speed"
    )
    return model, linked_program(model, emit_c(model, options), bench, "-O2", ("scores",))


def instructions(program):
    decode = decoder_of(program.code).decode
    flow = flow_of(decode, program.code.entry(program.symbols["scores"]))
    return [decode(at) for at in sorted(flow.places)]


@pytest.mark.firmware
def test_scores_that_are_subtracted_at_once_are_proved(scores):
    model, program = scores
    text = [one.text for one in instructions(program)]
    assert any("#0x80808080" in one for one in text)
    found = verdict_of(model, program, "scores")
    assert found.status == "proved", found.sentence


@pytest.mark.firmware
@pytest.mark.no_cover
@pytest.mark.parametrize("what", ["dropped", "offset"])
def test_a_changed_store_of_scores_is_refuted(scores, what):
    """Each store to the output, one after the other: that of four scores, and those of zeros."""
    model, program = scores
    stores = [one for one in instructions(program) if one.text.startswith(("str r", "strb r"))]
    stores = [one for one in stores if "[r5" in one.text]
    assert len(stores) == 5
    for one in stores:
        old = int.from_bytes(program.code.bytes_at(one.address, 2), "little")
        new = NOP if what == "dropped" else (old ^ 1 << 6).to_bytes(2, "little")
        changed = patched(program.code, one.address, new)
        found = verdict_of(model, replace(program, code=changed), "scores")
        assert found.status == "refuted", f"{one.text}: {found.sentence}"


@pytest.mark.firmware
@pytest.mark.no_cover
def test_no_changed_subtraction_is_proved(scores):
    """A bit of each operation between the least score and the store."""
    model, program = scores
    found = instructions(program)
    (first,) = (
        k for k, one in enumerate(found) if one.text.startswith("bfi") and "#0x18" in one.text
    )
    (last,) = (k for k, one in enumerate(found) if one.text.startswith("str r"))
    rng = Random(1)
    for one in found[first : last + 1]:
        at = one.address + rng.randrange(one.size)
        (old,) = program.code.bytes_at(at, 1)
        changed = patched(program.code, at, bytes([old ^ 1 << rng.randrange(8)]))
        other = replace(program, code=changed)
        verdict = verdict_of(model, other, "scores", time_limit=5)
        assert verdict.status != "proved" or agrees(model, other), f"{one.text} at {at:#x}"


def agrees(model, program) -> bool:
    """Return whether the scores of many inputs are those of the model."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, np.array(model.n_states), (2000, model.n_features))
    replay = Replay(program.code, program.symbols["scores"])
    for x, wanted, label in zip(X, model_scores(model, X), predict(model, X), strict=True):
        call = replay.call(x.astype(np.uint8).tobytes(), model.n_classes)
        if call.outcome != label or list(call.scores) != list(wanted):
            return False
    return True


def test_words_with_inverted_bits_that_differ_have_different_names():
    lanes = Lanes()
    first, second = (lanes.inverted(lanes.inverted(Value(k), 1 << 31), 1) for k in (5, 6))
    assert not first.equals(second)
