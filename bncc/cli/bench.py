"""``bncc bench``: footprint and speed of the emitted C, compared with the textbook classifier."""

from collections.abc import Sequence
from typing import Any

import click

from bncc import pricing
from bncc.cli.budget_options import entry_option
from bncc.cli.console import Console
from bncc.cli.inputs import rows_to_classify
from bncc.cli.long_help import LongCommand
from bncc.cli.lowering import (
    INPUTS,
    Emissions,
    Lowering,
    blame,
    check_fit,
    inputs_option,
    lowering_options,
    usable_machines,
    with_inputs,
)
from bncc.cli.options import (
    SIMULATORS,
    class_option,
    fold_option,
    model_argument,
    opt_level_option,
    speaks,
    target_option,
)
from bncc.cli.results import facts_of, report_text
from bncc.data.dataset import Table
from bncc.device.cross import find_toolchain
from bncc.device.measure import N_ROWS, bench_inputs
from bncc.device.meter import Inputs
from bncc.errors import OptionError, ToolchainError
from bncc.lower.cost_model import LEVELS
from bncc.lower.cut_conditions import Compared
from bncc.model.file import load_model
from bncc.on_device import TargetReport, bench_target
from bncc.pricing import entries_of
from bncc.resources import Budget, Optimize
from bncc.structure.decision_tables import has_trees
from bncc.targets import find_target
from bncc.targets.base import Target

COMMON = (
    "targets", "data_path", "priced", "optimize", "compiler", "simulator", "as_json", "quiet",
    "verbose",
)  # fmt: skip
"""Parameters that ``bncc bench --help`` shows; ``--help-all`` shows all."""


@click.command("bench", cls=LongCommand, common=COMMON)
@model_argument
@target_option
@click.option(
    "--data", "data_path", metavar="DATA", help="Readings to measure on [default: random]."
)
@click.option(
    "--rows",
    "n_rows",
    type=click.IntRange(1, 10**6),
    default=N_ROWS,
    metavar="N",
    show_default=True,
    help="Number of inputs measured.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    show_default=True,
    help="Random seed of the inputs.",
)
@click.option("--compiler", metavar="NAME", help="Compiler [default: the first one found].")
@click.option(
    "--simulator",
    type=click.Choice(SIMULATORS),
    help="Simulator [default: the first one found].",
)
@opt_level_option
@entry_option
@inputs_option
@lowering_options
@class_option
@fold_option
@speaks
def command(
    console: Console,
    model_path: str,
    targets: tuple[str, ...],
    data_path: str | None,
    n_rows: int,
    seed: int,
    compiler: str | None,
    simulator: str | None,
    optimize: Optimize,
    kernel: str | None,
    compare: Compared | None,
    constant_time: bool,
    provable: bool,
    class_name: str | None,
    fold: int | None,
    opt_level: str | None,
    priced: tuple[str, ...],
    which_inputs: str,
    **how: Any,
) -> None:
    """
    Measure the C of MODEL on simulated targets: flash, RAM, stack and time per decision.

    The baseline is the textbook implementation of the same model: the better of -O2 and -O3 for
    time, -Os for flash.

    Time is executed instructions per decision, or cycles on AVR, including the call, its arguments
    and the return. Flash and RAM are the bytes of the entry points of --entry with all library
    routines that they use; the stack is reported separately. If features can be marginalized,
    predict_missing is measured too, with 30 % of the readings missing at random.

    Without --target, all targets with installed tools are measured. The host is measured on the
    simulated x86.
    """
    if compiler == "all":
        raise OptionError(
            "--compiler all is not supported by bench, which measures with one compiler; name "
            "one, or leave out --compiler"
        )
    model = with_inputs(load_model(model_path), which_inputs, priced)
    covered = entries_of(model, Budget(None, entries=priced))
    emitted = Budget(None).emitted(covered)
    emissions = Emissions(
        model,
        Lowering(optimize, kernel, constant_time, compare=compare, provable=provable),
        emitted,
    )
    tools = {"compiler": compiler, "simulator": simulator}
    machines, skipped = usable_machines(
        targets or ("all",), lambda target: _check(target, emissions, **tools)
    )
    table: Table | None = None
    if data_path is not None:
        table = rows_to_classify(data_path, class_name, fold, console)
    elif fold is not None or class_name is not None:
        console.note("--class and --fold have no effect without --data")
    if table is None and has_trees(model.structure):
        console.note(
            "inputs are random, but mean times of decision trees and of a front depend on the "
            "readings; add --data to measure them"
        )
    inputs = bench_inputs(model, table, n_rows=n_rows, seed=seed, some_missing="missing" in covered)
    how["opt_level"] = opt_level or LEVELS[optimize]
    how |= {"with_missing": which_inputs == INPUTS[0], "entries": covered}
    reports = measure(emissions, machines, inputs, console, **tools, **how)
    payload = {
        "targets": {target: facts_of(report) for target, report in reports.items()},
        "skipped": skipped,
        "rows": len(inputs.X),
        "seed": seed,
    }
    left_out = [f"{target}: skipped, {reason}" for target, reason in skipped.items()]
    parts = [report_text(reports, len(inputs.X)), "\n".join(left_out)]
    console.result(payload, "\n\n".join(part for part in parts if part), essential=True)


def machine_of(name: str) -> Target:
    """Return the machine on which a target is measured."""
    return find_target(pricing.machine_of(name))


def _check(target: str, emissions: Emissions, **tools: str | None) -> None:
    """Refuse a target whose tools are missing or that is too small."""
    find_toolchain(machine_of(target), **tools)
    check_fit(target, emissions.of(machine_of(target).name))


def measure(
    emissions: Emissions, machines: Sequence[str], inputs: Inputs, console: Console, **how: Any
) -> dict[str, TargetReport]:
    """Measure a model on some targets."""
    found: dict[str, TargetReport] = {}
    with console.progress("measuring") as advance:
        for k, name in enumerate(machines):
            target = machine_of(name)
            advance(k / len(machines), name)
            if target.name in found:
                continue
            console.detail(f"measuring on {target.title}")
            try:
                found[target.name] = bench_target(
                    emissions.model,
                    target,
                    inputs,
                    options=emissions.options(target.name),
                    emission=emissions.of(target.name),
                    **how,
                )
            except ToolchainError as error:
                raise blame(name, error) from None
    return {name: found[machine_of(name).name] for name in machines}
