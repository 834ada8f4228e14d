"""
Known defects in machine code of trained models: each is refuted by an input.

Every program is right but for one defect, which compilers, emitters and tables had or could have.
The program without it is proved.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from benchmarks.campaigns.bit_slice_rows import is_affected
from benchmarks.shared.trained_models import Trained, rows_of
from bncc.device.machine import pack, row_dtype
from bncc.discretize.feature import states_of
from bncc.discretize.readings import state_dtype, states_of_raw
from bncc.emit.emitter import Emission, EmitOptions, emit_c, emit_candidate
from bncc.lower.kernels.bit_slice.layout import BitSliceKernel
from bncc.lower.kernels.lanes.layout import LaneKernel, lane_kernel
from bncc.lower.kernels.lanes.schedule import Schedule, lowest_level, schedule
from bncc.model.model import Model
from bncc.model.reference import predict, scores
from bncc.program.ir import costs
from bncc.program.ranges import cost_bounds
from bncc.prove.build import LinkedProgram, linked_program, verdict_of
from bncc.prove.replay import Replay
from tests.agreement.mistakes import bumped

pytestmark = [pytest.mark.firmware, pytest.mark.no_cover]
pytest.importorskip("capstone")

RAW, STATES, SCORES = "predict-raw", "trusted", "scores"
ENTRIES = (RAW, STATES, SCORES)
TARGETS = ("cortex-m0", "cortex-m4", "rv32", "avr")
GCC = {"avr": "avr-gcc", "rv32": "riscv64-unknown-elf-gcc"}
WIFI = {bits: Trained("wifi", "naive", bits) for bits in (2, 3, 4, 6)}
TREE = Trained("wifi", "chow-liu", 2)
ROBOT = Trained("robot", "naive", 4)

Spoil = Callable[[Emission], Emission]


@dataclass(frozen=True)
class Defect:
    """A way to spoil a right program."""

    name: str
    spoil: Spoil
    trained: Trained
    options: Mapping[str, Any] = field(default_factory=dict)
    entries: tuple[str, ...] = (STATES,)
    targets: tuple[str, ...] = ("cortex-m0", "rv32")
    is_proved_without: bool = True  # False where no proof covers the options

    def emission(self, target: str) -> Emission:
        """Return the right C."""
        entries = frozenset({"raw", "trusted", "scores"})
        return emit_c(
            model_of(self.trained), EmitOptions("m", entries, target=target, **self.options)
        )


@cache
def model_of(trained: Trained) -> Model:
    """Train a model of the bundled data."""
    return trained.model(None)


# Ways to spoil a program


def edited(old: str, new: str, file: str = "m.c") -> Spoil:
    """Replace all occurrences of some text in the C."""

    def spoil(emission: Emission) -> Emission:
        return with_text(emission, emission.files[file].replace(old, new), file)

    return spoil


def with_text(emission: Emission, text: str, file: str = "m.c") -> Emission:
    """Return an emission with another file."""
    assert text != emission.files[file]
    return replace(emission, files={**emission.files, file: text})


def entry(array: str, k: int, by: int) -> Spoil:
    """Change an entry of an array."""
    return lambda emission: with_text(emission, bumped(emission.files["m.c"], array, k, by))


def of_costs(change: Callable[[Model], Model]) -> Spoil:
    """Emit the C of a model with other costs."""

    def spoil(emission: Emission) -> Emission:
        request = emission.lowered.request
        return emit_c(change(request.model), request.options)

    return spoil


def tables(change: Callable[[np.ndarray], np.ndarray]) -> Spoil:
    """Change every table of costs."""

    def changed(model: Model) -> Model:
        found = tuple(change(table) for table in model.tables)
        assert any((a != b).any() for a, b in zip(found, model.tables, strict=True))
        return replace(model, tables=found)

    return of_costs(changed)


def scheduled(plan_of: Callable[[LaneKernel, Emission], Schedule]) -> Spoil:
    """Lay the same program out by another schedule, which no bound proves."""

    def spoil(emission: Emission) -> Emission:
        kernel, request = emission.lowered.kernel, emission.lowered.request
        assert isinstance(kernel, LaneKernel)
        plan = plan_of(kernel, emission)
        other = lane_kernel(emission.program, kernel.tables, plan, kernel.largest_sum)
        candidate = replace(emission.choice.chosen, kernel=other)
        return emit_candidate(request.model, candidate, request.options)

    return spoil


def narrow(lane_bits: int, trained: Trained) -> Spoil:
    """Choose lanes by the sums of the training rows, all of which they hold."""

    def plan_of(kernel: LaneKernel, emission: Emission) -> Schedule:
        program = emission.program
        states = states_of(program.features, rows_of(trained.data_set, None).table)
        seen = costs(program, states).max(axis=0)
        lowest = lowest_level(32, lane_bits, 1, program.n_classes, is_signed=True)
        largest = [table.costs.max(axis=0) for table in kernel.tables]
        plan = schedule(lowest, largest, program.prior, seen)
        assert len(plan.levels) == 1
        assert (cost_bounds(program)[1] >= 1 << lowest.capacity(len(seen), is_top=True)).any()
        return plan

    return scheduled(plan_of)


def partial_top(kernel: LaneKernel, emission: Emission) -> Schedule:
    """Take the last lane, which has 5 bits left of the word, for as wide as the others."""
    (level,) = kernel.schedule.levels
    lowest = lowest_level(level.word_bits, 9, 1, emission.program.n_classes)
    return replace(kernel.schedule, levels=(lowest,), is_biased=(False,))


def without_flushes(kernel: LaneKernel, *, is_cleared: bool) -> Schedule:
    """Drop all flushes but the last; the rows behind one are added to the sums or clear them."""
    *rest, last = kernel.schedule.steps
    rows = [step for step in rest if step.kind == "row"]
    assert len(rows) < len(rest)
    if not is_cleared:
        rows = [replace(row, is_first=not k) for k, row in enumerate(rows)]
    return replace(kernel.schedule, steps=(*rows, replace(last, is_first=True)))


def first_row_of_the_pair(emission: Emission) -> Emission:
    """Read a word of a pair's second table from the row of the first one, as 0.1.0 did."""
    kernel = emission.lowered.kernel
    assert isinstance(kernel, BitSliceKernel)
    assert is_affected(kernel)
    statements = emission.files["m.c"].split(";")
    wrong = [
        statement.replace("&other[", "&row[") if "&row[" not in statement else statement
        for statement in statements
    ]
    return with_text(emission, ";".join(wrong))


