"""``bncc sweep``: train and measure many classifiers, in a study that persists."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from bncc.cli.budget_options import budget_options, check_reserve
from bncc.cli.checkpointing import EXIT_SIGNAL
from bncc.cli.console import Console
from bncc.cli.inputs import rows_to_classify, test_rows, training_parts
from bncc.cli.long_help import LongCommand
from bncc.cli.options import (
    TARGETS,
    TargetChoice,
    budget,
    class_option,
    data_argument,
    duration,
    fold_option,
    force_option,
    speaks,
    split_options,
)
from bncc.cli.output import check_free, write_file
from bncc.cli.sweep_options import NO_TARGET, targets_of, toolchains_of
from bncc.cli.sweep_report import Finding, no_fit, payload_of, report_of
from bncc.cli.sweep_work import swept
from bncc.cli.timing_options import (
    limited_time,
    named_timebase,
    time_limit_options,
    timing_options,
)
from bncc.cli.timing_options import targets_of as targets_of_part
from bncc.cli.timing_options import time_limit as limit_of_time
from bncc.errors import BudgetError, OptionError
from bncc.interrupts import StopRequest, first_signal_noted
from bncc.model.file import save_model
from bncc.model.rules import EXTRAS
from bncc.report.formats import trial_records
from bncc.report.table_files import form_of, table_bytes
from bncc.resources import Budget
from bncc.search.baseline_space import named_baselines, with_baselines
from bncc.search.cluster import dask_cluster
from bncc.search.config import source_words
from bncc.search.fingerprint import study_facts
from bncc.search.objective import (
    OBJECTIVES,
    best_within,
    check_objectives,
    default_objectives,
    nearest,
)
from bncc.search.option_domains import BASELINES
from bncc.search.pool import local_processes
from bncc.search.space import PRESETS, read_space
from bncc.search.storage import check_optuna, place_of
from bncc.search.study import known_facts
from bncc.search.trial import Workload, check_rows, measured_rows, picked_model, run_trial
from bncc.search.trial_result import Study
from bncc.wording import counted

if TYPE_CHECKING:
    from bncc.timing.timebase import Timebase

SAMPLERS = ("random", "tpe", "nsga2")


COMMON = (
    "study_path", "space_name", "n_trials", "sampler", "targets", "jobs", "max_flash", "pick",
    "time_limit", "test_path", "baselines", "seed", "class_name", "force", "as_json",
    "quiet", "verbose",
)  # fmt: skip
"""Parameters that ``bncc sweep --help`` shows; ``--help-all`` shows all."""


@click.command("sweep", cls=LongCommand, common=COMMON)
@data_argument
@click.option(
    "--study",
    "study_path",
    required=True,
    metavar="FILE|URL",
    help="Study of the trials: a file, or a database such as postgresql://user@host/db#NAME.",
)
@click.option(
    "--space",
    "space_name",
    default=PRESETS[0],
    show_default=True,
    metavar="FILE.toml",
    help=f"Search space: {', '.join(PRESETS)}, or a file.",
)
@click.option(
    "--trials",
    "n_trials",
    type=click.IntRange(1, 10**6),
    default=50,
    show_default=True,
    metavar="N",
    help="Number of finished trials, including those of earlier runs.",
)
@click.option(
    "--sampler",
    type=click.Choice(SAMPLERS),
    default=SAMPLERS[0],
    show_default=True,
    help="Search algorithm.",
)
@click.option(
    "--objective",
    "objectives",
    type=click.Choice(OBJECTIVES),
    multiple=True,
    metavar="NAME",
    help="Objective that tpe and nsga2 minimize on the first target, repeatable: "
    f"{', '.join(OBJECTIVES)} [default: error and flash]. The error is that on validation "
    "rows; a model that does not fit the target counts as 1e9.",
)
@click.option(
    "--target",
    "targets",
    type=TargetChoice((*TARGETS, NO_TARGET)),
    multiple=True,
    metavar="T",
    help="Target to measure on, repeatable, or none; see `bncc targets` [default: cortex-m0, or "
    "the first with its tools installed].",
)
@click.option(
    "--jobs", type=click.IntRange(1, 4096), default=1, show_default=True, metavar="N",
    help="Parallel trials.",
)  # fmt: skip
@click.option(
    "--scheduler",
    metavar="ADDRESS",
    help="Address of a dask.distributed scheduler that runs the trials.",
)
@click.option(
    "--max-flash",
    callback=budget,
    metavar="N[k]",
    help="Flash budget in bytes on the first target.",
)
@click.option(
    "--max-instructions",
    type=click.IntRange(min=0),
    metavar="N",
    help="Instruction budget (cycles on avr) for the worst-case call of an entry point over the "
    "inputs tried, on the first target.",
)
@time_limit_options
@timing_options
@budget_options
@click.option(
    "--pick",
    metavar="MODEL.bncc",
    help="Output file for the most accurate model that fits the budget.",
)
@click.option(
    "-o", "--output", metavar="FILE", help="Table of all finished trials, .csv or .parquet.",
)  # fmt: skip
@click.option(
    "--time-limit",
    callback=duration,
    metavar="TIME",
    help="Time after which no trial starts, such as 30s, 10m or 2h.",
)
@click.option(
    "--test",
    "test_path",
    metavar="DATA",
    help="Labeled test rows, for reporting only.",
)
@click.option("--drop", multiple=True, metavar="COLUMN", help="Column to drop, repeatable.")
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    metavar="N",
    help="Random seed.",
)
@click.option(
    "--repeats",
    type=click.IntRange(1, 1000),
    default=3,
    show_default=True,
    metavar="N",
    help="Number of trainings per trial, each with its own seed and validation rows.",
)
@click.option(
    "--baselines",
    metavar="NAME,...",
    help=f"Baselines to compare with: {', '.join(BASELINES)}, all.",
)
@split_options
@class_option
@fold_option
@force_option
@speaks
def command(
    console: Console,
    data_path: str,
    study_path: str,
    space_name: str,
    n_trials: int,
    sampler: str,
    objectives: tuple[str, ...],
    targets: tuple[str, ...],
    jobs: int,
    scheduler: str | None,
    max_flash: int | None,
    max_instructions: int | None,
    max_cycles: int | None,
    max_microseconds: float | None,
    max_microjoules: float | None,
    part: str | None,
    clock: int | None,
    priced: tuple[str, ...],
    reserve: int | None,
    pick: str | None,
    output: str | None,
    time_limit: float | None,
    test_path: str | None,
    drop: tuple[str, ...],
    seed: int,
    repeats: int,
    baselines: str | None,
    groups: str | None,
    ordered: bool,
    class_name: str | None,
    fold: int | None,
    force: bool,
) -> None:
    """
    Train and measure many classifiers on the sensor readings DATA.

    Each trial is sampled from a search space, trained with several seeds, measured on targets, and
    stored in a study with the command that reproduces it. A sweep may be stopped or killed at any
    moment; the same command resumes it until the study has N finished trials.
    """
    check_optuna()
    place, space = place_of(study_path), read_space(space_name)
    if pick is not None:
        check_free(pick, force=force, sources=[data_path, test_path, study_path])
    form = None if output is None else form_of(output)
    if output is not None:
        check_free(output, force=force, sources=[data_path, test_path, study_path, pick])
    known = known_facts(place)
    named = targets_of_part(targets, part)
    targets = targets_of(named, known["targets"] if known else None, console)
    base = _timebase(targets, part, clock)
    most = limit_of_time(base, max_cycles, max_microseconds, max_microjoules)
    objectives = objectives or default_objectives(targets)
    check_objectives(objectives, targets)
    if baselines is not None:
        # Baselines take states: comparable models must take states as well.
        priced = priced or ("predict",)
    for rule in sorted(EXTRAS.keys() & set(priced)):
        raise OptionError(f"a sweep chooses no {rule}; leave out --entry {rule}")
    limit = Budget(
        targets[0] if targets else None, max_flash, **limited_time(base, max_instructions, most),
        reserve=check_reserve(reserve, max_flash), entries=priced,
    )  # fmt: skip
    if limit.is_bounded and not targets:
        raise OptionError("--max-flash and --max-instructions need a target; add --target")
    train, test = training_parts(
        data_path, class_name, fold, console, drop, groups=groups, ordered=ordered
    )
    check_rows(train)
    if baselines is not None:
        names = named_baselines(baselines, len(train.table.columns))
        space = with_baselines(space, names)
    if test_path is not None:
        if test is not None:
            raise OptionError("the fold already has test rows; drop --test or --fold")
        test = test_rows(train, test_path, console)
    source, bench_source = source_words(
        data_path,
        class_name=class_name,
        fold=fold,
        test=test_path,
        drop=drop,
        groups=groups,
        ordered=ordered,
    )
    readings = rows_to_classify(data_path, None, fold, console) if targets else None
    work = Workload(
        train, test, None if readings is None else measured_rows(readings), source, bench_source,
        seed, repeats, targets, priced, base,
    )  # fmt: skip
    facts = study_facts(
        train, test, space, data=Path(data_path).name, fold=fold, seed=seed, repeats=repeats,
        sampler=sampler, objectives=objectives, targets=targets, toolchains=toolchains_of(targets),
        entries=priced, base=base,
    )  # fmt: skip
    if known and known["toolchains"] != facts["toolchains"]:
        console.note("compilers or simulators differ from those that the study started with")
    with first_signal_noted() as stop:
        book = swept(
            console, place, space, facts, n_trials, stop,
            lambda: dask_cluster(work, scheduler, run_trial) if scheduler
            else local_processes(work, jobs, run_trial),
            time_limit,
        )  # fmt: skip
    points = tuple(book.finished[number] for number in sorted(book.finished))
    best = best_within(points, limit)
    if pick is not None and stop.signal is None and best is not None:
        with console.progress(f"repeating the training of trial {best.number}"):
            save_model(picked_model(work, best), pick, overwrite=force)
    finding = Finding(
        place.said, n_trials, points, book.failed, targets, limit, best,
        pick if stop.signal is None else None,
    )  # fmt: skip
    if output is not None and not points:
        console.note(f"no trial has finished, so {output} is not written")
    elif output is not None and form is not None:
        study = Study(place.title, facts, points, book.failed)
        write_file(output, table_bytes(trial_records([study]), form), force=force)
        console.note(f"wrote {output}: {counted(len(points), 'trial')}")
    _say_end(console, finding, stop)


def _timebase(targets: tuple[str, ...], part: str | None, clock: int | None) -> "Timebase | None":
    """Return the time base of the target; refuse several, of which others may have no cycles."""
    if part is None and clock is None:
        return None
    if len(targets) != 1:
        raise OptionError("--part and --clock need one --target; name it")
    return named_timebase(targets[0], part, clock)


def _say_end(console: Console, finding: Finding, stop: StopRequest) -> None:
    """Print the results, and how to resume."""
    console.result(payload_of(finding), report_of(finding), essential=True)
    done = f"{len(finding.points)} of {finding.n_trials} trials finished"
    if finding.failed:
        reason = finding.failed[max(finding.failed)]
        console.note(f"{len(finding.failed)} further trials failed, the last one because {reason}")
    if stop.signal is not None:
        console.note(f"stopped; {done}; repeat the command to resume")
        raise click.exceptions.Exit(EXIT_SIGNAL + stop.signal)
    if len(finding.points) < finding.n_trials:
        console.note(f"time limit reached; {done}; repeat the command to resume")
    if finding.best is None and (finding.limit.is_bounded or finding.pick is not None):
        raise BudgetError(_none_fits(finding))


def _none_fits(finding: Finding) -> str:
    if not finding.points:
        return "no trial has finished, so there is none to choose from; repeat the command"
    closest = nearest(finding.points, finding.limit)
    target = finding.limit.target
    if closest is None or target is None:
        return f"{no_fit(finding)}; continue with more --trials, or smaller models with --space"
    found = closest.footprint(target)
    assert found is not None
    limit = "--max-instructions" if finding.limit.core is None else "--max-cycles"
    return (
        f"no trial fits the budget; the closest is trial {closest.number} with {found.flash} "
        f"bytes of flash and at most {found.most} {found.unit}; raise --max-flash or "
        f"{limit}, or continue with more --trials"
    )
