"""Lanes of 64-bit words: strict C on every machine, without a product, bit for bit on an x86."""

import re
from pathlib import Path

import pytest

from benchmarks.reference_models import Recipe, reference, some_rows
from bncc.device.agreement import verify
from bncc.emit.emitter import EmitOptions, emit_c
from bncc.lower.kernels.lanes.layout import LaneKernel
from tests.agreement.wide_lanes import emissions
from tests.firmware.machines import ENTRIES, MACHINES, MODELS
from tests.firmware.test_lanes_of_bytes import STANDARDS

pytestmark = [pytest.mark.cc, pytest.mark.firmware]
NAMES = ("ties", "wide_states", "general_network", "letter_like_1_bit", "ten_classes_2_bits")


@pytest.mark.parametrize("machine", ["host-gcc", "host-clang", "cortex-m0", "atmega1284p"])
def test_the_c_is_strict_and_never_multiplies(machine, require_machine, tmp_path: Path) -> None:
    chosen = MACHINES[machine]
    require_machine(chosen)
    for name in NAMES:
        emission = next(emissions(MODELS[name]()))
        for file, text in emission.files.items():
            (tmp_path / file).write_text(text, encoding="utf-8")
        for flags in STANDARDS.values():
            chosen.compile(tmp_path, ("m.c",), *flags, "-O2")
        chosen.compile(tmp_path, ("m.c",), *STANDARDS["c99"], "-O2")
        found = chosen.mnemonics(tmp_path, ("m.o",))
        assert not [m for m in found if re.fullmatch(chosen.multiplies, m)], name
        if machine.startswith("host"):
            assert not chosen.undefined(tmp_path, ("m.o",)), name


@pytest.mark.parametrize("target", ["x86", "avr", "big-endian"])
@pytest.mark.parametrize("name", ["general_network", "ten_classes_2_bits"])
def test_machines_of_all_widths_agree(require_bench, target: str, name: str) -> None:
    require_bench(target)
    model = MODELS[name]()
    outcome = verify(model, target, n_random=50, emission=next(emissions(model)))
    assert outcome.agree, outcome.first_mismatch


@pytest.mark.shared
@pytest.mark.parametrize("bits", [1, 2, 4, 8])
@pytest.mark.parametrize("data_set", ["letter", "satimage", "usps"])
def test_an_x86_agrees_on_the_papers_models(
    require_bench, shared_data, data_set: str, bits: int
) -> None:
    require_bench("x86")
    found = reference(Recipe(data_set, "naive", bits), shared_data)
    options = EmitOptions("m", ENTRIES, kernel="lanes", optimize="speed", target="x86")
    emission = emit_c(found.model, options)
    assert isinstance(emission.layout.kernel, LaneKernel)
    assert emission.layout.kernel.lowest.word_bits == 64
    table = some_rows(found.test, 5)
    outcome = verify(found.model, "x86", table=table, n_random=5, emission=emission)
    assert outcome.agree, outcome.first_mismatch
