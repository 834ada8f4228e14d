"""Kernels compared with the textbook classifier: one reference model on one target."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

from benchmarks.shared.reference_models import Recipe, Reference, reference
from bncc.device.cross import find_toolchain
from bncc.device.measure import Measurement, bench_inputs
from bncc.emit.emitter import EmitOptions, emit_c
from bncc.errors import BnccError
from bncc.on_device import measure_ours, measure_textbook
from bncc.program.ir import Program
from bncc.program.pipeline import program_of
from bncc.resources import Optimize
from bncc.targets import TARGETS

N_ROWS = 5
"""Number of inputs; counts hardly vary among them."""
OPT_LEVELS: Mapping[Optimize, str] = {"speed": "-O2", "balanced": "-O2", "size": "-Os"}
"""Compiler level of each ``--optimize``."""
WORD = 32
"""Bits of a machine word, for the physical limit."""


@dataclass(frozen=True)
class Job:
    """One model on one target."""

    recipe: Recipe
    target: str
    optimize: tuple[Optimize, ...]  # Values of --optimize, each measured
    family: str | None  # The kernel; None for the best
    data: Path  # Folder with ``paper/``

    @property
    def name(self) -> str:
        """Model and target, the key of the textbook's figures."""
        return f"{self.recipe} {self.target}"

    def key(self, optimize: Optimize) -> str:
        """Return the key of one of its figures."""
        return f"{self.name} {optimize} {self.family or 'best'}"


@dataclass(frozen=True)
class Figure:
    """Measurement of one classifier."""

    key: str  # From `Job`
    c_digest: str  # Digest of the measured C
    kernel: str  # Family; ``textbook`` for the baseline
    story: str | None = None  # Reason if there are no figures
    trusted: float | None = None  # Mean instructions or cycles, as of predict
    predict: float | None = None
    flash: float | None = None  # Bytes


@dataclass(frozen=True)
class Outcome:
    """Result of a job."""

    job: Job
    book: Figure  # Figures of the textbook classifier
    ours: Mapping[Optimize, Figure]  # By --optimize
    limit: int  # From `physical_limit`

    def ratio(self, optimize: Optimize, what: str) -> float | None:
        """Return the textbook's figure divided by bncc's, for a field of `Figure`."""
        ours = self.ours.get(optimize)
        both = getattr(self.book, what), getattr(ours, what, None)
        return both[0] / both[1] if both[0] and both[1] else None

    def above(self, optimize: Optimize) -> float | None:
        """Return ``trusted`` divided by the physical limit; None on AVR."""
        ours = self.ours.get(optimize)
        if self.job.target == "avr" or ours is None or ours.trusted is None:
            return None
        return ours.trusted / self.limit


def physical_limit(program: Program, bits: int) -> int:
    """
    Return the minimum number of instructions of a sum of rows.

    These are a load per index, a load per word of each row, and an addition per such word; `bits`
    is the width of a cost. A root of a tree has one index; KERNELS.md, section F, counts two.
    """
    words = -(-program.n_classes * bits // WORD)
    return sum(len(table.features) + 2 * words for table in program.tables)


def work(job: Job, known: Mapping[str, Figure]) -> Outcome:
    """
    Measure the unknown figures of a job; `known` has figures by key.

    A known figure of the textbook is always kept, one of bncc as long as the C is the same.
    """
    found = reference(job.recipe, job.data)
    book = known.get(f"{job.name} textbook") or _textbook(job, found)
    ours = {optimize: _ours(job, found, optimize, known) for optimize in job.optimize}
    return Outcome(job, book, ours, physical_limit(program_of(found.model), job.recipe.bits))


def _textbook(job: Job, found: Reference) -> Figure:
    key = f"{job.name} textbook"
    inputs = bench_inputs(found.model, found.test, n_rows=N_ROWS)
    (bench,) = find_toolchain(TARGETS[job.target])
    measured, reason = measure_textbook(found.model, bench, inputs)
    return _figure(key, "", "textbook", measured) if measured else Figure(key, "", "", reason)


def _ours(job: Job, found: Reference, optimize: Optimize, known: Mapping[str, Figure]) -> Figure:
    key = job.key(optimize)
    options = EmitOptions("m", kernel=job.family, optimize=optimize, target=job.target)
    try:
        emission = emit_c(found.model, replace(options, entries=frozenset({"trusted"})))
        text = json.dumps(dict(emission.files), sort_keys=True)
        digest = sha256(text.encode()).hexdigest()[:16]
        before = known.get(key)
        if before is not None and before.c_digest == digest and before.story is None:
            return before
        (bench,) = find_toolchain(TARGETS[job.target])
        inputs = bench_inputs(found.model, found.test, n_rows=N_ROWS)
        level = OPT_LEVELS[optimize]
        measured = measure_ours(found.model, bench, inputs, opt_level=level, options=options)
    except BnccError as error:
        return Figure(key, "", job.family or "best", str(error))
    return _figure(key, digest, emission.kernel, measured)


def _figure(key: str, digest: str, kernel: str, found: Measurement) -> Figure:
    trusted, predict = (found.costs[entry].mean for entry in ("trusted", "predict"))
    return Figure(key, digest, kernel, None, trusted, predict, found.flash)
