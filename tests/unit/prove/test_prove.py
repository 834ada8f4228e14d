"""Proofs of linked programs: what is right is proved, and nothing that is wrong."""

from dataclasses import replace
from functools import cache
from itertools import product
from random import Random

import numpy as np
import pytest

from bncc.device.machine import pack, row_dtype
from bncc.discretize.readings import probe_values, state_dtype, states_of_raw
from bncc.emit.emitter import EmitOptions, emit_c
from bncc.model.reference import predict, scores
from bncc.prove.build import build
from bncc.prove.prove import prove
from bncc.prove.replay import Replay, patched
from bncc.prove.specification import OF_READINGS, OF_SCORES
from tests import models as hand
from tests.agreement.test_mixed_readings import MIXES, emissions, model_of

pytestmark = pytest.mark.firmware
pytest.importorskip("capstone")

PLACES = ("cortex-m0", "cortex-m4", "rv32")
MODELS = {name: hand.NAMED[name] for name in ("naive_integer", "tan_float", "sum_of_tables")}
ENTRIES = ("predict-raw", "predict", "trusted", "scores", "scores-raw")
N_MUTANTS = 25


@pytest.fixture(scope="module", params=PLACES)
def bench(require_bench, request):
    return require_bench(request.param, simulator="unicorn")


@pytest.fixture(scope="module")
def programs(bench):
    """Return a function that builds a model's program once, and the bytes of a score."""

    @cache
    def built(name, optimize="size", level="-Os"):
        model = MODELS[name]()
        options = EmitOptions(
            "m", frozenset({"raw", "trusted", "scores", "scores-raw"}), target=bench.target.name,
            optimize=optimize,
        )  # fmt: skip
        emission = emit_c(model, options)
        code, symbols = build(model, emission, bench, level, ENTRIES)
        text = emission.files["m.h"]
        (size,) = (n for n in (1, 2, 4) if f"typedef uint{8 * n}_t m_cost_t" in text)
        return model, code, symbols, size

    return built


def verdict(built, entry, code=None, model=None):
    of, own, symbols, size = built
    return prove(model or of, code or own, symbols[entry], entry, score_size=size)


def invalid_states(model):
    """Return some states, at least one of them out of range."""
    choices = [sorted({0, n - 1, n, 255} | set(range(min(n, 2)))) for n in model.n_states]
    return np.array([
        x for x in product(*choices) if any(s >= n for s, n in zip(x, model.n_states, strict=True))
    ])  # fmt: skip


def answers(built, entry, code) -> bool:
    """Run every input of states, or many readings, in the simulator; true if all are right."""
    model, _, symbols, size = built
    replay = Replay(code, symbols[entry])
    if entry in OF_READINGS:
        rng = np.random.default_rng(0)
        R = np.stack([rng.choice(probe_values(f), 400) for f in model.features], axis=1)
        X = states_of_raw(model.features, R)
        wanted = predict(model, X)
        layout = row_dtype(model.features, packed=code.target.packed)
        inputs = [row.tobytes() for row in pack(R, layout)]
    else:
        X = hand.all_states(model)
        wanted = predict(model, X)
        if entry != "trusted":
            bad = invalid_states(model)
            X = np.concatenate([X, bad])
            wanted = np.concatenate([wanted, np.full(len(bad), -1)])
        kind = state_dtype(model.n_states)
        inputs = [x.astype(kind).tobytes() for x in X]
    n_output = size * model.n_classes if entry in OF_SCORES else 0
    for k, one in enumerate(inputs):
        call = replay.call(one, n_output)
        if call.violation or not call.ended or call.outcome != wanted[k]:
            return False
        if entry in OF_SCORES:
            found = np.frombuffer(call.scores, dtype=f"<u{size}")
            right = scores(model, X[k : k + 1])[0] if wanted[k] >= 0 else 0
            if not (found == right).all():
                return False
    return True


@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize("name", MODELS)
def test_a_correct_program_is_proved(bench, programs, name, entry):
    built = programs(name)
    found = verdict(built, entry)
    assert found.status == "proved", found.sentence
    assert found.instructions
    assert found.stack is not None
    assert found.exit_code == 0


