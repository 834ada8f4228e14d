"""``bncc train``: from a table of readings to a model file."""

from dataclasses import replace
from functools import partial
from typing import Any

import click

from bncc.cli.budget_options import search_options
from bncc.cli.checkpointing import (
    EXIT_SIGNAL,
    checkpoint_of,
    interim_note,
    is_interim_of,
    tell_of_the_end,
)
from bncc.cli.console import Console
from bncc.cli.inputs import note_unknown_classes, test_rows, training_parts
from bncc.cli.long_help import LongCommand
from bncc.cli.notes import print_notes
from bncc.cli.options import (
    class_option,
    data_argument,
    fold_option,
    force_option,
    speaks,
    split_options,
    was_set,
)
from bncc.cli.output import check_free
from bncc.cli.recorded_parts import program_search, recorded_parts, refuse_for_recordings
from bncc.cli.recording_options import RecordingOptions, recording_options
from bncc.cli.rule_options import rule_options
from bncc.cli.timing_options import named_timebase, target_of_part, time_limit
from bncc.cli.train_report import facts_of, judged_on_folds, report_of, seen_notes, stopped_note
from bncc.cli.train_search import (
    SearchWork,
    families_to_try,
    limits_of,
    refuse_with_budget,
    train_within,
)
from bncc.cli.training_options import BETWEEN, FIRST, LAST, training_options
from bncc.data.csv import read_units
from bncc.errors import OptionError
from bncc.interrupts import first_signal_noted
from bncc.locks import folder_locked
from bncc.model.file import save_model
from bncc.resources import DEFAULT_TARGET, Preference
from bncc.train.checkpoint.folder import identity_of
from bncc.train.decision_rules import DecisionRules
from bncc.train.effort import with_default
from bncc.train.options import CHOICES
from bncc.train.repeats import DEFAULT_FOLDS, train_repeats
from bncc.train.settings import TrainSettings

COMMON = (
    "output", "structure", "structure_options", "parameters", "bits", "max_flash", "target",
    "class_name", "groups", "ordered", "over_time", "max_error", "unknown",
    "counters", "adapt", "drop", "window", "hop", "test_path", "seed", "folder", "resume", "force",
    "as_json", "quiet", "verbose",
)  # fmt: skip
"""Parameters that ``bncc train --help`` shows; ``--help-all`` shows all."""


