"""The kernel of branches on targets: strict C, no product, decisions and scores of the program."""

from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

from bncc.emit.emitter import Emission, EmitOptions, emit_c
from bncc.lower.kernels.families import FAMILIES
from bncc.on_device import verify
from bncc.program.ir import Program, costs
from tests.cut_programs import emitted, stand_in
from tests.firmware.compiled import STANDARDS, compile_as_one, faults, write_all
from tests.firmware.fleet import Member, answers
from tests.firmware.machines import MACHINES
from tests.models import FRONTS, trees_of_sensors
from tests.tree_programs import tree_program

pytestmark = [pytest.mark.cc, pytest.mark.firmware]

OPTIONS = EmitOptions("m", frozenset({"scores", "trusted"}))


@lru_cache
def programs() -> dict[str, Program]:
    """Return programs whose leaves are classes, margins, words, and places of rows."""
    return {
        "one": tree_program(40, 16, 26, 1, 64),
        "margins": tree_program(12, 255, 2, 9, 16, has_prior=True),
        "wide_margins": tree_program(12, 300, 2, 30, 8, bits=12),
        "words": tree_program(60, 16, 5, 8, 16),
        "few_rows": tree_program(6, 4, 10, 6, 4, bits=2, has_prior=True),
        "rows": tree_program(16, 16, 26, 8, 16, bits=6),
    }


WAYS = tuple(f"{name} {end}" for name in programs() for end in ("first", "last"))


@lru_cache
def emissions() -> dict[str, Emission]:
    """Return the first layout of each program, and the second."""
    found = {}
    for way in WAYS:
        name, end = way.split()
        kernels = list(FAMILIES["branches"](programs()[name]))
        found[way] = emitted(programs()[name], kernels[:2][0 if end == "first" else -1], OPTIONS)
    return found


@pytest.mark.parametrize(
    "machine", ["atmega328p", "host-gcc", "host-clang", "cortex-m0", "cortex-m4", "rv32imc"]
)
def test_the_c_is_strict_and_never_multiplies(machine, require_machine, tmp_path: Path) -> None:
    chosen = MACHINES[machine]
    require_machine(chosen)
    files = {way: each.files for way, each in emissions().items()}
    options = EmitOptions("m", frozenset({"raw", "scores", "trusted"}))
    files |= {
        f"sensors {n}": emit_c(trees_of_sensors(n, 1 + n % 3), options).files for n in (2, 3, 4)
    }
    files |= {name: emit_c(made(), options).files for name, made in FRONTS.items()}
    names = write_all(tmp_path, files)
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


@pytest.mark.parametrize("target", ["avr", "cortex-m0", "rv32", "big-endian"])
@pytest.mark.parametrize("name", FRONTS)
def test_fronts_agree(require_bench, target: str, name: str) -> None:
    """The front and what is behind it, asked by every entry point."""
    require_bench(target)
    options = EmitOptions("m", frozenset({"raw", "scores", "trusted"}), target=target)
    model = FRONTS[name]()
    outcome = verify(model, emission=emit_c(model, options), target=target, n_random=60)
    assert outcome.agree, outcome.first_mismatch


@pytest.mark.parametrize("target", ["avr", "cortex-m0"])
@pytest.mark.parametrize(("n_classes", "n_tables"), [(2, 3), (4, 1), (9, 4)])
def test_readings_agree(require_bench, target: str, n_classes: int, n_tables: int) -> None:
    """Readings of every kind are compared on the target itself, missing ones included."""
    require_bench(target)
    model = trees_of_sensors(n_classes, n_tables)
    options = EmitOptions("m", frozenset({"raw", "scores", "trusted"}), target=target)
    outcome = verify(model, emission=emit_c(model, options), target=target, n_random=60)
    assert outcome.agree, outcome.first_mismatch
