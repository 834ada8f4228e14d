"""``bncc verify``: whether the emitted C answers as the Python model does."""

import platform
from typing import Any

import click

from bncc.build.agreement import Agreement, verify
from bncc.cli.console import Console
from bncc.cli.emit_c import OPTIMIZE, check_lowering
from bncc.cli.inputs import rows_to_classify
from bncc.cli.options import (
    HOST_TARGETS,
    TARGETS,
    class_option,
    fold_option,
    model_argument,
    refuse_later,
    speaks,
    target_option,
)
from bncc.data.dataset import Table
from bncc.errors import ToolchainError
from bncc.model.file import load_model
from bncc.model.model import Model

OPT_LEVELS = ("0", "1", "2", "3", "s")


def opt_level(ctx: click.Context, param: click.Parameter, value: str) -> str:
    """Read an optimization level: ``2``, ``O2`` or ``-O2``.

    Parameters
    ----------
    ctx : click.Context
        The command, for the message.
    param : click.Parameter
        The option, for the message.
    value : str
        As given by the user.

    Returns
    -------
    str
        The compiler's flag.

    Raises
    ------
    click.BadParameter
        If there is no such level.
    """
    level = value.removeprefix("-").removeprefix("O")
    if level not in OPT_LEVELS:
        raise click.BadParameter(f"{value!r} is none of {', '.join(OPT_LEVELS)}")
    return f"-O{level}"


@click.command("verify")
@model_argument
@click.option("--data", "data_path", metavar="DATA", help="Readings to try besides.")
@target_option
@click.option("--compiler", metavar="NAME", help="A compiler, or 'all' [default: the first found].")
@click.option("--opt-level", callback=opt_level, default="2", show_default=True)
@click.option("--sanitize", is_flag=True, help="Watch addresses and undefined behavior.")
@click.option(
    "--random",
    "n_random",
    type=click.IntRange(min=0, max=10**9),
    default=1000,
    metavar="N",
    show_default=True,
    help="Random states to try.",
)
@click.option("--exhaustive", is_flag=True, help="Try all joint states.")
@click.option("--optimize", type=click.Choice(OPTIMIZE), default="balanced", show_default=True)
@click.option("--kernel", metavar="NAME", help="The kernel [default: the best; only 'plain' yet].")
@class_option
@fold_option
@speaks
def command(
    console: Console,
    model_path: str,
    data_path: str | None,
    targets: tuple[str, ...],
    optimize: str,
    kernel: str | None,
    class_name: str | None,
    fold: int | None,
    **how: Any,
) -> None:
    """Build and run the C of MODEL and compare class and scores with the Python integer model.

    Beside DATA it tries random states, every row of every table, and the values at and beside
    every threshold; all joint states when they are few.
    """
    check_lowering(optimize, kernel)
    chosen, skipped = _choose(targets)
    model = load_model(model_path)
    table = None
    if data_path is not None:
        table = rows_to_classify(data_path, class_name, fold, console)
    elif fold is not None or class_name is not None:
        console.note("--class and --fold have no effect without --data")
    outcomes = _verify(model, table, chosen, how, console)
    payload = {
        "agree": all(outcome.agree for outcome in outcomes.values()),
        "targets": {target: facts_of(outcome) for target, outcome in outcomes.items()},
        "skipped": skipped,
    }
    lines = [sentence(target, outcome) for target, outcome in outcomes.items()]
    lines += [f"{target}: skipped, {reason}" for target, reason in skipped.items()]
    console.result(payload, "\n".join(lines))
    if not payload["agree"]:
        click.get_current_context().exit(1)


def facts_of(outcome: Agreement) -> dict[str, Any]:
    """Return the JSON object of one target.

    Parameters
    ----------
    outcome : Agreement
        Of the check.

    Returns
    -------
    dict
        ``checked``, ``mismatches``, ``strength``, ``toolchain``; ``first_mismatch`` in words if
        there is one.
    """
    facts = {
        "checked": outcome.checked,
        "mismatches": outcome.mismatches,
        "strength": outcome.strength,
        "toolchain": outcome.toolchain,
    }
    return facts | ({"first_mismatch": outcome.first_mismatch} if outcome.first_mismatch else {})


def sentence(target: str, outcome: Agreement) -> str:
    """Say what a check found and how strong it was.

    Parameters
    ----------
    target : str
        The machine.
    outcome : Agreement
        Of the check.

    Returns
    -------
    str
        One sentence for people.
    """
    if outcome.agree:
        return (
            f"{target}: the C agrees with the Python model, bit for bit, on {outcome.checked:,} "
            f"inputs: {outcome.strength} ({outcome.toolchain})"
        )
    return (
        f"{target}: the C DISAGREES with the Python model on {outcome.mismatches:,} of "
        f"{outcome.checked:,} inputs, first {outcome.first_mismatch} ({outcome.toolchain}); this "
        "is a bug in bncc or in the compiler, please report it with the model"
    )


def _choose(targets: tuple[str, ...]) -> tuple[list[str], dict[str, str]]:
    """Return the targets to run, and those that ``all`` skips with their reasons.

    Raises
    ------
    OptionError
        If a named target comes with a later version.
    ToolchainError
        If this machine is not what was named.
    """
    is_x86 = platform.machine().lower() in ("x86_64", "amd64", "i386", "i686")
    if "all" not in targets:
        for target in targets:
            refuse_later(
                target not in HOST_TARGETS, f"--target {target}", "use --target host or all"
            )
            if target == "x86" and not is_x86:
                raise ToolchainError("this machine is not an x86; use --target host")
        return list(dict.fromkeys(targets)) or ["host"], {}
    skipped = {
        target: "this version runs on the host alone"
        for target in TARGETS
        if target not in (*HOST_TARGETS, "all")
    }
    if not is_x86:
        skipped = {"x86": "this machine is not an x86", **skipped}
    return ["host"] + ["x86"] * is_x86, skipped


def _verify(
    model: Model,
    table: Table | None,
    targets: list[str],
    how: dict[str, Any],
    console: Console,
) -> dict[str, Agreement]:
    """Check every target; x86 is this machine, so that one run serves both names."""
    console.detail(f"building for {' and '.join(targets)}")
    outcome = verify(model, table=table, **how)
    return dict.fromkeys(targets, outcome)
