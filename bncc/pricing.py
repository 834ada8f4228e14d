"""Resource figures of classifiers: measured if tools are installed, otherwise estimated."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING, Any

from bncc.data.dataset import Table
from bncc.emit.emitter import Emission, EmitOptions, Price, emit_as, emit_c
from bncc.emit.options import WRITTEN
from bncc.emit.provenance import code_digest
from bncc.errors import BudgetError, MeasurementError, MisfitError, OptionError, ToolchainError
from bncc.lower.cost_model import LEVELS
from bncc.lower.lowering import lower
from bncc.lower.request import Request
from bncc.model.model import Model
from bncc.model.rules import with_stand_ins
from bncc.program.pipeline import FLOWS_FOR, optimize_each
from bncc.resources import Budget, Optimize, Resources, Span, default_entries
from bncc.targets import GENERIC
from bncc.targets.timing import CountedCore
from bncc.toolchain.tools import is_x86

if TYPE_CHECKING:
    from bncc.device.cross import Toolchain  # builds and runs, which an estimate does not need

GOALS: tuple[Optimize, ...] = ("size", "balanced", "speed")
"""Optimization goals, from the smallest layout to the fastest."""
FAR = 1.4
"""Utilization of a limit by an estimate from which on a layout is not worth a measurement."""
SLACK = 1.2
"""First limit on estimates over the limit on measured flash: estimates of cuts in straight-line
code may be 17 % too large, and the next layout takes several times as long."""
MOST_BEYOND, MOST_LIMITS = 2, 5
"""Numbers of limits on estimates that are tried until the measured flash fits: larger than that of
the budget, and in all."""
TOO_LARGE = 2**31
"""Placeholder for the bytes and instructions of C that fits no part with a target."""
Failed = Callable[[str], None]
"""
Takes the reason why C could not be built or run, which then counts as C that fits no part.

Without it, the error is raised.
"""
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


def options_of(
    model: Model, budget: Budget, goal: Optimize, limit: int | None = None
) -> EmitOptions:
    """Return the emission options of a budget's measurements, with a limit on estimated flash."""
    entries = entries_of(model, budget)
    target = "x86" if budget.target == "host" and is_x86() else budget.target
    return EmitOptions(
        WRITTEN.name,
        budget.emitted(entries),
        optimize=goal,
        target=None if target == "host" else target,
        priced=entries,
        max_flash=limit,
        core=budget.core,
        provable=budget.provable,
    )


def price_of(
    model: Model, budget: Budget, readings: Table | None = None, failed: Failed | None = None
) -> Resources:
    """
    Determine whether a model fits a budget, with as few builds as possible.

    Without a limit on time the smallest layout decides. With one it is the fastest that fits:
    layouts that are far from fitting by their estimates are not measured.
    """
    layouts = _Layouts(model, budget, readings, failed)
    if budget.instructions is None:
        return layouts.priced("size")
    if budget.room is None:
        return _first(layouts, ("speed", "balanced", "size"))
    fast = layouts.limited("speed") if layouts.may_fit("speed") else None
    return fast or layouts.priced("size")


def memory_price_of(
    model: Model, budget: Budget, readings: Table | None = None, failed: Failed | None = None
) -> Resources:
    """
    Determine whether a model fits a budget as `price_of` does, with time and stack only if limited.

    Else these are estimates, as a simulation takes most of the time of a measurement.
    """
    if budget.instructions is not None or budget.ram is not None:
        return price_of(model, budget, readings, failed)
    model = with_stand_ins(model, budget.extras, budget.filter)
    options = options_of(model, budget, "size")
    emission = emit_c(model, options)
    estimated = _estimated(emission, budget.target)
    bench = bench_of(budget.target, options.core)
    if bench is None:
        return estimated
    return _with_memory(estimated, model, emission, bench, failed)


