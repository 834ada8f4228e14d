"""The meter's counts compared with a second simulator, single steps, and valgrind."""

import re
import subprocess
from dataclasses import replace

import numpy as np
import pytest

from bncc.device.measure import bench_inputs
from bncc.device.meter import Meter
from bncc.device.simulators import unicorn
from bncc.device.sources import sources
from bncc.emit.emitter import EmitOptions, emit_c
from bncc.emit.textbook import textbook_c
from bncc.targets import TARGETS
from tests import models as hand
from tests.agreement.large import letter_like
from tests.unit.device.written import NOTHING, cost, in_assembly, states

pytestmark = pytest.mark.firmware

BOTH = [target.name for target in TARGETS.values() if len(target.simulators) == 2]
BLOCKS = [
    target.name for target in TARGETS.values()
    if "unicorn" in target.simulators and unicorn.core_of(target).length is not None
]  # fmt: skip
CONDITIONAL = ("cortex-m3", "cortex-m4", "cortex-m7")


def by_both(require_bench, target, model, files, level):
    """Return pairs of costs, by QEMU and by unicorn, of each entry point."""
    inputs, by = bench_inputs(model, n_rows=5), {}
    for simulator in ("qemu", "unicorn"):
        with Meter(
            sources(model, files), require_bench(target, simulator=simulator), level
        ) as measured:
            by[simulator] = measured.costs(inputs)
    assert list(by["qemu"]) == list(by["unicorn"]) == ["predict", "trusted", "raw"]
    return zip(by["qemu"].values(), by["unicorn"].values(), strict=True)


@pytest.mark.parametrize("level", ["-O2", "-Os"])
@pytest.mark.parametrize("kind", ["ours", "textbook"])
@pytest.mark.parametrize("target", BOTH)
def test_unicorn_and_qemu_count_alike(require_bench, target, kind, level):
    """Within 1 % on average over some inputs, at every entry point; and the same stack."""
    model = letter_like("float32")
    if kind == "ours":
        files = emit_c(model, EmitOptions("m", frozenset({"trusted"}))).files
    else:
        files = textbook_c(model, "m").files
    for qemu, other in by_both(require_bench, target, model, files, level):
        assert other.mean == pytest.approx(qemu.mean, rel=0.01)
        assert other.stack == qemu.stack
        assert (other.classes == qemu.classes).all()


@pytest.mark.parametrize("target", BOTH)
def test_they_count_alike_where_few_are_counted(require_bench, target):
    """A decision of some fifty instructions, of which one would be too many."""
    model = hand.tan_float()
    files = emit_c(model, EmitOptions("m", frozenset({"trusted"}))).files
    for qemu, other in by_both(require_bench, target, model, files, "-O2"):
        assert other.mean == pytest.approx(qemu.mean, rel=0.01)
        assert 20 < qemu.mean < 300


@pytest.mark.parametrize("simulator", ["qemu", "unicorn"])
@pytest.mark.parametrize("target", CONDITIONAL)
def test_an_instruction_whose_condition_fails_counts(require_bench, target, simulator):
    """In an IT block, whether it takes effect or not."""
    block = "ldrb r1, [r0]; cmp r1, #1; itte ne; addne r0, #1; addne r0, #1; moveq r0, #2; bx lr"
    bench = require_bench(target, simulator=simulator)
    base = cost(bench, in_assembly(NOTHING["cortex"]), states(0))
    for state in (0, 1):
        found = cost(bench, in_assembly(block), states(state))
        assert found.min == base.min + 6


class Stepping:
    """
    Counter of single instructions instead of whole blocks.

    Unicorn leaves out instructions of an IT block whose condition fails; so they are counted
    together with the IT, and not again when they are met.
    """

    def __init__(self, is_thumb: bool) -> None:
        self._is_thumb = is_thumb
        self._counted: set[int] = set()

    def __call__(self, run, uc, address, size, _) -> None:
        if address in self._counted:
            return
        run._executed += 1
        first = int.from_bytes(uc.mem_read(address, 2), "little")
        if self._is_thumb and first >> 8 == 0xBF and first & 0xF:
            at = address + 2
            for _ in range(4 - ((first & -first).bit_length() - 1)):
                self._counted.add(at)
                wide = int.from_bytes(uc.mem_read(at, 2), "little") >= 0xE800
                run._executed += 1
                at += 4 if wide else 2


@pytest.mark.parametrize("kind", ["ours", "textbook"])
@pytest.mark.parametrize("target", BLOCKS)
def test_blocks_have_as_many_instructions_as_steps(require_bench, monkeypatch, target, kind):
    """Unicorn counts blocks by their length; another count, step by step, is the same."""
    bench = require_bench(target, simulator="unicorn")
    model = letter_like("float32")
    inputs = bench_inputs(model, n_rows=3)
    emission = emit_c(model, EmitOptions("m")) if kind == "ours" else textbook_c(model, "m")
    with Meter(sources(model, emission.files), bench, "-O2") as measured:
        blocks = measured.costs(inputs)
        core = replace(unicorn.core_of(bench.target), length=None)
        monkeypatch.setattr(unicorn, "core_of", lambda target: core)
        step = Stepping(target.startswith("cortex"))
        monkeypatch.setattr(unicorn._Run, "_step", lambda *args: step(*args))
        steps = measured.costs(inputs)
    assert blocks.keys() == steps.keys()
    for entry in blocks:
        assert replace(blocks[entry], classes=None) == replace(steps[entry], classes=None)


NATIVE = """
#include <stdio.h>
#include "m.h"
int main(void)
{
    static m_raw_t rows[N_ROWS][M_N_FEATURES];
    int k, sum = 0;
    if (fread(rows, sizeof rows, 1U, stdin) != 1U) {
        return 1;
    }
    for (k = 0; k < N_ROWS; k++) {
        sum += m_predict_raw(rows[k]);
    }
    return sum < 0;
}
"""


def test_instructions_of_x86_are_those_of_valgrind(require_bench, require_tool, tmp_path):
    """The same compiler and flags, in a program of this machine, counted by callgrind."""
    bench = require_bench("x86", "gcc")
    require_tool("valgrind")
    model = letter_like("float32")
    inputs = bench_inputs(model, n_rows=5)
    files = emit_c(model, EmitOptions("m")).files
    with Meter(sources(model, files), bench, "-O2") as measured:
        ours = measured.costs(inputs)["raw"]
    for name, text in {**sources(model, files).files, "main.c": NATIVE}.items():
        (tmp_path / name).write_text(text)
    flags = ("-std=c99", "-O2", *bench.target.flags["gcc"], "-fomit-frame-pointer", "-no-pie")
    build = ("gcc", *flags, "-DN_ROWS=5", "m.c", "main.c", "-o", "native")
    subprocess.run(build, cwd=tmp_path, check=True)
    grind = (
        "valgrind", "--tool=callgrind", "--toggle-collect=m_predict_raw",
        "--dump-after=m_predict_raw", "--callgrind-out-file=out", "./native",
    )  # fmt: skip
    rows = inputs.R.astype(np.float32).tobytes()
    subprocess.run(grind, cwd=tmp_path, input=rows, capture_output=True, check=True)
    totals = [re.search(r"^totals: (\d+)", (tmp_path / f"out.{k}").read_text(), re.MULTILINE)
              for k in range(1, 6)]  # fmt: skip
    theirs = np.array([int(found[1]) for found in totals])
    # Besides the function itself: its argument, the call, and a move of the result.
    assert [ours.min, ours.mean, ours.max] == [
        theirs.min() + 3,
        theirs.mean() + 3,
        theirs.max() + 3,
    ]
