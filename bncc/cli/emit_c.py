"""``bncc emit-c``: a model as dependency-free C99."""

from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bncc.cli.budget_options import budget_options, check_reserve
from bncc.cli.console import Console, aligned
from bncc.cli.emit_rust import refuse_options_of_c, write_crate
from bncc.cli.long_help import LongCommand
from bncc.cli.lowering import (
    IN_BYTES,
    IN_TIME,
    Emissions,
    Lowering,
    Retreat,
    check_fit,
    inputs_option,
    lowering_options,
    range_margin_option,
    tell_of_idle_margin,
    with_inputs,
)
from bncc.cli.options import (
    TargetChoice,
    budget,
    class_option,
    fold_option,
    force_option,
    model_argument,
    speaks,
    with_option,
)
from bncc.cli.output import check_free, staged_directory
from bncc.cli.recordings import RecordedColumns, note_idle, recorded_options, rows_or_windows
from bncc.cli.results import resource_words
from bncc.cli.timing_options import (
    check_time,
    counted,
    named_timebase,
    target_of_part,
    time_limit,
    time_limit_options,
    timing_options,
    worst_facts,
    worst_words,
)
from bncc.emit.emitter import Emission, EmitOptions
from bncc.emit.options import emit_command, printed_file
from bncc.emit.packages import PACKAGES
from bncc.emit.rust import RUST
from bncc.emit.vectors import MOST_VECTORS, Vectors, drawn_vectors, vectors_of_table
from bncc.errors import OptionError
from bncc.lower.c.identifiers import model_name
from bncc.lower.cost_model import LEVELS
from bncc.lower.cut_conditions import Compared
from bncc.lower.estimate import MACHINE, functions_counted
from bncc.model.file import load_model
from bncc.model.model import Model
from bncc.pricing import entries_of
from bncc.resources import FUNCTIONS, OF_READINGS, Bounds, Budget, Optimize
from bncc.targets import TARGETS
from bncc.toolchain.tools import is_x86

if TYPE_CHECKING:
    from bncc.device.cross import Toolchain
    from bncc.timing.timebase import Timebase

_PRINTED_ELSEWHERE = frozenset({"output", "name", "force", "as_json", "quiet", "verbose"})
"""Options without effect on the files, or with a value that the header's command has anyway."""
_FILES = frozenset({"DATA", "FILE"})
"""Metavariables of options that name files."""


COMMON = (
    "output", "name", "package", "target", "optimize", "max_flash", "max_ram", "entries",
    "data_path", "spdx", "force", "as_json", "quiet", "verbose",
)  # fmt: skip
"""Parameters that ``bncc emit-c --help`` shows; ``--help-all`` shows all."""


