"""Footprint of a whole program, from samples to decisions, and its C within a budget."""

from dataclasses import replace
from math import ceil

from bncc.emit.emitter import Emission, EmitOptions, emit_c
from bncc.errors import BudgetError
from bncc.lower.cost_model import LEVELS
from bncc.lower.sample_estimate import estimate_samples
from bncc.model.model import Model
from bncc.pricing import bench_of, emitted_within, options_within, priced
from bncc.resources import Budget, ProgramFootprint
from bncc.targets import GENERIC, find_target

MOST_TRIES = 3
"""Times that C is emitted until it fits behind a front end, where compilers inline differently."""


def program_within(model: Model, budget: Budget, options: EmitOptions) -> Emission:
    """Emit C within a budget, which a front end is part of if the model has one."""
    if model.front_end is None or (budget.flash is None and budget.ram is None):
        return emitted_within(model, budget, options_within(model, budget, options))
    target = budget.target or options.target
    flash, ram = _of_front_end(model, budget, options, target)
    for _ in range(MOST_TRIES):
        behind = _behind(budget, flash, ram)
        try:
            emission = emitted_within(model, behind, options_within(model, behind, options))
        except BudgetError as error:
            raise error.behind(_front_end_words(flash, ram)) from None
        program = program_footprint(model, emission, target)
        if budget.utilization_of_bytes(program.flash, program.ram) <= 1:
            return replace(emission, whole=program)
        flash += max(0, program.flash - (budget.room or program.flash))
        ram += max(0, program.ram - (budget.ram or program.ram))
    raise BudgetError(
        f"the program takes {program.words}; raise --max-flash or --max-ram",
        budget.utilization_of_bytes(program.flash, program.ram),
    )


def program_footprint(model: Model, emission: Emission, target: str | None) -> ProgramFootprint:
    """Determine the memory of emitted C with a front end: measured with tools, else estimated."""
    assert model.front_end is not None
    bench = bench_of(target)
    resources, options = emission.resources, emission.options
    if bench is None:
        machine = find_target(target if target and target != "host" else GENERIC)
        alone = estimate_samples(model.front_end, machine)
        flash = ceil(alone.flash) + resources.flash
        return ProgramFootprint(flash, alone.state, resources.stack, "estimated")
    from bncc.on_device import hostile_cost  # only here: it builds and runs

    found, _ = hostile_cost(model, emission, bench, LEVELS[options.optimize])
    return ProgramFootprint(found.flash, found.state, found.stack, "measured")


def _of_front_end(
    model: Model, budget: Budget, options: EmitOptions, target: str | None
) -> tuple[int, int]:
    """
    Return what the smallest C with a front end takes besides its classifier: flash and state.

    The stack of the program is the largest of several calls, so none of it is taken off.
    """
    unlimited = replace(budget, flash=None, ram=None, reserve=0)
    smallest = options_within(model, unlimited, replace(options, optimize="size"))
    emission = emit_c(model, smallest)
    alone = priced(model, emission, smallest, target)
    emission = replace(emission, lowered=replace(emission.lowered, resources=alone))
    program = program_footprint(model, emission, target)
    return max(0, program.flash - alone.flash), program.state


def _behind(budget: Budget, flash: int, ram: int) -> Budget:
    """Return the budget of a classifier behind a front end, which leaves some of it."""
    has_flash = budget.room is None or flash < budget.room
    has_ram = budget.ram is None or ram < budget.ram
    if not (has_flash and has_ram):
        raise BudgetError(
            f"{_front_end_words(flash, ram)} alone exceeds the budget; raise --max-flash or "
            "--max-ram, or train with fewer --features"
        )
    reserve = budget.reserve if budget.flash is None else budget.reserve + flash
    return replace(budget, reserve=reserve, ram=None if budget.ram is None else budget.ram - ram)


def _front_end_words(flash: int, ram: int) -> str:
    return f"a front end of {flash:,} bytes of flash and {ram:,} of RAM"
