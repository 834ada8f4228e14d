"""Lanes of 64-bit words: strict C on every target, without a product, bit-exact on an x86."""

from functools import cache
from pathlib import Path

import pytest

from benchmarks.shared.reference_models import Recipe, reference, some_rows
from bncc.emit.emitter import Emission, EmitOptions, emit_c
from bncc.lower.kernels.lanes.layout import LaneKernel
from bncc.on_device import verify
from tests.agreement.wide_lanes import emissions
from tests.firmware.compiled import STANDARDS, compile_as_one, faults, write_all
from tests.firmware.fleet import answers, comparing, disagreeing
from tests.firmware.machines import ENTRIES, MACHINES, MODELS

pytestmark = [pytest.mark.cc, pytest.mark.firmware]
NAMES = ("ties", "wide_states", "general_network", "letter_like_1_bit", "ten_classes_2_bits")


@cache
def first_emission(name: str) -> Emission:
    return next(emissions(MODELS[name]()))


@pytest.mark.parametrize("machine", ["host-gcc", "host-clang", "cortex-m0", "atmega1284p"])
def test_the_c_is_strict_and_never_multiplies(machine, require_machine, tmp_path: Path) -> None:
    chosen = MACHINES[machine]
    require_machine(chosen)
    names = write_all(tmp_path, {name: first_emission(name).files for name in NAMES})
    for later in ("c11", "c++17"):
        compile_as_one(chosen, tmp_path, names, (*STANDARDS[later], "-O2"))
    may_call = not machine.startswith("host")
    assert faults(chosen, tmp_path, names, ["-O2"], may_call=may_call) == {}


@pytest.mark.parametrize("target", ["x86", "avr", "big-endian"])
def test_machines_of_all_widths_agree(require_bench, target: str) -> None:
    members = {}
    for name in NAMES:
        members[name] = comparing(MODELS[name](), first_emission(name).files, 50)
    assert disagreeing(answers(require_bench(target), "-O2", members)) == {}


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
