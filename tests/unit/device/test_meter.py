"""The meter's figures for classifiers of known cost, on every target and simulator."""

import re
from dataclasses import replace

import numpy as np
import pytest

from bncc.device.machine import HarnessError
from bncc.device.measure import bench_inputs
from bncc.device.meter import Meter
from bncc.device.sources import sources
from bncc.emit.emitter import EmitOptions, emit_c
from bncc.emit.textbook import textbook_c
from bncc.errors import ToolchainError
from bncc.targets import TARGETS
from tests import models as hand
from tests.agreement.large import letter_like
from tests.unit.device.written import (
    FRAME,
    NOTHING,
    ROUNDS,
    cost,
    in_assembly,
    in_c,
    meter,
    of,
    states,
)

pytestmark = pytest.mark.firmware

PLACES = [(target.name, name) for target in TARGETS.values() for name in target.simulators]
PAINTED = [name for name in TARGETS if name != "avr"]
# What a call adds to a frame: a return address.
CALL = {"avr": 2, "x86": 8}
# Setting up an address, call, return, keeping the result: two more or less, as the compiler likes.
COST_OF_NOTHING = {"avr": 2 + 4 + 4 + 1, "cortex": 4, "rv32": 5, "big-endian": 6, "x86": 4}


@pytest.mark.parametrize(("target", "simulator"), PLACES)
def test_a_loop_costs_what_its_rounds_cost(require_bench, target, simulator):
    """To the instruction, or the cycle, for every number of rounds from 1 to 199."""
    per_round = 5 if target == "avr" else 4
    n = np.arange(1, 200)
    found = cost(require_bench(target, simulator=simulator), in_assembly(of(ROUNDS, target)),
                 states(*n))  # fmt: skip
    assert found.max - found.min == per_round * 198
    assert found.mean - found.min == pytest.approx(per_round * (n.mean() - 1), abs=1e-9)


@pytest.mark.parametrize(("target", "simulator"), PLACES)
def test_call_and_return_count_and_the_clock_does_not(require_bench, target, simulator):
    """A function that only returns costs setting up its argument, call, return, and a move."""
    bench = require_bench(target, simulator=simulator)
    found = cost(bench, in_assembly(of(NOTHING, target)), states(0, 1, 2))
    assert found.min == found.max == found.mean
    assert abs(found.min - of(COST_OF_NOTHING, target)) <= (3 if target == "avr" else 2)
    assert found.stack == CALL.get(target, 0)


@pytest.mark.parametrize(("target", "simulator"), PLACES)
def test_code_without_a_jump_is_counted_however_long(require_bench, target, simulator):
    """Unicorn's MIPS crashes on long translation blocks unless instructions are counted."""
    bench = require_bench(target, simulator=simulator)
    long = f".rept 1500; nop; .endr; {of(NOTHING, target)}"
    found = [cost(bench, in_assembly(code), states(0)).min for code in (of(NOTHING, target), long)]
    assert found[1] - found[0] == 1500


@pytest.mark.parametrize(("target", "simulator"), PLACES)
def test_a_counter_that_does_not_count_is_refused(require_bench, target, simulator):
    """Here it is the expectation that is wrong, by one per round."""
    bench = require_bench(target, simulator=simulator)
    wrong = replace(bench, target=replace(bench.target, loop_cost=bench.target.loop_cost + 1))
    right, unit = 2000 * bench.target.loop_cost, bench.target.unit
    told = f"counts {right} {unit} where {right + 2000} are executed; use another simulator"
    with pytest.raises(HarnessError, match=re.escape(told)):
        cost(wrong, in_assembly(of(NOTHING, target)), states(0))


@pytest.mark.parametrize(("target", "simulator"), PLACES)
def test_two_runs_count_the_same(require_bench, target, simulator):
    """Built twice and run twice: every figure of every entry point."""
    bench = require_bench(target, simulator=simulator)
    model = letter_like("float32")
    files = emit_c(model, EmitOptions("m", frozenset({"trusted"}))).files
    inputs = bench_inputs(model, n_rows=5)
    found = []
    for _ in range(2):
        with Meter(sources(model, files), bench, "-O2") as measured:
            costs, memory = measured.costs(inputs), measured.footprint(("predict", "raw"))
        assert list(costs) == ["predict", "trusted", "raw"]
        found.append(({k: replace(c, classes=None) for k, c in costs.items()}, memory))
        assert costs["predict"].min > costs["trusted"].min > 500
    assert found[0] == found[1]
    assert found[0][1].ram == 0


