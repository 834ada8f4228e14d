"""Options of lowering a model to C, and the C for each target."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import click

from bncc.cli.console import Console
from bncc.cli.options import TARGETS, budget, was_set
from bncc.emit.emitter import Emission, EmitOptions, emit_as, emit_c
from bncc.emit.options import WRITTEN
from bncc.errors import BnccError, BudgetError, ModelError, OptionError, ToolchainError
from bncc.lower.c.constants import avr_error
from bncc.lower.cost_model import LEVELS
from bncc.lower.cut_conditions import COMPARED, Compared
from bncc.lower.kernels.families import FAMILIES
from bncc.model.checked import DEFAULT_MARGIN
from bncc.model.model import Model
from bncc.model.used import with_used_inputs
from bncc.program_pricing import program_within
from bncc.resources import Budget, Optimize
from bncc.targets import known_target
from bncc.targets.timing import CountedCore

Command = TypeVar("Command", bound=Callable[..., Any])

OPTIMIZE: tuple[Optimize, ...] = ("balanced", "size", "speed")


def lowering_options(function: Command) -> Command:
    """Add ``--optimize``, ``--kernel``, ``--compare``, ``--constant-time`` and ``--provable``."""
    families = ", ".join(FAMILIES)
    kernel = click.option(
        "--kernel",
        type=click.Choice(tuple(FAMILIES)),
        metavar="NAME",
        help=f"Kernel: {families} [default: the best].",
    )
    compare = click.option(
        "--compare",
        type=click.Choice(COMPARED),
        help="What predict_raw compares with the cuts of tables [default: whichever is best].",
    )
    optimize = click.option(
        "--optimize",
        type=click.Choice(OPTIMIZE),
        default="balanced",
        show_default=True,
        help="Optimization goal of the C.",
    )
    constant_time = click.option(
        "--constant-time",
        is_flag=True,
        help="Emit code whose branches never depend on a reading or a state.",
    )
    provable = click.option(
        "--provable",
        is_flag=True,
        help="Choose among the kernels whose machine code `bncc prove` decides.",
    )
    return optimize(kernel(compare(constant_time(provable(function)))))


def range_margin_option(function: Command) -> Command:
    """Add ``--range-margin``."""
    return click.option(
        "--range-margin",
        type=float,
        default=DEFAULT_MARGIN,
        show_default=True,
        metavar="PERCENT",
        help="Percentage of a feature's training range by which readings may exceed it under "
        "--with checked.",
    )(function)


INPUTS = ("all", "used")


def inputs_option(function: Command) -> Command:
    """Add ``--inputs``."""
    return click.option(
        "--inputs",
        "which_inputs",
        type=click.Choice(INPUTS),
        default=INPUTS[0],
        show_default=True,
        help="Inputs of the C: all features of MODEL, or those that decisions depend on.",
    )(function)


def memory_options(function: Command) -> Command:
    """Add ``--max-flash`` and ``--max-ram``, for the layout that ``emit-c`` takes within them."""
    flash, ram = (
        click.option(
            f"--max-{name}",
            callback=budget,
            metavar="N[k]",
            help=f"{what}, within which the C is chosen as by `emit-c`.",
        )
        for name, what in (
            ("flash", "Flash budget in bytes"),
            ("ram", "RAM budget in bytes, variables and stack"),
        )
    )
    return flash(ram(function))


def with_inputs(model: Model, inputs: str, entries: Collection[str] = ()) -> Model:
    """Return the model whose features are the inputs of the C."""
    if inputs == INPUTS[0]:
        return model
    smaller = with_used_inputs(model)
    if "missing" in entries and smaller is not model:
        raise OptionError(
            "predict_missing uses all features, as an unknown one depends on its neighbors; leave "
            f"out --inputs {inputs}, or 'missing' of --with and --entry"
        )
    return smaller


def tell_of_idle_margin(console: Console, entries: Collection[str]) -> None:
    """Warn about a ``--range-margin`` that has no effect."""
    if was_set("range_margin") and "checked" not in entries:
        console.note("--range-margin has no effect without --with checked")


@dataclass(frozen=True)
class Lowering:
    """Options of the command line for lowering."""

    optimize: Optimize = "balanced"  # Value of ``--optimize``
    kernel: str | None = None  # Value of ``--kernel``
    constant_time: bool = False  # ``--constant-time``
    range_margin: float = DEFAULT_MARGIN  # Value of ``--range-margin``
    compare: Compared | None = None  # Value of ``--compare``
    provable: bool = False  # ``--provable``

    def options(self, machine: str | None, entries: frozenset[str] = frozenset()) -> EmitOptions:
        """Return the options to emit C for a target; refuse one without proofs if it needs them."""
        target = None if machine == "host" else machine
        if self.provable and target is not None:
            from bncc.prove.build import check_target  # only here: it loads what builds

            check_target(target)
        return EmitOptions(
            WRITTEN.name,
            entries,
            kernel=self.kernel,
            optimize=self.optimize,
            target=target,
            constant_time=self.constant_time,
            range_margin=self.range_margin,
            compare=self.compare,
            provable=self.provable,
        )


IN_BYTES: tuple[Optimize, ...] = ("size",)
IN_TIME: tuple[Optimize, ...] = ("speed", "size")
"""Goals that are tried after that of most models, where there is a limit of time, too."""


@dataclass(frozen=True)
class Retreat:
    """Goals that are tried in turn where no C of the first one fits the budget."""

    goals: tuple[Optimize, ...]
    note: Callable[[str], None]  # Prints a message

    @classmethod
    def of(cls, console: Console, goals: tuple[Optimize, ...] = IN_BYTES) -> "Retreat | None":
        """Return the retreat of the running command; None where the user names a goal."""
        return None if was_set("optimize") else cls(goals, console.note)


class Emissions:
    """The C of a model for every target, each emitted on first use."""

    def __init__(
        self,
        model: Model,
        lowering: Lowering,
        entries: frozenset[str] = frozenset(),
        within: Budget | None = None,
        retreat: Retreat | None = None,
        *,
        complete: Callable[[EmitOptions], EmitOptions] | None = None,  # Adds what is not lowered
        check: Callable[[Emission], None] | None = None,  # Refuses C that exceeds further limits
        core_of: Callable[[str], CountedCore | None] | None = None,  # By target; else the budget's
    ) -> None:
        self.model = model
        self.lowering = lowering
        self._entries, self._within, self._retreat = entries, within, retreat
        self._complete, self._check, self._core_of = complete, check, core_of
        self._done: dict[str | None, Emission] = {}

    def of(self, machine: str | None) -> Emission:
        """Return the C for a target; None for generic C."""
        target = self.lowering.options(machine).target
        if target not in self._done:
            self._done[target] = self._first_fitting(machine)
        return self._done[target]

    def check_kernel(self) -> None:
        """Refuse a named kernel without a layout for the model, which no target has, either."""
        is_bounded = self._within is not None and self._within.is_bounded
        if self.lowering.kernel is not None and not is_bounded:
            self.of(None)

    def level(self, machine: str | None) -> str:
        """Return the compiler's level for the C of a target."""
        return LEVELS[self.of(machine).options.optimize]

    def options(self, machine: str | None, goal: Optimize) -> EmitOptions:
        """Return the options of C for a target that is optimized for a goal."""
        lowering = replace(self.lowering, optimize=goal)
        options = lowering.options(machine, entries=self._entries)
        return options if self._complete is None else self._complete(options)

    def _first_fitting(self, machine: str | None) -> Emission:
        """Emit C of the first goal within the budget, or raise the error that exceeds it least."""
        asked, errors = self.lowering.optimize, list[BudgetError]()
        goals = (asked, *(self._retreat.goals if self._retreat else ()))
        for goal in goals:
            try:
                emission = self._emitted(self.options(machine, goal))
                if self._check is not None:
                    self._check(emission)
            except BudgetError as error:
                errors.insert(0, error)
                continue
            if errors and self._retreat:
                is_one = machine is None or (self._within and self._within.target)
                which = "" if is_one else f" for {machine}"
                self._retreat.note(
                    f"no {asked} code{which} fits the budget; the C uses --optimize {goal}"
                )
            return emission
        nearest = min(errors, key=lambda each: each.utilization)
        raise nearest.of_smallest() if "size" in goals else nearest

    def _emitted(self, options: EmitOptions) -> Emission:
        """Emit C; within a budget the layout that it is given by the entry points it covers."""
        within = self._within
        if within is None:
            return emit_c(self.model, options)
        if self._core_of is not None and options.target is not None:
            within = replace(within, core=self._core_of(options.target))
        emission = program_within(self.model, within, options)
        if emission.options.entries == options.entries:
            return emission
        return replace(emit_as(self.model, options, emission), whole=emission.whole)


