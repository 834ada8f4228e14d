"""Bounds of emitted C on a target: stack from the compiler and the calls, counts from runs."""

import re
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from bncc._types import AnyArray
from bncc.device.cross import Toolchain
from bncc.device.image import Builder, calls_of, frames_of
from bncc.device.inputs.cases import Effort, cases
from bncc.device.inputs.filter import hostile_steps
from bncc.device.meter import METERED, Inputs, Meter, Metered
from bncc.device.sources import Sources
from bncc.errors import ToolchainError
from bncc.model.model import Model
from bncc.resources import Bounds, Counts

ENTRIES = (
    "predict", "predict_trusted", "predict_raw", "predict_raw_checked", "predict_missing",
    "predict_raw_missing", "states", "scores", "scores_raw", "begin", "feed", "feed_raw", "end",
    "filter_begin", "filter_next", "margin", "confidence", "sure_class", "outside", "known_class",
    "counters_clear", "counters_begin", "count", "forget", "learn", "adapted_class",
    "adapted_scores", "start", "push", "learn_window", "class_name",
)  # fmt: skip
"""All functions of the interface, without the model's prefix."""
COUNTED = {
    "predict": "predict",
    "trusted": "predict_trusted",
    "raw": "predict_raw",
    "filter": "filter_next",
}
"""Entry points by the meter's names and the C's."""
_METERED = frozenset[Metered](entry for entry in METERED.values() if entry in COUNTED)
N_INPUTS = 100
EFFORT = Effort(n_random=40)


def measure_bounds(
    model: Model, built: Sources, bench: Toolchain, opt_level: str, *, is_exact: bool
) -> Bounds:
    """Compile the C of a model for a target and determine its footprint and time."""
    stack = stack_of(built, bench, opt_level)
    with Meter(built, bench, opt_level) as meter:
        costs = meter.costs(inputs := _inputs(model, built), _METERED)
        flags = meter.flags
    return Bounds(
        compiler=" ".join((str(bench.compiler), *flags, opt_level)),
        simulator=bench.place,
        unit=bench.target.unit,
        stack=tuple((entry, stack[entry]) for entry in ENTRIES if entry in stack),
        counts=tuple(
            (COUNTED[entry], Counts(cost.min, cost.max))
            for entry, cost in costs.items()
            if entry in COUNTED
        ),
        n_inputs=N_INPUTS,
        is_exact=is_exact,
        cycles=tuple(
            (COUNTED[entry], Counts(cost.cycles.min, cost.cycles.max))
            for entry, cost in costs.items()
            if entry in COUNTED and cost.cycles is not None
        ),
        n_steps=0 if inputs.steps is None else len(inputs.steps),
    )


def _inputs(model: Model, built: Sources) -> Inputs:
    """Return as many states as readings, some of every kind, and steps of a filter if any."""
    tried = list(cases(model, None, EFFORT))
    states = np.concatenate([case.x for case in tried if case.kind == "states"])
    readings = np.concatenate([case.x for case in tried if case.kind == "raw"])
    steps = None
    if "filter" in built.entries and built.largest_score is not None:
        steps = hostile_steps(model, built.largest_score, EFFORT)
    return Inputs(_some(states), _some(readings), steps=steps)


def _some(rows: AnyArray) -> AnyArray:
    return rows[np.linspace(0, len(rows) - 1, N_INPUTS).astype(np.int64)]


def stack_of(built: Sources, bench: Toolchain, opt_level: str) -> Mapping[str, int]:
    """Return the stack of every entry point including its callees."""
    is_gcc = bench.compiler.name.endswith("gcc")
    flag = "-fstack-usage" if is_gcc else "-fstack-size-section"
    with TemporaryDirectory(prefix="bncc-") as folder:
        builder = Builder(Path(folder), bench.target, bench.compiler)
        builder.write(built.files)
        builder.compile(built.main, "model.o", opt_level, flags=(flag,))
        compiled = Path(folder) / "model.o"
        if is_gcc:
            frames = _frames(compiled.with_suffix(".su").read_text(encoding="utf-8"))
        else:
            frames = frames_of(compiled)
        calls = calls_of(compiled)
    prefix = f"{built.name}_"
    return {
        entry: _depth(prefix + entry, frames, calls, ())
        for entry in ENTRIES
        if prefix + entry in frames
    }


def _frames(report: str) -> Mapping[str, int]:
    """Return the bytes of every function's frame; clones of a function share its name."""
    frames: dict[str, int] = {}
    for line in report.splitlines():
        place, size, kind = line.split("\t")
        function = without_number(place.rpartition(":")[2])
        if kind != "static":
            raise ToolchainError(
                f"the stack of {function} has no bound; report this, it is a bug in bncc"
            )
        frames[function] = max(frames.get(function, 0), int(size))
    return frames


def without_number(function: str) -> str:
    """Return a function's name without the number of a clone."""
    return re.sub(r"\.\d+$", "", function)


def _depth(
    function: str,
    frames: Mapping[str, int],
    calls: Mapping[str, frozenset[str]],
    above: tuple[str, ...],
) -> int:
    """Return the bytes of a function's frame and of the deepest chain of calls below it."""
    if function in above or function not in frames:
        raise ToolchainError(
            f"the stack below {function} is unknown; report this, it is a bug in bncc"
        )
    below = {
        without_number(called)
        for caller, some in calls.items()
        if without_number(caller) == function
        for called in some
    }
    return frames[function] + max(
        (_depth(each, frames, calls, (*above, function)) for each in below), default=0
    )
