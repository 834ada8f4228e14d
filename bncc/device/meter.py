"""Cost of a decision on a target: executed instructions or cycles, stack, flash and RAM."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

import numpy as np

from bncc._types import AnyArray, BoolArray, FloatArray, IntArray
from bncc.device.cross import Toolchain, link_program
from bncc.device.image import Builder, Image, model_object
from bncc.device.machine import HarnessError, pack, request, row_dtype, side_by_side
from bncc.device.simulators.unicorn import Reading
from bncc.device.sources import Sources
from bncc.discretize.readings import state_dtype

Metered = Literal[
    "predict",
    "trusted",
    "scores",
    "scores_raw",
    "raw",
    "raw_checked",
    "missing",
    "stream",
    "filter",
    "confidence",
    "unknown",
    "counters",
    "adaptation",
]
METERED: Mapping[str, Metered] = {
    "predict-raw": "raw",
    "predict": "predict",
    "checked": "raw_checked",
    "trusted": "trusted",
    "scores": "scores",
    "scores-raw": "scores_raw",
    "missing": "missing",
    "stream": "stream",
    "filter": "filter",
    "confidence": "confidence",
    "unknown": "unknown",
    "counters": "counters",
    "adapt": "adaptation",
}
"""Names of the entry points of `bncc.resources.FUNCTIONS` in the meter."""
_ROUNDS = 2000
"""Difference in rounds between the meter's two loops."""
_WRAP = 2**32
"""Value at which the meter's counter wraps to 0."""
_DEEPER = _WRAP - 1
"""Message of the meter for a stack that exceeds its paint."""


@dataclass(frozen=True)
class CycleCost:
    """Cycles of a decision over some inputs, each between a fewest and a most."""

    min: int  # Fewest of the fastest decision
    mean_low: float  # mean_low and mean_high: Mean of the fewest, and of the most
    mean_high: float
    max: int  # Most of the slowest decision

    @property
    def mean(self) -> float:
        """Middle of the range of the mean."""
        return (self.mean_low + self.mean_high) / 2

    def to_json(self) -> dict[str, float]:
        """Return the JSON object of the command line's contract."""
        return {
            "min": self.min,
            "mean": self.mean,
            "max": self.max,
            "mean_low": self.mean_low,
            "mean_high": self.mean_high,
        }

    def wider(self, other: "CycleCost") -> "CycleCost":
        """Return the means of these inputs with the extremes of others as well."""
        return replace(self, min=min(self.min, other.min), max=max(self.max, other.max))


@dataclass(frozen=True)
class Cost:
    """Executed instructions, or cycles, of a decision over some inputs."""

    # min, mean, max: Over the inputs; including argument set-up, call and return, excluding the
    # reading of the counter
    min: int
    mean: float
    max: int
    stack: int  # Largest stack below the caller's, in bytes
    classes: IntArray  # (n,) int16: The decisions
    # Cycles besides instructions; None without a clock, or if an instruction has no known time
    cycles: CycleCost | None = None


@dataclass(frozen=True)
class Footprint:
    """Memory of a classifier with all library routines that it links."""

    flash: int  # Bytes of code, constants and initial values
    ram: int  # Bytes of variables, without the stack


@dataclass(frozen=True, eq=False)
class Inputs:
    """Inputs of the measured decisions."""

    X: IntArray  # (n, n_features) int: States
    # (n, n_features) float64 or None: Raw readings, for models that accept them
    R: FloatArray | None = None
    # (n, n_features) bool or None: Missing features, for C that supports them
    is_missing: BoolArray | None = None
    # (n_steps, n_classes) int or None: Scores for C with functions of them: of consecutive steps of
    # a filter; of the rows of `R` for unknown readings, and of those of `X` for an adaptation
    steps: IntArray | None = None