def _with_memory(
    estimated: Resources,
    model: Model,
    emission: Emission,
    bench: "Toolchain",
    failed: Failed | None,
) -> Resources:
    """Return estimated resources with the memory of the C as measured."""
    from bncc.on_device import memory_of

    try:
        found = memory_of(model, bench, emission, estimated.entries, estimated.opt_level)
    except MisfitError:
        return _too_large(estimated)
    except MeasurementError as error:
        return _too_large(estimated, error, failed)
    toolchain = f"{bench.compiler}, {bench.place}"
    return replace(estimated, flash=found.flash, ram=found.ram, how="measured", toolchain=toolchain)


def layout_price_of(
    model: Model, budget: Budget, readings: Table | None = None, failed: Failed | None = None
) -> Resources:
    """
    Determine a model's resources with the layout that suits a budget best.

    With a limit on flash it is the fastest layout that fits. With one on time alone it is the
    smallest that meets it, and the fastest of all without either. The goal of the resources, and
    the limit if they have one, are those of its emission.
    """
    layouts = _Layouts(model, budget, readings, failed)
    if budget.room is not None:
        return _fastest_within(layouts)
    if budget.instructions is not None:
        return _first(layouts, GOALS)
    best = layouts.priced("size")
    for goal in GOALS[1:]:
        if layouts.may_be_faster(layouts.estimated(goal), best):
            best = _faster(best, layouts.priced(goal), budget)
    return best


def fast_time_of(model: Model, budget: Budget) -> int | None:
    """
    Estimate the time of the fastest layout in a budget's flash; None if none fits.

    Only programs of the usual passes are laid out, since others take long.
    """
    model = with_stand_ins(model, budget.extras, budget.filter)
    request = Request(model, options_of(model, budget, "speed", budget.room))
    try:
        lowered = lower(optimize_each(request.program, FLOWS_FOR["balanced"]), request)
    except BudgetError:
        return None
    return lowered.resources.slowest


class _Layouts:
    """
    Layouts of a model by optimization goal and limit, each emitted once.

    Rules for decisions that are chosen after the model have stand-ins.
    """

    def __init__(
        self, model: Model, budget: Budget, readings: Table | None, failed: Failed | None
    ) -> None:
        self._model = with_stand_ins(model, budget.extras, budget.filter)
        self._readings, self.budget, self._failed = readings, budget, failed
        self._emitted: dict[tuple[Optimize, int | None], Emission | None] = {}

    def priced(self, goal: Optimize, limit: int | None = None) -> Resources:
        """Determine the resources of a layout."""
        emission, options = self._of(goal, limit), options_of(self._model, self.budget, goal, limit)
        assert emission is not None
        target = self.budget.target
        price = priced(self._model, emission, options, target, self._readings, self._failed)
        return price if limit is None else replace(price, room=self.budget.room, limit=limit)

    def limited(self, goal: Optimize) -> Resources | None:
        """
        Determine the resources of the best layout in the flash of the budget; None without any.

        Estimates are imprecise: the limit on them is larger first, and lowered by what a measured
        layout exceeds that of the budget.
        """
        room, limit = self.budget.room, self._first_limit
        assert room is not None
        assert limit is not None
        for n_tries in range(1, MOST_LIMITS + 1):
            emission = self._of(goal, limit)
            if emission is None:
                return None
            price = self.priced(goal, limit)
            if price.flash <= room:
                return price
            limit = emission.resources.flash - (price.flash - room)
            if emission.resources.flash > room:
                # Another kernel may be estimated better: none within the budget is left out.
                limit = max(limit, room) if n_tries < MOST_BEYOND else room
        return None

    def estimated(self, goal: Optimize) -> Resources | None:
        """Estimate a layout, that of speed that may be within a budget's flash; None if none is."""
        emission = self._of(goal, self._first_limit if goal == "speed" else None)
        return None if emission is None else emission.resources

    @property
    def _first_limit(self) -> int | None:
        room = self.budget.room
        return None if room is None else int(SLACK * room)

    def may_fit(self, goal: Optimize) -> bool:
        """Return whether a layout's estimate is not far above a limit."""
        estimated = self.estimated(goal)
        return estimated is not None and self.budget.utilization(estimated) <= FAR

    def may_be_faster(self, estimated: Resources | None, best: Resources) -> bool:
        """Return whether a layout may fit, and take less time than one with known resources."""
        if estimated is None or best.slowest is None or estimated.slowest is None:
            return False
        if self.budget.utilization(estimated) > FAR:
            return False
        return estimated.slowest < FAR * best.slowest or not self.budget.admits(best)

    def _of(self, goal: Optimize, limit: int | None) -> Emission | None:
        if (goal, limit) not in self._emitted:
            try:
                found = emit_c(self._model, options_of(self._model, self.budget, goal, limit))
            except BudgetError:
                found = None
            self._emitted[goal, limit] = found
        return self._emitted[goal, limit]


