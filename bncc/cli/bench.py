"""``bncc bench``: footprint and speed of the emitted C, compared with the textbook classifier."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import click

from bncc import pricing
from bncc.cli.budget_options import entry_option
from bncc.cli.console import Console
from bncc.cli.long_help import LongCommand
from bncc.cli.lowering import (
    INPUTS,
    Emissions,
    Lowering,
    Retreat,
    blame,
    check_fit,
    inputs_option,
    lowering_options,
    memory_options,
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
from bncc.cli.recordings import RecordedColumns, note_idle, recorded_options, rows_or_windows
from bncc.cli.results import facts_of, facts_of_samples, report_text, sample_text
from bncc.cli.timing_options import (
    check_simulator,
    core_of,
    counted,
    targets_of,
    timebases,
    timing_options,
)
from bncc.device.cross import find_toolchain
from bncc.device.inputs.samples import Part
from bncc.device.measure import N_ROWS, bench_inputs
from bncc.device.meter import Inputs
from bncc.errors import OptionError, ToolchainError
from bncc.lower.cut_conditions import Compared
from bncc.model.file import load_model
from bncc.on_device import (
    SampleReport,
    TargetReport,
    bench_samples,
    bench_target,
    hostile_samples,
)
from bncc.pricing import entries_of
from bncc.resources import Budget, Optimize
from bncc.structure.decision_tables import has_trees
from bncc.targets import find_target
from bncc.targets.base import Target

if TYPE_CHECKING:
    from bncc.timing.timebase import Timebase

COMMON = (
    "targets", "data_path", "part", "clock", "priced", "optimize", "max_flash", "max_ram",
    "compiler", "simulator", "as_json", "quiet", "verbose",
)  # fmt: skip
"""Parameters that ``bncc bench --help`` shows; ``--help-all`` shows all."""


@click.command("bench", cls=LongCommand, common=COMMON)
@model_argument
@target_option
@click.option(
    "--data",
    "data_path",
    metavar="DATA",
    help="Readings to measure on, or recordings for a model with a front end [default: random].",
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
@timing_options
@opt_level_option
@entry_option
@memory_options
@inputs_option
@lowering_options
@recorded_options
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
    part: str | None,
    clock: int | None,
    optimize: Optimize,
    kernel: str | None,
    compare: Compared | None,
    constant_time: bool,
    provable: bool,
    columns: RecordedColumns,
    class_name: str | None,
    fold: int | None,
    opt_level: str | None,
    priced: tuple[str, ...],
    max_flash: int | None,
    max_ram: int | None,
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

    If MODEL has a front end, its whole C is measured too: each sample of recordings DATA, or of
    hostile ones, the bytes of the state between two samples, and flash and stack of all of it.

    --part and --clock add cycles, microseconds and microjoules by the core's published timing and
    the part's typical current, each with its source and error; sleep is not included.

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
        Budget(None, max_flash, ram=max_ram, entries=priced),
        Retreat.of(console),
        core_of=lambda target: core_of(target, part, clock),
    )
    emissions.check_kernel()
    targets = targets_of(targets, part)
    named = () if "all" in targets else targets
    bases = timebases(named, map(_machine_name, named), part, clock, console)
    check_simulator(bases, simulator)
    tools = {"compiler": compiler, "simulator": simulator}
    machines, skipped = usable_machines(
        targets or ("all",), lambda target: _check(target, emissions, **tools)
    )
    if not named:
        bases = timebases(named, dict.fromkeys(map(_machine_name, machines)), part, clock, console)
        check_simulator(bases, simulator)
    table = recorded = None
    if data_path is not None:
        table, recorded = rows_or_windows(model, data_path, columns, class_name, fold, console)
    else:
        note_idle(columns, class_name, fold, console)
    if table is None and (has_trees(model.structure) or model.gate is not None):
        what = "a gate" if model.gate is not None else "decision trees and of a front"
        console.note(
            f"inputs are random, but mean times of {what} depend on the readings; add --data to "
            "measure them"
        )
    inputs = bench_inputs(model, table, n_rows=n_rows, seed=seed, some_missing="missing" in covered)
    how |= {"with_missing": which_inputs == INPUTS[0], "entries": covered}
    how |= {"opt_level": opt_level}
    reports = measure(emissions, machines, inputs, console, bases=bases, **tools, **how)
    sampled: dict[str, SampleReport] = {}
    if model.front_end is not None:
        level = {"opt_level": opt_level}
        parts = hostile_samples(model) if recorded is None else recorded.parts
        sampled = measure_samples(emissions, machines, parts, console, **tools, **level)
    of = "hostile samples" if recorded is None else "samples of the recordings"
    payload = {
        "targets": {
            target: facts_of(report, bases.get(report.target))
            | ({"samples": facts_of_samples(sampled[target], of)} if target in sampled else {})
            for target, report in reports.items()
        },
        "skipped": skipped,
        "rows": len(inputs.X),
        "seed": seed,
    }
    left_out = [f"{target}: skipped, {reason}" for target, reason in skipped.items()]
    texts = [
        report_text(reports, len(inputs.X), bases),
        sample_text(sampled, of),
        "\n".join(left_out),
    ]
    console.result(payload, "\n\n".join(filter(None, texts)), essential=True)


def machine_of(name: str) -> Target:
    """Return the machine on which a target is measured."""
    return find_target(pricing.machine_of(name))


def _machine_name(name: str) -> str:
    return machine_of(name).name


def _check(target: str, emissions: Emissions, **tools: str | None) -> None:
    """Refuse a target whose tools are missing or that is too small."""
    find_toolchain(machine_of(target), **tools)
    check_fit(target, emissions.of(machine_of(target).name))


def measure(
    emissions: Emissions,
    machines: Sequence[str],
    inputs: Inputs,
    console: Console,
    *,
    bases: Mapping[str, "Timebase"] = MappingProxyType({}),
    opt_level: str | None = None,
    **how: Any,
) -> dict[str, TargetReport]:
    """Measure a model on some targets, in cycles too on those with a time base."""
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
                    emission=emissions.of(target.name),
                    opt_level=opt_level or emissions.level(target.name),
                    **how | counted(bases.get(target.name)),
                )
            except ToolchainError as error:
                raise blame(name, error) from None
    return {name: found[machine_of(name).name] for name in machines}


def measure_samples(
    emissions: Emissions,
    machines: Sequence[str],
    parts: Sequence[Part],
    console: Console,
    *,
    opt_level: str | None = None,
    **how: Any,
) -> dict[str, SampleReport]:
    """Measure a model with a front end on samples, on some targets."""
    found: dict[str, SampleReport] = {}
    with console.progress("samples") as advance:
        for k, name in enumerate(machines):
            target = machine_of(name)
            advance(k / len(machines), name)
            if target.name in found:
                continue
            try:
                level = opt_level or emissions.level(target.name)
                found[target.name] = bench_samples(
                    emissions.model, target, parts, emissions.of(target.name),
                    opt_level=level, **how,
                )  # fmt: skip
            except ToolchainError as error:
                raise blame(name, error) from None
    return {name: found[machine_of(name).name] for name in machines}
