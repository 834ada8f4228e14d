"""``bncc sweep``: many classifiers trained and measured, in a study that outlives the command."""

from pathlib import Path

import click

from bncc.cli.budget_options import budget_options, check_reserve
from bncc.cli.checkpointing import EXIT_SIGNAL
from bncc.cli.console import Console
from bncc.cli.inputs import rows_to_classify, test_rows, training_parts
from bncc.cli.options import (
    TARGETS,
    TargetChoice,
    budget,
    class_option,
    data_argument,
    fold_option,
    force_option,
    speaks,
    split_options,
)
from bncc.cli.output import check_free
from bncc.cli.sweep_options import NO_TARGET, duration, targets_of, toolchains_of
from bncc.cli.sweep_report import Finding, no_fit, payload_of, report_of
from bncc.cli.sweep_work import swept
from bncc.errors import BudgetError, OptionError
from bncc.interrupts import StopRequest, first_signal_noted
from bncc.model.file import save_model
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

SAMPLERS = ("random", "tpe", "nsga2")


@click.command("sweep")
@data_argument
@click.option(
    "--study",
    "study_path",
    required=True,
    metavar="FILE|URL",
    help="Where trials are kept: a file, or a database such as postgresql://user@host/db#NAME.",
)
@click.option(
    "--space",
    "space_name",
    default=PRESETS[0],
    show_default=True,
    metavar="FILE.toml",
    help=f"What is drawn from: {', '.join(PRESETS)}, or a file.",
)
@click.option(
    "--trials",
    "n_trials",
    type=click.IntRange(1, 10**6),
    default=50,
    show_default=True,
    metavar="N",
    help="Finished ones, those of earlier runs among them.",
)
@click.option("--sampler", type=click.Choice(SAMPLERS), default=SAMPLERS[0], show_default=True)
@click.option(
    "--objective",
    "objectives",
    type=click.Choice(OBJECTIVES),
    multiple=True,
    metavar="NAME",
    help=f"What tpe and nsga2 make small on the first target, repeatable: {', '.join(OBJECTIVES)} "
    "[default: error and flash]. The error is that on validation rows; what does not fit a target "
    "counts as 1e9.",
)
@click.option(
    "--target",
    "targets",
    type=TargetChoice((*TARGETS, NO_TARGET)),
    multiple=True,
    metavar="T",
    help=f"Measure on a machine, repeatable: {', '.join(TARGETS)}; none measures nothing "
    "[default: cortex-m0, or the first whose tools are installed].",
)
@click.option(
    "--jobs", type=click.IntRange(1, 4096), default=1, show_default=True, metavar="N",
    help="Trials at a time, each in a process of its own.",
)  # fmt: skip
@click.option(
    "--scheduler", metavar="ADDRESS", help="Of a dask.distributed cluster that is to do the work."
)
@click.option("--max-flash", callback=budget, metavar="N[k]", help="Bytes, on the first target.")
@click.option(
    "--max-instructions",
    type=click.IntRange(min=0),
    metavar="N",
    help="Limit of the slowest call of an entry point over the inputs tried, on the first target; "
    "cycles on avr.",
)
@budget_options
@click.option(
    "--pick", metavar="MODEL.bncc", help="Write the model that errs least of those that fit."
)
@click.option(
    "--time-limit",
    callback=duration,
    metavar="TIME",
    help="Begin no trial after 30s, 10m, 2h, ...",
)
@click.option("--test", "test_path", metavar="DATA", help="Labeled rows, reported and not used.")
@click.option("--drop", multiple=True, metavar="COLUMN", help="Leave a column out, repeatable.")
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    metavar="N",
    help="Of what is drawn, and of the first training of each trial.",
)
@click.option(
    "--repeats",
    type=click.IntRange(1, 1000),
    default=3,
    show_default=True,
    metavar="N",
    help="Trainings of a trial, each with a seed and validation rows of its own.",
)
@click.option(
    "--baselines",
    metavar="NAME,...",
    help=f"Draw as many other classifiers, to compare with: {', '.join(BASELINES)}, all.",
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
    priced: tuple[str, ...],
    reserve: int | None,
    pick: str | None,
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
    Train and measure many classifiers of the readings DATA, to choose one by looking.

    Each trial is drawn from a space of options, trained with several seeds and measured on
    machines. It is kept in a study, with the command that makes it again. The sweep may be stopped
    at any moment, killed even; the same command goes on until the study has N finished trials.
    """
    check_optuna()
    place, space = place_of(study_path), read_space(space_name)
    if pick is not None:
        check_free(pick, force=force, sources=[data_path, test_path, study_path])
    known = known_facts(place)
    targets = targets_of(targets, known["targets"] if known else None, console)
    objectives = objectives or default_objectives(targets)
    check_objectives(objectives, targets)
    if baselines is not None:
        # They take states: what is compared with them has to as well.
        priced = priced or ("predict",)
    limit = Budget(
        targets[0] if targets else None, max_flash, max_instructions,
        reserve=check_reserve(reserve, max_flash), entries=priced,
    )  # fmt: skip
    if limit.is_bounded and not targets:
        raise OptionError("--max-flash and --max-instructions need a --target; name one")
    train, test = training_parts(
        data_path, class_name, fold, console, drop, groups=groups, ordered=ordered
    )
    check_rows(train)
    if baselines is not None:
        names = named_baselines(baselines, len(train.table.columns))
        space = with_baselines(space, names)
    if test_path is not None:
        if test is not None:
            raise OptionError("the fold has test rows of its own; drop --test or --fold")
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
        seed, repeats, targets, priced,
    )  # fmt: skip
    facts = study_facts(
        train, test, space, data=Path(data_path).name, fold=fold, seed=seed, repeats=repeats,
        sampler=sampler, objectives=objectives, targets=targets, toolchains=toolchains_of(targets),
        entries=priced,
    )  # fmt: skip
    if known and known["toolchains"] != facts["toolchains"]:
        console.note("compilers or simulators are not those with which the study was begun")
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
        with console.progress(f"training trial {best.number} again"):
            save_model(picked_model(work, best), pick, overwrite=force)
    finding = Finding(
        place.said, n_trials, points, book.failed, targets, limit, best,
        pick if stop.signal is None else None,
    )  # fmt: skip
    _say_end(console, finding, stop)


def _say_end(console: Console, finding: Finding, stop: StopRequest) -> None:
    """Print what was found, and how it goes on."""
    console.result(payload_of(finding), report_of(finding), essential=True)
    done = f"{len(finding.points)} of {finding.n_trials} trials have finished"
    if finding.failed:
        reason = finding.failed[max(finding.failed)]
        console.note(
            f"{len(finding.failed)} other trials came to nothing, the last one because {reason}"
        )
    if stop.signal is not None:
        console.note(f"stopped; {done}; the same command goes on")
        raise click.exceptions.Exit(EXIT_SIGNAL + stop.signal)
    if len(finding.points) < finding.n_trials:
        console.note(f"the time is over; {done}; the same command goes on")
    if finding.best is None and (finding.limit.is_bounded or finding.pick is not None):
        raise BudgetError(_none_fits(finding))


def _none_fits(finding: Finding) -> str:
    if not finding.points:
        return "no trial has finished, so that there is none to choose; repeat the command"
    closest = nearest(finding.points, finding.limit)
    target = finding.limit.target
    if closest is None or target is None:
        return f"{no_fit(finding)}; continue with more --trials, or smaller ones with --space"
    found = closest.footprint(target)
    assert found is not None
    return (
        f"no trial fits the budget; the nearest is trial {closest.number} with {found.flash} bytes "
        f"of flash and {found.most} {found.unit} at most; raise --max-flash or "
        "--max-instructions, or continue with more --trials"
    )
