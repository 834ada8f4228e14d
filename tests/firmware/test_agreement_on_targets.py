"""The emitted C gives Python's answers on every target, by every compiler and simulator for it."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from bncc.device.agreement import compare
from bncc.device.cross import CrossHarness
from bncc.device.inputs.cases import Case, Effort, cases
from bncc.device.machine import Harness, HarnessError, pack
from bncc.device.sources import sources
from bncc.discretize.readings import states_of_raw
from bncc.emit.emitter import EmitOptions, emit_c
from bncc.emit.textbook import textbook_c
from bncc.model.reference import costs
from bncc.on_device import verify
from bncc.targets import TARGETS
from tests import models as hand
from tests.agreement.large import LARGE
from tests.firmware.fleet import Member, answers, comparing, disagreeing

pytestmark = pytest.mark.firmware

ENTRIES = frozenset({"raw", "scores", "trusted"})
PLACES = [
    (target.name, compiler, simulator)
    for target in TARGETS.values()
    for compiler in target.flags
    for simulator in target.simulators
]
MODELS = {
    name: {**hand.NAMED, **LARGE}[name]
    for name in (
        "naive_integer",  # raw readings: an array of int16
        "int32_thresholds",  # of int32, thresholds at the ends of its range
        "tan_float",  # of float
        "int8_readings",
        "uint8_readings",  # none is missing
        "mixed_kinds",  # a struct of all of these and of codes of 8 and 16 bits
        "bytes_and_others",  # a struct of int8, uint8 and others
        "wide_states",  # states of 16 bits
        "general_network",  # several parents
        "pseudo_tan",  # arcs that form cycles
        "sum_255",  # sums of 8, 16, 32 bits
        "sum_256",
        "sum_65535",
        "sum_65536",
    )
}

LEVELS = ("-O0", "-O3", "-Os")
"""Unoptimized, for speed and for size; -O2 is that of all models."""
ODD = np.array([np.nan, -np.nan, 0.0, -0.0, np.inf, -np.inf, 1e-45, -1e-45, 3.4e38, 0.5])
"""Floats of every kind: NaN is missing, both zeros, infinities, the smallest float."""


def files_of(model):
    return emit_c(model, EmitOptions("m", ENTRIES)).files


def built(model, bench, level="-O2") -> CrossHarness:
    return CrossHarness(sources(model, files_of(model)), bench, level)


def odd_floats(model) -> Case:
    R = np.array(np.meshgrid(ODD, ODD, ODD)).reshape(3, -1).T
    states = states_of_raw(model.features, R)
    assert {tuple(row) for row in states} > {(0, 0, 0), (1, 2, 1)}
    return Case("raw", R, costs(model, states).argmin(axis=1).astype(np.int16))


@cache
def fleet() -> dict[str, Member]:
    """Return every model, one of every type at every level, and textbook C of floats.

    Each with every entry point at every joint state, or 100 random ones, and all table rows.
    """
    has = ENTRIES | {"predict"}
    found = {
        name: comparing(make(), files_of(make()), 100, entries=has) for name, make in MODELS.items()
    }
    found |= {
        f"mixed_kinds {level}": replace(found["mixed_kinds"], level=level) for level in LEVELS
    }
    model = hand.tan_float()
    found["odd floats"] = comparing(model, files_of(model), 0, also=[odd_floats(model)])
    has = frozenset({"predict", "trusted", "raw"})
    found["textbook"] = comparing(model, textbook_c(model, "m").files, 200, entries=has)
    return found


@pytest.mark.parametrize(("target", "compiler", "simulator"), PLACES)
def test_the_c_agrees(require_bench, target, compiler, simulator):
    """Classes, scores, refusals and raw readings, bit for bit, at every level.

    The textbook's C compares floats, by the compiler's library on targets without an FPU.
    """
    bench = require_bench(target, compiler, simulator)
    outcomes = answers(bench, "-O2", fleet())
    assert disagreeing(outcomes) == {}
    assert min(outcome.checked for outcome in outcomes.values()) >= 100


@pytest.mark.parametrize("target", TARGETS)
def test_a_model_of_every_type_agrees(require_bench, target):
    """Every target with its preferred tools: quick enough for every change."""
    model = LARGE["mixed_kinds"]()
    member = comparing(model, files_of(model), 100, entries=ENTRIES | {"predict"})
    assert disagreeing(answers(require_bench(target), "-O2", {"mixed_kinds": member})) == {}


@pytest.mark.parametrize("target", TARGETS)
def test_verify_names_target_tools_and_strength(require_bench, target):
    """The report: the target, the tools, and the number of inputs."""
    bench = require_bench(target)
    outcome = verify(hand.tan_float(), target, n_random=50)
    assert outcome.agree
    assert outcome.target == target
    assert outcome.toolchain == f"{bench.compiler} -O2, {bench.place}"
    assert bench.compiler.version in outcome.toolchain
    assert bench.simulator.tool(target).version in outcome.toolchain
    assert outcome.strength.startswith("all 12 joint states, 50 random readings")


@pytest.mark.parametrize("target", TARGETS)
def test_rows_are_laid_out_as_on_the_target(require_bench, target):
    """An AVR packs a struct, the others align it; big-endian stores the high byte first."""
    model = LARGE["mixed_kinds"]()
    with built(model, require_bench(target)) as machine:
        row = pack(np.array([[258.0, 1, 2, 3, 4, 259]]), machine.row_dtype)
        machine.raw_rows(row)  # the C reports the size of a row, and Python compares
    assert len(row.tobytes()) == (14 if target == "avr" else 20)
    assert row.tobytes()[:2] == (b"\1\2" if target == "big-endian" else b"\2\1")


@pytest.mark.parametrize(
    ("target", "told"),
    [("avr", "a raw row has 14 bytes in the C and 20 in Python"), ("cortex-m0", "status 1")],
)
def test_another_layout_is_refused(require_bench, target, told):
    """A row of another size than the C's gets no answer."""
    bench, model = require_bench(target), LARGE["mixed_kinds"]()
    with built(model, bench) as machine:
        packed = not bench.target.packed
        other = Harness(model, machine.entries, machine._exchange, "", packed=packed)
        with pytest.raises(HarnessError, match=told):
            other.raw(np.zeros((1, 6)))


def test_another_byte_order_is_seen(require_bench):
    """The check compares values: the same program, read in the wrong order, disagrees."""
    model = hand.wide_states()
    with built(model, require_bench("big-endian")) as machine:
        machine.state_dtype = machine.state_dtype.newbyteorder("<")
        outcome = compare(machine, cases(model, effort=Effort(n_random=100)))
    assert not outcome.agree
