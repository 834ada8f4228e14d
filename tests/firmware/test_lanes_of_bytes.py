"""Lanes of bytes, chosen for an AVR: strict C, without a product, bit for bit on the machine."""

import re
from pathlib import Path

import pytest

from benchmarks.reference_models import Recipe, reference, some_rows
from bncc.device.agreement import verify
from bncc.discretize.feature import Feature
from bncc.emit.emitter import Emission, EmitOptions, emit_c
from bncc.fixed_point import QFormat
from bncc.lower.kernels.lanes.layout import LaneKernel
from bncc.model.model import Model
from bncc.structure.graph import forest
from bncc.toolchain.tools import STRICT_C_FLAGS, STRICT_FLAGS
from tests.agreement.large import random_model
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
STANDARDS = {
    "c99": ("-std=c99", *STRICT_FLAGS, *STRICT_C_FLAGS),
    "c11": ("-std=c11", *STRICT_FLAGS, *STRICT_C_FLAGS),
    "c++17": ("-xc++", "-std=c++1z", *STRICT_FLAGS),
}


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
    for name in ("mixed_kinds", "sum_256", "eight_classes", "sixteen_classes"):
        for file, text in emitted(NAMED[name]()).files.items():
            (tmp_path / file).write_text(text, encoding="utf-8")
        for flags in STANDARDS.values():
            chosen.compile(tmp_path, ("m.c",), *flags, "-O2")
        for level in ("-Os", "-O2"):
            chosen.compile(tmp_path, ("m.c",), *STANDARDS["c99"], level)
            found = chosen.mnemonics(tmp_path, ("m.o",))
            assert not [m for m in found if re.fullmatch(chosen.multiplies, m)], name
            assert not chosen.undefined(tmp_path, ("m.o",)), name


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("level", ["-Os", "-O3"])
def test_an_avr_agrees(require_bench, name: str, level: str) -> None:
    require_bench("avr")
    model = NAMED[name]()
    outcome = verify(model, "avr", opt_level=level, n_random=50, emission=emitted(model))
    assert outcome.agree, outcome.first_mismatch


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