@click.command("train", cls=LongCommand, common=COMMON)
@data_argument
@click.option("-o", "--output", required=True, metavar="MODEL.bncc", help="Output model file.")
@training_options(*FIRST, *BETWEEN, "seed")
@click.option(
    "--repeats",
    type=click.IntRange(1, 1000),
    default=1,
    metavar="N",
    help="Number of trainings, with consecutive seeds from --seed; the first one's model is kept "
    "[default: 1].",
)
@training_options(*LAST)
@click.option(
    "--choose-by",
    type=click.Choice(CHOICES),
    help="Validation measure that a budget search minimizes [default: error; balanced-error with "
    "--class-weight].",
)
@click.option(
    "--folds",
    type=click.IntRange(0, 1000),
    metavar="N",
    help="Cross-validation folds for the reported error rate; 0 for none [default: 5, or 0 with "
    "test rows, --repeats or --effort thorough].",
)
@click.option("--test", "test_path", metavar="DATA", help="Labeled test rows for the test error.")
@click.option("--drop", multiple=True, metavar="COLUMN", help="Column to drop, repeatable.")
@click.option(
    "--units",
    "units_path",
    metavar="FILE",
    help="CSV file of units with the header column,unit [default: brackets at the end of column "
    "names].",
)
@click.option(
    "--checkpoint",
    "folder",
    metavar="DIR",
    help="Folder for checkpoints, for --resume.",
)
@click.option("--resume", is_flag=True, help="Resume from --checkpoint.")
@rule_options
@recording_options(needs_window=False)
@search_options
@split_options
@class_option
@fold_option
@force_option
@speaks
def command(
    console: Console,
    data_path: str,
    output: str,
    test_path: str | None,
    groups: str | None,
    ordered: bool,
    class_name: str | None,
    fold: int | None,
    force: bool,
    folder: str | None,
    resume: bool,
    repeats: int,
    folds: int | None,
    choose_by: str | None,
    drop: tuple[str, ...],
    units_path: str | None,
    max_flash: int | None,
    max_instructions: int | None,
    max_cycles: int | None,
    max_microseconds: float | None,
    max_microjoules: float | None,
    part: str | None,
    clock: int | None,
    target: str | None,
    priced: tuple[str, ...],
    reserve: int | None,
    entries: tuple[str, ...],
    jobs: int,
    scheduler: str | None,
    prefer: Preference,
    provable: bool,
    max_ram: int | None,
    max_cycles_per_sample: float | None,
    max_instructions_per_sample: float | None,
    rules: DecisionRules,
    recordings: RecordingOptions,
    **options: Any,
) -> None:
    """
    Train a classifier on the sensor readings DATA, or with --window on recordings.

    With --max-flash, --max-instructions, --max-cycles, --max-microseconds or --max-microjoules,
    bncc searches structures and sizes for a model that fits the budget: the fastest one that is not
    clearly less accurate than the best, on validation rows. --structure restricts the search.
    """
    settings = TrainSettings(**options)
    if folder is not None and repeats > 1:
        raise OptionError("--checkpoint supports a single training; drop it, or --repeats")
    is_recorded = recordings.window is not None
    limits_of_program = {
        "--max-ram": max_ram,
        "--max-cycles-per-sample": max_cycles_per_sample,
        "--max-instructions-per-sample": max_instructions_per_sample,
    }
    refuse_for_recordings(
        recordings, fold=fold, drop=drop, units=units_path, max_flash=max_flash,
        limits=limits_of_program,
    )  # fmt: skip
    target = target_of_part(target, part)
    base = named_timebase(target or DEFAULT_TARGET, part, clock)
    time = time_limit(base, max_cycles, max_microseconds, max_microjoules)
    is_search = max_flash is not None or max_instructions is not None or time is not None
    work = SearchWork(folder, resume, force, jobs, scheduler)
    if not is_search:
        settings = with_default(settings)
    if is_search:
        refuse_with_budget(settings, repeats=repeats)
        work.check()
    elif folder is not None and settings.is_boosted:
        raise OptionError(
            "--structure tables does not support checkpoints; leave out --checkpoint and "
            "--resume, or choose another --structure"
        )
    checkpoint = None if is_search else checkpoint_of(folder, resume=resume, force=force)
    # An existing model may be the interim one of this training; its rows decide that below.
    check_free(output, force=force or resume, sources=[data_path, test_path, units_path])
    front_end = None
    if is_recorded:
        recorded = recorded_parts(
            recordings,
            data_path,
            test_path,
            class_name,
            groups,
            console,
            settings,
            ordered=ordered,
        )
        train, test, front_end = recorded.train, recorded.test, recorded.front_end
    else:
        train, test = training_parts(
            data_path, class_name, fold, console, drop, groups=groups, ordered=ordered
        )
    rules.check(train)
    if units_path is not None:
        columns = (*train.table.names, train.class_name, *drop, *([groups] if groups else []))
        train = replace(train, units=read_units(units_path, columns))
    if checkpoint is not None and settings.descends:
        checkpoint.load(identity_of(train, settings))  # one of another training ends it here
    overwrite = force or (resume and is_interim_of(identity_of(train, settings), output))
    check_free(output, force=overwrite or is_search)
    if test_path is not None and not is_recorded:
        if test is not None:
            raise OptionError("the fold already has test rows; drop --test or --fold")
        test = test_rows(train, test_path, console)
    if test is not None:
        note_unknown_classes(console, test.y, "test windows" if is_recorded else "test rows")
    if folds == 1:
        raise OptionError("--folds 1 leaves no training rows; choose 2 or more, or 0 for none")
    if is_search:
        if folds is not None:
            raise OptionError("--folds does not apply to a budget search; leave it out")
        limits = limits_of(
            max_flash,
            max_instructions,
            target,
            reserve=reserve,
            priced=priced,
            entries=(*entries, *rules.names),
            base=base,
            time=time,
            provable=provable,
            over_time=rules.filter_form,
        )
        if is_recorded and limits.core is not None:
            raise OptionError(
                "cycles of a program that takes samples are counted on avr alone; leave out --part "
                "and --clock, or --window"
            )
        named = settings.structure if was_set("structure") else None
        families = families_to_try(console, settings, named, limits, rules.names)
        program = None
        if is_recorded:
            program = program_search(
                recorded,
                replace(limits, ram=max_ram),
                cycles=max_cycles_per_sample,
                instructions=max_instructions_per_sample,
            )
        train_within(
            console, train, test, settings, limits, families, output,
            work=work, choose_by=choose_by, prefer=prefer, program=program, rules=rules, base=base,
            spent=recorded.seconds if is_recorded else 0.0,
        )  # fmt: skip
        return
    idle = {
        "--choose-by": choose_by,
        "--target": target if part is None else None,
        "--part": part,
        "--clock": clock,
        "--reserve": reserve,
        "--entry": priced,
        "--with": entries,
        "--jobs": jobs > 1,
        "--scheduler": scheduler,
        "--prefer": was_set("prefer"),
        "--provable": provable,
    }
    for option, value in idle.items():
        if value:
            console.note(
                f"{option} has no effect without --max-flash or --max-instructions, or "
                "--max-cycles and the like"
            )
    if checkpoint is not None and settings.descends:
        click.get_current_context().with_resource(folder_locked(checkpoint.folder))
    with first_signal_noted(partial(tell_of_the_end, console)) as stop:
        with console.progress("training") as advance:
            done = train_repeats(
                train,
                settings,
                repeats,
                test=test,
                progress=advance,
                checkpoint=checkpoint,
                stop=stop,
            )
        if front_end is not None:
            done = done.with_front_end(front_end).after(recorded.seconds)
        if folds is None:
            is_long = was_set("repeats") or settings.is_thorough
            folds = 0 if test is not None or is_long else DEFAULT_FOLDS
        if (folds or rules.any) and not done.is_short:
            done = judged_on_folds(console, done, train, test, settings, folds, rules, stop)
        first = done.first
        save_model(first.model, output, overwrite=overwrite)
        # The folder may hold the checkpoint of another training if this one keeps none.
        if checkpoint is not None and settings.descends and not first.is_interim:
            checkpoint.remove()
    payload = facts_of(done, output, with_repeats=was_set("repeats"))
    of_search = seen_notes(settings, payload, is_crossed=folds > 0, has_test=test is not None)
    print_notes(console, (*done.notes, *of_search))
    console.result(payload, report_of(first.model, payload, train, test))
    if stop.signal is not None:
        if done.is_short:
            console.warning(
                stopped_note(done, output)
                if first.epochs_done is None
                else interim_note(*first.epochs_done, repeats, output, checkpoint)
            )
            raise click.exceptions.Exit(EXIT_SIGNAL + stop.signal)
        if not rules.are_those_of(first.model):
            console.warning(f"the choice of rules for decisions was stopped; '{output}' has none")
            raise click.exceptions.Exit(EXIT_SIGNAL + stop.signal)
        if folds and payload["folds"] is None:
            console.warning(f"cross-validation was stopped; '{output}' is the complete model")
            raise click.exceptions.Exit(EXIT_SIGNAL + stop.signal)
