"""Footprint, time and bounds of a classifier on a target, and the budget they must keep."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Any, Literal, get_args

from bncc.targets import GENERIC, known_target
from bncc.targets.base import KIB, Unit
from bncc.targets.timing import CountedCore

Optimize = Literal["balanced", "size", "speed"]
How = Literal["measured", "estimated"]
Preference = Literal["balanced", "error"]
"""The fastest model that is not clearly worse than the most accurate one, or that one."""
PREFERENCES: tuple[Preference, ...] = get_args(Preference)

FUNCTIONS: Mapping[str, str] = {
    "predict-raw": "predict_raw",
    "predict": "predict",
    "checked": "predict_raw_checked",
    "trusted": "predict_trusted",
    "scores": "scores",
    "scores-raw": "scores_raw",
    "missing": "predict_missing",
    "stream": "begin, feed and end",
    "filter": "filter_next",
    "confidence": "confidence and sure_class",
    "unknown": "known_class",
    "counters": "count",
    "adapt": "learn and adapted_class",
}
"""Functions of the emitted C, without the model's prefix, by the name in ``--entry``."""
ENTRIES = tuple(FUNCTIONS)
DEFAULT_TARGET = GENERIC
"""Default target of a budget search."""
OF_READINGS = frozenset({"predict-raw", "checked"})
"""Entry points that take readings, and need no states where a kernel compares readings."""
OF_SCORES = frozenset({"filter", "confidence", "unknown", "counters", "adapt"})
"""Entry points that take scores, so that a caller needs these, too; the others take states."""
_WITH = {"predict-raw": "raw", "predict": None}


@dataclass(frozen=True)
class Span:
    """
    Instructions, or cycles, of one call over some inputs.

    All three are equal in an estimate, unless a front decides a known share of the inputs.
    """

    min: int
    mean: float
    max: int


@dataclass(frozen=True)
class Resources:
    """Footprint and time of some entry points of one classifier on one target."""

    target: str  # Target of the figures
    flash: int  # Bytes of the entry points with all constants and library routines that they need
    ram: int  # Bytes of static variables
    stack: int  # Largest stack of the entry points, in bytes
    # instructions and cycles: By entry point; cycles on AVR, instructions elsewhere, and cycles
    # besides if a core was asked for, without entry points whose cycles are unknown. The maximum is
    # over the inputs tried, or an estimate.
    instructions: Mapping[str, Span] | None
    cycles: Mapping[str, Span] | None
    entries: tuple[str, ...]  # Entry points that are counted, keys of `FUNCTIONS`
    optimize: Optimize  # Optimization goal of the C
    opt_level: str  # Optimization level of the compiler
    how: How  # Measured with compiler and simulator, or estimated
    toolchain: str | None = None  # Compiler and simulator; None for an estimate
    code: str | None = None  # SHA-256 of the C with these figures, see `bncc.emit.provenance`
    # room, limit: Bytes of flash in which its layout is the fastest, and the limit on the estimate
    # that it was chosen by; None if it was chosen without a limit
    room: int | None = None
    limit: int | None = None
    core: CountedCore | None = None  # Core of cycles that are counted besides instructions

    @property
    def spans(self) -> Mapping[str, Span]:
        """Cycles by entry point if they are counted, else instructions."""
        if self.cycles is not None:
            return self.cycles
        return self.instructions or MappingProxyType({})

    @property
    def unit(self) -> str:
        """Unit of time of the target."""
        return "instructions" if self.cycles is None else "cycles"

    @property
    def slowest(self) -> int | None:
        """Largest maximum of the entry points; None if the time of any is unknown."""
        if any(entry not in self.spans for entry in self.entries):
            return None
        return max(self.spans[entry].max for entry in self.entries)

    @property
    def typical(self) -> float | None:
        """Largest mean of the entry points; None if the time of any is unknown."""
        if any(entry not in self.spans for entry in self.entries):
            return None
        return float(max(self.spans[entry].mean for entry in self.entries))

    def to_json(self) -> dict[str, Any]:
        """Return the JSON object of the command line's contract."""
        absent = {key for key in ("room", "limit", "core") if getattr(self, key) is None}
        facts = {key: value for key, value in asdict(self).items() if key not in absent}
        return {**facts, "entries": list(self.entries)}

    @classmethod
    def from_json(cls, facts: Mapping[str, Any]) -> "Resources":
        """Return the resources from the output of `to_json`."""
        spans = {
            unit: None
            if facts[unit] is None
            else {entry: _span(each) for entry, each in facts[unit].items()}
            for unit in ("instructions", "cycles")
        }
        entries = tuple(facts["entries"])
        counts = [facts[key] for key in ("flash", "ram", "stack")]
        counts += [facts[key] for key in ("room", "limit") if key in facts]
        texts = [facts[key] for key in ("target", "optimize", "opt_level", "how")]
        if (
            not all(type(count) is int and count >= 0 for count in counts)
            or not all(type(text) is str for text in texts)
            or not entries
            or not set(entries) <= set(ENTRIES)
            or facts["how"] not in ("measured", "estimated")
        ):
            raise ValueError("figures of no classifier")
        core = {"core": CountedCore(**facts["core"])} if "core" in facts else {}
        return cls(**{**facts, **spans, **core, "entries": entries})