@click.command("emit-c", cls=LongCommand, common=COMMON)
@model_argument
@click.option("-o", "--output", required=True, metavar="DIR", help="Output directory.")
@click.option(
    "--name", metavar="NAME", help="Prefix of files and symbols [default: the model's name]."
)
@click.option(
    "--package",
    type=click.Choice((*PACKAGES, RUST)),
    default="plain",
    show_default=True,
    help="Build system; rust writes a crate instead of C.",
)
@click.option(
    "--target", type=TargetChoice(), metavar="T", help="Target or part [default: generic C]."
)
@click.option(
    "--measure",
    is_flag=True,
    help="Write stack and instruction counts of --target into the header: measured, and bounds "
    "for every input where `bncc prove` covers the target.",
)
@click.option("--max-flash", callback=budget, metavar="N[k]", help="Flash budget in bytes.")
@click.option(
    "--max-ram", callback=budget, metavar="N[k]", help="RAM budget in bytes, variables and stack."
)
@time_limit_options
@timing_options
@range_margin_option
@inputs_option
@budget_options
@lowering_options
@with_option
@click.option(
    "--vectors",
    "n_vectors",
    type=click.IntRange(1, MOST_VECTORS),
    metavar="N",
    help="Maximum number of self-test vectors, each with 16 further inputs [default: by the "
    "model].",
)
@click.option(
    "--data",
    "data_path",
    metavar="DATA",
    help="Readings for the test vectors, or recordings for a model with a front end.",
)
@recorded_options
@class_option
@fold_option
@click.option(
    "--spdx",
    metavar="ID",
    help="SPDX license identifier written to every file, such as MIT [default: none].",
)
@force_option
@speaks
def command(
    console: Console,
    model_path: str,
    output: str,
    name: str | None,
    package: str,
    target: str | None,
    measure: bool,
    optimize: Optimize,
    max_flash: int | None,
    max_ram: int | None,
    max_cycles: int | None,
    max_microseconds: float | None,
    max_microjoules: float | None,
    part: str | None,
    clock: int | None,
    priced: tuple[str, ...],
    reserve: int | None,
    kernel: str | None,
    compare: Compared | None,
    constant_time: bool,
    provable: bool,
    entries: tuple[str, ...],
    range_margin: float,
    which_inputs: str,
    n_vectors: int | None,
    data_path: str | None,
    columns: RecordedColumns,
    class_name: str | None,
    fold: int | None,
    spdx: str | None,
    force: bool,
) -> None:
    """
    Compile MODEL to C, with test vectors, a self-test, and files for a build system.

    With --target, --max-flash or --max-ram, the footprint of the entry points is measured if the
    tools of the target are installed, else estimated; generic C is measured as for a Cortex-M0.
    Figures that `bncc train --max-flash` has recorded in MODEL for the same C are reused, as is its
    choice of the fastest layout for the same budget. If the budget is exceeded and --optimize is
    not given, --optimize size is tried. With --part or --clock, layouts are compared by cycles.
    """
    if target == "all":
        raise OptionError(
            "--target all is not supported by emit-c, as generic C builds for all targets; "
            "leave out --target"
        )
    target = target_of_part(target, part)
    base = named_timebase(target, part, clock)
    limit = time_limit(base, max_cycles, max_microseconds, max_microjoules)
    if measure or limit is not None:
        bench_of(target, base)
    if package == RUST:
        refuse_options_of_c()
    check_free(output, force=force, directory=True)
    model = with_inputs(load_model(model_path), which_inputs, (*entries, *priced))
    chosen = name if name is not None else model_name(Path(model_path).stem)
    limits = Budget(
        target, max_flash, None, max_ram, check_reserve(reserve, max_flash), priced,
        frozenset(entries), None if base is None else base.counted,
    )  # fmt: skip
    covered = entries_of(model, limits)
    tell_of_idle_margin(console, limits.emitted(covered))
    vectors = _vectors(model, n_vectors, data_path, columns, class_name, fold, console)
    if package == RUST:
        crate_options = EmitOptions(
            chosen,
            limits.extras,
            range_margin=range_margin,
            package=RUST,
            vectors=vectors,
            is_bounded=n_vectors is not None,
            spdx=spdx,
            command=emit_command(chosen, _options_given({}), model_path),
        )
        write_crate(console, model, crate_options, output, force=force)
        return

    def complete(options: EmitOptions) -> EmitOptions:
        """Add what surrounds the C to its options."""
        goal = {"optimize": options.optimize}
        return replace(
            options,
            name=chosen,
            package=package,
            vectors=vectors,
            is_bounded=n_vectors is not None,
            spdx=spdx,
            command=emit_command(chosen, _options_given(goal), model_path),
        )

    def check(emission: Emission) -> None:
        """Refuse C that exceeds the limit of time."""
        if limit is not None:
            check_time(model, emission, emission.options, bench_of(target, base), limit)

    emission = Emissions(
        model,
        Lowering(optimize, kernel, constant_time, range_margin, compare, provable),
        limits.emitted(covered),
        limits,
        Retreat.of(console, IN_BYTES if limit is None else IN_TIME),
        complete=complete,
        check=check,
    ).of("x86" if target == "host" and is_x86() else target)
    if measure:
        emission = emit_measured(model, emission, emission.options, base)
    if target is not None:
        check_fit(target, emission)
    with staged_directory(output, force=force) as folder:
        for file, text in emission.files.items():
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_text(text, encoding="utf-8", newline="\n")
    payload = facts_of(emission, output) | worst_facts(emission.resources, base)
    console.result(payload, _report(payload, emission, emission.options, base))


def _options_given(changed: Mapping[str, object]) -> list[tuple[str, ...]]:
    """
    Return the options of the running command that the text of the files depends on.

    Only those that differ from their defaults, as they were parsed (2k as 2048), and files by
    their base names, so that the same folder contents give the same text.
    """
    context = click.get_current_context()
    words: list[tuple[str, ...]] = []
    for param in context.command.params:
        value = {**context.params, **changed}.get(param.name or "")
        if not isinstance(param, click.Option) or param.name in _PRINTED_ELSEWHERE:
            continue
        if value in (None, (), param.get_default(context)):
            continue
        values = (value,) if not param.multiple else value
        for each in values:
            text = printed_file(str(each), "DATA") if param.metavar in _FILES else str(each)
            words += [(param.opts[0],) if param.is_flag else (param.opts[0], text)]
    return words


def _vectors(
    model: Model,
    n_vectors: int | None,
    data_path: str | None,
    columns: RecordedColumns,
    class_name: str | None,
    fold: int | None,
    console: Console,
) -> Vectors:
    """Return the inputs of the self-test: rows of DATA, or random ones without it."""
    if data_path is not None:
        table, _ = rows_or_windows(model, data_path, columns, class_name, fold, console)
        return vectors_of_table(model, table, n_vectors)
    note_idle(columns, class_name, fold, console)
    return drawn_vectors(model, n_vectors)


