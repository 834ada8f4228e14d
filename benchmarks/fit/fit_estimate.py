"""
Measure the emitted C on Cortex-M0, fit `bncc.lower.estimate` to it, and print the residuals.

Every model below is emitted, compiled by arm-none-eabi-gcc -mcpu=cortex-m0 -mthumb -O2, and
measured: flash from `size`, stack from -fstack-usage along the calls in the disassembly,
instructions of `m_predict` counted one by one in an emulator, the mean of 8 random inputs.
The coefficients are those of least relative squares; copy them into `bncc/lower/estimate.py` if
they change. Takes a minute or two. Needs the compiler, and the package unicorn, which is no
dependency of bncc. Install it in another folder to keep the project's environment clean:

    pip install --target DIRECTORY unicorn
    PYTHONPATH=DIRECTORY .venv/bin/python -m benchmarks.fit.fit_estimate
"""

import importlib.util
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bncc._types import FloatArray, IntArray
from bncc.discretize.feature import Feature
from bncc.emit.emitter import Emission, EmitOptions, emit_c
from bncc.fixed_point import QFormat
from bncc.lower.estimate import (
    buffer_bytes,
    code_terms,
    constant_bytes,
    frame_terms,
    kernel_bytes,
)
from bncc.model.model import Model
from bncc.structure.graph import forest

GCC = ["arm-none-eabi-gcc", "-mcpu=cortex-m0", "-mthumb", "-O2", "-std=c99", "-ffreestanding"]
N_INPUTS = 8
SOME_BYTES = 32
CODE, STACK_END, RETURN = 0x10000, 0x20100000, 0x30000000


@dataclass(frozen=True)
class Spec:
    """A random model: structure, features, classes, states, bits of a cost, kind of readings."""

    structure: str
    n_features: int
    n_classes: int
    n_states: int
    bits: int
    raw: str
    entries: str = ""


SPECS = (
    Spec("naive", 4, 2, 3, 4, "int16"),
    Spec("naive", 4, 3, 4, 6, "float32", "scores trusted"),
    Spec("naive", 8, 2, 6, 8, "state"),
    Spec("naive", 16, 10, 4, 8, "int16", "scores"),
    Spec("naive", 16, 26, 5, 4, "int32"),
    Spec("naive", 24, 4, 8, 12, "float32"),
    Spec("naive", 36, 6, 10, 16, "state", "trusted"),
    Spec("naive", 64, 10, 3, 6, "float32", "scores trusted"),
    Spec("naive", 128, 3, 4, 20, "int16"),
    Spec("naive", 256, 2, 2, 8, "int32", "scores"),
    Spec("naive", 256, 10, 4, 8, "int16"),
    Spec("naive", 10, 5, 4, 6, "mixed"),
    Spec("naive", 40, 3, 3, 8, "mixed", "scores trusted"),
    Spec("naive", 6, 2, 300, 8, "state"),
    Spec("tan", 4, 2, 3, 4, "float32"),
    Spec("tan", 6, 26, 3, 4, "int16", "scores trusted"),
    Spec("tan", 8, 4, 4, 5, "mixed"),
    Spec("tan", 13, 3, 5, 8, "int16"),
    Spec("tan", 16, 26, 4, 6, "state", "raw"),
    Spec("tan", 24, 4, 3, 8, "float32", "scores"),
    Spec("tan", 36, 6, 4, 16, "int16"),
    Spec("tan", 60, 2, 3, 10, "mixed"),
    Spec("tan", 64, 10, 3, 6, "int32"),
    Spec("tan", 128, 4, 3, 24, "float32", "trusted"),
    Spec("tan", 256, 10, 2, 8, "state"),
    Spec("tan", 256, 2, 3, 4, "int16", "scores trusted"),
    Spec("forest", 12, 3, 4, 6, "float32"),
    Spec("forest", 30, 8, 3, 8, "int16"),
    Spec("forest", 100, 5, 3, 12, "mixed"),
)


@dataclass(frozen=True)
class Measured:
    """Bytes of flash, bytes of stack, mean instructions of one ``m_predict``."""

    flash: int
    stack: int
    instructions: float