LANES = {"kernel": "lanes"}
CLAMP = "    for (uint8_t c = 0U; c < M_N_CLASSES; c++) { if (cost[c] > 63U) { cost[c] = 63U; } }\n"
DEFECTS = (
    # Lanes: ../shared/figures/KERNELS.md lists layouts that no test row shows to be unsafe
    Defect("lanes as wide as the training rows need", narrow(5, WIFI[3]), WIFI[3], LANES, ENTRIES,
           TARGETS),
    Defect("lanes too narrow for 24 features", narrow(6, ROBOT), ROBOT, LANES),
    Defect("a last lane without its bits", scheduled(partial_top), WIFI[4], LANES),
    Defect(
        "dropped flushes, so that lanes carry",
        scheduled(lambda kernel, _: without_flushes(kernel, is_cleared=False)),
        WIFI[6], LANES, ENTRIES, TARGETS,
    ),
    Defect(
        "dropped flushes, so that sums are lost",
        scheduled(lambda kernel, _: without_flushes(kernel, is_cleared=True)),
        WIFI[6], LANES,
    ),
    Defect(
        "offsets of classes that no prior returns",
        tables(lambda table: table - table.min(axis=0)), TREE, LANES,
    ),
    Defect("a swapped tie", edited("cost < least", "cost <= least"), WIFI[4], LANES, (RAW, STATES)),
    Defect("a swapped tie of scores", edited("cost[c] < lowest", "cost[c] <= lowest"), WIFI[4],
           LANES, (SCORES,)),
    Defect("a threshold one too large", entry("cuts_int16", 3, 1), WIFI[4], LANES, (RAW,), TARGETS),
    Defect("a threshold one too small", entry("cuts_int16", 20, -1), WIFI[4], LANES, (RAW,)),
    Defect("a reading at a threshold above it", edited("value > m_rom", "value >= m_rom"),
           WIFI[4], LANES, (RAW,)),
    Defect("a missing reading by another number",
           edited("value == INT16_MIN", "value == INT16_MAX"), WIFI[4], LANES, (RAW,)),
    Defect("a state checked one too high", edited("x[i] > ", "x[i] > 1U + "), WIFI[4], LANES,
           (SCORES,)),
    Defect("saturated costs that wrap", tables(lambda table: np.where(table == 3, 0, table)), TREE,
           LANES),
    Defect("saturated costs one too small", tables(lambda table: np.minimum(table, 2)), TREE,
           LANES),
    Defect("sums of 8 bits that wrap", edited("uint16_t m_cost_t", "uint8_t m_cost_t", "m.h"),
           WIFI[6], {"kernel": "plain"}),
    Defect("sums that saturate", edited("    m_sum(x, cost);\n", "    m_sum(x, cost);\n" + CLAMP),
           WIFI[6], {"kernel": "plain"}),
    Defect("a word of the wrong row of a pair", first_row_of_the_pair, WIFI[2],
           {"kernel": "bit-slice", "optimize": "speed"}),
    Defect(
        "constant-time scores that stay after an error",
        edited("(score & keep)", "(s[c] ^ ((s[c] ^ score) & keep))"),
        WIFI[4], {"constant_time": True}, (SCORES,), TARGETS, is_proved_without=False,
    ),
)  # fmt: skip