def facts_of(emission: Emission, folder: str) -> dict[str, Any]:
    """Return the JSON object of ``emit-c``."""
    return {
        "files": [str(Path(folder) / file) for file in emission.files],
        "kernel": emission.kernel,
        "layout": emission.choice.kernel.summary,
        "reason": emission.choice.reason,
        "candidates": [
            {
                "kernel": each.kernel.family,
                "layout": each.kernel.summary,
                "instructions": each.instructions,
                "flash": each.flash,
            }
            for each in emission.choice.candidates
        ],
        "passes": [asdict(step) for step in emission.passes],
        "table_bytes": emission.table_bytes,
        "estimate": asdict(emission.estimate),
        "resources": emission.resources.to_json(),
        "bounds": facts_of_bounds(emission.bounds),
        **({} if emission.whole is None else {"program": asdict(emission.whole)}),
    }


def _report(
    facts: dict[str, Any], emission: Emission, options: EmitOptions, base: "Timebase | None"
) -> str:
    estimate, machine = emission.estimate, options.target or MACHINE
    unit = Budget(options.target).unit
    is_mean = emission.layout.front is not None or emission.layout.gate is not None
    worst = " in the worst case" if is_mean else ""
    rows = [["wrote", file] for file in facts["files"]]
    rows += [["kernel", f"{facts['kernel']}: {facts['layout']} ({facts['reason']})"]]
    rows += [["tables", f"{facts['table_bytes']} bytes of flash, included in the figures below"]]
    rows += [
        [
            "estimate",
            f"{estimate.flash} bytes of flash ({_counted_words(emission)}), "
            f"{estimate.ram} bytes of RAM (stack), {estimate.instructions} {unit} per decision"
            f"{worst} on {machine} (predict, from states; {LEVELS[options.optimize]})",
        ]
    ]
    takes = [*resource_words(emission.resources), *worst_words(emission.resources, base)]
    rows += [[emission.resources.how, takes[0]], *(["", each] for each in takes[1:])]
    rows += [] if emission.whole is None else [["program", emission.whole.words]]
    rows += _bound_rows(emission.bounds)
    fired = [step["name"] for step in facts["passes"] if step["fired"]]
    rows += [["passes", ", ".join(fired) or "none fired"]]
    return aligned(rows)


def _counted_words(emission: Emission) -> str:
    """Return the functions that the estimate of flash counts, and those that it stands for."""
    counted, priced = functions_counted(emission.layout), emission.resources.entries
    if emission.layout.direct is None or OF_READINGS & set(priced):
        return counted
    return f"{counted}, as an estimate of {' and '.join(FUNCTIONS[entry] for entry in priced)}"


def _bound_rows(bounds: Bounds | None) -> list[list[str]]:
    """Return a line for each entry point: its proved bounds, or that its counts are measured."""
    if bounds is None:
        return []
    rows = [
        [
            "proved",
            f"{entry}: {found.instructions} instructions and {found.stack} bytes of stack at most, "
            "for every input",
        ]
        for entry, found in bounds.proved
    ]
    return rows + [["not proved", f"{entry}: {why}"] for entry, why in bounds.undecided]


def bench_of(target: str | None, base: "Timebase | None") -> "Toolchain":
    """Return the toolchain of a target that exists, with the clock of a time base."""
    if target is None or target not in TARGETS:
        names = ", ".join(TARGETS)
        raise OptionError(f"--measure needs a simulated target; add --target with one of {names}")
    from bncc.device.cross import find_toolchain  # only here: emit-c starts without what builds

    how = counted(base)
    clock = how.pop("clock", None)
    return replace(find_toolchain(TARGETS[target], **how)[0], clock=clock)


def emit_measured(
    model: Model, emission: Emission, options: EmitOptions, base: "Timebase | None"
) -> Emission:
    """Measure emitted C, and emit it again with the measurements in its header."""
    from bncc.on_device import emit_bounded
    from bncc.prove.bounds import proved_bounds

    bench = bench_of(options.target, base)
    timing = None if base is None else base.sentence
    if options.constant_time:  # counts are exact, and proofs do not cover the code
        return emit_bounded(model, emission, options, bench, timing=timing)
    proved, undecided = proved_bounds(model, emission, bench, LEVELS[options.optimize])
    return emit_bounded(
        model, emission, options, bench, proved=proved, undecided=undecided, timing=timing
    )


def facts_of_bounds(bounds: Bounds | None) -> dict[str, Any] | None:
    """Return the JSON object of bounds."""
    if bounds is None:
        return None
    return {
        "compiler": bounds.compiler,
        "simulator": bounds.simulator,
        "unit": bounds.unit,
        "inputs": bounds.n_inputs,
        "stack": dict(bounds.stacks),
        "counts": {
            entry: {"min": found.min, "max": found.max, "exact": entry in dict(bounds.exact)}
            for entry, found in bounds.counts
        },
        "proved": {entry: asdict(found) for entry, found in bounds.proved},
        "undecided": dict(bounds.undecided),
        **({"steps": bounds.n_steps} if bounds.n_steps else {}),
        **({"cycles": {e: asdict(n) for e, n in bounds.cycles}} if bounds.cycles else {}),
        **({} if bounds.timing is None else {"timing": bounds.timing}),
        **({} if bounds.samples is None else {"samples": asdict(bounds.samples)}),
    }
