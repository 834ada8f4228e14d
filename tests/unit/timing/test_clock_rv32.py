"""Cycles of short sequences of RV32 instructions, against those of the cores' RTL."""

from dataclasses import replace

import numpy as np
import pytest

from bncc.device.machine import request
from bncc.device.meter import Meter
from bncc.timing.clock import CycleClock
from tests.rv32_sequences import CORES, SEQUENCES, code_of_all
from tests.unit.device.written import in_assembly, meter

pytestmark = pytest.mark.firmware
pytest.importorskip("capstone", reason="capstone is not installed")

_HEAD = 3
"""Pairs of readings before the first row: nothing, and two loops."""

QUOTIENTS = {"a quotient", "a signed remainder", "a quotient by 0"}
"""An Ibex divides by 0 in fewer cycles."""


@pytest.mark.parametrize("core", CORES)
def test_sequences_take_the_cycles_of_the_rtl(require_bench, require_tool, core: str) -> None:
    # The RTL executed the encodings of GNU's assembler; others choose other ones.
    require_tool("riscv64-unknown-elf-gcc")
    bench = replace(require_bench("rv32", simulator="unicorn"), clock=CycleClock(core))
    rows = np.arange(len(SEQUENCES), dtype=np.uint8)[:, None]
    with meter(bench, in_assembly(code_of_all())) as measured:
        assert isinstance(measured, Meter)
        _, readings = bench.run_metered(measured._image, request("predict", rows))
    low, high, unknown = np.diff(np.array(readings).reshape(-1, 2, 3), axis=1)[_HEAD:, 0].T
    assert not unknown.any()
    low, high = low - low[0], high - high[0]
    for k, (name, known) in enumerate(SEQUENCES.items()):
        cycles = known[1 + CORES.index(core)]
        assert low[k] <= cycles <= high[k], name
        if core != "ibex" or name not in QUOTIENTS:
            assert low[k] == high[k], name
