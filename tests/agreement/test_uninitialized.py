"""
No entry point reads an output before it has written it, for every build of the C.

The harness passes outputs that nothing has initialized and then writes them out. Under memcheck and
MemorySanitizer an element that was not written, or that depends on its previous value, stops the
program; optimizers that see the caller may make anything of such a read.
"""

import re
import subprocess
from functools import partial
from itertools import product

import numpy as np
import pytest

from bncc.data.readers import bundled_path, read_table
from bncc.data.target import dataset_of
from bncc.device.agreement import compare
from bncc.device.host import build_harness
from bncc.device.inputs.cases import Case, Effort, cases
from bncc.device.inputs.missing import missing_cases
from bncc.device.machine import pack, row_dtype
from bncc.device.sources import sources
from bncc.discretize.feature import states_of
from bncc.discretize.readings import raw_of_table
from bncc.emit.emitter import EmitOptions, emit_c
from bncc.errors import OptionError
from bncc.lower.kernels.families import FAMILIES, FREE_OF_BRANCHES, STREAMS
from bncc.model.reference import scores
from bncc.toolchain.tools import host_compilers
from bncc.train.settings import TrainSettings
from bncc.train.train_model import train_model
from tests import models as hand
from tests.agreement.large import LARGE
from tests.conftest import ROOT

pytestmark = pytest.mark.cc
BY_NAME = {**hand.NAMED, **LARGE}
MEMCHECK = ("valgrind", "-q", "--error-exitcode=9")
WAYS = {
    "memcheck": ("gcc", "-O1", {"launcher": MEMCHECK}),
    "memory-sanitizer": (
        "clang", "-O1", {"flags": ("-fsanitize=memory", "-fno-sanitize-recover=all")}
    ),
    "clang-Os-flto": ("clang", "-Os", {"flags": ("-flto",)}),
    "clang-O3-flto": ("clang", "-O3", {"flags": ("-flto",)}),
    "gcc-O3-flto": ("gcc", "-O3", {"flags": ("-flto",)}),
    "clang-one-unit": ("clang", "-O2", {"is_one_unit": True}),
    "gcc-one-unit": ("gcc", "-O2", {"is_one_unit": True}),
}  # fmt: skip
"""Compiler, level and other build options."""
KERNELS = [
    (family, constant_time)
    for family, constant_time in product(FAMILIES, (False, True))
    if not constant_time or family in FREE_OF_BRANCHES
]
SUITED = {
    "bit-slice": "letter_like_1_bit", "planes": "ten_classes_2_bits", "columns": "letter_like",
    "cuts": "sum_of_tables", "cut-loop": "sum_of_tables", "cut-packed": "sum_of_tables",
    "cut-lanes": "sum_of_tables",
    "branches": "trees",
}  # fmt: skip
"""A model that a family has a layout for; others have one for `general_network`."""
TREES = {"trees": partial(hand.trees_of_sensors, 3, 3)}
MORE = (
    "naive_integer", "tan_float", "wide_states", "mixed_kinds", "sum_of_tables", "sum_65536",
    "letter_like_1_bit", "ten_classes_2_bits", "wide_costs", "trees",
)  # fmt: skip


def emitted(model, family, constant_time, optimize="balanced"):
    entries = hand.possible_entries(model)
    options = EmitOptions(
        "m",
        entries if family in STREAMS else entries - {"stream"},
        kernel=family,
        optimize=optimize,
        target="avr" if family == "bytes" else None,
        constant_time=constant_time,
    )
    return emit_c(model, options)


def joined(inputs):
    """Return the cases of each kind as one: memcheck takes a second or more to start."""
    kinds = sorted({case.kind for case in inputs})
    for kind in kinds:
        some = [case for case in inputs if case.kind == kind]
        parts = zip(*((case.x, case.y, case.scores, case.is_missing) for case in some), strict=True)
        yield Case(kind, *(None if part[0] is None else np.concatenate(part) for part in parts))


def check(require_tool, model, emission, way, entries=None):
    """Build with some options, call entry points, and compare decisions and scores with Python."""
    compiler, level, how = WAYS[way]
    require_tool(compiler)
    for tool in how.get("launcher", ())[:1]:
        require_tool(tool)
    (tool,) = host_compilers(compiler)
    effort = Effort(40, False, 0)
    with build_harness(
        sources(model, emission.files), compiler=tool, opt_level=level, sanitize=False, **how
    ) as machine:
        machine.entries = entries or machine.entries
        has_raw = "raw" in machine.entries
        inputs = list(cases(model, None, effort, has_raw=has_raw))
        if "missing" in machine.entries:
            inputs += missing_cases(model, None, effort, has_raw=has_raw)
        outcome = compare(machine, joined(inputs))
    assert outcome.agree, outcome.first_mismatch
    assert outcome.checked > 0


