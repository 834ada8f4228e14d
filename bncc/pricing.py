"""Resource figures of classifiers: measured if tools are installed, otherwise estimated."""

from dataclasses import replace
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
    """Determine a model's resources at the optimization goal that suits a budget."""
    goals: tuple[Optimize, ...] = ("size", "balanced", "speed")
    prices: list[Resources] = []
    for goal in goals if budget.instructions is not None else goals[:1]:
        options = options_of(model, budget, goal)
        prices.append(priced(model, emit_c(model, options), options, budget.target, readings))
        if budget.admits(prices[-1]):
            return prices[-1]
    return min(prices, key=budget.utilization)


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
    is_same = (found.target, found.entries) == (target or GENERIC, emission.resources.entries)
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
