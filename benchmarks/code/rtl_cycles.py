"""
Cycles of RV32 cores by the timing models, against the cores' own RTL, cycle for cycle.

Runs programs of bncc's meter, each with the same inputs, in the simulator with the timing model and
in the RTL of the core under verilator, with a memory that answers in the shortest time. Needs
verilator, a C++ compiler, a compiler for RV32, unicorn, capstone, and a clone of the core's
repository (github.com/YosysHQ/picorv32 or github.com/lowRISC/ibex):

    .venv/bin/python -m benchmarks.code.rtl_cycles --core picorv32 --rtl ../picorv32 --write

Prints a row for each program, over all its entry points and inputs. ``--write`` updates the table
of docs/how-to/time-and-energy.md, a row for each model. ``--sequences`` compares the sequences of
tests/rv32_sequences.py instead. ``--cost`` prints the CPU time of counting cycles divided by that
of counting instructions instead; it needs no RTL. Takes some ten minutes on an idle computer.
"""

import argparse
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

import numpy as np

from benchmarks.shared.counting_time import counting_words
from benchmarks.shared.markdown import renew, table
from benchmarks.shared.trained_models import Trained
from bncc.device.cross import Toolchain, find_toolchain
from bncc.device.image import Image
from bncc.device.measure import bench_inputs
from bncc.device.meter import Meter, Metered
from bncc.device.simulators.unicorn import Reading
from bncc.emit.emitter import Emission, EmitOptions, emit_c
from bncc.errors import BnccError
from bncc.lower.cost_model import LEVELS, Level
from bncc.lower.kernels.families import FAMILIES
from bncc.model.model import Model
from bncc.on_device import sources_of
from bncc.resources import Optimize
from bncc.targets import find_target
from bncc.timing.clock import CycleClock
from tests.rv32_sequences import SEQUENCES, code_of_all
from tests.unit.device.written import in_assembly, meter, states

PAGE = Path("docs/how-to/time-and-energy.md")
TEST_BENCH = Path(__file__).with_name("rtl_bench.cpp").resolve()
TARGET = "rv32"
N_ROWS = 10
N_LAYOUTS = 10
"""Programs of a model at most."""
GOALS: tuple[Optimize, ...] = ("speed", "size")
MODELS = {
    Trained("wifi", "naive", 3): "plain",
    Trained("wifi", "chow-liu", 4): "lanes",
    Trained("wifi", "boosted", 3): "packed",
    Trained("robot", "naive", 3): "looped",
    Trained("robot", "boosted", 3): "cut-loop",
}
"""Models, and the kernel of the first program of each: its others follow in turn."""
ENTRIES: tuple[Metered, ...] = ("predict", "scores", "raw")
BOOT = 0x80
"""Address of the first instruction."""
_SP, _T0 = 2, 5
_HEAD = 3
"""Pairs of readings that precede the first row: nothing, and two loops."""

Pairs: TypeAlias = np.ndarray[tuple[int, ...], np.dtype[np.int64]]


@dataclass(frozen=True)
class Rtl:
    """Sources and options by which verilator translates a core."""

    top: str
    sources: tuple[str, ...]  # Files of the clone, in the order of compilation
    options: tuple[str, ...]


_PRIM, _GENERIC = (f"vendor/lowrisc_ip/ip/{name}/rtl" for name in ("prim", "prim_generic"))
RTL: Mapping[str, Rtl] = {
    "picorv32": Rtl(
        "picorv32",
        ("picorv32.v",),
        ("-GCOMPRESSED_ISA=1", "-GENABLE_MUL=1", "-GENABLE_DIV=1", f"-GPROGADDR_RESET={BOOT}"),
    ),
    "ibex": Rtl(
        "ibex_top",
        (*(f"{_PRIM}/prim_{name}_pkg.sv" for name in ("util", "mubi", "secded", "count", "cipher")),
         f"{_GENERIC}/prim_ram_1p_pkg.sv", "rtl/ibex_pkg.sv", "rtl/ibex_top.sv"),
        ("-DSYNTHESIS", "-DYOSYS", f"+incdir+{_PRIM}", "+incdir+vendor/lowrisc_ip/dv/sv/dv_utils",
         "-y", "rtl", "-y", _PRIM, "-y", _GENERIC),
    ),
}  # fmt: skip


