"""Rows found by products, addresses and through a dictionary: strict C, no product, agreement."""

import re
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path

import pytest

from bncc.device.agreement import compare
from bncc.device.inputs.cases import Case, Effort, cases
from bncc.discretize.feature import Feature
from bncc.emit.emitter import Emission, EmitOptions, emit_c, emit_candidate
from bncc.fixed_point import QFormat
from bncc.lower.kernels.bit_slice.layout import BitSliceKernel
from bncc.lower.kernels.lanes.layout import LaneKernel
from bncc.lower.kernels.shared.row_address import n_looked_up
from bncc.model.model import Model
from bncc.on_device import verify
from bncc.structure.graph import forest
from tests.agreement.large import random_model
from tests.firmware.compiled import STANDARDS, compile_as_one, faults, write_all
from tests.firmware.fleet import Member, answers, disagreeing
from tests.firmware.machines import ENTRIES, MACHINES

pytestmark = [pytest.mark.cc, pytest.mark.firmware]

OPTIONS = EmitOptions("m", ENTRIES, optimize="speed")


@lru_cache
def model() -> Model:
    """Return a tree of one bit, of whose rows many are equal, and a feature apart from it."""
    features = [Feature(f"x{i}", "state", n) for i, n in enumerate((7, 5, 11, 8, 3, 4))]
    return random_model(features, forest([None, 0, 1, 1, 3, None]), 3, QFormat(1, 0))


@lru_cache
def emissions() -> dict[str, Emission]:
    """Return the first layout of every kernel by its way to rows."""
    found: dict[str, Emission] = {}
    for candidate in emit_c(model(), OPTIONS).choice.candidates:
        kernel = candidate.kernel
        if not isinstance(kernel, LaneKernel | BitSliceKernel):
            continue
        words = [kernel.family]
        words += ["pointed"] if n_looked_up(kernel.starts) else []
        words += ["once"] if isinstance(kernel, LaneKernel) and kernel.dictionary else []
        key = " ".join(words)
        if key not in found:
            found[key] = emit_candidate(model(), candidate, OPTIONS)
    return found


WAYS = (
    "bit-slice", "bit-slice pointed", "lanes", "lanes pointed", "lanes once", "lanes pointed once",
)  # fmt: skip


@pytest.mark.parametrize("machine", ["atmega328p", "host-gcc", "host-clang", "cortex-m0"])
def test_the_c_is_strict_and_never_multiplies(machine, require_machine, tmp_path: Path) -> None:
    chosen = MACHINES[machine]
    require_machine(chosen)
    assert sorted(emissions()) == sorted(WAYS)
    names = write_all(tmp_path, {way: each.files for way, each in emissions().items()})
    compile_as_one(chosen, tmp_path, names, (*STANDARDS["c++17"], "-O2"))
    assert faults(chosen, tmp_path, names, ("-Os", "-O2")) == {}


@lru_cache
def inputs(step: int) -> tuple[Case, ...]:
    """Return every n-th input of a check, with Python's answers."""
    tried = cases(model(), effort=Effort(50))
    return tuple(
        replace(
            case, x=case.x[::step], y=case.y[::step],
            scores=None if case.scores is None else case.scores[::step],
        )
        for case in tried
    )  # fmt: skip


@pytest.mark.parametrize("step", [pytest.param(1, marks=pytest.mark.slow), 17])
@pytest.mark.parametrize("target", ["avr", "cortex-m0", "rv32", "big-endian"])
def test_targets_agree(require_bench, target: str, step: int) -> None:
    """All joint states, or every 17th: the host tries all of them below."""
    assert sum(len(case.x) for case in inputs(step)) > 7 * 5 * 11 * 8 * 3 * 4 // step
    ask = partial(compare, inputs=inputs(step))
    members = {way: Member(model(), emissions()[way].files, ask) for way in WAYS}
    assert disagreeing(answers(require_bench(target), "-O2", members)) == {}


@pytest.mark.parametrize("way", WAYS)
def test_the_host_agrees_on_every_input(require_tool, way: str) -> None:
    require_tool("gcc")
    outcome = verify(model(), "host", exhaustive=True, emission=emissions()[way])
    assert outcome.agree, outcome.first_mismatch
    assert outcome.checked >= 7 * 5 * 11 * 8 * 3 * 4


def test_a_row_in_the_wrong_place_is_caught(require_tool) -> None:
    """The premise of the checks above: a wrong position or address is a mismatch."""
    require_tool("gcc")
    for way, entry in (
        ("lanes once", r"(/\* 0,1 \*/ )(\d)U"),
        ("lanes pointed", r"(&m_table1\[)(\d)\]"),
    ):
        emission = emissions()[way]
        files = dict(emission.files)
        files["m.c"], n = re.subn(entry, _another, files["m.c"], count=1)
        assert n == 1
        wrong = Emission(**{**vars(emission), "files": files})
        assert not verify(model(), "host", exhaustive=True, emission=wrong).agree, way


def _another(found: re.Match[str]) -> str:
    number = str((int(found[2]) + 1) % 5)
    return found[1] + number + found[0][len(found[1]) + len(found[2]) :]
