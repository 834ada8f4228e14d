"""Kernels beside the textbook classifier: one reference model on one machine, and what is known."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

from benchmarks.shared.reference_models import Recipe, Reference, reference
from bncc.device.cross import find_toolchain
from bncc.device.measure import Measurement, measure_ours, measure_textbook
from bncc.device.on_target import bench_inputs
from bncc.emit.emitter import EmitOptions, emit_c
from bncc.errors import BnccError
from bncc.program.from_model import program_of
from bncc.program.ir import Program
from bncc.resources import Optimize
from bncc.targets import TARGETS

N_ROWS = 5
"""Inputs: counts hardly vary among them."""
OPT_LEVELS: Mapping[Optimize, str] = {"speed": "-O2", "balanced": "-O2", "size": "-Os"}
"""The compiler's level that goes with each ``--optimize``."""
WORD = 32
"""Bits of a machine word, for the physical limit."""


@dataclass(frozen=True)
class Job:
    """
    One model on one machine.

    Parameters
    ----------
    recipe : Recipe
        The model.
    target : str
        The machine.
    optimize : tuple of {"speed", "size", "balanced"}
        What to choose the kernel for, each measured.
    family : str or None
        The kernel; None for the best.
    data : Path
        The folder with ``paper/``.
    """

    recipe: Recipe
    target: str
    optimize: tuple[Optimize, ...]
    family: str | None
    data: Path

    @property
    def name(self) -> str:
        """The model and the machine: what the textbook's figures depend on."""
        return f"{self.recipe} {self.target}"

    def key(self, optimize: Optimize) -> str:
        """Return the name of one of its figures."""
        return f"{self.name} {optimize} {self.family or 'best'}"


@dataclass(frozen=True)
class Figure:
    """
    What was measured of one classifier.

    Parameters
    ----------
    key : str
        From `Job`.
    c_digest : str
        Of the C that was measured.
    kernel : str
        Its family; ``textbook`` for the baseline.
    story : str or None
        Why there are no figures.
    trusted, predict, flash : float or None
        Mean instructions or cycles, and bytes.
    """

    key: str
    c_digest: str
    kernel: str
    story: str | None = None
    trusted: float | None = None
    predict: float | None = None
    flash: float | None = None


@dataclass(frozen=True)
class Outcome:
    """
    What came of a job.

    Parameters
    ----------
    job : Job
        The job.
    book : Figure
        The textbook's figures.
    ours : mapping of str to Figure
        By what the kernel was chosen for.
    limit : int
        From `physical_limit`.
    """

    job: Job
    book: Figure
    ours: Mapping[Optimize, Figure]
    limit: int

    def ratio(self, optimize: Optimize, what: str) -> float | None:
        """Return how many times the textbook needs what ours does: a field of `Figure`."""
        ours = self.ours.get(optimize)
        both = getattr(self.book, what), getattr(ours, what, None)
        return both[0] / both[1] if both[0] and both[1] else None

    def above(self, optimize: Optimize) -> float | None:
        """Return how many times the physical limit ``trusted`` executes; not for an AVR."""
        ours = self.ours.get(optimize)
        if self.job.target == "avr" or ours is None or ours.trusted is None:
            return None
        return ours.trusted / self.limit


def physical_limit(program: Program, bits: int) -> int:
    """
    Return the instructions of section F of KERNELS.md, below which no sum of rows gets.

    Parameters
    ----------
    program : Program
        As imported.
    bits : int
        Width of a cost.

    Returns
    -------
    int
        A load per index, a load per word of each row read, and an addition per such word. A root
        of a tree has one index; KERNELS.md counts two.
    """
    words = -(-program.n_classes * bits // WORD)
    return sum(len(table.features) + 2 * words for table in program.tables)


def work(job: Job, known: Mapping[str, Figure]) -> Outcome:
    """
    Measure what is not known.

    Parameters
    ----------
    job : Job
        The job.
    known : mapping of str to Figure
        Figures by key: the textbook's counts whatever happened since, ours as long as the C is
        the same.

    Returns
    -------
    Outcome
        With figures that are in `known` where they still hold.
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