def feature(spec: Spec, i: int) -> Feature:
    """Return input i of a model; its thresholds are -1, 0, 1, ... in any unit."""
    kind = ("int16", "float32", "category")[i % 3] if spec.raw == "mixed" else spec.raw
    if kind == "category":
        labels = tuple(str(k) for k in range(spec.n_states))
        return Feature(f"x{i}", "category", spec.n_states, categories=labels)
    if kind == "state":
        return Feature(f"x{i}", "state", spec.n_states)
    cuts = tuple(range(-1, spec.n_states - 2))
    if kind == "float32":
        return Feature(f"x{i}", "float32", spec.n_states, thresholds=tuple(map(float, cuts)))
    return Feature(f"x{i}", "int16" if kind == "int16" else "int32", spec.n_states, thresholds=cuts)


def model_of(spec: Spec) -> Model:
    """Return the random model of a specification."""
    rng = np.random.default_rng(0)
    n = spec.n_features
    every = {"naive": 0, "tan": 1, "forest": 2}[spec.structure]
    parents = [
        int(rng.integers(0, i)) if i and every and i % every == 0 else None for i in range(n)
    ]
    structure = forest(parents)
    top = 2**spec.bits
    tables = tuple(
        rng.integers(0, top, (spec.n_states ** (1 + len(structure.parents[i])), spec.n_classes))
        for i in range(n)
    )
    classes = tuple(f"c{c}" for c in range(spec.n_classes))
    features = tuple(feature(spec, i) for i in range(n))
    prior = rng.integers(0, top, spec.n_classes)
    return Model(features, classes, structure, QFormat(spec.bits, 0), prior, tables)


def run(*command: str) -> str:
    """Return the output of a program."""
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def measure(emission: Emission, folder: Path, inputs: IntArray) -> Measured:
    """Compile one emission and measure it."""
    for name, text in emission.files.items():
        (folder / name).write_text(text)
    source, elf, image = folder / "m.c", folder / "m.elf", folder / "m.bin"
    run(*GCC, "-fstack-usage", "-c", str(source), "-o", str(folder / "m.o"))
    run(*GCC, "-nostdlib", f"-Wl,-Ttext={CODE:#x},-e,m_predict", str(source), "-o", str(elf))
    run("arm-none-eabi-objcopy", "-O", "binary", str(elf), str(image))
    flash = int(run("arm-none-eabi-size", str(folder / "m.o")).splitlines()[1].split()[0])
    symbols = run("arm-none-eabi-nm", str(elf))
    start = int(next(line for line in symbols.splitlines() if line.endswith(" m_predict"))[:8], 16)
    state = np.uint8 if emission.layout.state_bits == 8 else np.uint16
    counts = [count(image.read_bytes(), start, x.astype(state).tobytes()) for x in inputs]
    return Measured(flash, deepest_stack(folder), float(np.mean(counts)))


def deepest_stack(folder: Path) -> int:
    """Return the bytes of stack of the deepest chain of calls."""
    usage = (folder / "m.su").read_text().splitlines()
    frame = {_plain(line.split("\t")[0].split(":")[-1]): int(line.split("\t")[1]) for line in usage}
    callees: dict[str, set[str]] = {name: set() for name in frame}
    function = ""
    for line in run("arm-none-eabi-objdump", "-d", "-r", str(folder / "m.o")).splitlines():
        if head := re.match(r"[0-9a-f]+ <([\w.]+)>:", line):
            function = _plain(head[1])
        elif (call := re.search(r"\tb[a-z]*\t.*<([\w.]+)(\+0x[0-9a-f]+)?>", line)) and not call[2]:
            callees[function].add(_plain(call[1]))

    def depth(name: str) -> int:
        below = [depth(callee) for callee in callees[name] if callee != name]
        return frame[name] + max(below, default=0)

    return max(depth(name) for name in frame)


def _plain(symbol: str) -> str:
    """Return the source name of a function that gcc specialized."""
    return symbol.split(".")[0]


