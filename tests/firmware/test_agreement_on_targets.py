"""The emitted C gives Python's answers on every target, by every compiler and simulator for it."""

import numpy as np
import pytest

from bncc.device.agreement import compare, verify
from bncc.device.cross import CrossHarness
from bncc.device.harness import Harness
from bncc.device.inputs.cases import Effort, cases
from bncc.device.inputs.raw import pack
from bncc.device.machine import HarnessError
from bncc.device.targets import TARGETS
from bncc.discretize.readings import states_of_raw
from bncc.emit.emitter import EmitOptions, emit_c
from bncc.emit.textbook import textbook_c
from bncc.model.reference import costs
from tests import models as hand
from tests.agreement.large import LARGE

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
        "mixed_kinds",  # a struct of all of these and of codes of 8 and 16 bits
        "wide_states",  # states of 16 bits
        "general_network",  # several parents
        "pseudo_tan",  # arcs that form cycles
        "sum_255",  # sums of 8, 16, 32 bits
        "sum_256",
        "sum_65535",
        "sum_65536",
    )
}

TELLING = ("mixed_kinds", "general_network", "sum_65536")
"""Between them they have every type of the C, so they do where another compiler or simulator
runs what the preferred ones have run for all models."""


def is_preferred(target: str, compiler: str, simulator: str) -> bool:
    of = TARGETS[target]
    return (compiler, simulator) == (next(iter(of.flags)), of.simulators[0])


RUNS = [
    pytest.param(*place, name, id="-".join((*place, name)))
    for place in PLACES
    for name in (MODELS if is_preferred(*place) else TELLING)
]


def files_of(model):
    return emit_c(model, EmitOptions("m", ENTRIES)).files


def built(model, bench, level="-O2") -> CrossHarness:
    return CrossHarness(model, files_of(model), bench, level)


def check(model, bench, level="-O2") -> None:
    """Compare every entry point at every joint state, or 100 random ones and all table rows."""
    with built(model, bench, level) as machine:
        assert machine.entries == {"predict"} | ENTRIES
        outcome = compare(machine, cases(model, effort=Effort(n_random=100)))
    assert outcome.agree, outcome.first_mismatch
    assert outcome.checked >= 100


@pytest.mark.parametrize(("target", "compiler", "simulator", "name"), RUNS)
def test_the_c_agrees(require_bench, target, compiler, simulator, name):
    """Classes, scores, refusals and raw readings, bit for bit."""
    check(MODELS[name](), require_bench(target, compiler, simulator))


@pytest.mark.parametrize("level", ["-O0", "-O3", "-Os"])
@pytest.mark.parametrize("target", TARGETS)
def test_the_c_agrees_at_every_level(require_bench, target, level):
    """Unoptimized, for speed and for size; -O2 is tried above."""
    check(LARGE["mixed_kinds"](), require_bench(target), level)


@pytest.mark.parametrize(
    ("target", "compiler"),
    [(target.name, compiler) for target in TARGETS.values() for compiler in target.flags],
)
def test_the_textbook_agrees(require_bench, target, compiler):
    """It compares floats, by the library of the compiler where there is no unit for them."""
    model = hand.tan_float()
    files = textbook_c(model, "m").files
    with CrossHarness(model, files, require_bench(target, compiler), "-O2") as machine:
        assert machine.entries == {"predict", "trusted", "raw"}
        outcome = compare(machine, cases(model, effort=Effort(n_random=200)))
    assert outcome.agree, outcome.first_mismatch


@pytest.mark.parametrize("target", TARGETS)
def test_verify_names_target_tools_and_strength(require_bench, target):
    """What a user reads: where it ran, what built it, what was tried."""
    bench = require_bench(target)
    outcome = verify(hand.tan_float(), target, n_random=50)
    assert outcome.agree
    assert outcome.target == target
    assert outcome.toolchain == f"{bench.compiler} -O2, {bench.place}"
    assert bench.compiler.version in outcome.toolchain
    assert bench.simulator.tool(target).version in outcome.toolchain
    assert outcome.strength.startswith("all 12 joint states, 50 random readings")


@pytest.mark.parametrize("target", TARGETS)
def test_floats_of_every_kind_arrive(require_bench, target):
    """In the target's byte order: NaN is missing, both zeros, infinities, the smallest float."""
    model = hand.tan_float()
    odd = np.array([np.nan, -np.nan, 0.0, -0.0, np.inf, -np.inf, 1e-45, -1e-45, 3.4e38, 0.5])
    R = np.array(np.meshgrid(odd, odd, odd)).reshape(3, -1).T
    states = states_of_raw(model.features, R)
    assert {tuple(row) for row in states} > {(0, 0, 0), (1, 2, 1)}
    with built(model, require_bench(target)) as machine:
        assert (machine.raw(R) == costs(model, states).argmin(axis=1)).all()


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
