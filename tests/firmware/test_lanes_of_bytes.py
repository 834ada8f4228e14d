"""Lanes of bytes, chosen for an AVR: strict C, without a product, bit-exact on the target."""

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.shared.reference_models import Recipe, reference, some_rows
from bncc.discretize.feature import Feature
from bncc.emit.emitter import Emission, EmitOptions, emit_c
from bncc.fixed_point import QFormat
from bncc.lower.kernels.lanes.layout import LaneKernel
from bncc.model.model import Model
from bncc.on_device import verify
from bncc.structure.graph import forest
from tests.agreement.large import random_model
from tests.firmware.compiled import STANDARDS, compile_as_one, faults, write_all
from tests.firmware.fleet import answers, comparing, disagreeing
from tests.firmware.machines import ENTRIES, MACHINES, MODELS

pytestmark = [pytest.mark.cc, pytest.mark.firmware]


def scaled(n_classes: int, parents: list[int | None]) -> Model:
    """Return a model whose states are multiplied by powers of two to find rows."""
    features = [Feature(f"x{i}", "state", 8) for i in range(len(parents))]
    return random_model(features, forest(parents), n_classes, QFormat(4, 4))


NAMED = {
    **MODELS,
    "eight_classes": lambda: scaled(8, [None, 0, 1]),
    "sixteen_classes": lambda: scaled(16, [None, None, None]),
}
NAMES = (
    "naive_integer", "mixed_kinds", "wide_states", "general_network", "sum_255", "sum_256",
    "eight_classes", "sixteen_classes",
)  # fmt: skip


def emitted(model: Model) -> Emission:
    options = EmitOptions("m", ENTRIES, kernel="bytes", target="avr", optimize="speed")
    found = emit_c(model, options)
    assert isinstance(found.layout.kernel, LaneKernel)
    assert found.layout.kernel.lowest.word_bits == 8
    return found


@pytest.mark.parametrize("machine", ["atmega328p", "host-gcc", "host-clang", "cortex-m0"])
def test_the_c_is_strict_and_never_multiplies(machine, require_machine, tmp_path: Path) -> None:
    chosen = MACHINES[machine]
    require_machine(chosen)
    some = ("mixed_kinds", "sum_256", "eight_classes", "sixteen_classes")
    names = write_all(tmp_path, {name: emitted(NAMED[name]()).files for name in some})
    for later in ("c11", "c++17"):
        compile_as_one(chosen, tmp_path, names, (*STANDARDS[later], "-O2"))
    assert faults(chosen, tmp_path, names, ("-Os", "-O2")) == {}


def test_an_avr_agrees(require_bench) -> None:
    """Each model compiled for size and for speed."""
    bench = require_bench("avr")
    members = {}
    for name in NAMES:
        member = comparing(NAMED[name](), emitted(NAMED[name]()).files, 50)
        members |= {f"{name} {level}": replace(member, level=level) for level in ("-Os", "-O3")}
    assert disagreeing(answers(bench, "-Os", members)) == {}


@pytest.mark.shared
@pytest.mark.parametrize("bits", [1, 2, 4, 8])
@pytest.mark.parametrize("data_set", ["letter", "satimage", "usps"])
def test_an_avr_agrees_on_the_papers_models(
    require_bench, shared_data, data_set: str, bits: int
) -> None:
    require_bench("avr")
    found = reference(Recipe(data_set, "naive", bits), shared_data)
    table = some_rows(found.test, 5)
    outcome = verify(found.model, "avr", table=table, n_random=5, emission=emitted(found.model))
    assert outcome.agree, outcome.first_mismatch