def build(core: str, clone: Path, folder: Path) -> Path:
    """Translate a core and return the program that simulates it."""
    known = RTL[core]
    lacking = [name for name in known.sources if not (clone / name).is_file()]
    if lacking:
        sys.exit(f"{clone} has no {lacking[0]}; give a clone of the core's repository")
    command = ["verilator", "--cc", "--exe", "--build", "-O3", "--prefix", "Vcore", "-Wno-fatal",
               "-Wno-lint", "-Wno-style", "--top-module", known.top, *known.options,
               "-CFLAGS", f"-O2 -DCORE_{core.upper()}", "--Mdir", str(folder), "-o", "rtl_bench",
               *known.sources, str(TEST_BENCH)]  # fmt: skip
    done = subprocess.run(command, cwd=clone, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"verilator failed:\n{done.stdout[-2000:]}{done.stderr[-4000:]}")
    return folder / "rtl_bench"


def _boot(symbols: Mapping[str, int]) -> bytes:
    """Return code that sets the stack pointer and jumps to the start-up code."""
    words = []
    for register, value in ((_SP, symbols["bncc_stack_top"]), (_T0, symbols["bncc_reset"])):
        upper = (value + 0x800) & 0xFFFF_F000
        words += [
            upper | register << 7 | 0x37,  # lui
            (value - upper & 0xFFF) << 20 | register << 15 | register << 7 | 0x13,
        ]  # addi
    words.append(_T0 << 15 | 0x67)  # jr
    return b"".join(word.to_bytes(4, "little") for word in words)


@dataclass(frozen=True)
class BothBench(Toolchain):
    """A simulator with a clock, and the RTL of its core on the same images and requests."""

    rtl: Path = Path()
    # Cycles between pairs of readings of each run: fewest, most, and those of the RTL (n, 3)
    runs: list[Pairs] = field(default_factory=list)

    def run_metered(self, image: Image, request: bytes) -> tuple[bytes, list[Reading]]:
        """Run both, and compare their decisions."""
        reply, readings = super().run_metered(image, request)
        answer, cycles = self._on_rtl(image, request)
        ours, theirs = (np.frombuffer(each, "<u4")[4:].reshape(-1, 3)[:, 0]
                        for each in (reply, answer))  # fmt: skip
        if not np.array_equal(ours, theirs):
            sys.exit(f"decisions differ: {ours} in the simulator, {theirs} in the RTL")
        if any(each.unknown for each in readings):
            sys.exit("an instruction has no known time")
        bounds = np.array([(low, high) for low, high, _ in readings]).reshape(-1, 2, 2)
        found = np.diff(np.array(cycles).reshape(-1, 2), axis=1)
        self.runs.append(np.column_stack([bounds[:, 1] - bounds[:, 0], found]))
        return reply, readings

    def _on_rtl(self, image: Image, request: bytes) -> tuple[bytes, list[int]]:
        with TemporaryDirectory(prefix="bncc-") as name:
            folder = Path(name)
            parts = [*image.segments, (BOOT, _boot(image.symbols))]
            (folder / "image").write_bytes(
                b"".join(at.to_bytes(4, "little") + len(data).to_bytes(4, "little") + data
                         for at, data in parts)
            )  # fmt: skip
            (folder / "request").write_bytes(request)
            doorbell = self.simulator.defines[0].partition("=")[2].rstrip("U")
            command = (self.rtl, "image", "request", "reply", doorbell,
                       hex(image.symbols["bncc_request"]))  # fmt: skip
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
            if done.returncode:
                sys.exit(f"the RTL ended with status {done.returncode}: {done.stderr}")
            return (folder / "reply").read_bytes(), [int(n) for n in done.stdout.split()]


@dataclass(frozen=True, eq=False)
class Program:
    """A model in one layout."""

    trained: Trained
    layout: str  # Kernel and goal
    model: Model
    emission: Emission
    level: Level


def programs(n_layouts: int = N_LAYOUTS) -> Iterator[Program]:
    """Yield the programs: for each model the first layouts that differ."""
    for trained, first in MODELS.items():
        yield from islice(_layouts(trained, first), n_layouts)


