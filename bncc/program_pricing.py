"""Price of a whole program, from samples to decisions, and its C within a budget."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from math import ceil
from typing import Any

from bncc._types import IntArray
from bncc.emit.emitter import Emission, EmitOptions, emit_c
from bncc.errors import BudgetError
from bncc.lower.cost_model import LEVELS
from bncc.lower.sample_estimate import estimate_samples
from bncc.model.model import Model
from bncc.model.rules import with_stand_ins
from bncc.pricing import bench_of, emitted_within, options_of, options_within, priced
from bncc.resources import Budget, ProgramFootprint, Resources
from bncc.targets import GENERIC, find_target

MOST_TRIES = 3
"""Times that C is emitted until it fits behind a front end, where compilers inline differently."""


@dataclass(frozen=True)
class ProgramCost(ProgramFootprint):
    """Memory and time of a front end, or of a program of one and a classifier, on a target."""

    mean: float  # Mean instructions or cycles per sample
    worst: int | None  # Those of the slowest measured sample; None in an estimate
    unit: str

    @property
    def words(self) -> str:
        """The figures in words."""
        worst = "" if self.worst is None else f", at most {self.worst:,}"
        return (
            f"{self.flash:,} bytes of flash, {self.state} of state and {self.stack} of stack, "
            f"{self.mean:,.0f} {self.unit} per sample on average{worst} ({self.how})"
        )

    @property
    def footprint(self) -> ProgramFootprint:
        """The memory alone."""
        return ProgramFootprint(self.flash, self.state, self.stack, self.how)

    def to_json(self) -> dict[str, Any]:
        """Return the figures by name."""
        return asdict(self)


def program_within(model: Model, budget: Budget, options: EmitOptions) -> Emission:
    """Emit C within a budget, which a front end is part of if the model has one."""
    if model.front_end is None or (budget.flash is None and budget.ram is None):
        return emitted_within(model, budget, options_within(model, budget, options))
    target = budget.target or options.target
    flash, ram = _of_front_end(model, budget, options, target)
    for _ in range(MOST_TRIES):
        left = behind(budget, flash, ram)
        try:
            emission = emitted_within(model, left, options_within(model, left, options))
        except BudgetError as error:
            raise error.behind(front_end_words(flash, ram)) from None
        program = program_footprint(model, emission, target)
        if budget.utilization_of_bytes(program.flash, program.ram) <= 1:
            return replace(emission, whole=program)
        flash += max(0, program.flash - (budget.room or program.flash))
        ram += max(0, program.ram - (budget.ram or program.ram))
    raise BudgetError(
        f"the program takes {program.words}; raise --max-flash or --max-ram",
        budget.utilization_of_bytes(program.flash, program.ram),
    )


def program_cost(
    model: Model, emission: Emission, target: str | None, samples: Sequence[IntArray] = ()
) -> ProgramCost:
    """
    Determine what emitted C with a front end takes: measured with tools, else estimated.

    The stack is that of the deepest call on hostile samples, which is not the sum of the stacks of
    a front end and a classifier. Times are those of `samples`, recorded segments; without any, of
    hostile samples as well.
    """
    assert model.front_end is not None
    bench, resources = bench_of(target), emission.resources
    machine = find_target(target if target and target != "host" else GENERIC)
    if bench is None:
        alone = estimate_samples(model.front_end, machine)
        flash = ceil(alone.flash) + resources.flash
        mean = alone.time + (resources.typical or 0.0) / model.front_end.windows.hop
        memory = flash, alone.state, resources.stack
        return ProgramCost(*memory, "estimated", mean, None, machine.unit)
    from bncc.on_device import cost_on_samples  # only here: it builds and runs

    found = cost_on_samples(model, emission, bench, LEVELS[emission.options.optimize], samples)
    times = float(found.samples.mean()), int(found.samples.max())
    return ProgramCost(found.flash, found.state, found.stack, "measured", *times, bench.target.unit)


def priced_program(
    model: Model, budget: Budget, price: Resources, samples: Sequence[IntArray]
) -> ProgramCost:
    """Return the cost of a program whose classifier has the layout of a price."""
    shown = with_stand_ins(model, budget.extras, budget.filter)
    emission = emit_c(shown, options_of(shown, budget, price.optimize, price.limit))
    emission = replace(emission, lowered=replace(emission.lowered, resources=price))
    return program_cost(shown, emission, budget.target, samples)


def program_footprint(model: Model, emission: Emission, target: str | None) -> ProgramFootprint:
    """Determine the memory of emitted C with a front end, as `program_cost` does."""
    return program_cost(model, emission, target).footprint


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


def behind(budget: Budget, flash: int, ram: int) -> Budget:
    """Return the budget of a classifier behind a front end, which leaves some of it."""
    has_flash = budget.room is None or flash < budget.room
    has_ram = budget.ram is None or ram < budget.ram
    if not (has_flash and has_ram):
        raise BudgetError(
            f"{front_end_words(flash, ram)} alone exceeds the budget; raise --max-flash or "
            "--max-ram, or train with fewer --features"
        )
    reserve = budget.reserve if budget.flash is None else budget.reserve + flash
    return replace(budget, reserve=reserve, ram=None if budget.ram is None else budget.ram - ram)


def front_end_words(flash: int, ram: int) -> str:
    """Return the memory of a front end in words."""
    return f"a front end of {flash:,} bytes of flash and {ram:,} of RAM"
