"""Resource figures of classifiers: measured if tools are installed, otherwise estimated."""

from collections.abc import Sequence
from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING, Any

from bncc.data.dataset import Table
from bncc.emit.emitter import Emission, EmitOptions, emit_c
from bncc.emit.options import WRITTEN
from bncc.emit.provenance import code_digest
from bncc.errors import MisfitError, ToolchainError
from bncc.lower.cost_model import LEVELS
from bncc.model.model import Model
from bncc.resources import Budget, Optimize, Resources, Span, default_entries
from bncc.targets import GENERIC
from bncc.toolchain.tools import is_x86

if TYPE_CHECKING:
    from bncc.device.cross import Toolchain  # builds and runs, which an estimate does not need

GOALS: tuple[Optimize, ...] = ("size", "balanced", "speed")
"""Optimization goals, from the smallest layout to the fastest."""
FAR = 1.4
"""Utilization of a limit by an estimate from which on a layout is not worth a measurement."""
TOO_LARGE = 2**31
"""Placeholder for the bytes and instructions of C that fits no part with a target."""
RECORD = "resources"
"""Key in a model's training record: the resources that ``train`` determined."""


def machine_of(target: str | None) -> str:
    """Return the simulated target for measurements of a target's C."""
    if target != "host":
        return target or GENERIC
    if is_x86():
        return "x86"
    raise ToolchainError("host is not an x86, so bncc cannot count its instructions; add --target")


def entries_of(model: Model, budget: Budget) -> tuple[str, ...]:
    """Return the entry points that a budget covers."""
    has_thresholds = any(feature.thresholds for feature in model.features)
    return budget.entries or default_entries(has_thresholds=has_thresholds, extras=budget.extras)


def options_of(model: Model, budget: Budget, goal: Optimize) -> EmitOptions:
    """Return the emission options of a budget's measurements, without limits."""
    entries = entries_of(model, budget)
    target = "x86" if budget.target == "host" and is_x86() else budget.target
    return EmitOptions(
        WRITTEN.name,
        budget.emitted(entries),
        optimize=goal,
        target=None if target == "host" else target,
        priced=entries,
    )


def price_of(model: Model, budget: Budget, readings: Table | None = None) -> Resources:
    """
    Determine whether a model fits a budget, with as few builds as possible.

    Without a limit on time the smallest layout decides. With one it is the fastest that fits:
    layouts that are far from fitting by their estimates are not measured.
    """
    if budget.instructions is None:
        return _Layouts(model, budget, readings).priced("size")
    return _first(_Layouts(model, budget, readings), ("speed", "balanced", "size"))


def layout_price_of(model: Model, budget: Budget, readings: Table | None = None) -> Resources:
    """
    Determine a model's resources with the layout that suits a budget best.

    It is the fastest one that fits, or the smallest one if flash has no limit; its optimization
    goal is that of the resources.
    """
    layouts = _Layouts(model, budget, readings)
    if budget.flash is None and budget.instructions is not None:
        return _first(layouts, GOALS)
    best = layouts.priced("size")
    for goal in GOALS[1:]:
        if layouts.may_be_faster(goal, best):
            best = _faster(best, layouts.priced(goal), budget)
    return best


class _Layouts:
    """Layouts of a model by optimization goal, each emitted once."""

    def __init__(self, model: Model, budget: Budget, readings: Table | None) -> None:
        self._model, self._readings, self.budget = model, readings, budget
        self._emitted: dict[Optimize, tuple[EmitOptions, Emission]] = {}

    def priced(self, goal: Optimize) -> Resources:
        """Determine the resources of a layout."""
        options, emission = self._of(goal)
        return priced(self._model, emission, options, self.budget.target, self._readings)

    def may_fit(self, goal: Optimize) -> bool:
        """Return whether a layout's estimate is not far above a limit."""
        _, emission = self._of(goal)
        return self.budget.utilization(emission.resources) <= FAR

    def may_be_faster(self, goal: Optimize, best: Resources) -> bool:
        """Return whether a layout may fit, and take less time than one with known resources."""
        estimated = self._of(goal)[1].resources
        if best.slowest is None or estimated.slowest is None or not self.may_fit(goal):
            return False
        return estimated.slowest < FAR * best.slowest or not self.budget.admits(best)

    def _of(self, goal: Optimize) -> tuple[EmitOptions, Emission]:
        if goal not in self._emitted:
            options = options_of(self._model, self.budget, goal)
            self._emitted[goal] = options, emit_c(self._model, options)
        return self._emitted[goal]