@pytest.mark.parametrize("k", range(len(KERNELS)), ids=lambda k: "-".join(map(str, KERNELS[k])))
def test_no_kernel_reads_outputs_before_it_writes_them(require_tool, k):
    """MemorySanitizer and the ways that see the caller take turns; memcheck takes many seconds."""
    family, constant_time = KERNELS[k]
    others = list(WAYS)[2:]
    way = "memory-sanitizer" if k % 2 == 0 else others[k // 2 % len(others)]
    model = (BY_NAME | TREES)[SUITED.get(family, "general_network")]()
    check(require_tool, model, emitted(model, family, constant_time), way)


@pytest.mark.parametrize("way", WAYS)
def test_every_way_of_building_agrees(require_tool, way):
    model = hand.tan_float()
    few = frozenset({"predict", "scores"}) if way == "memcheck" else None
    check(require_tool, model, emitted(model, "plain", True), way, few)


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("family", "constant_time"), KERNELS)
def test_every_kernel_agrees_in_every_way_of_building(require_tool, family, constant_time, way):
    n_builds = 0
    for name, optimize in product(MORE, ("size", "speed")):
        model = (BY_NAME | TREES)[name]()
        try:
            emission = emitted(model, family, constant_time, optimize)
        except OptionError:
            continue  # it has no layout for the model
        check(require_tool, model, emission, way)
        n_builds += 1
    assert n_builds > 0


def test_memory_that_is_read_before_it_is_written_is_found(require_tool):
    """A former defect of scores with `--constant-time`."""
    model = hand.tan_float()
    files = dict(emitted(model, "plain", True).files)
    wrong = "s[c] = (m_cost_t)(s[c] ^ ((s[c] ^ score) & keep));"
    right = next(line.strip() for line in files["m.c"].splitlines() if "score & keep" in line)
    files["m.c"] = files["m.c"].replace(right, wrong)
    for way in ("memcheck", "memory-sanitizer"):
        compiler, level, how = WAYS[way]
        require_tool(compiler)
        require_tool("valgrind")
        (tool,) = host_compilers(compiler)
        with build_harness(
            sources(model, files), compiler=tool, opt_level=level, sanitize=False, **how
        ) as machine:
            machine.entries = frozenset({"predict", "scores"})
            outcome = compare(machine, cases(model, None, Effort(10, False, 0), has_raw=False))
        assert not outcome.agree, way
        assert "was stopped" in outcome.first_mismatch


MAIN = """
#include "rooms.h"
#include <stdio.h>

SURE_ROOM
int main(void)
{
    rooms_raw_t strength[ROOMS_N_FEATURES];

    while (fread(strength, sizeof strength, 1U, stdin) == 1U) {
        printf("%d\\n", (int)sure_room(strength));
    }
    return 0;
}
"""


def sure_room() -> str:
    """Return the example of the documentation."""
    text = (ROOT / "docs" / "reference" / "c.md").read_text(encoding="utf-8")
    (block,) = re.findall("^```c\n([^`]*sure_room[^`]*)^```", text, re.MULTILINE)
    return block


@pytest.mark.parametrize("level", ["-Os", "-O2", "-O3"])
@pytest.mark.parametrize("compiler", ["clang", "gcc"])
def test_the_documented_example_is_as_sure_as_python(require_tool, compiler, level, tmp_path):
    """`clang -Os -flto` once called 1,508 rows unsure where Python has 49."""
    require_tool(compiler)
    data = dataset_of(read_table(bundled_path("wifi")))
    settings = TrainSettings(structure="naive", parameters="ml")
    model = train_model(data, settings).model
    options = EmitOptions("rooms", frozenset({"scores"}), constant_time=True)
    files = {**emit_c(model, options).files, "main.c": MAIN.replace("SURE_ROOM", sure_room())}
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    command = (compiler, "-std=c99", level, "-flto", "main.c", "rooms.c", "-o", "rooms")
    subprocess.run(command, cwd=tmp_path, check=True)
    rows = pack(raw_of_table(model.features, data.table), row_dtype(model.features))
    done = subprocess.run(tmp_path / "rooms", input=rows.tobytes(), capture_output=True, check=True)
    s = scores(model, states_of(model.features, data.table))
    y = np.where((s < 4).sum(axis=1) == 1, s.argmin(axis=1), -1)
    assert 10 < (y < 0).sum() < 200
    assert done.stdout.decode().split() == [str(room) for room in y]
