"""Options of a budget: the entry points that it covers, and a reserve."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from bncc.cli.options import TARGETS, TargetChoice, budget, with_option
from bncc.errors import OptionError
from bncc.resources import ENTRIES

Command = TypeVar("Command", bound=Callable[..., Any])


def budget_options(function: Command) -> Command:
    """Add ``--entry`` and ``--reserve``."""
    reserve = click.option(
        "--reserve",
        callback=budget,
        metavar="N[k]",
        help="Bytes of --max-flash reserved for the caller's code [default: 0].",
    )
    return entry_option(reserve(function))


def entry_option(function: Command) -> Command:
    """Add ``--entry``."""
    return click.option(
        "--entry",
        "priced",
        type=click.Choice(ENTRIES),
        multiple=True,
        help="Entry point that is priced, repeatable [default: predict-raw where the model has "
        "thresholds, else predict].",
    )(function)


def check_reserve(reserve: int | None, max_flash: int | None) -> int:
    """Return the bytes to reserve; refuse a reserve that leaves nothing of the budget."""
    if reserve and max_flash is None:
        raise OptionError("--reserve is a part of --max-flash; add --max-flash, or leave it out")
    if reserve and max_flash is not None and reserve >= max_flash:
        raise OptionError(
            f"--reserve {reserve} leaves nothing of --max-flash {max_flash}; reserve less"
        )
    return reserve or 0


def search_options(function: Command) -> Command:
    """Add the options of ``train`` that start a search for a budget."""
    flash = click.option(
        "--max-flash",
        callback=budget,
        metavar="N[k]",
        help="Bytes: search for the best that fits; --structure then names the only one tried.",
    )
    instructions = click.option(
        "--max-instructions",
        type=click.IntRange(1),
        metavar="N",
        help="Likewise, instructions (cycles on avr) of the slowest call of an entry point over "
        "the inputs tried.",
    )
    target = click.option(
        "--target",
        type=TargetChoice([name for name in TARGETS if name != "all"]),
        metavar="T",
        help="Target or part that the budget is for [default: cortex-m0].",
    )
    jobs = click.option(
        "--jobs",
        type=click.IntRange(1, 4096),
        default=1,
        show_default=True,
        metavar="N",
        help="Processes that evaluate the candidates of a search.",
    )
    scheduler = click.option(
        "--scheduler",
        metavar="ADDRESS",
        help="Address of a dask.distributed scheduler whose workers evaluate them.",
    )
    function = jobs(scheduler(function))
    return flash(instructions(budget_options(with_option(target(function)))))