@pytest.fixture
def program_of(require_bench):
    """Return a function that builds a program with the entries of a defect."""

    def built(defect: Defect, emission: Emission, target: str) -> LinkedProgram:
        simulator = "simavr" if target == "avr" else "unicorn"
        compiler = GCC.get(target, "arm-none-eabi-gcc")
        bench = require_bench(target, compiler=compiler, simulator=simulator)
        return linked_program(model_of(defect.trained), emission, bench, "-Os", defect.entries)

    return built


CASES = [
    pytest.param(defect, target, id=f"{defect.name} on {target}")
    for defect in DEFECTS for target in defect.targets
]  # fmt: skip


@pytest.mark.no_cover
@pytest.mark.parametrize(("defect", "target"), CASES)
def test_a_known_defect_is_refuted(program_of, defect, target):
    """The input of the verdict shows it again in the simulator."""
    model, emission = model_of(defect.trained), defect.emission(target)
    program = program_of(defect, defect.spoil(emission), target)
    for name in defect.entries:
        found = verdict_of(model, program, name)
        assert (found.status, found.exit_code) == ("refuted", 1), found.sentence
        assert found.reason == "wrong-answer"
        assert confirmed(model, program, name, found.input)


def confirmed(model: Model, program: LinkedProgram, name: str, input: Mapping[str, int]) -> bool:
    """Return whether a call with an input answers otherwise than the model."""
    numbers = np.array([[input[feature.name] for feature in model.features]])
    is_packed = program.code.target.packed
    kind = state_dtype(model.n_states)
    if name == RAW:
        X = states_of_raw(model.features, numbers)
        memory = pack(numbers, row_dtype(model.features, packed=is_packed)).tobytes()
    else:
        X, memory = numbers, numbers.astype(kind).tobytes()
    is_valid = (X < model.n_states).all()
    wanted = int(predict(model, X)[0]) if is_valid else -1
    n_output = program.score_size * model.n_classes if name == SCORES else 0
    call = Replay(program.code, program.symbols[name]).call(memory, n_output)
    right = scores(model, X)[0] if is_valid else np.zeros(model.n_classes)
    written = np.frombuffer(call.scores, dtype=f"<u{program.score_size}")
    return call.outcome != wanted or (name == SCORES and (written != right).any())


PROGRAMS = {(defect.trained, *defect.options.items()): defect for defect in reversed(DEFECTS)}


@pytest.mark.no_cover
@pytest.mark.parametrize("defect", PROGRAMS.values(), ids=lambda defect: defect.name)
def test_without_the_defect_it_is_proved(program_of, defect):
    """A constant-time program is undecided, as no proof covers it."""
    program = program_of(defect, defect.emission("cortex-m0"), "cortex-m0")
    wanted, limit = ("proved", None) if defect.is_proved_without else ("undecided", 2)
    for name in defect.entries:
        found = verdict_of(model_of(defect.trained), program, name, time_limit=limit)
        assert found.status == wanted, found.sentence