def _fastest_within(layouts: _Layouts) -> Resources:
    """Return the resources of the fastest layout in a budget's flash, else of the smallest."""
    smallest, budget = layouts.estimated("size"), layouts.budget
    assert smallest is not None
    may_be_faster = layouts.may_be_faster(layouts.estimated("speed"), smallest)
    fast = layouts.limited("speed") if may_be_faster else None
    if fast is None or not budget.admits(fast) or FAR * _time(fast) >= _time(smallest):
        least = layouts.priced("size")
        fast = least if fast is None else _faster(least, fast, budget)
    # Its discretizers and kernels weigh bytes as well, so it may fit where no fast one does.
    balanced = layouts.estimated("balanced")
    if balanced is not None and FAR * _time(balanced) < _time(fast) and layouts.may_fit("balanced"):
        return _faster(fast, layouts.priced("balanced"), budget)
    return fast


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
    return min(one, other, key=_time)


def _time(price: Resources) -> float:
    return inf if price.slowest is None else price.slowest


def priced(
    model: Model,
    emission: Emission,
    options: EmitOptions,
    target: str | None,
    readings: Table | None = None,
    failed: Failed | None = None,
) -> Resources:
    """Determine the resources of emitted C: measured with a toolchain, otherwise estimated."""
    estimated = _estimated(emission, target)
    bench = bench_of(target, options.core)
    if bench is None:
        return estimated
    try:
        found = measured(model, emission, bench, options, readings)
    except MisfitError:
        return _too_large(estimated)
    except MeasurementError as error:
        return _too_large(estimated, error, failed)
    return replace(found, target=target or GENERIC)


def _estimated(emission: Emission, target: str | None) -> Resources:
    """Return the estimated resources of emitted C."""
    code = code_digest(emission.files, emission.name)
    return replace(emission.resources, target=target or GENERIC, code=code)


def bench_of(target: str | None, core: CountedCore | None = None) -> "Toolchain | None":
    """
    Return the tools that build and measure for a target; None if some are not installed.

    With a core, they count its cycles besides instructions.
    """
    from bncc.device.cross import find_toolchain
    from bncc.targets import find_target

    simulator = None if core is None else "unicorn"
    try:
        (bench,) = find_toolchain(find_target(machine_of(target)), simulator=simulator)
    except ToolchainError:
        return None
    if core is None:
        return bench
    from bncc.timing.clock import CycleClock

    return replace(bench, clock=CycleClock.of(core))


def toolchain_of(budget: Budget) -> str | None:
    """Return the toolchain for a budget's target; None where resources are estimated."""
    bench = bench_of(budget.target, budget.core)
    return None if bench is None else f"{bench.compiler}, {bench.place}"


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
    """Return the resources in a model's record, if they are of this C on this target and core."""
    found = _record(model)
    if found is None:
        return None
    asked = emission.resources
    is_same = found.target == (target or GENERIC) and found.entries == asked.entries
    is_same = is_same and found.opt_level == asked.opt_level
    if not is_same or found.code != code_digest(emission.files, emission.name):
        return None
    if found.core is not None and asked.core is None:
        return replace(found, cycles=None, core=None)
    return found if found.core == asked.core else None


