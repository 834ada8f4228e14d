"""The bounds in a header: stack reported by compilers, at least the measured one, and counts."""

import re
import subprocess

import numpy as np
import pytest

from bncc.device.bounds import measure_bounds
from bncc.device.image import Builder
from bncc.device.inputs.cases import Effort, cases
from bncc.device.meter import Inputs, Meter
from bncc.device.sources import sources
from bncc.emit.emitter import EmitOptions, emit_c
from tests.firmware.compiled import classifier
from tests.firmware.machines import MODELS

pytestmark = [pytest.mark.cc, pytest.mark.firmware]
TARGETS = ("avr", "cortex-m0", "cortex-m4", "rv32")
GCC = {"avr": "avr-gcc", "rv32": "riscv64-unknown-elf-gcc"}
ARM_GCC = "arm-none-eabi-gcc"
BUILDS = [*((target, GCC.get(target, ARM_GCC)) for target in TARGETS),
          *((target, "ziglang") for target in TARGETS if target != "avr")]  # fmt: skip
EVERYTHING = frozenset({"raw", "scores", "stream", "trusted"})


def measured(name, bench, *, constant_time):
    """Return the C of a model with its bounds, as ``emit-c --measure`` writes it."""
    model = MODELS[name]()
    plain = EmitOptions("m", EVERYTHING, target=bench.target.name, constant_time=constant_time)
    files = emit_c(model, plain).files
    found = measure_bounds(model, sources(model, files), bench, "-Os", is_exact=constant_time)
    options = EmitOptions(
        "m", EVERYTHING, target=bench.target.name, constant_time=constant_time, bounds=found
    )
    return model, emit_c(model, options).files, found


def told(header, what):
    """Return the macros of the header that end so, by entry point."""
    found = re.findall(rf"#define M_(\w+)_{what} (\d+)U", header)
    return {entry.lower(): int(number) for entry, number in found}


def stack_below(function, frames, calls):
    """Return the stack of a function and its deepest call chain, from two texts alone."""
    return frames[function] + max(
        (stack_below(each, frames, calls) for each in calls.get(function, ())), default=0
    )


def stack_by_text(files, bench, folder, objdump):
    """Compile with -fstack-usage, read the calls from the disassembly, and add up."""
    builder = Builder(folder, bench.target, bench.compiler)
    builder.write(classifier(files))
    builder.compile("m.c", "m.o", "-Os", flags=("-fstack-usage",))
    frames = {}
    for line in (folder / "m.su").read_text().splitlines():
        place, size, kind = line.split("\t")
        assert kind == "static"
        frames[re.sub(r"\.\d+$", "", place.split(":")[-1])] = int(size)
    command = (objdump, "-dr", "m.o")
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    calls, here = {}, ""
    for line in done.stdout.splitlines():
        if start := re.match(r"\w+ <(m_[\w.]+)>:$", line):
            here = re.sub(r"\.\d+$", "", start[1])
        elif reference := re.search(r"R_\w+\s+(?:\.text\.)?(m_[a-z_]\w*(?:\.[a-z]\w*)?)", line):
            calls.setdefault(here, set()).update({reference[1]} & (frames.keys() - {here}))
    return {f: stack_below(f, frames, calls) for f in frames}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", ["tan_float", "many_features"])
def test_the_stack_of_the_header_is_that_of_the_compiler(
    require_bench, require_tool, target, name, tmp_path
):
    gcc = GCC.get(target, ARM_GCC)
    bench, objdump = require_bench(target, gcc), require_tool(gcc.replace("gcc", "objdump"))
    _, files, _ = measured(name, bench, constant_time=False)
    stack = told(files["m.h"], "STACK")
    assert {"predict", "predict_trusted", "scores", "begin", "feed", "end"} <= set(stack)
    by_text = stack_by_text(files, bench, tmp_path, objdump)
    assert stack == {entry: by_text[f"m_{entry}"] for entry in stack}
    assert max(stack.values()) > 0


@pytest.mark.parametrize(("target", "compiler"), BUILDS)
@pytest.mark.parametrize("constant_time", [False, True])
def test_no_decision_uses_more_stack_than_the_header_says(
    require_bench, target, compiler, constant_time
):
    bench = require_bench(target, compiler)
    model, files, _ = measured("tan_float", bench, constant_time=constant_time)
    stack = told(files["m.h"], "STACK")
    tried = list(cases(model, None, Effort(20, False, 0)))
    X = np.concatenate([case.x for case in tried if case.kind == "states"])
    R = np.concatenate([case.x for case in tried if case.kind == "raw"])
    with Meter(sources(model, files), bench, "-Os") as meter:
        costs = meter.costs(Inputs(X, R))
    assert costs["predict"].stack <= stack["predict"]
    assert costs["trusted"].stack <= stack["predict_trusted"]
    assert costs["raw"].stack <= stack["predict_raw"]


@pytest.mark.parametrize("target", TARGETS)
def test_counts_are_macros_where_they_are_exact(require_bench, target):
    """Only there; other inputs than those of the header take the same number."""
    bench = require_bench(target)
    unit = bench.target.unit.upper()
    model, files, found = measured("tan_float", bench, constant_time=True)
    counts = told(files["m.h"], unit)
    assert set(counts) == {"predict", "predict_trusted", "predict_raw"}
    wrong = np.full((1, model.n_features), 255)
    with Meter(sources(model, files), bench, "-Os") as meter:
        again = meter.costs(Inputs(np.zeros((1, model.n_features)), np.full((1, 3), np.nan)))
        assert again["raw"].max == counts["predict_raw"]
        assert again["trusted"].max == counts["predict_trusted"]
    untrusted = EmitOptions("m", target=target, constant_time=True, kernel="plain")
    with Meter(sources(model, emit_c(model, untrusted).files), bench, "-Os") as meter:
        first = meter.costs(Inputs(wrong))["predict"]
        assert first.max == meter.costs(Inputs(np.zeros_like(wrong)))["predict"].max
    assert dict(found.exact) == counts


def test_counts_of_ordinary_code_are_seen_and_no_bound(require_bench):
    bench = require_bench("cortex-m0")
    _, files, _ = measured("tan_float", bench, constant_time=False)
    assert told(files["m.h"], "INSTRUCTIONS") == {}
    words = " ".join(files["m.h"].replace("\n *", " ").split())
    assert re.search(
        r"predict: (\d+) \.\. (\d+) instructions observed over 100 inputs; not a bound", words
    )
    assert "Executed instructions are not cycles." in words