@pytest.mark.parametrize(("target", "simulator"), PLACES)
def test_the_stack_is_as_deep_as_the_frame(require_bench, target, simulator):
    """A frame of known size, and the return address where a call stores it."""
    bench = require_bench(target, simulator=simulator)
    found = cost(bench, in_assembly(of(FRAME, target)), states(0, 1))
    assert found.stack == (3 if target == "avr" else 256) + CALL.get(target, 0)


@pytest.mark.parametrize("target", PAINTED)
def test_a_stack_deeper_than_the_paint_is_refused(require_bench, target):
    """It would be reported too small."""
    body = (
        "volatile uint32_t a[900];\nint k;\n"
        "for (k = 899; k >= 0; k--) {\n    a[k] = x[0];\n}\nreturn (int16_t)a[3];"
    )
    with pytest.raises(HarnessError, match=r"predict on .* needs more stack than the meter looks"):
        cost(require_bench(target), in_c(body), states(0))


class Altered:
    """A simulator whose program answers something else."""

    def __init__(self, simulator, alter) -> None:
        self._simulator, self._alter = simulator, alter

    def __getattr__(self, name):
        return getattr(self._simulator, name)

    def run(self, image, request, *, is_metered=False) -> bytes:
        words = np.frombuffer(self._simulator.run(image, request, is_metered=is_metered), "<u4")
        return self._alter(words.copy()).astype("<u4").tobytes()


def altered(bench, alter):
    return replace(bench, simulator=Altered(bench.simulator, alter))


def test_missing_answers_are_refused(require_bench):
    """One row too few."""
    bench = altered(require_bench("x86"), lambda words: words[:-3])
    with pytest.raises(HarnessError, match="answered 1 of 2 inputs; report this"):
        cost(bench, in_assembly(NOTHING["x86"]), states(0, 1))


def test_the_counter_may_start_again_from_zero(require_bench):
    """Between the two readings that make a difference."""

    def wrap(words):
        words = words.astype(np.int64)
        words[2:4] += 2**32 - 1000 - words[2]
        words[5::3] += 2**32 - 5 - words[1]
        words[1] = 2**32 - 5
        assert words[3] >= 2**32 < words[5]
        return words % 2**32

    files, inputs = in_assembly(of(ROUNDS, "x86")), states(1, 2)
    bench = require_bench("x86")
    right, wrapped = (cost(b, files, inputs) for b in (bench, altered(bench, wrap)))
    assert replace(wrapped, classes=None) == replace(right, classes=None)


def test_the_meter_leaves_nothing_behind(require_bench, monkeypatch, tmp_path):
    """Neither when it is left nor when the C does not compile."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    bench = require_bench("x86")
    with meter(bench, in_c("return x[0] * 0;")):
        assert list(tmp_path.glob("bncc-*"))
    with pytest.raises(ToolchainError, match="failed"):
        meter(bench, in_c("return y;"))
    assert not list(tmp_path.glob("bncc-*"))


def test_only_what_the_c_has_is_measured(require_bench):
    """The textbook of states alone has no raw; without readings nothing raw is asked."""
    bench, model = require_bench("x86"), hand.tan_float()
    with Meter(sources(model, textbook_c(model, "m", raw=False).files), bench, "-O2") as measured:
        assert set(measured.costs(bench_inputs(model, n_rows=2))) == {"predict", "trusted"}
    with Meter(sources(model, emit_c(model, EmitOptions("m")).files), bench, "-O2") as measured:
        assert set(measured.costs(replace(bench_inputs(model, n_rows=2), R=None))) == {"predict"}


@pytest.mark.parametrize(("target", "simulator"), PLACES)
def test_variables_begin_as_c_promises(require_bench, target, simulator):
    """With their initial values, or 0: each of 7 and 3 bytes, which no word divides."""
    before = "static uint8_t a[7] = { 1, 2, 3, 4, 5, 6, 7 };\nstatic uint8_t b[3];"
    body = "a[0]++;\nb[0]++;\nreturn (int16_t)(100 * a[x[0]] + b[x[0] % 3U]);"
    found = cost(require_bench(target, simulator=simulator), in_c(body, before), states(6, 4, 1))
    assert found.classes.tolist() == [702, 500, 200]  # called twice
