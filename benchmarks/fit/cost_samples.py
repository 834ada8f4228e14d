"""
Measured layouts of the reference models, the data of the cost model.

For every kernel family and target some layouts of each model: instructions of `trusted` and of
`predict` (cycles on AVR) and bytes of flash of `predict`, compiled with -O2 and with -Os.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from hashlib import sha256
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeAlias

from benchmarks.shared.log import appending, last_results
from benchmarks.shared.reference_models import PAPER_SETS, STRUCTURES, Recipe, reference
from bncc.device.cross import find_toolchain
from bncc.device.measure import Measurement, bench_inputs
from bncc.emit.emitter import Emission, EmitOptions, emit_candidate
from bncc.errors import BnccError
from bncc.lower.choose import families_for, layouts_for
from bncc.lower.cost_model import Candidate, Level, candidate, textbook_cost
from bncc.on_device import measure_ours, measure_textbook
from bncc.program.ir import Program
from bncc.program.pipeline import optimize_each, program_of
from bncc.targets import TARGETS

MACHINES = ("cortex-m0", "cortex-m4", "rv32", "x86", "avr")
LEVELS: tuple[Level, ...] = ("-O2", "-Os")
SMALL = ("cortex-m0", "avr")
"""Targets that are measured at -Os too; the others take the bytes of the first there."""
WIDTHS = (1, 2, 4, 8)
N_ROWS = 5
LAYOUTS: Mapping[tuple[Level, str], int] = {
    ("-O2", "default"): 3,
    ("-O2", "speed"): 1,
    ("-Os", "default"): 2,
}
"""Number of layouts per family, by level and flow."""


@dataclass(frozen=True)
class Job:
    """One model on one target."""

    recipe: Recipe
    target: str
    level: Level
    data: Path


@dataclass(frozen=True)
class Sample:
    """Measurement of one layout."""

    key: str  # Model, target, level, family and number of the layout
    c_digest: str  # Digest of its C
    model: str
    family: str
    target: str
    level: str
    rom_bytes: int  # Bytes of its constants
    check_bytes: int  # Bytes of the input check beyond the smallest
    work: tuple[float, ...]  # Terms of the instructions, and code: terms of the flash
    code: tuple[float, ...]
    trusted: float | None  # Instructions; None if the program does not fit
    predict: float | None
    flash: float | None  # Bytes of `predict`; None if there are readings too


Terms: TypeAlias = tuple[tuple[float, ...], tuple[float, ...]]
Figures: TypeAlias = tuple[float | None, float | None, float | None]
Measure: TypeAlias = Callable[[], Figures]


def jobs(options: argparse.Namespace) -> Iterator[Job]:
    """Yield every model on every target."""
    recipes = [Recipe(s, k, b) for s in PAPER_SETS for k in STRUCTURES for b in WIDTHS]
    for recipe in recipes:
        for target in options.machine or MACHINES:
            if target == "avr" and recipe.structure != "naive":
                continue
            for level in LEVELS if target in SMALL else LEVELS[:1]:
                yield Job(recipe, target, level, options.data)


def layouts(program: Program, family: str, job: Job, most: int) -> list[tuple[int, Candidate]]:
    """Return some layouts of a family: the fastest, the smallest and the next fastest."""
    kernels = layouts_for(program, family, job.target)
    found = [candidate(program, kernel, job.target, job.level) for kernel in kernels]
    by_speed = sorted(range(len(found)), key=lambda i: found[i].instructions)
    by_size = sorted(range(len(found)), key=lambda i: found[i].flash)
    chosen = dict.fromkeys([*by_speed[:1], *by_size[:1], *by_speed])
    return [(i, found[i]) for i in sorted(list(chosen)[:most])]


def work(job: Job, known: Mapping[str, Sample]) -> list[Sample]:
    """Measure the unknown layouts of a model on a target."""
    found = reference(job.recipe, job.data)
    imported = program_of(found.model)
    flows = [flow for level, flow in LAYOUTS if level == job.level]
    programs = [program for program, _ in optimize_each(imported, flows)]
    (bench,) = find_toolchain(TARGETS[job.target])
    inputs = bench_inputs(found.model, found.test, n_rows=N_ROWS)
    options = EmitOptions("m", frozenset({"trusted"}), target=job.target)

    def sample(
        family: str,
        number: int,
        digest: str,
        sizes: tuple[int, int],
        terms: Terms,
        measure: Measure,
    ) -> Sample:
        key = f"{job.recipe} {job.target} {job.level} {family} {number}"
        before = known.get(key)
        figures: Figures = None, None, None
        if before is not None and before.c_digest == digest:
            figures = before.trusted, before.predict, before.flash
        else:
            try:
                figures = measure()
            except BnccError as error:
                print(f"{key}: {error}", file=sys.stderr)
        where = str(job.recipe), family, job.target, job.level
        return Sample(key, digest, *where, *sizes, *terms, *figures)

    def textbook() -> Figures:
        measured, reason = measure_textbook(found.model, bench, inputs)
        if measured is None:
            raise BnccError(reason or "")
        return _figures(measured)

    terms = textbook_cost.work_terms(imported), textbook_cost.code_terms(imported)
    sizes = textbook_cost.table_bytes(imported), 0
    samples = [sample(textbook_cost.FAMILY, 0, "", sizes, terms, textbook)]
    for flow, family in product(range(len(flows)), families_for(job.target)):
        if programs[flow] in programs[:flow]:
            continue
        for i, chosen in layouts(programs[flow], family, job, LAYOUTS[job.level, flows[flow]]):
            emission = emit_candidate(found.model, chosen, options)
            kernel = chosen.kernel

            def ours(emission: Emission = emission) -> Figures:
                return _figures(
                    measure_ours(found.model, bench, inputs, opt_level=job.level, emission=emission)
                )

            terms = kernel.work, kernel.code
            digest = digest_of(emission)
            sizes = kernel.rom_bytes, check_bytes(emission)
            samples.append(sample(family, 100 * flow + i, digest, sizes, terms, ours))
    return samples


def _figures(found: Measurement) -> Figures:
    flash = None if "raw" in found.costs else found.flash
    return found.costs["trusted"].mean, found.costs["predict"].mean, flash


def check_bytes(emission: Emission) -> int:
    """Return the bytes of the input check beyond those of a loop."""
    check, n = emission.layout.check, len(emission.program.features)
    return check.code + check.reads_last_states * n * emission.layout.state_bits // 8


def digest_of(emission: Emission) -> str:
    text = json.dumps(dict(emission.files), sort_keys=True)
    return sha256(text.encode()).hexdigest()[:16]


def known_samples(log: Path) -> dict[str, Sample]:
    """Return the last sample of every key in a log."""

    def sample(*, work: Sequence[float], code: Sequence[float], **values: Any) -> Sample:
        return Sample(work=tuple(work), code=tuple(code), **values)

    return last_results(log, sample)


def measured(
    todo: Sequence[Job], known: Mapping[str, Sample], options: argparse.Namespace
) -> list[Sample]:
    found: list[Sample] = []
    with (
        appending(options.log) as append,
        ProcessPoolExecutor(options.processes, mp_context=get_context("spawn")) as pool,
    ):
        for i, samples in enumerate(pool.map(work, todo, [known] * len(todo)), 1):
            found += samples
            for sample in samples:
                if sample != known.get(sample.key):
                    append(sample)
            name = f"{todo[i - 1].recipe} {todo[i - 1].target} {todo[i - 1].level}"
            print(f"[{i}/{len(todo)}] {name}", file=sys.stderr, flush=True)
    return found
