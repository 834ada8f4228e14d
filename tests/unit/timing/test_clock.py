"""Cycles of programs that run on unicorn, against counts by hand."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bncc.device.cross import Toolchain
from bncc.device.machine import HarnessError
from bncc.device.meter import CycleCost, Meter
from bncc.device.simulators.unicorn import Reading
from bncc.targets.timing import CORES
from bncc.timing.blocks import Flash
from bncc.timing.clock import CycleClock, Run
from tests.unit.device.written import NOTHING, ROUNDS, in_assembly, in_c, meter, of, states

pytestmark = pytest.mark.firmware
pytest.importorskip("capstone", reason="capstone is not installed")

TARGETS = {
    "cortex-m0": "cortex-m0", "cortex-m0plus": "cortex-m0", "cortex-m3": "cortex-m3",
    "cortex-m4": "cortex-m4", "ibex": "rv32", "picorv32": "rv32",
}  # fmt: skip


NO_WAITS = Flash()


def bench_of(require_bench, core: str, flash: Flash = NO_WAITS) -> Toolchain:
    """Return the tools of a core, with a clock."""
    bench = require_bench(TARGETS[core], simulator="unicorn")
    return replace(bench, clock=CycleClock(core, flash))


def cycles(bench: Toolchain, files: dict[str, str], *values: int) -> CycleCost:
    with meter(bench, files) as measured:
        found = measured.costs(states(*values))["predict"].cycles
    assert found is not None
    return found


# Cycles of a round of two nops, a subtraction and a jump that is taken, fewest and most
PER_ROUND = {
    "cortex-m0": (6, 6), "cortex-m0plus": (5, 5), "cortex-m3": (5, 7), "cortex-m4": (5, 7),
    "ibex": (6, 6), "picorv32": (14, 14),
}  # fmt: skip


@pytest.mark.parametrize("core", TARGETS)
def test_a_loop_takes_the_cycles_of_its_rounds(require_bench, core: str) -> None:
    """The last round's jump is not taken, whatever the number of rounds."""
    bench = bench_of(require_bench, core)
    n = np.arange(1, 100)
    found = cycles(bench, in_assembly(of(ROUNDS, TARGETS[core])), *n)
    one = cycles(bench, in_assembly(of(ROUNDS, TARGETS[core])), 1)
    low, high = PER_ROUND[core]
    assert found.mean_low == one.mean_low + low * (n.mean() - 1)
    assert found.mean_high == one.mean_high + high * (n.mean() - 1)
    assert (found.min, found.max) == (one.min, one.max + high * 98)


# Code before the return, and its cycles beyond those of a return alone
BY_HAND = {
    "movs r0, #1; lsls r0, r0, #3; nop": (3, 3),
    "ldrb r0, [r0]; ldrb r1, [r0]": (4, 4),  # the second from the vectors, at address 0 or 1
    "push {r4, r5, r6}; pop {r4, r5, r6}": (8, 8),
    "movs r0, #0; cmp r0, #1; beq 1f; nop; 1:": (4, 4),  # not taken
    "movs r0, #0; cmp r0, #0; beq 1f; nop; 1:": (5, 4),  # taken
    "b 1f; nop; 1:": (3, 2),
    "push {r4, lr}; bl 1f; b 2f; 1: bx lr; 2: pop {r4}; pop {r3}; mov lr, r3": (18, 15),
    "mov r3, sp; sub sp, #16; mov r1, sp; stm r1!, {r0, r2, r3}; mov r1, sp; "
    "ldm r1!, {r0, r2}; mov sp, r3": (12, 12),
}  # fmt: skip


@pytest.mark.parametrize("code", BY_HAND)
@pytest.mark.parametrize("k", range(2), ids=("cortex-m0", "cortex-m0plus"))
def test_sequences_take_the_cycles_that_were_counted_by_hand(
    require_bench, code: str, k: int
) -> None:
    bench = bench_of(require_bench, ("cortex-m0", "cortex-m0plus")[k])
    found = cycles(bench, in_assembly(f"{code}; bx lr"), 0)
    nothing = cycles(bench, in_assembly(NOTHING["cortex"]), 0)
    assert found.min - nothing.min == found.max - nothing.max == BY_HAND[code][k]
    assert found.mean_low == found.mean_high == found.mean == found.min


