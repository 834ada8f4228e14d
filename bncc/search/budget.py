"""What a classifier may take of a machine, and what one takes of it."""

from dataclasses import dataclass

from bncc.bench.measurement import WRITTEN, Measurement, flash_of, measure_ours
from bncc.bench.on_target import bench_inputs
from bncc.build.cross import find_bench
from bncc.build.meter import Inputs
from bncc.build.targets import find_target
from bncc.compiler.cost_model import LEVELS, Optimize
from bncc.data.dataset import Table
from bncc.emit.emitter import Emission, EmitOptions, emit_c
from bncc.errors import MisfitError, ToolchainError
from bncc.model.model import Model

TOO_LARGE = 2**31
"""Flash of what no part of a machine holds."""


@dataclass(frozen=True)
class Budget:
    """At most so much on a machine.

    Parameters
    ----------
    target : str or None
        The machine, as in ``--target``; None for bits alone, which no limit bounds.
    flash : int or None
        Bytes of the whole classifier, thresholds and entry points among them; None for any number.
    instructions : int or None
        Of a decision, from readings where the model has thresholds; cycles on AVR; None for any
        number.
    """

    target: str | None
    flash: int | None = None
    instructions: int | None = None

    @property
    def is_bounded(self) -> bool:
        """Whether there is a limit."""
        return self.flash is not None or self.instructions is not None

    def share(self, flash: int, instructions: int) -> float:
        """Return which part of it some bytes and instructions take: 1 or less where they fit."""
        pairs = ((flash, self.flash), (instructions, self.instructions))
        shares = [
            cost / limit if limit else float(cost > 0) * 2
            for cost, limit in pairs
            if limit is not None
        ]
        return max(shares, default=0.0)

    @property
    def goals(self) -> tuple[Optimize, ...]:
        """What C is made for, in the order in which it is tried."""
        return ("size",) if self.instructions is None else ("size", "balanced", "speed")


@dataclass(frozen=True)
class Price:
    """What a model takes.

    Parameters
    ----------
    flash : int
        Bytes.
    instructions : int
        Of the dearest decision that was measured, cycles on AVR; an estimate where nothing could
        be measured, or nobody asked for it.
    optimize : {"size", "balanced", "speed"}
        What its C is made for.
    is_measured : bool
        Whether a compiler and a simulator were asked.
    """

    flash: int
    instructions: int
    optimize: Optimize
    is_measured: bool

    def share(self, budget: Budget) -> float:
        """Return which part of a budget it takes at most: 1 or less where it fits."""
        return budget.share(self.flash, self.instructions)


def price_of(model: Model, budget: Budget, readings: Table, *, is_timed: bool = False) -> Price:
    """Find what a model takes on a machine.

    Parameters
    ----------
    model : Model
        The model.
    budget : Budget
        What it is to fit, on a named machine.
    readings : Table
        Rows to measure decisions by.
    is_timed : bool, default=False
        Whether decisions are measured even where the budget does not bound them.

    Returns
    -------
    Price
        With C made for size; where that takes too long, for more speed: the first that fits, else
        what takes the least share.
    """
    prices: list[Price] = []
    is_run = is_timed or budget.instructions is not None
    assert budget.target is not None
    machine = "x86" if budget.target == "host" else budget.target
    for goal in budget.goals:
        prices.append(_price(model, machine, goal, readings if is_run else None))
        if prices[-1].share(budget) <= 1:
            return prices[-1]
    return min(prices, key=lambda price: price.share(budget))


def measured_on(
    model: Model, machine: str, inputs: Inputs, goal: Optimize, emission: Emission | None = None
) -> Measurement:
    """Measure as ``bncc bench --optimize`` does.

    Parameters
    ----------
    model : Model
        The model.
    machine : str
        A target that is measured on.
    inputs : Inputs
        What it decides about.
    goal : {"size", "balanced", "speed"}
        What its C is made for.
    emission : Emission, optional
        That C, where it is there already.

    Returns
    -------
    Measurement
        Without ``trusted``.

    Raises
    ------
    MisfitError
        If it does not fit the machine.
    ToolchainError
        If a tool is missing.
    """
    (bench,) = find_bench(find_target(machine))
    return measure_ours(
        model,
        bench,
        inputs,
        opt_level=LEVELS[goal],
        options=_options(machine, goal),
        emission=emission,
        with_trusted=False,
    )


def _options(machine: str, goal: Optimize) -> EmitOptions:
    return EmitOptions(WRITTEN.name, optimize=goal, target=machine)


def _price(model: Model, machine: str, goal: Optimize, readings: Table | None) -> Price:
    emission = emit_c(model, _options(machine, goal))
    guess = emission.estimate
    try:
        if readings is None:
            (bench,) = find_bench(find_target(machine))
            flash = flash_of(model, bench, LEVELS[goal], emission)
            return Price(flash, guess.instructions, goal, is_measured=True)
        measured = measured_on(model, machine, bench_inputs(model, readings), goal, emission)
    except MisfitError:
        return Price(TOO_LARGE, TOO_LARGE, goal, is_measured=True)
    except ToolchainError:
        return Price(guess.flash, guess.instructions, goal, is_measured=False)
    decision = measured.costs.get("raw", measured.costs["predict"])
    return Price(measured.flash, decision.max, goal, is_measured=True)
