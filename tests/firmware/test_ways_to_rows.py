"""Rows found by products, addresses and through a dictionary: strict C, no product, agreement."""

import re
from functools import lru_cache
from pathlib import Path

import pytest

from bncc.device.agreement import verify
from bncc.discretize.feature import Feature
from bncc.emit.emitter import Emission, EmitOptions, emit_c, emit_candidate
from bncc.fixed_point import QFormat
from bncc.lower.kernels.bit_slice.layout import BitSliceKernel
from bncc.lower.kernels.lanes.layout import LaneKernel
from bncc.lower.kernels.shared.row_starts import n_looked_up
from bncc.model.model import Model
from bncc.structure.graph import forest
from bncc.toolchain.tools import STRICT_C_FLAGS, STRICT_FLAGS
from tests.agreement.large import random_model
from tests.firmware.machines import ENTRIES, MACHINES

pytestmark = [pytest.mark.cc, pytest.mark.firmware]

OPTIONS = EmitOptions("m", ENTRIES, optimize="speed")
STANDARDS = {
    "c99": ("-std=c99", *STRICT_FLAGS, *STRICT_C_FLAGS),
    "c++17": ("-xc++", "-std=c++1z", *STRICT_FLAGS),
}


@lru_cache
def model() -> Model:
    """Return a tree of one bit, of whose rows many are equal, and a feature apart from it."""
    features = [Feature(f"x{i}", "state", n) for i, n in enumerate((7, 5, 11, 8, 3, 4))]
    return random_model(features, forest([None, 0, 1, 1, 3, None]), 3, QFormat(1, 0))


@lru_cache
def emissions() -> dict[str, Emission]:
    """Return by its way to rows the first layout of every kernel."""
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
    for way, emission in emissions().items():
        for file, text in emission.files.items():
            (tmp_path / file).write_text(text, encoding="utf-8")
        for flags in STANDARDS.values():
            chosen.compile(tmp_path, ("m.c",), *flags, "-O2")
        for level in ("-Os", "-O2"):
            chosen.compile(tmp_path, ("m.c",), *STANDARDS["c99"], level)
            found = chosen.mnemonics(tmp_path, ("m.o",))
            assert not [m for m in found if re.fullmatch(chosen.multiplies, m)], way
            assert not chosen.undefined(tmp_path, ("m.o",)), way


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("target", ["avr", "cortex-m0", "rv32", "big-endian"])
def test_targets_agree(require_bench, target: str, way: str) -> None:
    require_bench(target)
    outcome = verify(model(), target, n_random=50, emission=emissions()[way])
    assert outcome.agree, outcome.first_mismatch


@pytest.mark.parametrize("way", WAYS)
def test_the_host_agrees_on_every_input(require_tool, way: str) -> None:
    require_tool("gcc")
    outcome = verify(model(), "host", exhaustive=True, emission=emissions()[way])
    assert outcome.agree, outcome.first_mismatch
    assert outcome.checked >= 7 * 5 * 11 * 8 * 3 * 4


def test_a_row_in_the_wrong_place_is_caught(require_tool) -> None:
    """What the checks above rest on: another place, or another address, is a mismatch."""
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
