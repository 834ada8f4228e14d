"""``bncc prove``: prove that machine code decides as the model does, for every input."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from bncc.cli.certificates import asked
from bncc.cli.console import Console
from bncc.cli.long_help import LongCommand
from bncc.cli.lowering import (
    Command,
    Emissions,
    Lowering,
    Retreat,
    blame,
    inputs_option,
    lowering_options,
    memory_options,
    usable_machines,
    with_inputs,
)
from bncc.cli.options import (
    duration,
    force_option,
    model_argument,
    opt_level_option,
    speaks,
    target_option,
    was_set,
)
from bncc.cli.timing_options import counted_targets, timing_options
from bncc.device.cross import find_toolchain
from bncc.errors import OptionError, ToolchainError
from bncc.lower.cut_conditions import Compared
from bncc.model.file import load_model, model_digest
from bncc.model.model import Model
from bncc.prove.build import (
    TARGETS,
    LinkedProgram,
    check_entry,
    check_target,
    chosen_entries,
    entries_named,
    image_of,
    linked_program,
    require_decoder,
    score_size_of,
    verdict_of,
)
from bncc.prove.verdict import Verdict, exit_code_of, n_inputs
from bncc.resources import DEFAULT_TARGET, ENTRIES, Budget, Optimize
from bncc.targets import find_target
from bncc.targets.timing import CountedCore

COMMON = (
    "targets", "entries", "elf", "symbol", "output", "force", "compiler", "opt_level", "optimize",
    "max_flash", "max_ram", "constant_time", "time_limit", "as_json", "quiet", "verbose",
)  # fmt: skip
"""Parameters that ``bncc prove --help`` shows; ``--help-all`` shows all."""
OF_BUILDS = {
    "part": "--part",
    "clock": "--clock",
    "optimize": "--optimize",
    "max_flash": "--max-flash",
    "max_ram": "--max-ram",
    "kernel": "--kernel",
    "compare": "--compare",
    "constant_time": "--constant-time",
    "provable": "--provable",
    "compiler": "--compiler",
    "opt_level": "--opt-level",
}
"""Options of the build by parameter, which do not apply to an image of the user."""


def seconds(ctx: click.Context, param: click.Parameter, value: str | None) -> float | None:
    """Parse a time such as ``30s`` or ``2m``; a number alone is seconds."""
    is_bare = value is not None and value[-1:].isdecimal()
    return duration(ctx, param, f"{value}s" if is_bare else value)


def time_limit_option(function: Command) -> Command:
    """Add ``--time-limit``."""
    return click.option(
        "--time-limit",
        callback=seconds,
        metavar="SECONDS",
        help="Time limit of each proof, in seconds or such as 30s or 2m [default: none].",
    )(function)


@click.command("prove", cls=LongCommand, common=COMMON)
@model_argument
@target_option
@click.option(
    "--entry",
    "entries",
    type=click.Choice((*ENTRIES, "all")),
    metavar="NAME",
    multiple=True,
    help="Entry point to prove, repeatable: predict-raw, predict, trusted, scores, all of these, "
    "or scores-raw [default: predict-raw if the model has thresholds, else predict].",
)
@click.option(
    "--elf",
    metavar="FILE",
    help="Linked program to prove instead of a build of MODEL; needs --symbol, one --target, and "
    "--entry if the name of the function is not that of emitted C.",
)
@click.option("--symbol", metavar="NAME", help="Function of --elf FILE that is the entry point.")
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="Output file of the certificate, which `python -m bncc.checker` checks, and of the "
    "program, FILE.elf; needs one --target and --entry.",
)
@force_option
@click.option("--compiler", metavar="NAME", help="Compiler [default: the first one found].")
@opt_level_option
@time_limit_option
@timing_options
@memory_options
@inputs_option
@lowering_options
@speaks
def command(
    console: Console,
    model_path: str,
    targets: tuple[str, ...],
    entries: tuple[str, ...],
    elf: str | None,
    symbol: str | None,
    output: str | None,
    force: bool,
    compiler: str | None,
    opt_level: str | None,
    time_limit: float | None,
    part: str | None,
    clock: int | None,
    max_flash: int | None,
    max_ram: int | None,
    which_inputs: str,
    optimize: Optimize,
    kernel: str | None,
    compare: Compared | None,
    constant_time: bool,
    provable: bool,
) -> None:
    """
    Prove that the machine code of MODEL decides as MODEL does, for every input.

    The code is the C of `emit-c` with the same options, compiled and linked for each target
    [default: cortex-m0], or the function of a linked program. Every read and write, the stack and
    the number of instructions are bounded too. Exit code 0: all proved; 1: refuted; 3: undecided.
    """
    original = load_model(model_path)
    model = with_inputs(original, which_inputs)
    entries = chosen_entries(model, entries or entries_named(symbol))
    chosen, core = counted_targets(targets, part, clock, console, default=DEFAULT_TARGET)
    named = tuple(dict.fromkeys(chosen))
    for target in named:
        if target != "all":
            check_target(target)
    require_decoder()
    evidence = asked(
        output, model_path, elf, targets=named, n_entries=len(entries),
        is_whole=model is original, force=force,
    )  # fmt: skip
    skipped: dict[str, str] = {}
    n_programs = 1
    programs: Iterable[LinkedProgram]
    if elf is not None or symbol is not None:
        programs = [_given(model, elf, symbol, targets, entries)]
    else:
        if compiler == "all":
            raise OptionError("--compiler all is not supported by prove; name one compiler")
        machines, left_out = usable_machines(
            named, lambda target: _check(target, compiler=compiler)
        )
        skipped = {target: why for target, why in left_out.items() if target in TARGETS}
        n_programs = len(machines)
        lowering = Lowering(optimize, kernel, constant_time, compare=compare, provable=provable)
        emissions = emissions_of(
            model, entries, lowering, (max_flash, max_ram), Retreat.of(console), core_of=core
        )
        programs = built(emissions, machines, entries, compiler, opt_level, console)
    verdicts, facts, is_written = [], {}, False
    digest = model_digest(original)
    with console.progress("proving") as advance:
        for k, program in enumerate(programs):
            target = program.code.target.name
            found = []
            for entry in entries:
                advance(k / n_programs, f"{target}: {entry}")
                console.detail(f"proving {program.symbols[entry]} for {target}")
                verdict = verdict_of(
                    model, program, entry, time_limit=time_limit, digest=digest,
                    recorder=None if evidence is None else evidence.trace,
                )  # fmt: skip
                found.append(verdict)
                if evidence is not None:
                    size, name = program.score_size, program.symbols[entry]
                    is_written = evidence.write(model, program.code, verdict, name, size)
            facts[target] = {verdict.entry: facts_of(model, program, verdict) for verdict in found}
            verdicts += found
    code = exit_code_of(verdicts)
    lines = [verdict.sentence for verdict in verdicts]
    remedies = {one.reason: one.remedy for one in verdicts if one.remedy is not None}
    lines += [f"remedy for {reason}: {remedy}" for reason, remedy in remedies.items()]
    lines += [f"{target}: skipped, {reason}" for target, reason in skipped.items()]
    payload = {"proved": code == 0, "targets": facts, "skipped": skipped}
    if evidence is not None:
        payload |= {"certificate": evidence.path if is_written else None}
        payload |= {"program": evidence.elf if is_written else None}
        if is_written:
            lines.append(f"wrote {evidence.path}, a certificate about {evidence.elf}")
    console.result(payload, "\n".join(lines))
    click.get_current_context().exit(code)


def facts_of(model: Model, program: LinkedProgram, verdict: Verdict) -> dict[str, Any]:
    """Return the JSON object of one target and entry point."""
    return verdict.to_json() | {
        "inputs": str(n_inputs(model, verdict.entry)),
        "symbol": program.symbols[verdict.entry],
        "kernel": program.kernel,
    }


def _check(target: str, *, compiler: str | None) -> None:
    """Refuse a target without a decoder or whose tools are missing."""
    check_target(target)
    find_toolchain(find_target(target), compiler=compiler)


def _given(
    model: Model,
    elf: str | None,
    symbol: str | None,
    targets: Sequence[str],
    entries: tuple[str, ...],
) -> LinkedProgram:
    """Return a program of the user."""
    if elf is None or symbol is None:
        raise OptionError("--elf and --symbol need each other; add the missing one")
    if len(set(targets)) != 1 or "all" in targets:
        raise OptionError("--elf needs the target that the program is for; add one --target")
    if len(entries) != 1:
        raise OptionError("--elf proves one function; name its entry point by one --entry")
    for name, option in OF_BUILDS.items():
        if was_set(name):
            raise OptionError(f"{option} has no effect on --elf, a finished program; leave it out")
    code = image_of(Path(elf), find_target(targets[0]), symbol)
    if not was_set("entries") and not entries_named(symbol):
        raise OptionError(
            f"the name {symbol} ends with no entry point of emitted C; add its --entry, or name "
            "another --symbol"
        )
    check_entry(code, symbol, entries[0])
    size = score_size_of(emissions_of(model, entries, Lowering()).of(targets[0]))
    return LinkedProgram(code, {entries[0]: symbol}, score_size=size)


def built(
    emissions: Emissions,
    machines: Sequence[str],
    entries: tuple[str, ...],
    compiler: str | None,
    opt_level: str | None,
    console: Console,
) -> Iterator[LinkedProgram]:
    """Yield the program of each target, built when it is needed."""
    for target in machines:
        console.detail(f"building for {target}")
        emission = emissions.of(target)
        level = opt_level or emissions.level(target)
        (bench,) = find_toolchain(find_target(target), compiler=compiler)
        try:
            program = linked_program(emissions.model, emission, bench, level, entries)
        except ToolchainError as error:
            raise blame(target, error) from None
        yield program


def emissions_of(
    model: Model,
    entries: tuple[str, ...],
    lowering: Lowering,
    memory: tuple[int | None, int | None] = (None, None),
    retreat: Retreat | None = None,
    core_of: Callable[[str], CountedCore | None] | None = None,
) -> Emissions:
    """Return the C that ``emit-c`` writes with these entry points."""
    flash, ram = memory
    within = Budget(None, flash, ram=ram, entries=entries)
    return Emissions(model, lowering, within.emitted(entries), within, retreat, core_of=core_of)