class Meter:
    """
    Emitted C, compiled once for a target at one optimization level, for measurements.

    A context manager; the folder with its images is removed on exit.
    """

    def __init__(
        self, built: Sources, bench: Toolchain, opt_level: str, *, is_foreign: bool = False
    ) -> None:
        self._bench = bench
        self._built = built
        self._folder = TemporaryDirectory(prefix="bncc-")
        self._builder = Builder(
            Path(self._folder.name), bench.target, bench.compiler, is_foreign, is_metered=True
        )
        try:
            self._object = model_object(self._builder, self._built, opt_level)
        except BaseException:
            self._folder.cleanup()
            raise

    def __enter__(self) -> "Meter":
        return self

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()

    @property
    def flags(self) -> tuple[str, ...]:
        """The options that affect code, without the optimization level."""
        return self._builder.code_flags

    @cached_property
    def _image(self) -> Image:
        return link_program(
            self._builder, self._bench.simulator, "meter", self._object, "BNCC_METER"
        )

    def link(self) -> None:
        """Refuse C whose program does not fit in the memory of the target."""
        _ = self._image

    def costs(self, inputs: Inputs, only: Collection[Metered] | None = None) -> Mapping[str, Cost]:
        """Measure every entry point of the C, or some."""
        asked: dict[Metered, AnyArray] = {}
        order, packed = self._bench.target.byte_order, self._bench.target.packed
        states = inputs.X.astype(state_dtype(self._built.interface.n_states).newbyteorder(order))
        asked["predict"] = np.ascontiguousarray(states)
        if "trusted" in self._built.entries:
            asked["trusted"] = asked["predict"]
        if "scores" in self._built.entries:
            asked["scores"] = asked["predict"]
        if "stream" in self._built.entries:
            asked["stream"] = asked["predict"]
        steps = None
        if inputs.steps is not None:
            steps = np.ascontiguousarray(inputs.steps, np.dtype(np.uint32).newbyteorder(order))
            for rule in ("filter", "confidence"):
                if rule in self._built.entries:
                    asked[rule] = steps
            if "counters" in self._built.entries and "unknown" not in self._built.entries:
                asked["counters"] = steps
            if "adaptation" in self._built.entries:
                asked["adaptation"] = side_by_side(steps, asked["predict"])
        if "missing" in self._built.entries and inputs.is_missing is not None:
            marker = states.dtype.type(np.iinfo(states.dtype).max)
            asked["missing"] = np.where(inputs.is_missing, marker, states).astype(states.dtype)
        if "raw" in self._built.entries and inputs.R is not None:
            asked["raw"] = pack(
                inputs.R, row_dtype(self._built.interface.features, packed=packed, byte_order=order)
            )
            for entry in ("raw_checked", "scores_raw"):
                if entry in self._built.entries:
                    asked[entry] = asked["raw"]
            if "unknown" in self._built.entries and steps is not None:
                asked["unknown"] = side_by_side(steps, asked["raw"])
                if "counters" in self._built.entries:
                    asked["counters"] = asked["unknown"]
        return {
            entry: self._cost(entry, rows)
            for entry, rows in asked.items()
            if only is None or entry in only
        }

    def _cost(self, entry: Metered, rows: AnyArray) -> Cost:
        simulator = self._bench.simulator
        reply, readings = self._bench.run_metered(self._image, request(entry, rows))
        words = np.frombuffer(reply, dtype="<u4").astype(np.int64)
        if len(words) != 4 + 3 * len(rows):
            raise HarnessError(
                f"the meter on {self._bench.place} answered {max(len(words) - 4, 0) // 3} of "
                f"{len(rows)} inputs; report this, it is a bug in bncc"
            )
        _, nothing, few, many = words[:4]
        per_unit = simulator.per_unit(self._bench.target.name)
        self._check_counter(round(int(many - few) % _WRAP / per_unit))
        classes, elapsed, stack = words[4:].reshape(-1, 3).T
        if stack.max() == _DEEPER:
            raise HarnessError(
                f"{entry} on {self._bench.place} needs more stack than the meter measures; "
                "report this, it is a bug in bncc"
            )
        counts = np.rint((elapsed - nothing) % _WRAP / per_unit).astype(np.int64)
        return Cost(
            min=int(counts.min()),
            mean=float(counts.mean()),
            max=int(counts.max()),
            stack=int(stack.max()),
            classes=classes.astype(np.int16),
            cycles=self._cycles(readings),
        )

    def _cycles(self, readings: list[Reading]) -> CycleCost | None:
        """Return the cycles of the rows; two readings are nothing, two loops, or a row each."""
        if self._bench.clock is None:
            return None
        pairs = np.array(readings, dtype=np.int64).reshape(-1, 2, 3)
        low, high, unknown = (pairs[:, 1] - pairs[:, 0]).T
        fewest, most = (_ROUNDS * n for n in self._bench.clock.loop)
        if not fewest <= low[2] - low[1] <= high[2] - high[1] <= most:
            raise HarnessError(
                f"{self._bench.place} counts {low[2] - low[1]} to {high[2] - high[1]} cycles where "
                f"{fewest} to {most} pass; report this, it is a bug in bncc"
            )
        if unknown.any():
            return None
        # The readings themselves take between low[0] and high[0].
        low, high = low[3:] - high[0], high[3:] - low[0]
        return CycleCost(int(low.min()), float(low.mean()), float(high.mean()), int(high.max()))

    def _check_counter(self, counted: int) -> None:
        target = self._bench.target
        expected = _ROUNDS * target.loop_cost
        if counted != expected:
            raise HarnessError(
                f"{self._bench.place} counts {counted} {target.unit} where {expected} are "
                "executed; use another simulator, `bncc targets` lists them"
            )

    def footprint(self, kept: Iterable[Metered]) -> Footprint:
        """Return the memory of the classifier when only some entry points are called."""
        builder = self._builder
        keep = [f"KEEP_{entry.upper()}" for entry in kept]
        main = builder.compile_glue("footprint.c", "footprint.o", "-Os", *keep)
        stub = builder.compile_glue("stub.c", "stub.o", "-Os")
        full = builder.link("footprint.elf", main, self._object)
        empty = builder.link("empty.elf", main, stub)
        return Footprint(full.flash - empty.flash, full.ram - empty.ram)
