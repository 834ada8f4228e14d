"""Kernels of cuts on targets: strict C, no product, decisions and scores of the program."""

from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

from bncc.emit.emitter import Emission, EmitOptions
from bncc.lower.kernels.families import FAMILIES, FOR_CUTS
from bncc.program.ir import Program, costs
from tests.cut_programs import cut_program, emitted, stand_in
from tests.firmware.compiled import STANDARDS, compile_as_one, faults, write_all
from tests.firmware.fleet import Member, answers
from tests.firmware.machines import MACHINES

pytestmark = [pytest.mark.cc, pytest.mark.firmware]

OPTIONS = EmitOptions("m", frozenset({"scores", "trusted"}))


@lru_cache
def programs() -> dict[str, Program]:
    """Return programs whose rows are found in every possible way."""
    return {
        "grids": cut_program(40, 16, 10, 40, 12, share_of_grids=0.6, seed=1),
        "doubled": cut_program(60, 255, 6, 20, 8, share_of_grids=0.0, has_prior=True),
        "wide": cut_program(9, 300, 26, 8, 16, bits=4),
    }


WAYS = tuple(f"{name} {family}" for name in programs() for family in sorted(FOR_CUTS))


@lru_cache
def emissions() -> dict[str, Emission]:
    """Return a layout of each program and family; in the loop one of many words, and one of few."""
    found = {}
    for way in WAYS:
        name, family = way.split()
        kernels = list(FAMILIES[family](programs()[name]))
        which = 0 if name == "grids" else min(2, len(kernels) - 1)
        found[way] = emitted(programs()[name], kernels[which], OPTIONS)
    return found


@pytest.mark.parametrize(
    "machine", ["atmega328p", "host-gcc", "host-clang", "cortex-m0", "cortex-m4", "rv32imc"]
)
def test_the_c_is_strict_and_never_multiplies(machine, require_machine, tmp_path: Path) -> None:
    chosen = MACHINES[machine]
    require_machine(chosen)
    names = write_all(tmp_path, {way: each.files for way, each in emissions().items()})
    compile_as_one(chosen, tmp_path, names, (*STANDARDS["c++17"], "-O2"))
    assert faults(chosen, tmp_path, names, ("-Os", "-O2", "-O3")) == {}


@pytest.mark.parametrize("target", ["avr", "cortex-m0", "cortex-m4", "big-endian"])
def test_targets_agree(require_bench, target: str) -> None:
    inputs = {
        name: np.random.default_rng(0).integers(0, some.n_states, (60, len(some.n_states)))
        for name, some in programs().items()
    }

    def member(way: str) -> Member:
        name = way.split()[0]
        X, model = inputs[name], stand_in(programs()[name])
        ask = lambda machine: (*machine.scores(X), machine.trusted(X))  # noqa: E731
        return Member(model, emissions()[way].files, ask)

    found = answers(require_bench(target), "-O2", {way: member(way) for way in WAYS})
    for way, (classes, scores, trusted) in found.items():
        name = way.split()[0]
        wanted = costs(programs()[name], inputs[name])
        assert np.array_equal(scores, wanted - wanted.min(axis=1, keepdims=True)), way
        assert np.array_equal(classes, wanted.argmin(axis=1)), way
        assert np.array_equal(trusted, wanted.argmin(axis=1)), way
