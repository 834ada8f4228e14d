"""Options and arguments of several commands."""

import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import update_wrapper
from typing import Any, TypeVar

import click

from bncc.cli.console import Console
from bncc.errors import OptionError
from bncc.resources import size_of
from bncc.targets import TARGETS as MACHINES
from bncc.targets import target_of

Command = TypeVar("Command", bound=Callable[..., Any])

TARGETS = ("host", *MACHINES, "all")
"""Targets of the command line's contract."""


class TargetChoice(click.Choice[str]):
    """A target, or a part that is an alias of one; the value is the target."""

    def __init__(self, targets: Sequence[str] = TARGETS) -> None:
        super().__init__(targets)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the target of a name, or refuse the name."""
        target = target_of(str(value))
        if target in self.choices:
            return target
        known = f"{', '.join(self.choices)}, or a part such as {', '.join(_EXAMPLES)}"
        self.fail(f"{value!r} is not one of {known}; `bncc targets` lists all", param, ctx)


_EXAMPLES = ("nrf52832", "stm32f030", "atmega328p")

SIMULATORS = ("qemu", "unicorn", "simavr")
"""Simulators of targets."""

WITH = (
    "raw", "checked", "scores", "scores-raw", "missing", "stream", "trusted", "filter",
    "confidence", "unknown", "counters", "adapt",
)  # fmt: skip
"""Entry points that can be emitted in addition to ``predict``."""

OPT_LEVELS = ("0", "1", "2", "3", "s")
_UNITS = {"s": 1, "m": 60, "h": 3600}
"""Seconds of a unit of time."""


def speaks(function: Command) -> Command:
    """Add ``--json``, ``--quiet`` and ``-v`` to a command and pass it its `Console`."""

    def spoken(
        ctx: click.Context, /, as_json: bool, quiet: bool, verbose: bool, **rest: Any
    ) -> Any:
        console = ctx.find_object(Console) or Console()
        console.json, console.quiet, console.verbose = as_json, quiet, verbose
        return function(console, **rest)

    command: Any = update_wrapper(click.pass_context(spoken), function)
    command = click.option("-v", "--verbose", is_flag=True, help="Verbose output.")(command)
    command = click.option("--quiet", is_flag=True, help="Suppress messages.")(command)
    options: Command = click.option(
        "--json", "as_json", is_flag=True, help="Print one JSON object on stdout."
    )(command)
    return options


def model_argument(function: Command) -> Command:
    """Add the argument MODEL."""
    return click.argument("model_path", metavar="MODEL")(function)


def data_argument(function: Command) -> Command:
    """Add the argument DATA."""
    return click.argument("data_path", metavar="DATA")(function)


def class_option(function: Command) -> Command:
    """Add ``--class NAME``."""
    return click.option(
        "--class",
        "class_name",
        metavar="NAME",
        help="Class column [default: class, else the last].",
    )(function)


def fold_option(function: Command) -> Command:
    """Add ``--fold K``."""
    return click.option(
        "--fold", type=click.IntRange(min=0), metavar="K", help="Fold of an NPZ file."
    )(function)


def groups_option(function: Command) -> Command:
    """Add ``--groups COLUMN``."""
    return click.option(
        "--groups",
        metavar="COLUMN",
        help="Column of groups, such as persons or devices, which splits never divide; not a "
        "feature.",
    )(function)


def split_options(function: Command) -> Command:
    """Add ``--groups COLUMN`` and ``--ordered``."""
    ordered = click.option(
        "--ordered",
        is_flag=True,
        help="Split into blocks of rows, which are in time order, instead of at random.",
    )
    return groups_option(ordered(function))


def missing_option(function: Command) -> Command:
    """Add ``--missing state|marginal``."""
    return click.option(
        "--missing",
        type=click.Choice(("state", "marginal")),
        default="state",
        show_default=True,
        help="Treatment of missing readings: the state learned in training, as in predict_raw, "
        "or marginalized, as in predict_missing.",
    )(function)


def force_option(function: Command) -> Command:
    """Add ``--force``."""
    return click.option("--force", is_flag=True, help="Overwrite existing files.")(function)


def target_option(function: Command) -> Command:
    """Add ``--target T``, repeatable."""
    return click.option(
        "--target",
        "targets",
        type=TargetChoice(),
        multiple=True,
        metavar="T",
        help="Target or part, or all, repeatable; see `bncc targets`.",
    )(function)


def opt_level_option(function: Command) -> Command:
    """Add ``--opt-level L``, passed as the compiler's flag, or None without one."""
    levels = ", ".join(OPT_LEVELS)
    return click.option(
        "--opt-level",
        callback=_opt_level,
        metavar="L",
        help=f"Compiler optimization level: {levels} [default: 2; s with --optimize size].",
    )(function)


def _opt_level(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """Parse an optimization level: ``2``, ``O2`` or ``-O2``."""
    if value is None:
        return None
    level = value.removeprefix("-").removeprefix("O")
    if level not in OPT_LEVELS:
        raise click.BadParameter(f"{value!r} is not one of {', '.join(OPT_LEVELS)}")
    return f"-O{level}"


def budget(ctx: click.Context, param: click.Parameter, value: str | None) -> int | None:
    """Parse a number of bytes such as ``900``, ``4k`` or ``1.5k``; ``k`` is 1024."""
    if value is None:
        return None
    size = size_of(value)
    if size is None:
        raise click.BadParameter(f"{value!r} is not a number of bytes such as 900, 4k or 1.5k")
    return size


def large_size(ctx: click.Context, param: click.Parameter, value: str) -> int | None:
    """Parse a number of bytes as `budget` does, or one such as ``1M``; ``M`` is 1024 * 1024."""
    match = re.fullmatch(r"(\d{1,6}(?:\.\d{1,6})?)M", value)
    size = int(Fraction(match[1]) * 2**20) if match else size_of(value)
    if size is None:
        raise click.BadParameter(f"{value!r} is not a number of bytes such as 900, 4k or 1.5M")
    return size


def duration(ctx: click.Context, param: click.Parameter, value: str | None) -> float | None:
    """Parse a time such as ``30s``, ``10m`` or ``2h``."""
    if value is None:
        return None
    match = re.fullmatch(r"(\d{1,6}(?:\.\d{1,3})?)([smh])", value)
    if match is None:
        raise click.BadParameter(f"{value!r} is not a time such as 30s, 10m or 2h")
    return float(match[1]) * _UNITS[match[2]]


def with_option(function: Command) -> Command:
    """Add ``--with``."""
    return click.option(
        "--with",
        "entries",
        type=click.Choice(WITH),
        multiple=True,
        help="Entry point in addition to predict, repeatable; covered by the budget unless "
        "--entry names others. raw is always emitted if the model has thresholds.",
    )(function)


def refuse_later(given: bool, option: str, instead: str) -> None:
    """Refuse an option whose effect comes with a later version of bncc."""
    if given:
        raise OptionError(f"{option} is not available in this version of bncc; {instead}")


def was_set(name: str) -> bool:
    """Return whether the user typed an option instead of relying on its default."""
    source = click.get_current_context().get_parameter_source(name)
    return source is click.core.ParameterSource.COMMANDLINE
