"""What a classifier may take of a machine, and what one takes of it."""

from dataclasses import dataclass

from bncc.bench.measurement import WRITTEN, flash_of, measure_ours
from bncc.bench.on_target import bench_inputs
from bncc.build.cross import find_bench
from bncc.build.targets import find_target
from bncc.compiler.cost_model import LEVELS, Optimize
from bncc.data.dataset import Table
from bncc.emit.emitter import EmitOptions, emit_c
from bncc.errors import MisfitError, ToolchainError
from bncc.model.model import Model

TOO_LARGE = 2**31
"""Flash of what no part of a machine holds."""


@dataclass(frozen=True)
class Budget:
    """At most so much on a machine.

    Parameters
    ----------
    target : str
        The machine, as in ``--target``.
    flash : int or None
        Bytes of the whole classifier, thresholds and entry points among them; None for any number.
    instructions : int or None
        Of a decision; cycles on AVR; None for any number.
    """

    target: str
    flash: int | None = None
    instructions: int | None = None

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
        pairs = ((self.flash, budget.flash), (self.instructions, budget.instructions))
        return max((cost / limit for cost, limit in pairs if limit is not None), default=0.0)


def price_of(model: Model, budget: Budget, readings: Table, *, is_timed: bool = False) -> Price:
    """Find what a model takes on a machine.

    Parameters
    ----------
    model : Model
        The model.
    budget : Budget
        What it is to fit.
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
    for goal in budget.goals:
        prices.append(_price(model, budget.target, goal, readings if is_run else None))
        if prices[-1].share(budget) <= 1:
            return prices[-1]
    return min(prices, key=lambda price: price.share(budget))


def _price(model: Model, target: str, goal: Optimize, readings: Table | None) -> Price:
    machine = "x86" if target == "host" else target
    options = EmitOptions(WRITTEN.name, optimize=goal, target=machine)
    emission = emit_c(model, options)
    guess = emission.estimate
    try:
        (bench,) = find_bench(find_target(machine))
        if readings is None:
            flash = flash_of(model, bench, LEVELS[goal], emission)
            return Price(flash, guess.instructions, goal, is_measured=True)
        measured = measure_ours(
            model,
            bench,
            bench_inputs(model, readings),
            opt_level=LEVELS[goal],
            emission=emission,
            with_trusted=False,
        )
    except MisfitError:
        return Price(TOO_LARGE, TOO_LARGE, goal, is_measured=True)
    except ToolchainError:
        return Price(guess.flash, guess.instructions, goal, is_measured=False)
    return Price(measured.flash, measured.costs["predict"].max, goal, is_measured=True)
