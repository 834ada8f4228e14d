"""Options of a budget: the entry points that it covers, and a reserve."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from bncc.cli.options import TARGETS, TargetChoice, budget, with_option
from bncc.cli.timing_options import time_limit_options, timing_options
from bncc.errors import OptionError
from bncc.resources import ENTRIES, PREFERENCES

Command = TypeVar("Command", bound=Callable[..., Any])


def budget_options(function: Command) -> Command:
    """Add ``--entry`` and ``--reserve``."""
    reserve = click.option(
        "--reserve",
        callback=budget,
        metavar="N[k]",
        help="Flash bytes of --max-flash reserved for the caller's code [default: 0].",
    )
    return entry_option(reserve(function))


def entry_option(function: Command) -> Command:
    """Add ``--entry``."""
    return click.option(
        "--entry",
        "priced",
        type=click.Choice(ENTRIES),
        multiple=True,
        help="Entry point that the C is chosen for and the budget covers, repeatable [default: "
        "predict-raw if the model has thresholds, else predict].",
    )(function)


def check_reserve(reserve: int | None, max_flash: int | None) -> int:
    """Return the bytes to reserve; refuse a reserve that leaves nothing of the budget."""
    if reserve and max_flash is None:
        raise OptionError(
            "--reserve has no effect without --max-flash; add --max-flash, or leave out --reserve"
        )
    if reserve and max_flash is not None and reserve >= max_flash:
        raise OptionError(
            f"--reserve {reserve} leaves nothing of --max-flash {max_flash}; lower --reserve"
        )
    return reserve or 0


def search_options(function: Command) -> Command:
    """Add the options of ``train`` that start a search for a budget."""
    flash = click.option(
        "--max-flash",
        callback=budget,
        metavar="N[k]",
        help="Flash budget in bytes: search for the fastest model that fits among the most "
        "accurate ones; see --prefer. Reports the best known ones for half and "
        "twice the budget, too.",
    )
    instructions = click.option(
        "--max-instructions",
        type=click.IntRange(1),
        metavar="N",
        help="Instruction budget (cycles on avr) for the worst-case call of an entry point over "
        "the inputs tried; searches as --max-flash does.",
    )
    target = click.option(
        "--target",
        type=TargetChoice([name for name in TARGETS if name != "all"]),
        metavar="T",
        help="Target device for the budget [default: cortex-m0].",
    )
    prefer = click.option(
        "--prefer",
        type=click.Choice([*PREFERENCES, "time"]),
        default=PREFERENCES[0],
        callback=lambda context, option, value: PREFERENCES[0] if value == "time" else value,
        show_default=True,
        help="Choice of a budget search. balanced or time: the fastest model whose error is at "
        "most one standard error above the lowest, or one that is up to three times as fast, the "
        "more the farther above, and not clearly worse, or one that is ten times as fast and not "
        "clearly worse than the best of so many models. error: the most accurate one.",
    )
    jobs = click.option(
        "--jobs",
        type=click.IntRange(1, 4096),
        default=1,
        show_default=True,
        metavar="N",
        help="Worker processes of the search.",
    )
    scheduler = click.option(
        "--scheduler",
        metavar="ADDRESS",
        help="Address of a dask.distributed scheduler for the search.",
    )
    provable = click.option(
        "--provable",
        is_flag=True,
        help="Search among the kernels that `bncc prove` covers; adds no gate, and keeps one of "
        "--structure-option gate=N.",
    )
    ram = click.option(
        "--max-ram",
        callback=budget,
        metavar="N[k]",
        help="RAM budget in bytes of a program that takes samples, its stack included; with "
        "--window.",
    )
    cycles, instructions_of_sample = (
        click.option(
            f"--max-{unit}-per-sample",
            type=click.FloatRange(1),
            metavar="N",
            help=f"Budget of {unit} per sample on average, {where}; with --window.",
        )
        for unit, where in (("cycles", "on avr"), ("instructions", "on other targets"))
    )
    function = with_option(target(timing_options(prefer(jobs(scheduler(function))))))
    function = ram(cycles(instructions_of_sample(budget_options(provable(function)))))
    return flash(instructions(time_limit_options(function)))