def count(image: bytes, start: int, states: bytes) -> int:
    """Return the number of executed instructions of one call."""
    from unicorn import UC_ARCH_ARM, UC_HOOK_CODE, UC_MODE_MCLASS, UC_MODE_THUMB, Uc, arm_const

    machine = Uc(UC_ARCH_ARM, UC_MODE_THUMB | UC_MODE_MCLASS)
    machine.mem_map(CODE, (len(image) + 0xFFFF) & ~0xFFF)
    machine.mem_write(CODE, image)
    machine.mem_map(STACK_END - 0x100000, 0x100000)
    machine.mem_map(RETURN, 0x1000)
    place = STACK_END - 0x80000
    machine.mem_write(place, states)
    machine.reg_write(arm_const.UC_ARM_REG_SP, STACK_END - 16)
    machine.reg_write(arm_const.UC_ARM_REG_R0, place)
    machine.reg_write(arm_const.UC_ARM_REG_LR, RETURN | 1)
    executed = [0]

    def step(*_: object) -> None:
        executed[0] += 1

    machine.hook_add(UC_HOOK_CODE, step)
    machine.emu_start(start | 1, RETURN)
    if machine.reg_read(arm_const.UC_ARM_REG_R0) >= 1 << 31:
        raise RuntimeError("m_predict refused its input")
    return executed[0]


def fit(terms: FloatArray, rest: FloatArray, total: FloatArray) -> FloatArray:
    """Return the coefficients of least squares relative to the total, or to a minimum of bytes."""
    total = np.maximum(total, SOME_BYTES)
    return np.linalg.lstsq(terms / total[:, None], rest / total, rcond=None)[0]


def report(
    title: str, terms: FloatArray, known: FloatArray, total: FloatArray, now: FloatArray
) -> None:
    """Fit one quantity with a known part, and print coefficients and residuals."""
    rest = total - known
    print(title, "=", ", ".join(f"{value:.1f}" for value in fit(terms, rest, total)))
    others = [np.arange(len(total)) != i for i in range(len(total))]
    left_out = [fit(terms[rows], rest[rows], total[rows]) for rows in others]
    blind = known + np.array([row @ c for row, c in zip(terms, left_out, strict=True)])
    for what, estimated in (("estimate.py as it is", now), ("each left out in turn", blind)):
        residuals(what, (estimated - total) / np.maximum(total, SOME_BYTES))


def residuals(what: str, errors: FloatArray) -> None:
    """Print the range of relative errors and the number of small ones."""
    within = int((np.abs(errors) <= 0.15).sum())
    print(
        f"  {what}: {errors.min():+.0%} .. {errors.max():+.0%}, "
        f"{within} of {len(errors)} within 15 %"
    )


def measured_all(folder: Path) -> Iterator[tuple[Emission, Measured]]:
    """Yield every model's emission and measurement."""
    for spec in SPECS:
        model = model_of(spec)
        emission = emit_c(model, EmitOptions("m", frozenset(spec.entries.split())))
        rng = np.random.default_rng(1)
        inputs = rng.integers(0, spec.n_states, (N_INPUTS, spec.n_features))
        measured = measure(emission, folder, inputs)
        print(
            f"{spec.structure:6} D={spec.n_features:3} C={spec.n_classes:2} {spec.bits:2} bits "
            f"{spec.raw:7} flash {measured.flash:6} stack {measured.stack:4} "
            f"instructions {measured.instructions:6.0f}   estimated {emission.estimate.flash:6} "
            f"{emission.estimate.ram:4} {emission.estimate.instructions:6}"
        )
        yield emission, measured


def main() -> None:
    """Measure all models, fit, and print."""
    if shutil.which(GCC[0]) is None or importlib.util.find_spec("unicorn") is None:
        print(f"skipped: this needs {GCC[0]} and the Python package unicorn")
        return
    print(run(GCC[0], "--version").splitlines()[0])
    with tempfile.TemporaryDirectory() as folder:
        pairs = list(measured_all(Path(folder)))
    layouts = [emission.layout for emission, _ in pairs]
    estimates = [emission.estimate for emission, _ in pairs]
    for title, terms_of, known_of, measured, now in (
        ("CODE", code_terms, lambda x: constant_bytes(x) + kernel_bytes(x), "flash", "flash"),
        ("FRAMES", frame_terms, buffer_bytes, "stack", "ram"),
    ):
        report(
            title,
            np.array([terms_of(layout) for layout in layouts], dtype=float),
            np.array([known_of(layout) for layout in layouts], dtype=float),
            np.array([getattr(m, measured) for _, m in pairs], dtype=float),
            np.array([getattr(e, now) for e in estimates], dtype=float),
        )
    executed = np.array([m.instructions for _, m in pairs])
    print("instructions, by bncc.lower.cost_model")
    residuals("as it is", np.array([e.instructions for e in estimates]) / executed - 1)


if __name__ == "__main__":
    main()