Check = Callable[[str], None]
"""Raises a `BnccError` with the reason why a target cannot be used."""


def usable_machines(targets: Sequence[str], check: Check) -> tuple[list[str], dict[str, str]]:
    """Return the targets to run on, and those left out."""
    everything = [target for target in TARGETS if target != "all"]
    machines: list[str] = []
    skipped: dict[str, str] = {}
    errors: list[BnccError] = []
    for target in everything if "all" in targets else dict.fromkeys(targets):
        try:
            check(target)
        except BnccError as error:
            if target in targets:
                raise
            skipped[target] = str(error)
            errors.append(error)
        else:
            machines.append(target)
    exceeded = [error for error in errors if isinstance(error, BudgetError)]
    if not machines and len(exceeded) == len(errors):
        raise min(exceeded, key=lambda each: each.utilization)
    if not machines:
        target, reason = next(iter(skipped.items()))
        raise ToolchainError(f"no target is usable; {target}: {reason}")
    return machines, skipped


def check_fit(target: str, emission: Emission) -> None:
    """Refuse a model whose constants an AVR cannot read; no other target is too small."""
    layout = emission.layout
    reason = avr_error(max(array.n_bytes for array in layout.arrays), layout.rom_bytes)
    machine = known_target(target)
    if machine is not None and machine.address_bits == 16 and reason:
        raise ModelError(f"the model does not fit {target}: {reason}")


def blame(target: str, error: ToolchainError) -> ToolchainError:
    """Return an error of the same kind whose message names the target."""
    return type(error)(f"{target}: {error}")