def _layouts(trained: Trained, first: str) -> Iterator[Program]:
    model = trained.model(None)
    kernels = [*FAMILIES]
    at = kernels.index(first)
    seen = set()
    for kernel in kernels[at:] + kernels[:at]:
        for goal in GOALS:
            options = EmitOptions("m", optimize=goal, kernel=kernel, target=TARGET,
                                  entries=frozenset({"scores"}))  # fmt: skip
            try:
                emission = emit_c(model, options)
            except BnccError:
                continue
            key = LEVELS[goal], tuple(sorted(emission.files.items()))
            if key not in seen:
                seen.add(key)
                yield Program(trained, f"{kernel}, {goal}", model, emission, LEVELS[goal])


def compare(program: Program, bench: BothBench) -> Pairs:
    """Return the cycles of every decision, without those of the readings themselves."""
    bench.runs.clear()
    with Meter(sources_of(program.model, program.emission), bench, program.level) as measured:
        measured.costs(bench_inputs(program.model, n_rows=N_ROWS), ENTRIES)
    return np.concatenate([_decisions(run) for run in bench.runs])


def _decisions(run: Pairs) -> Pairs:
    return run[_HEAD:] - run[0]


def cells_of(found: Pairs) -> list[str]:
    """Return decisions, mean cycles by the model and of the RTL, and the largest difference."""
    low, high, rtl = found.T
    ours = f"{low.mean():,.1f}"
    if (low != high).any():
        ours += f" .. {high.mean():,.1f}"
    largest = max(np.abs(rtl - low).max(), np.abs(rtl - high).max())
    return [f"{len(found)}", ours, f"{rtl.mean():,.1f}", f"{largest}"]


def summary(found: Mapping[Program, Pairs]) -> str:
    """Return the table of the page: a row for each model, and one for all."""
    head = ["model", "programs", "decisions", "cycles by the model", "cycles of the RTL",
            "largest difference"]  # fmt: skip
    rows = []
    for name in (*map(str, MODELS), "all"):
        chosen = [each for program, each in found.items() if name in ("all", str(program.trained))]
        rows.append([name, f"{len(chosen)}", *cells_of(np.concatenate(chosen))])
    return table(head, rows)


def sequences(bench: BothBench) -> Iterator[tuple[str, list[str]]]:
    """Yield the short sequences with their cycles, beyond those of an empty one."""
    with meter(bench, in_assembly(code_of_all())) as measured:
        measured.costs(states(*range(len(SEQUENCES))), ("predict",))
    found = _decisions(bench.runs[-1])
    for name, cycles in zip(SEQUENCES, found - found[0], strict=True):
        yield name, cells_of(cycles[None])


def timed_bench(core: str) -> Toolchain:
    """Return the tools of the target, with a clock."""
    (bench,) = find_toolchain(find_target(TARGET), simulator="unicorn")
    return replace(bench, clock=CycleClock(core))


def print_cost(core: str) -> None:
    """Print the CPU seconds of measurements, counting instructions and cycles as well."""
    bench = timed_bench(core)
    for program in programs(1):
        built = sources_of(program.model, program.emission)
        inputs = bench_inputs(program.model)
        words = counting_words(built, bench, program.level, inputs, ENTRIES)
        print(f"{program.trained}, {program.layout}: {words}", flush=True)


def main() -> None:
    """Compare, and print or write."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--core", choices=list(RTL), required=True)
    parser.add_argument("--rtl", type=Path, help="clone of the core's repository")
    parser.add_argument("--sequences", action="store_true", help="compare short sequences instead")
    parser.add_argument("--write", action="store_true", help=f"update {PAGE}")
    parser.add_argument("--cost", action="store_true", help="print the time of counting instead")
    options = parser.parse_args()
    if options.cost:
        print_cost(options.core)
        return
    if options.rtl is None:
        parser.error("--rtl is missing: give a clone of the core's repository")
    with TemporaryDirectory(prefix="bncc-") as folder:
        rtl = build(options.core, options.rtl, Path(folder))
        tools = timed_bench(options.core)
        bench = BothBench(tools.target, tools.compiler, tools.simulator, tools.clock, rtl)
        if options.sequences:
            for name, cells in sequences(bench):
                print(" | ".join([name, *cells[1:]]))
            return
        found: dict[Program, Pairs] = {}
        for program in programs():
            found[program] = compare(program, bench)
            cells = [str(program.trained), program.layout, *cells_of(found[program])]
            print(" | ".join(cells), flush=True)
    print(summary(found))
    if options.write:
        renew(PAGE, {f"{options.core}-rtl": summary(found)})


if __name__ == "__main__":
    main()