def test_a_return_by_pop_takes_the_cycles_of_the_table(require_bench) -> None:
    """A push of two registers takes 3, and a pop of two with pc 4 + 2 instead of 3 for bx."""
    bench = bench_of(require_bench, "cortex-m0")
    found = cycles(bench, in_assembly("push {r4, lr}; pop {r4, pc}"), 0)
    assert found.min - cycles(bench, in_assembly(NOTHING["cortex"]), 0).min == 3 + 6 - 3


def test_wait_states_widen_the_range_upwards(require_bench) -> None:
    files = in_assembly(of(ROUNDS, "cortex-m0"))
    exact = cycles(bench_of(require_bench, "cortex-m0"), files, 50)
    waiting = cycles(bench_of(require_bench, "cortex-m0", Flash(1)), files, 50)
    assert waiting.min <= exact.min == exact.max < waiting.max
    # At most two to three words of code and two that were fetched past the jump, a round
    assert waiting.max - exact.max <= 50 * 5 + 40


def test_an_instruction_without_a_time_leaves_the_cycles_unknown(require_bench) -> None:
    """Also if only one row executes it; instructions are counted all the same."""
    bench = bench_of(require_bench, "cortex-m0")
    code = "ldrb r0, [r0]; cmp r0, #0; beq 1f; dmb; 1: movs r0, #0; bx lr"
    with meter(bench, in_assembly(code)) as measured:
        found = measured.costs(states(0, 1))["predict"]
        assert found.cycles is None
        assert found.max > found.min
        assert measured.costs(states(0))["predict"].cycles is not None


def test_a_wrong_entry_of_the_table_is_noticed_by_the_loop_of_the_meter(
    require_bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The meter expects its loop to take the cycles of the table, so both must be wrong."""
    bench = bench_of(require_bench, "cortex-m0")
    monkeypatch.setattr(Run, "_edge", lambda self, source, target: Reading(0, 0, 0))
    with (
        meter(bench, in_c("(void)x; return 0;")) as measured,
        pytest.raises(HarnessError, match=r"counts 0 to 0 cycles where 8000 to 8000 pass"),
    ):
        measured.costs(states(0))


def test_without_a_clock_there_are_no_cycles(require_bench) -> None:
    bench = require_bench("cortex-m0", simulator="unicorn")
    with meter(bench, in_c("(void)x; return 0;")) as measured:
        assert measured.costs(states(0))["predict"].cycles is None


def test_counting_cycles_leaves_instructions_and_stack_as_they_are(require_bench) -> None:
    timed = bench_of(require_bench, "ibex")
    files = in_assembly(of(ROUNDS, "rv32"))
    with meter(timed, files) as one, meter(replace(timed, clock=None), files) as other:
        found, plain = (each.costs(states(3, 50))["predict"] for each in (one, other))
    assert (found.min, found.mean, found.max, found.stack) == (
        plain.min, plain.mean, plain.max, plain.stack,
    )  # fmt: skip


def test_extremes_of_other_inputs_join_those_of_the_first() -> None:
    one, other = CycleCost(5, 6, 7, 9), CycleCost(4, 5, 8, 12)
    assert one.wider(other) == CycleCost(4, 6, 7, 12)
    assert one.mean == 6.5
    assert one.to_json() == {"min": 5, "mean": 6.5, "max": 9, "mean_low": 6, "mean_high": 7}


def test_blocks_that_are_no_code_have_no_cycles(require_bench, tmp_path: Path) -> None:
    bench = require_bench("cortex-m0", simulator="unicorn")
    with meter(bench, in_c("(void)x; return 0;")) as measured:
        assert isinstance(measured, Meter)
        run = CycleClock("cortex-m0").start(measured._image)
        run.trace.append((0x1234_5678, 4))
        run.read()
        assert not run.unknown  # What precedes a pair is not decoded
        run.trace.append((0x1234_5678, 4))
        run.read()
    assert [each.unknown for each in run.readings] == [0, 1]
    assert list(run.unknown) == ["no code at 0x12345678"]
    assert set(CORES) >= {"cortex-m0"}