def recorded_layout(model: Model, target: str | None, goal: Optimize) -> Resources | None:
    """Return the resources in a model's record, if they are of a layout chosen by a limit."""
    found = _record(model)
    if found is None or found.limit is None or found.room is None:
        return None
    return found if (found.target, found.optimize) == (target or GENERIC, goal) else None


def layout_within(model: Model, target: str | None, goal: Optimize, room: int) -> Resources | None:
    """Return the resources of the recorded layout, if it is the fastest in some flash."""
    found = recorded_layout(model, target, goal)
    if found is None or found.room is None or not found.flash <= room <= found.room:
        return None
    return found


def emitted_as_recorded(model: Model, found: Resources, options: EmitOptions) -> Emission | None:
    """Emit the layout in a model's record with some options; None if it is not found again."""
    for entries in dict.fromkeys((options.entries, Budget(None).emitted(found.entries))):
        within = replace(
            options,
            entries=entries,
            max_flash=found.limit,
            max_ram=None,
            reserve=0,
            priced=found.entries,
            core=found.core,
        )
        try:
            emission = emit_c(model, within)
        except (BudgetError, OptionError):
            continue
        if code_digest(emission.files, emission.name) == found.code:
            is_same = entries == options.entries
            return emission if is_same else emit_as(model, options, emission)
    return None


def options_within(model: Model, budget: Budget, options: EmitOptions) -> EmitOptions:
    """Return the options of C with the entry points and limits of a budget."""
    covered = entries_of(model, budget)
    return replace(
        options,
        entries=budget.emitted(covered),
        max_flash=budget.flash,
        max_ram=budget.ram,
        reserve=budget.reserve,
        priced=covered,
        core=budget.core,
    )


def emitted_within(model: Model, budget: Budget, options: EmitOptions) -> Emission:
    """
    Emit C within a budget, by the resources that are recorded or measured, else estimated.

    The options are those of `options_within`. Without a limit and a target in the budget, resources
    are not measured.
    """
    target = budget.target or options.target
    is_priced = budget.target is not None or budget.is_bounded
    known: dict[str, Resources] = {}

    def price(emission: Emission) -> Resources:
        code = code_digest(emission.files, emission.name)
        if code not in known:
            found = recorded(model, emission, target)
            if found is None and is_priced:
                found = priced(model, emission, options, target)
            known[code] = found or emission.resources
        return known[code]

    return _as_recorded(model, budget, options, price) or emit_c(model, options, price)


def _as_recorded(
    model: Model, budget: Budget, options: EmitOptions, price: Price
) -> Emission | None:
    """Emit the layout that a search chose for the same budget; None if it does not apply."""
    is_free = options.kernel is None and options.compare is None and not options.constant_time
    if budget.room is None or not is_free:
        return None
    target = budget.target or options.target
    found = layout_within(model, target, options.optimize, budget.room)
    if found is None or found.entries != options.priced:
        return None
    emission = emitted_as_recorded(model, found, options)
    if emission is None:
        return None
    resources = price(emission)
    # An estimate counts what further entry points share with those that the record is of.
    fits = budget.admits(resources) or (resources.how == "estimated" and budget.admits(found))
    return (
        replace(emission, lowered=replace(emission.lowered, resources=resources)) if fits else None
    )


def _record(model: Model) -> Resources | None:
    facts: Any = model.training.get(RECORD)
    try:
        return Resources.from_json(facts)
    except (KeyError, TypeError, ValueError, AttributeError):
        return None


def _too_large(
    estimated: Resources, error: MeasurementError | None = None, failed: Failed | None = None
) -> Resources:
    """Return placeholder resources for C that fits no part with a target, or cannot be measured."""
    if error is not None:
        if failed is None:
            raise error
        failed(str(error))
    spans = {entry: Span(TOO_LARGE, TOO_LARGE, TOO_LARGE) for entry in estimated.entries}
    return replace(
        estimated,
        flash=TOO_LARGE,
        instructions=None if estimated.instructions is None else spans,
        cycles=None if estimated.cycles is None else spans,
        how="measured",
    )