@pytest.mark.no_cover
@pytest.mark.parametrize("family", ["cut-lanes", "cut-loop", "cut-packed"])
@pytest.mark.parametrize("mix", ["halves", "half floats"])
@pytest.mark.parametrize("place", PLACES)
def test_limits_of_two_bytes_are_proved(require_gcc, place, mix, family):
    """A threshold that is one float lower makes another model."""
    bench, model = require_gcc(place), model_of(MIXES[mix], 3)
    (emission, *_) = emissions(model, family, entries=frozenset({"raw"}))
    code, symbols = build(model, emission, bench, "-Os", ("predict-raw",))
    found = prove(model, code, symbols["predict-raw"], "predict-raw", score_size=1)
    assert found.status == "proved", found.sentence
    first, *others = model.features
    lower = float(np.nextafter(np.float32(first.thresholds[3]), np.float32(0)))
    cuts = (*first.thresholds[:3], lower, *first.thresholds[4:])
    other = replace(model, features=(replace(first, thresholds=cuts), *others))
    found = prove(other, code, symbols["predict-raw"], "predict-raw", score_size=1)
    assert found.status == "refuted", found.sentence


@pytest.mark.parametrize("name", MODELS)
def test_the_bounds_are_not_exceeded(programs, name):
    """The most instructions and bytes of stack of any call in the simulator."""
    built = programs(name)
    model, code, symbols, _ = built
    found = verdict(built, "trusted")
    replay = Replay(code, symbols["trusted"], is_counted=True)
    kind = state_dtype(model.n_states)
    calls = [replay.call(x.astype(kind).tobytes()) for x in hand.all_states(model)]
    assert max(call.instructions for call in calls) <= found.instructions
    assert max(call.stack for call in calls) <= found.stack


@pytest.mark.parametrize("entry", ["predict-raw", "trusted", "scores-raw"])
def test_another_model_is_not_proved(programs, entry):
    """One cost of the model changed so that some decision differs; a threshold moved by one."""
    built = programs("naive_integer")
    model = built[0]
    tables = [table.copy() for table in model.tables]
    tables[0][1] = [0, 15, 15]
    assert verdict(built, entry, model=replace(model, tables=tuple(tables))).status != "proved"
    moved = replace(model, prior=np.array([2, 11, 2]))
    assert verdict(built, entry, model=moved).status != "proved"
    if entry in OF_READINGS:
        first = replace(model.features[0], thresholds=(-5, 101))
        moved = replace(model, features=(first, *model.features[1:]))
        assert verdict(built, entry, model=moved).status != "proved"


def mutants(rng: Random, built, n: int):
    """Yield programs with one bit changed in the functions of the model or its constants."""
    _, code, symbols, _ = built
    starts = sorted(symbols.values(), key=code.entry)
    first = min(code.entry(name) for name in starts)
    around = [(start, data) for start, data in code.sections if start <= first < start + len(data)]
    (start, data) = around[0]
    last = min(first + 400, start + len(data))
    for _ in range(n):
        at = rng.randrange(first, last)
        old = code.bytes_at(at, 1)
        assert old is not None
        yield at, patched(code, at, bytes([old[0] ^ 1 << rng.randrange(8)]))


@pytest.mark.no_cover
@pytest.mark.parametrize("entry", ["trusted", "predict", "predict-raw", "scores", "scores-raw"])
def test_no_mutant_is_wrongly_proved(programs, entry):
    """A proved mutant answers right for every input: its bit is of other code, or idle."""
    built = programs("tan_float" if entry in ("trusted", "predict-raw") else "naive_integer")
    rng = Random(entry)
    n_refused = 0
    for at, code in mutants(rng, built, N_MUTANTS):
        if verdict(built, entry, code).status == "proved":
            assert answers(built, entry, code), f"a bit at {at:#x}"
        else:
            n_refused += 1
    assert answers(built, entry, built[1])
    assert n_refused


def test_a_changed_table_entry_is_not_proved(programs):
    """Each byte of code and constants that makes some decision wrong when it changes by one."""
    built = programs("naive_integer")
    _, code, symbols, _ = built
    at = code.entry(symbols["trusted"])
    n_wrong = 0
    for address in range(at, at + 60, 2):
        old = code.bytes_at(address, 1)
        if old is None:
            break
        changed = patched(code, address, bytes([old[0] ^ 1]))
        if not answers(built, "trusted", changed):
            n_wrong += 1
            assert verdict(built, "trusted", changed).status != "proved"
    assert n_wrong
