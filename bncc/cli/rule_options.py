"""Options of ``bncc train`` for rules for decisions, counters and adaptations."""

from collections.abc import Callable
from functools import update_wrapper
from typing import Any

import click

from bncc.cli.options import Command
from bncc.errors import OptionError
from bncc.model.filter import MAX_HOLD, MAX_LAG
from bncc.train.confidence_choice import check_max_error
from bncc.train.decision_rules import DecisionRules
from bncc.train.filter_choice import OverTime, price_of
from bncc.train.transitions import TRANSITIONS
from bncc.train.unknown_choice import check_false_alarms


def filter_price(ctx: click.Context, param: click.Parameter, value: str | None) -> OverTime:
    """Parse the price of a switch in a filter, or ``auto``."""
    try:
        return price_of(value)
    except OptionError as error:
        raise click.BadParameter(str(error)) from None


def fraction_by(check: Callable[[float | None], None], example: str) -> Callable[..., float | None]:
    """Return a callback that parses and checks a fraction."""

    def checked(ctx: click.Context, param: click.Parameter, value: str | None) -> float | None:
        if value is None:
            return None
        try:
            fraction = float(value)
        except ValueError:
            raise click.BadParameter(
                f"{value!r} is not a number; use a fraction such as {example}"
            ) from None
        try:
            check(fraction)
        except OptionError as error:
            raise click.BadParameter(str(error)) from None
        return fraction

    return checked


_OPTIONS = (
    click.option(
        "--filter",
        "over_time",
        callback=filter_price,
        metavar="auto|N",
        help="Filter over decisions in time, with the price N of a switch in units of a cost, or "
        "with that of the fewest errors on held-out rows; needs --groups or --ordered, whose rows "
        "are in time order.",
    ),
    click.option(
        "--filter-hold",
        "hold",
        type=click.IntRange(1, MAX_HOLD),
        default=1,
        show_default=True,
        metavar="N",
        help="Decisions in a row that a switch of the filter needs.",
    ),
    click.option(
        "--filter-lag",
        "lag",
        type=click.IntRange(0, MAX_LAG),
        default=0,
        show_default=True,
        metavar="L",
        help="Rows or windows that a decision of the filter waits for.",
    ),
    click.option(
        "--filter-transitions",
        "transitions",
        type=click.Choice(TRANSITIONS),
        default=TRANSITIONS[0],
        show_default=True,
        help="Prices of the filter: one of every switch, or one of each transition, of which N is "
        "the largest, learned from how long classes last (dwell), or from how often each was seen "
        "(matrix). These learn the script of a recording.",
    ),
    click.option(
        "--confidence",
        is_flag=True,
        help="Calibrate the probability that a decision is right, on held-out rows.",
    ),
    click.option(
        "--max-error",
        callback=fraction_by(check_max_error, "0.02"),
        metavar="E",
        help="Reject decisions so that the error of accepted ones is at most E, such as 0.02; "
        "implies --confidence.",
    ),
    click.option(
        "--unknown",
        callback=fraction_by(check_false_alarms, "0.05"),
        metavar="A",
        help="Detect readings of no known class, with a rate A of false alarms, such as 0.05.",
    ),
    click.option(
        "--counters",
        is_flag=True,
        help="Record what bncc drift compares the counters of a device with: shares of decisions "
        "on new rows.",
    ),
    click.option(
        "--adapt",
        type=click.Choice(("auto",)),
        help="Let devices learn from labeled readings: offsets of classes, whose step and tables "
        "are chosen on held-out groups; needs --groups.",
    ),
)
_NAMES = (
    "over_time", "confidence", "max_error", "unknown", "counters", "adapt", "hold", "transitions",
    "lag",
)  # fmt: skip


def rule_options(function: Command) -> Command:
    """Add the options, which a command takes as `DecisionRules`."""

    def with_rules(*args: Any, **options: Any) -> Any:
        values = {name: options.pop(name) for name in _NAMES}
        rules = DecisionRules(adapts=values.pop("adapt") is not None, **values)
        return function(*args, rules=rules, **options)

    wrapped: Any = update_wrapper(with_rules, function)
    for option in reversed(_OPTIONS):
        wrapped = option(wrapped)
    found: Command = wrapped
    return found