@dataclass(frozen=True)
class ProgramFootprint:
    """Memory of a program of a front end and a classifier, from samples to decisions."""

    flash: int  # Bytes of code and constants
    state: int  # Bytes between two samples
    stack: int  # Bytes of stack of the deepest call
    how: How

    @property
    def ram(self) -> int:
        """Bytes of the state and of the stack."""
        return self.state + self.stack

    @property
    def words(self) -> str:
        """The figures in words."""
        return (
            f"{self.flash:,} bytes of flash, {self.state:,} of state and {self.stack:,} of stack, "
            f"from samples to decisions ({self.how})"
        )


@dataclass(frozen=True)
class FilterForm:
    """Options of a filter that determine its C, whatever its prices."""

    hold: int = 1
    lag: int = 0
    has_transitions: bool = False  # True if each transition has a price


PLAIN_FILTER = FilterForm()
"""The form of a filter without options."""


@dataclass(frozen=True)
class Budget:
    """Limits of a classifier on a target."""

    # Target, as in ``--target``; None for generic C, or without limits
    target: str | None
    flash: int | None = None  # Bytes for the classifier and `reserve` together; None for no limit
    # Instructions of the slowest call of an entry point, cycles on AVR and with `core`; None for no
    # limit
    instructions: int | None = None
    ram: int | None = None  # Bytes of variables and stack; None for no limit
    reserve: int = 0  # Bytes of `flash` kept for the caller's own code
    entries: tuple[str, ...] = ()  # Entry points that count; empty for `default_entries`
    extras: frozenset[str] = frozenset()  # Further emitted entry points, as in ``--with``
    core: CountedCore | None = None  # Core whose cycles are counted; None for the target's unit
    provable: bool = False  # True if `bncc prove` has to decide the machine code
    filter: FilterForm = PLAIN_FILTER  # Form of a filter among the extras

    @property
    def unit(self) -> Unit:
        """Unit of time: cycles on AVR and with `core`."""
        machine = known_target(self.target)
        is_cycles = self.core is not None or (machine is not None and machine.unit == "cycles")
        return "cycles" if is_cycles else "instructions"

    @property
    def is_bounded(self) -> bool:
        """True if there is a limit."""
        return not (self.flash is None and self.instructions is None and self.ram is None)

    @property
    def room(self) -> int | None:
        """Bytes of flash left for the classifier after `reserve`; None for no limit."""
        return None if self.flash is None else self.flash - self.reserve

    def admits(self, resources: Resources) -> bool:
        """Return whether resources are within all limits."""
        return self.utilization(resources) <= 1

    def utilization(self, resources: Resources) -> float:
        """Return the largest used fraction of a limit: 1 or less if all limits hold."""
        slowest = float("inf") if resources.slowest is None else resources.slowest
        of_bytes = self.utilization_of_bytes(resources.flash, resources.ram + resources.stack)
        return max(of_bytes, _part(slowest, self.instructions))

    def utilization_of_bytes(self, flash: int, ram: int) -> float:
        """Return `utilization` of flash alone and of variables and stack together."""
        return max(_part(flash, self.room), _part(ram, self.ram))

    def emitted(self, entries: Iterable[str]) -> frozenset[str]:
        """Return the entry points to emit, as in ``--with``, for those that are measured."""
        needed = (_WITH.get(entry, entry) for entry in entries)
        return self.extras | {name for name in needed if name is not None}


