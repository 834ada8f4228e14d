"""Options of ``bncc train`` that steer gradient descent."""

from collections.abc import Callable
from typing import Any

import click

from bncc.train.hyperparameters import (
    AVERAGE,
    DROPOUT,
    EPOCHS,
    ETA,
    FREE_GAMMA,
    FREE_LAMBDA,
    GAMMA,
    JITTER,
    LAMBDA,
    LR,
    QUANTIZE_FROM,
)

_OPTIONS = (
    click.option(
        "--epochs",
        type=int,
        metavar="N",
        help=f"Passes over the rows, in each of two trainings [default: {EPOCHS}]; of margin the "
        "most iterations.",
    ),
    click.option("--batch-size", type=int, metavar="N", help="Rows per step [default: by rows]."),
    click.option("--lr", type=float, metavar="R", help=f"First step size of Adam [default: {LR}]."),
    click.option(
        "--lambda",
        "lambda_",
        type=float,
        metavar="L",
        help=f"Weight of the margin loss [default: {LAMBDA:g}; free: {FREE_LAMBDA:g}; "
        "margin: chosen].",
    ),
    click.option(
        "--gamma",
        type=float,
        metavar="G",
        help=f"Margin aimed at, in nats [default: {GAMMA:g}; free: {FREE_GAMMA:g}].",
    ),
    click.option(
        "--eta", type=float, metavar="E", help=f"Sharpness of the soft maximum [default: {ETA:g}]."
    ),
    click.option(
        "--dropout",
        type=float,
        metavar="P",
        help=f"Chance to leave a feature out of a sum [default: {DROPOUT}].",
    ),
    click.option(
        "--jitter",
        type=float,
        metavar="P",
        help=f"Chance that a number falls into the bin beside its own [default: {JITTER:g}].",
    ),
    click.option(
        "--average",
        type=float,
        metavar="W",
        help=f"Weight of past epochs in the tables [default: {AVERAGE:g}, none].",
    ),
    click.option(
        "--quantize-from",
        type=float,
        metavar="FRACTION",
        help=f"Of the epochs, before rounding begins [default: {QUANTIZE_FROM}].",
    ),
)


def descent_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of gradient descent, named as in `TrainSettings`."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command
