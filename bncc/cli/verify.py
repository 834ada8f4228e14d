"""``bncc verify``: compare the emitted C with the Python model."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Any

import click

from bncc.cli.budget_options import entry_option
from bncc.cli.console import Console
from bncc.cli.long_help import LongCommand
from bncc.cli.lowering import (
    Emissions,
    Lowering,
    Retreat,
    blame,
    check_fit,
    inputs_option,
    lowering_options,
    memory_options,
    range_margin_option,
    tell_of_idle_margin,
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
from bncc.cli.prove import facts_of as facts_of_proof
from bncc.cli.prove import time_limit_option
from bncc.cli.recordings import RecordedColumns, note_idle, recorded_options, rows_or_windows
from bncc.cli.timing_options import counted_targets, timing_options
from bncc.cli.verify_samples import facts_of_samples, sample_sentence, verify_on_samples
from bncc.data.dataset import Table
from bncc.device.agreement import Agreement
from bncc.device.cross import find_toolchain
from bncc.emit.emitter import Emission
from bncc.errors import ModelError, OptionError, ToolchainError
from bncc.lower.cut_conditions import Compared
from bncc.model.file import load_model, model_digest
from bncc.model.missing_form import missing_form_of, n_joint, why_not
from bncc.model.model import Model
from bncc.model.rules import EXTRAS
from bncc.on_device import verify
from bncc.pricing import entries_of
from bncc.prove.build import (
    TARGETS,
    chosen_entries,
    linked_program,
    require_decoder,
    verdict_of,
)
from bncc.prove.verdict import Verdict, exit_code_of
from bncc.resources import Budget, Optimize
from bncc.structure.decision_tables import has_trees
from bncc.targets import find_target
from bncc.toolchain.tools import host_compilers, is_x86

ENTRIES = frozenset({"scores", "trusted", "raw"})
"""Entry points that are always compared, in addition to ``predict``."""
WITH = ENTRIES | EXTRAS.keys() | {"checked", "missing", "scores-raw", "stream"}
MOST_JOINT = 256
"""Most joint states of a network other than a forest that is tried with gaps by default."""


COMMON = (
    "data_path", "targets", "compiler", "simulator", "sanitize", "n_random", "exhaustive", "more",
    "prove", "priced", "optimize", "max_flash", "max_ram", "as_json", "quiet", "verbose",
)  # fmt: skip
"""Parameters that ``bncc verify --help`` shows; ``--help-all`` shows all."""


@click.command("verify", cls=LongCommand, common=COMMON)
@model_argument
@click.option(
    "--data",
    "data_path",
    metavar="DATA",
    help="Additional readings to compare on, or recordings for a model with a front end.",
)
@target_option
@click.option(
    "--compiler", metavar="NAME", help="Compiler, or 'all' [default: the first one found]."
)
@click.option(
    "--simulator",
    type=click.Choice((*SIMULATORS, "all")),
    help="Simulator for targets other than the host [default: the first one found].",
)
@opt_level_option
@click.option(
    "--sanitize",
    is_flag=True,
    help="Enable address and undefined-behavior sanitizers, on host only.",
)
@click.option(
    "--random",
    "n_random",
    type=click.IntRange(min=0, max=10**9),
    default=1000,
    metavar="N",
    show_default=True,
    help="Number of random states.",
)
@click.option("--exhaustive", is_flag=True, help="Compare on all joint states.")
@click.option(
    "--with",
    "more",
    type=click.Choice(sorted(WITH)),
    multiple=True,
    help="Additional entry point to compare, in the C that emit-c writes with the same option, "
    "repeatable. scores, trusted and raw are always compared; stream and missing on a "
    "sample, unless one of them is named.",
)
@click.option(
    "--prove",
    is_flag=True,
    help="Also prove predict_raw, predict, trusted and scores for every input, on the targets of "
    "`bncc prove`.",
)
@time_limit_option
@timing_options
@entry_option
@memory_options
@range_margin_option
@inputs_option
@lowering_options
@recorded_options
@class_option
@fold_option
@speaks
def command(
    console: Console,
    model_path: str,
    data_path: str | None,
    targets: tuple[str, ...],
    compiler: str | None,
    simulator: str | None,
    sanitize: bool,
    more: tuple[str, ...],
    prove: bool,
    time_limit: float | None,
    part: str | None,
    clock: int | None,
    priced: tuple[str, ...],
    max_flash: int | None,
    max_ram: int | None,
    range_margin: float,
    which_inputs: str,
    optimize: Optimize,
    kernel: str | None,
    compare: Compared | None,
    constant_time: bool,
    provable: bool,
    columns: RecordedColumns,
    class_name: str | None,
    fold: int | None,
    opt_level: str | None,
    **effort: Any,
) -> None:
    """
    Build and run the C of MODEL and compare class and scores with the Python integer model.

    The inputs are DATA, random states, every row of every table, and the values at and next to
    every threshold; all joint states if they are few. The host runs generic C natively; for other
    targets, the C of `emit-c --target` is cross-compiled and simulated.

    If MODEL has a front end, its C also gets samples, hostile ones and those of recordings DATA,
    and every result is compared: the class of each window, and that other samples have none.

    Exit code 0: all agree, and with --prove all are proved; 1: a target disagrees or an entry point
    is refuted; 3: all agree, and an entry point is undecided.
    """
    original = load_model(model_path)
    targets, core = counted_targets(targets, part, clock, console, default="host")
    within = Budget(None, max_flash, ram=max_ram, entries=priced, extras=frozenset(more))
    model = with_inputs(original, which_inputs, (*more, *priced))
    asked = within.emitted(entries_of(model, within))
    emissions = Emissions(
        model,
        Lowering(optimize, kernel, constant_time, range_margin, compare, provable),
        ENTRIES | asked,
        within,
        Retreat.of(console),
        core_of=core,
    )
    emissions.check_kernel()
    tell_of_idle_margin(console, asked)
    others = None if {"stream", "missing"} & asked else Companions(emissions)
    tools = {"compiler": compiler, "simulator": simulator}
    machines, skipped = usable_machines(targets, lambda target: _check(target, emissions, **tools))
    if sanitize:
        _check_sanitizers(targets, machines, simulator, console)
    if prove:
        _check_proofs(machines, compiler, asked, console)
    elif time_limit is not None:
        console.note("--time-limit has no effect without --prove")
    table = recorded = None
    if data_path is not None:
        table, recorded = rows_or_windows(original, data_path, columns, class_name, fold, console)
    else:
        note_idle(columns, class_name, fold, console)
    level = {"opt_level": opt_level}
    outcomes = _verify(
        emissions, others, table, machines, console, sanitize=sanitize, **tools, **level, **effort
    )
    native = [target for target in machines if _is_native(target, simulator)]
    sampled = verify_on_samples(
        emissions, recorded, machines, native, console, sanitize=sanitize, **tools, **level
    )  # fmt: skip
    proofs = dict.fromkeys(machines, Proofs())
    if prove:
        proofs |= _prove(
            emissions, machines, compiler, opt_level, time_limit, model_digest(original), console
        )  # fmt: skip
    verdicts = [verdict for each in proofs.values() for verdict in each.verdicts]
    is_proved = {"proved": all(verdict.status == "proved" for verdict in verdicts)}
    payload = {
        "agree": all(outcome.agree for outcome in outcomes.values())
        and all(outcome.agree for outcome in sampled.values()),
        "targets": {
            target: facts_of(outcome)
            | {"kernel": emissions.of(target).kernel}
            | ({"samples": facts_of_samples(sampled[target])} if target in sampled else {})
            | ({"proofs": proofs[target].facts} if prove else {})
            for target, outcome in outcomes.items()
        },
        "skipped": skipped,
        **(is_proved if prove else {}),
    }
    lines = []
    for target, outcome in outcomes.items():
        lines.append(sentence(target, outcome))
        if target in sampled:
            lines.append(sample_sentence(target, sampled[target], recorded))
        lines += [verdict.sentence for verdict in proofs[target].verdicts]
    lines += [f"{target}: skipped, {reason}" for target, reason in skipped.items()]
    console.result(payload, "\n".join(lines))
    if not payload["agree"]:
        click.get_current_context().exit(1)
    click.get_current_context().exit(exit_code_of(verdicts))


@dataclass(frozen=True)
class Proofs:
    """Verdicts about the entry points on one target."""

    verdicts: tuple[Verdict, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)  # JSON object, by entry point


def _check_proofs(
    machines: Sequence[str], compiler: str | None, entries: Set[str], console: Console
) -> None:
    """Refuse proofs that cannot be tried, and name the targets and entry points without one."""
    if compiler == "all":
        raise OptionError("--compiler all is not supported by --prove; name one compiler")
    if not set(machines) & set(TARGETS):
        raise OptionError(f"--prove needs a target of proofs; use --target {' or '.join(TARGETS)}")
    require_decoder()
    for what, left_out in (
        ("", [target for target in machines if target not in TARGETS]),
        ("entry point ", sorted(entries - ENTRIES)),
    ):
        if left_out:
            console.note(f"proofs do not cover {what}{', '.join(left_out)} yet; tested only")


def _prove(
    emissions: Emissions,
    machines: Sequence[str],
    compiler: str | None,
    opt_level: str | None,
    time_limit: float | None,
    digest: str,
    console: Console,
) -> dict[str, Proofs]:
    """Prove the entry points of the C that was tested, on each target of proofs."""
    model, found = emissions.model, {}
    entries = chosen_entries(model, ["all"])
    covered = [target for target in machines if target in TARGETS]
    with console.progress("proving") as advance:
        for k, target in enumerate(covered):
            bench = find_toolchain(find_target(target), compiler=compiler)[0]
            level = opt_level or emissions.level(target)
            try:
                program = linked_program(model, emissions.of(target), bench, level, entries)
            except ToolchainError as error:
                raise blame(target, error) from None
            verdicts = []
            for entry in entries:
                advance(k / len(covered), f"{target}: {entry}")
                console.detail(f"proving {program.symbols[entry]} for {target}")
                verdicts.append(
                    verdict_of(model, program, entry, time_limit=time_limit, digest=digest)
                )
            facts = {each.entry: facts_of_proof(model, program, each) for each in verdicts}
            found[target] = Proofs(tuple(verdicts), facts)
    return found


def facts_of(outcome: Agreement) -> dict[str, Any]:
    """Return the JSON object of one target."""
    facts = {
        "checked": outcome.checked,
        "mismatches": outcome.mismatches,
        "strength": outcome.strength,
        "toolchain": outcome.toolchain,
    }
    return facts | ({"first_mismatch": outcome.first_mismatch} if outcome.first_mismatch else {})


def sentence(target: str, outcome: Agreement) -> str:
    """Describe the outcome of a check and its strength."""
    if outcome.agree:
        each = f" in each of {outcome.n_builds} builds" if outcome.n_builds > 1 else ""
        return (
            f"{target}: the C agrees with the Python model, bit for bit, on "
            f"{outcome.checked // outcome.n_builds:,} inputs{each}: {outcome.strength} "
            f"({outcome.toolchain})"
        )
    return (
        f"{target}: the C DISAGREES with the Python model on {outcome.mismatches:,} of "
        f"{outcome.checked:,} inputs, first {outcome.first_mismatch} ({outcome.toolchain}); "
        "this is a bug in bncc or in the compiler, please report it with the model"
    )


class Companions:
    """
    The C with a stream and missing features, by default tried on a sample.

    A stream needs another kernel, which compares states, so it is not part of the C that is checked
    in full. Decision trees and gates, which need all features at once, have neither.
    """

    def __init__(self, emissions: Emissions) -> None:
        model = emissions.model
        lowering = replace(emissions.lowering, kernel=None, compare=None)
        entries = ({"stream", "missing"}, {"stream"}) if _has_few_gaps(model) else ({"stream"},)
        at_once = has_trees(model.structure) or model.gate is not None
        possible = () if at_once else entries
        self._found = [Emissions(model, lowering, frozenset(some)) for some in possible]

    def of(self, machine: str) -> Emission | None:
        """Return the C for a target with as many entry points as possible; None without any."""
        for emissions in self._found:
            try:
                check_fit(machine, emissions.of(machine))
            except ModelError:
                continue
            return emissions.of(machine)
        return None


def _has_few_gaps(model: Model) -> bool:
    """Return whether missing features can be marginalized in little time."""
    if why_not(model) is not None:
        return False
    form = missing_form_of(model)
    return form.is_forest or n_joint(model, form.structure) <= MOST_JOINT


def _is_native(target: str, simulator: str | None) -> bool:
    """Return whether a target is the host, which needs no simulator."""
    return target == "host" or (target == "x86" and simulator is None and is_x86())


def _check(
    target: str, emissions: Emissions, *, compiler: str | None, simulator: str | None
) -> None:
    """Refuse a target whose tools are missing or that is too small."""
    if target == "host" and simulator not in (None, "all"):
        raise OptionError(
            "--simulator does not apply to host, which runs natively; leave it out, or add "
            "another --target"
        )
    if _is_native(target, simulator):
        host_compilers(compiler)
        return
    find_toolchain(find_target(target), compiler=compiler, simulator=simulator)
    check_fit(target, emissions.of(target))


def _check_sanitizers(
    targets: Sequence[str], machines: Sequence[str], simulator: str | None, console: Console
) -> None:
    """Refuse sanitizers for a named target without them; skip others with a note."""
    foreign = [target for target in machines if not _is_native(target, simulator)]
    for target in foreign:
        if target in targets:
            raise OptionError(f"--sanitize supports the host only, not {target}; use --target host")
    if foreign:
        console.note(f"--sanitize supports the host only, not {', '.join(foreign)}")


def _verify(
    emissions: Emissions,
    others: "Companions | None",
    table: Table | None,
    machines: Sequence[str],
    console: Console,
    *,
    sanitize: bool,
    opt_level: str | None,
    **how: Any,
) -> dict[str, Agreement]:
    """Check every target; x86 natively if it is the host."""
    outcomes: dict[str, Agreement] = {}
    with console.progress("verifying") as advance:
        for k, target in enumerate(machines):
            advance(k / len(machines), target)
            is_native = _is_native(target, how["simulator"])
            console.detail(f"building for {target}")
            try:
                outcomes[target] = verify(
                    emissions.model,
                    "host" if is_native else target,
                    table=table,
                    emission=emissions.of(target),
                    also=None if others is None else others.of(target),
                    sanitize=sanitize and is_native,
                    opt_level=opt_level or emissions.level(target),
                    **how,
                )
            except ToolchainError as error:
                raise blame(target, error) from None
    return outcomes