def default_entries(*, has_thresholds: bool, extras: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the default entry points for measurements: with scores, if others take these."""
    asked = set(extras)
    reads = has_thresholds or "raw" in asked
    kept = {"predict-raw" if reads else "predict", *(asked - {"raw"})}
    if OF_SCORES & asked and "scores-raw" not in asked:
        kept.add("scores")
    return tuple(entry for entry in ENTRIES if entry in kept)


def functions_of(entries: Iterable[str]) -> str:
    """Return entry points for display: their functions and inputs."""
    return ", ".join(f"{FUNCTIONS[entry]} (from {_operands(entry)})" for entry in entries)


def _operands(entry: str) -> str:
    """Return what an entry point takes."""
    if entry in OF_SCORES:
        return "scores"
    return "readings" if entry in OF_READINGS or entry == "scores-raw" else "states"


def size_of(text: str) -> int | None:
    """Return the bytes of a size such as ``900``, ``4k`` or ``1.5k``; None if it is invalid."""
    match = re.fullmatch(r"(?:(\d{1,12})|(\d{1,9}(?:\.\d{1,6})?)[kK])", text)
    if match is None:
        return None
    return int(match[1]) if match[1] else int(Fraction(match[2]) * KIB)


def _part(used: float, limit: int | None) -> float:
    """Return the used fraction of a limit; 2 if a limit of zero is exceeded."""
    if limit is None:
        return 0.0
    return used / limit if limit > 0 else float(used > limit) * 2


def _span(facts: Mapping[str, Any]) -> Span:
    span = Span(facts["min"], facts["mean"], facts["max"])
    if not 0 <= span.min <= span.mean <= span.max:
        raise ValueError("figures of no call")
    return span


@dataclass(frozen=True)
class Counts:
    """Instruction or cycle counts of one entry point."""

    min: int  # min and max: Instructions or cycles, over all inputs tried
    max: int


@dataclass(frozen=True)
class ProvedBound:
    """Bounds of one entry point for every input, by a proof of its machine code."""

    # From the first instruction of the function to its return, callees included
    instructions: int
    stack: int  # Bytes below the caller's stack


@dataclass(frozen=True)
class SampleCounts:
    """Memory and counts of the samples of a model with a front end."""

    flash: int  # Bytes of the whole program, from samples to decisions
    state: int  # Bytes of a stream between two samples
    every: Counts  # All samples that were tried
    deciding: Counts  # Those with which a window ended
    n_samples: int
    n_windows: int


@dataclass(frozen=True)
class Bounds:
    """Footprint and time of the C on one target with one compiler."""

    compiler: str  # compiler and simulator: With version and options, for display
    simulator: str
    unit: str  # Unit of the counts
    # Entry points without the model's prefix, and the bytes of stack of each including its callees
    stack: tuple[tuple[str, int], ...]
    counts: tuple[tuple[str, Counts], ...]  # Entry points that were run
    n_inputs: int  # Number of inputs of each
    # True if no branch depends on the input, so that a count that is equal for all inputs tried is
    # that of every input
    is_exact: bool
    # Entry points without the model's prefix, with what `bncc prove` has shown of the same machine
    # code, and why it has shown nothing of others that it was asked about
    proved: tuple[tuple[str, ProvedBound], ...] = ()
    undecided: tuple[tuple[str, str], ...] = ()
    samples: SampleCounts | None = None  # Calls of ``push``, if the model has a front end
    n_steps: int = 0  # Number of calls of ``filter_next``, if there is a filter
    # Cycles of the entry points that were run, where they are counted besides instructions, and the
    # core with source and error; None without
    cycles: tuple[tuple[str, Counts], ...] = ()
    timing: str | None = None

    @property
    def stacks(self) -> Mapping[str, int]:
        """Bytes of stack by entry point: both bounds hold for every input, so the smaller one."""
        proved = {entry: found.stack for entry, found in self.proved}
        return {entry: min(n, proved.get(entry, n)) for entry, n in self.stack}

    @property
    def exact(self) -> tuple[tuple[str, int], ...]:
        """Entry points whose count is that of every input, and the count."""
        return tuple(
            (entry, found.min)
            for entry, found in self.counts
            if self.is_exact and found.min == found.max
        )
