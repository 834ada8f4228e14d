"""The self-test of every entry point passes on simulated targets, and fails for wrong C."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from bncc.device.cross import Toolchain
from bncc.device.image import Builder
from bncc.device.sources import support_file
from bncc.emit.emitter import EmitOptions, emit_c
from bncc.model.model import Model
from bncc.model.rules import RULES, with_stand_ins
from tests import models as hand
from tests.agreement.test_direct_readings import model_of
from tests.ranged import ranged

pytestmark = pytest.mark.firmware
MODELS: dict[str, Callable[[], Model]] = {
    "naive_integer": hand.naive_integer,
    "boosted_tables": lambda: model_of("int16"),
    "struct_of_tables": hand.sum_of_tables,
}
MAIN = """
#include "bncc_port.h"

int m_selftest(void);

int main(void)
{
    unsigned char n_wrong[1];

    port_open();
    if (!port_read(n_wrong, sizeof n_wrong)) {
        return port_close(1);
    }
    n_wrong[0] = (unsigned char)m_selftest();
    port_write(n_wrong, sizeof n_wrong);
    return port_close(0);
}
"""


def n_wrong(folder: Path, bench: Toolchain, files: Mapping[str, str]) -> int:
    """Return the failure count of the self-test there, with the CRC of all constants."""
    builder = Builder(folder, bench.target, bench.compiler)
    builder.write(
        {
            **files,
            "main.c": MAIN,
            "bncc_port.h": support_file(bench.simulator.port),
            "stack_paint.h": support_file("stack_paint.h"),
        }
    )
    macros = ("M_SELFTEST_CRC", "M_SELFTEST_NO_MAIN", *bench.simulator.defines)
    objects = [
        builder.compile(f"{name}.c", f"{name}.o", "-Os", *macros)
        for name in ("m", "m_selftest", "main")
    ]
    (answer,) = bench.simulator.run(builder.link("test.elf", *objects), b"\0")
    return answer


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("target", ["avr", "cortex-m0", "rv32"])
def test_every_entry_point_is_tested_there(
    target: str, name: str, tmp_path: Path, require_bench: Callable[..., Toolchain]
) -> None:
    """Those for checked readings, missing features, streams and rules for decisions among them."""
    bench = require_bench(target)
    model = with_stand_ins(ranged(MODELS[name](), seed=3), RULES)
    entries = hand.possible_entries(model)
    assert {"checked", "raw", "scores", "stream", "trusted", *RULES} <= entries
    files = dict(emit_c(model, EmitOptions("m", entries)).files)
    assert n_wrong(tmp_path, bench, files) == 0
    if name == "naive_integer":
        files["m.c"], n = re.subn(r"return M_ERR_RANGE;", "return 0;", files["m.c"])
        assert n == 1
        assert n_wrong(tmp_path, bench, files) > 0


@pytest.mark.parametrize("target", ["avr", "cortex-m0"])
@pytest.mark.parametrize("name", ["trees_of_bytes", "array_of_states"])
def test_readings_at_both_ends_of_states_are_decided_there(
    target: str, name: str, tmp_path: Path, require_bench: Callable[..., Toolchain]
) -> None:
    """A struct of every type, and an array of states, which trees compare."""
    bench = require_bench(target)
    states = [hand.feature("a", 4), hand.feature("b", 5)]
    model = hand.TREES[name]() if name in hand.TREES else hand.trees_over(states, 3, 3)
    entries = frozenset({"raw", "scores", "trusted"})
    files = dict(emit_c(model, EmitOptions("m", entries)).files)
    assert "m_vector_ends[" in files["m_vectors.h"]
    assert n_wrong(tmp_path, bench, files) == 0
    if name in hand.TREES:
        ends = files["m_vectors.h"].index("m_vector_ends[")
        head, tail = files["m_vectors.h"][:ends], files["m_vectors.h"][ends:]
        files["m_vectors.h"] = head + tail.replace("70001", "70000")
        assert n_wrong(tmp_path, bench, files) > 0