def _first(layouts: _Layouts, goals: Sequence[Optimize]) -> Resources:
    """Return the resources of the first layout that fits, or of the one that nearly does."""
    prices: list[Resources] = []
    for goal in goals:
        if layouts.may_fit(goal):
            prices.append(layouts.priced(goal))
            if layouts.budget.admits(prices[-1]):
                return prices[-1]
    return min(prices or [layouts.priced(goals[-1])], key=layouts.budget.utilization)


def _faster(one: Resources, other: Resources, budget: Budget) -> Resources:
    """Return the faster of two layouts among those that fit, the first one on ties."""
    fits, other_fits = budget.admits(one), budget.admits(other)
    if fits != other_fits:
        return one if fits else other
    if not fits:
        return min(one, other, key=budget.utilization)
    return min(one, other, key=lambda price: inf if price.slowest is None else price.slowest)


def priced(
    model: Model,
    emission: Emission,
    options: EmitOptions,
    target: str | None,
    readings: Table | None = None,
) -> Resources:
    """Determine the resources of emitted C: measured with a toolchain, otherwise estimated."""
    from bncc.device.cross import find_toolchain
    from bncc.targets import find_target

    estimated = replace(
        emission.resources,
        target=target or GENERIC,
        code=code_digest(emission.files, emission.name),
    )
    try:
        (bench,) = find_toolchain(find_target(machine_of(target)))
    except ToolchainError:
        return estimated
    try:
        found = measured(model, emission, bench, options, readings)
    except MisfitError:
        return _too_large(estimated)
    return replace(found, target=target or GENERIC)


def toolchain_of(budget: Budget) -> str | None:
    """Return the toolchain for a budget's target; None where resources are estimated."""
    from bncc.device.cross import find_toolchain
    from bncc.targets import find_target

    try:
        (bench,) = find_toolchain(find_target(machine_of(budget.target)))
    except ToolchainError:
        return None
    return f"{bench.compiler}, {bench.place}"


def measured(
    model: Model,
    emission: Emission,
    bench: "Toolchain",
    options: EmitOptions,
    readings: Table | None = None,
) -> Resources:
    """Measure emitted C on one target, as `priced` does with a toolchain."""
    from bncc.device.measure import bench_inputs
    from bncc.on_device import resources_of

    entries = emission.resources.entries
    some_missing = "missing" in entries
    drawn = bench_inputs(model, some_missing=some_missing)
    rows = None if readings is None else bench_inputs(model, readings, some_missing=some_missing)
    return resources_of(
        model,
        bench,
        drawn if rows is None else rows,
        emission,
        entries,
        optimize=options.optimize,
        opt_level=LEVELS[options.optimize],
        others=None if rows is None else drawn,
    )


def with_resources(model: Model, resources: Resources) -> Model:
    """Return a model with its resources in its training record."""
    return replace(model, training={**model.training, RECORD: resources.to_json()})


def recorded(model: Model, emission: Emission, target: str | None) -> Resources | None:
    """Return the resources in a model's record, if they are of this C on this target."""
    facts: Any = model.training.get(RECORD)
    try:
        found = Resources.from_json(facts)
    except (KeyError, TypeError, ValueError, AttributeError):
        return None
    asked = emission.resources
    is_same = found.target == (target or GENERIC) and found.entries == asked.entries
    is_same = is_same and found.opt_level == asked.opt_level
    if is_same and found.code == code_digest(emission.files, emission.name):
        return found
    return None


def _too_large(estimated: Resources) -> Resources:
    """Return placeholder resources for C that fits no part with a target."""
    spans = {entry: Span(TOO_LARGE, TOO_LARGE, TOO_LARGE) for entry in estimated.entries}
    return replace(
        estimated,
        flash=TOO_LARGE,
        instructions=spans if estimated.cycles is None else None,
        cycles=None if estimated.cycles is None else spans,
        how="measured",
    )
