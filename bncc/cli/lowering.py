"""Options of lowering a model to C, and the C for each target."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, TypeVar

import click

from bncc.cli.console import Console
from bncc.cli.options import was_set
from bncc.emit.emitter import Emission, EmitOptions, emit_c
from bncc.lower.kernels.families import FAMILIES
from bncc.model.checked import DEFAULT_MARGIN
from bncc.model.model import Model
from bncc.resources import Optimize

Command = TypeVar("Command", bound=Callable[..., Any])

OPTIMIZE: tuple[Optimize, ...] = ("balanced", "size", "speed")


def lowering_options(function: Command) -> Command:
    """Add ``--optimize``, ``--kernel`` and ``--constant-time``."""
    families = ", ".join(FAMILIES)
    kernel = click.option(
        "--kernel",
        type=click.Choice(tuple(FAMILIES)),
        metavar="NAME",
        help=f"Kernel: {families} [default: the best].",
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
    return optimize(kernel(constant_time(function)))


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

    def options(
        self,
        machine: str | None,
        name: str = "m",
        entries: frozenset[str] = frozenset(),
        package: str = "plain",
    ) -> EmitOptions:
        """Return how to emit for a machine."""
        target = None if machine == "host" else machine
        return EmitOptions(
            name,
            entries,
            kernel=self.kernel,
            optimize=self.optimize,
            target=target,
            constant_time=self.constant_time,
            range_margin=self.range_margin,
            package=package,
        )


class Emissions:
    """The C of a model for every machine, each emitted when it is first asked for."""

    def __init__(
        self, model: Model, lowering: Lowering, entries: frozenset[str] = frozenset()
    ) -> None:
        self.model = model
        self.lowering = lowering
        self._entries = entries
        self._done: dict[EmitOptions, Emission] = {}
        if lowering.kernel is not None:
            self.of(None)  # layouts are the same for every target: fail early without one

    def options(self, machine: str | None) -> EmitOptions:
        """Return how the C for a machine is emitted."""
        return self.lowering.options(machine, entries=self._entries)

    def of(self, machine: str | None) -> Emission:
        """Return the C for a machine; None for generic C."""
        options = self.options(machine)
        if options not in self._done:
            self._done[options] = emit_c(self.model, options)
        return self._done[options]
