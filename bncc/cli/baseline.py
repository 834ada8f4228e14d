"""``bncc baseline``: train and measure a baseline classifier the same way as bncc's."""

from typing import Any

import click

from bncc.cli.console import Console, aligned
from bncc.cli.inputs import rows_to_classify, test_rows, training_parts
from bncc.cli.long_help import LongCommand
from bncc.cli.options import (
    TargetChoice,
    class_option,
    data_argument,
    fold_option,
    force_option,
    speaks,
    split_options,
)
from bncc.cli.output import check_free, staged_directory
from bncc.cli.sweep_options import targets_of
from bncc.cli.training_options import key_values, training_options
from bncc.errors import OptionError
from bncc.progress import Progress
from bncc.search.baseline_space import NAME, baseline_settings
from bncc.search.config import source_words
from bncc.search.option_domains import BASELINE, BASELINES, CLASSIFIER
from bncc.search.trial import Workload, check_rows, measured_rows, run_trial
from bncc.search.trial_result import Choice, trial_facts

_WORDS: dict[str, Choice] = {"yes": True, "no": False}


COMMON = (
    "classifier", "options", "targets", "output", "test_path", "drop", "seed", "repeats",
    "class_name", "force", "as_json", "quiet", "verbose",
)  # fmt: skip
"""Parameters that ``bncc baseline --help`` shows; ``--help-all`` shows all."""


@click.command("baseline", cls=LongCommand, common=COMMON)
@data_argument
@click.option(
    "--classifier", type=click.Choice(BASELINES), required=True, help="Baseline classifier."
)
@click.option(
    "--option", "options", callback=key_values, multiple=True, metavar="K=V",
    help="Option of the classifier, repeatable; an error lists the known ones.",
)  # fmt: skip
@training_options(
    "discretize", help="Discretization of the readings [default: mdl; integer states are kept]."
)
@training_options("n_bins")
@click.option(
    "--target", "targets", type=TargetChoice(), multiple=True, metavar="T",
    help="Target on which the C is measured, repeatable.",
)  # fmt: skip
@click.option(
    "-o", "--output", metavar="DIR", help="Output directory for the C of the first training."
)
@click.option("--test", "test_path", metavar="DATA", help="Labeled test rows.")
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
    "--repeats", type=click.IntRange(1, 1000), default=1, show_default=True, metavar="N",
    help="Number of trainings, each with its own seed and validation rows.",
)  # fmt: skip
@split_options
@class_option
@fold_option
@force_option
@speaks
def command(
    console: Console,
    data_path: str,
    classifier: str,
    options: dict[str, str],
    discretize: str | None,
    n_bins: int,
    targets: tuple[str, ...],
    output: str | None,
    test_path: str | None,
    drop: tuple[str, ...],
    seed: int,
    repeats: int,
    groups: str | None,
    ordered: bool,
    class_name: str | None,
    fold: int | None,
    force: bool,
) -> None:
    """
    Train a baseline classifier on the readings DATA, and measure its C as that of bncc.

    Trees, forests, linear models, support vector machines and naive Bayes are from scikit-learn,
    their C from emlearn or m2cgen; dnn and cnn are quantized neural networks with C from bncc.
    """
    if output is not None:
        check_free(output, force=force, directory=True)
    machines = targets_of(targets, (), console)
    train, test = training_parts(
        data_path, class_name, fold, console, drop, groups=groups, ordered=ordered
    )
    check_rows(train)
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
    readings = rows_to_classify(data_path, None, fold, console) if machines else None
    work = Workload(
        train, test, None if readings is None else measured_rows(readings), source, bench_source,
        seed, repeats, machines,
    )  # fmt: skip
    params: dict[str, Choice] = {CLASSIFIER: "baseline", NAME: classifier}
    if discretize is not None:
        params |= {"discretize": discretize, "n-bins": n_bins}
    if "name" in options:
        raise OptionError(
            "--option name is not allowed, as --classifier names the classifier; leave it out"
        )
    params |= {f"{BASELINE}.{key}": _value(text) for key, text in options.items()}
    with console.progress(classifier) as advance:
        point = run_trial(work, 0, params, advance)
    if output is not None:
        with console.progress(f"{classifier} for the C") as advance:
            _write_c(work, params, output, force, advance)
    facts = trial_facts(point, machines[0] if machines else None)
    console.result(facts, _report(facts))


def _write_c(
    work: Workload, params: dict[str, Choice], output: str, force: bool, tell: Progress
) -> None:
    from bncc.baselines.learn import learn_baseline

    settings = baseline_settings(params, work.seed)
    baseline = learn_baseline(work.train, settings, tell=tell).baseline
    if baseline.code is None:
        raise OptionError(f"there is no C for this classifier ({baseline.lack}); leave out -o")
    with staged_directory(output, force=force) as folder:
        for name, text in baseline.code.files.items():
            (folder / name).write_text(text, encoding="utf-8", newline="\n")


def _value(text: str) -> Choice:
    """Parse the value of an option: yes or no, a number, or a word."""
    if text in _WORDS:
        return _WORDS[text]
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    return text


def _report(facts: dict[str, Any]) -> str:
    def percent(share: float | None) -> str:
        return "none" if share is None else f"{100 * share:.2f} %"

    rows = [
        ["classifier", facts["family"]],
        ["validation error", percent(facts["error_validation"])],
        ["test error", percent(facts["error_test"])],
        ["parameters", f"{facts['bits']} bits"],
        ["work", f"{facts['operations']} operations per decision"],
    ]
    for target, cost in facts["costs"].items():
        if isinstance(cost, str):
            rows.append([target, cost])
            continue
        words = f"{cost['flash']} bytes of flash, {cost['ram']} of RAM, {cost['stack']} of stack, "
        rows.append([target, f"{words}{cost['mean']:.0f} {cost['unit']} per decision"])
    return aligned(rows)
