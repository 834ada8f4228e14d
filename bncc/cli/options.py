"""Options and arguments that several commands share."""

import re
from collections.abc import Callable
from functools import update_wrapper
from typing import Any, TypeVar

import click

from bncc.cli.console import Console
from bncc.errors import OptionError

Command = TypeVar("Command", bound=Callable[..., Any])

TARGETS = (
    "host", "x86", "avr", "cortex-m0", "cortex-m3", "cortex-m4", "cortex-m7", "rv32", "big-endian",
    "all",
)  # fmt: skip
"""Machines of the command line's contract."""

SIMULATORS = ("qemu", "unicorn", "simavr")
"""What runs the code of other machines."""

OPT_LEVELS = ("0", "1", "2", "3", "s")


def speaks(function: Command) -> Command:
    """Add ``--json``, ``--quiet`` and ``-v`` to a command and hand it its `Console`.

    Parameters
    ----------
    function : callable
        The body of a command; its first parameter is the console.

    Returns
    -------
    callable
        The body with the three options.
    """

    def spoken(
        ctx: click.Context, /, as_json: bool, quiet: bool, verbose: bool, **rest: Any
    ) -> Any:
        console = ctx.find_object(Console) or Console()
        console.json, console.quiet, console.verbose = as_json, quiet, verbose
        return function(console, **rest)

    command: Any = update_wrapper(click.pass_context(spoken), function)
    command = click.option("-v", "--verbose", is_flag=True, help="Print more messages.")(command)
    command = click.option("--quiet", is_flag=True, help="Print no messages.")(command)
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
        help="The class column [default: the one called 'class', else the last].",
    )(function)


def fold_option(function: Command) -> Command:
    """Add ``--fold K``."""
    return click.option(
        "--fold", type=click.IntRange(min=0), metavar="K", help="The fold of an NPZ file."
    )(function)


def missing_option(function: Command) -> Command:
    """Add ``--missing state|marginal``."""
    return click.option(
        "--missing",
        type=click.Choice(("state", "marginal")),
        default="state",
        show_default=True,
        help="What a missing reading is: the state that training gave it, as in predict_raw, or "
        "summed out, as in predict_missing.",
    )(function)


def force_option(function: Command) -> Command:
    """Add ``--force``."""
    return click.option("--force", is_flag=True, help="Replace files that exist.")(function)


def target_option(function: Command) -> Command:
    """Add ``--target T``, repeatable."""
    return click.option(
        "--target",
        "targets",
        type=click.Choice(TARGETS),
        multiple=True,
        metavar="T",
        help=f"A machine, repeatable: {', '.join(TARGETS)}.",
    )(function)


def opt_level_option(function: Command) -> Command:
    """Add ``--opt-level L``, handed on as the compiler's flag, or None without one."""
    levels = ", ".join(OPT_LEVELS)
    return click.option(
        "--opt-level",
        callback=_opt_level,
        metavar="L",
        help=f"The compiler's level: {levels} [default: 2; s with --optimize size].",
    )(function)


def _opt_level(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """Read an optimization level: ``2``, ``O2`` or ``-O2``."""
    if value is None:
        return None
    level = value.removeprefix("-").removeprefix("O")
    if level not in OPT_LEVELS:
        raise click.BadParameter(f"{value!r} is none of {', '.join(OPT_LEVELS)}")
    return f"-O{level}"


def budget(ctx: click.Context, param: click.Parameter, value: str | None) -> int | None:
    """Read a number of bytes such as ``900`` or ``4k``; ``k`` is 1024.

    Parameters
    ----------
    ctx : click.Context
        The command, for the message.
    param : click.Parameter
        The option, for the message.
    value : str or None
        As given by the user.

    Returns
    -------
    int or None
        Bytes; None when the option was not given.

    Raises
    ------
    click.BadParameter
        If it is no such number.
    """
    if value is None:
        return None
    match = re.fullmatch(r"(\d{1,12})([kK]?)", value)
    if match is None:
        raise click.BadParameter(f"{value!r} is not a number of bytes such as 900 or 4k")
    return int(match[1]) * (1024 if match[2] else 1)


def refuse_later(given: bool, option: str, instead: str) -> None:
    """Refuse an option whose effect comes with a later version of bncc.

    Parameters
    ----------
    given : bool
        Whether the user gave it.
    option : str
        As typed.
    instead : str
        What to do now.

    Raises
    ------
    OptionError
        If it was given.
    """
    if given:
        raise OptionError(f"{option} arrives with a later version of bncc; {instead}")


def given(name: str) -> bool:
    """Return whether the user typed an option, rather than leaving it to its default.

    Parameters
    ----------
    name : str
        The name of its parameter in the running command.

    Returns
    -------
    bool
        True if it stands on the command line.
    """
    source = click.get_current_context().get_parameter_source(name)
    return source is click.core.ParameterSource.COMMANDLINE
