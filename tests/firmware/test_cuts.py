"""Kernels of cuts on other machines: strict C, no product, decisions and scores of the program."""

import re
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

from bncc.device.cross import CrossHarness, find_bench
from bncc.device.targets import TARGETS
from bncc.emit.emitter import Emission, EmitOptions
from bncc.lower.kernels.families import FAMILIES, FOR_CUTS
from bncc.program.interpreter import costs
from bncc.program.ir import Program
from tests.cut_programs import cut_program, emitted, stand_in
from tests.firmware.machines import MACHINES
from tests.firmware.test_ways_to_rows import STANDARDS

pytestmark = [pytest.mark.cc, pytest.mark.firmware]

OPTIONS = EmitOptions("m", frozenset({"scores", "trusted"}))


@lru_cache
def programs() -> dict[str, Program]:
    """Return programs whose rows are found in every way that there is."""
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
    for k, way in enumerate(WAYS):
        for file, text in emissions()[way].files.items():
            (tmp_path / file.replace("m.c", f"m{k}.c")).write_text(text, encoding="utf-8")
        for flags in STANDARDS.values():
            chosen.compile(tmp_path, (f"m{k}.c",), *flags, "-O2")
        for level in ("-Os", "-O3"):
            chosen.compile(tmp_path, (f"m{k}.c",), *STANDARDS["c99"], level)
            found = chosen.mnemonics(tmp_path, (f"m{k}.o",))
            assert not [m for m in found if re.fullmatch(chosen.multiplies, m)], way
            assert not chosen.undefined(tmp_path, (f"m{k}.o",)), way


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("target", ["avr", "cortex-m0", "cortex-m4", "big-endian"])
def test_targets_agree(require_bench, target: str, way: str) -> None:
    require_bench(target)
    some = programs()[way.split()[0]]
    X = np.random.default_rng(0).integers(0, some.n_states, (60, len(some.n_states)))
    wanted = costs(some, X)
    (bench,) = find_bench(TARGETS[target])
    with CrossHarness(stand_in(some), emissions()[way].files, bench, "-O2") as machine:
        classes, scores = machine.scores(X)
        assert np.array_equal(scores, wanted - wanted.min(axis=1, keepdims=True))
        assert np.array_equal(classes, wanted.argmin(axis=1))
        assert np.array_equal(machine.trusted(X), wanted.argmin(axis=1))
