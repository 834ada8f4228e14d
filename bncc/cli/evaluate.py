"""``bncc evaluate``: error rate of a model on labeled readings."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

import click
import numpy as np

from bncc._types import BoolArray, IntArray
from bncc.cli.console import Console, aligned
from bncc.cli.decision_rules import (
    adapt_rows_for,
    confidence_for,
    filter_for,
    filtered_windows,
    note_one_group,
    note_one_sequence,
    note_strangers,
    rules_option,
    scores_with,
    sequences_of,
    unknown_for,
)
from bncc.cli.inputs import labeled_rows, note_training_rows, note_unknown_classes
from bncc.cli.options import (
    class_option,
    data_argument,
    fold_option,
    groups_option,
    missing_option,
    model_argument,
    speaks,
)
from bncc.cli.recordings import (
    RecordedColumns,
    RecordedWindows,
    label_options,
    recorded_options,
    recorded_windows,
)
from bncc.cli.results import confusion_lines
from bncc.discretize.feature import missing_of, states_of
from bncc.errors import DataError
from bncc.model import missing as marginal
from bncc.model.adaptation import AdaptationEffect
from bncc.model.adapted import LabeledInputs, effect_on_halves
from bncc.model.card import cycle_note
from bncc.model.confidence import ConfidenceEffect, margins_of
from bncc.model.confidence import effect_of as confidence_effect
from bncc.model.error_rates import (
    confusion_matrix,
    error_interval,
    interval_words,
    macro_f1,
    recall_of,
)
from bncc.model.file import load_model
from bncc.model.filter import FilterEffect, decided, effect_of
from bncc.model.model import Model
from bncc.model.reference import log_proba, predict, scores
from bncc.model.unknown import UnknownEffect
from bncc.model.unknown import effect_of as unknown_effect

_MOST_GROUPS = 30
"""Most groups in the report for people, those with the largest errors."""


@click.command("evaluate")
@model_argument
@data_argument
@rules_option
@missing_option
@groups_option
@recorded_options
@label_options
@class_option
@fold_option
@speaks
def command(
    console: Console,
    model_path: str,
    data_path: str,
    more: tuple[str, ...],
    adapt_path: str | None,
    missing: str,
    groups: str | None,
    columns: RecordedColumns,
    intervals: str | None,
    ignore: tuple[str, ...],
    purity: float,
    class_name: str | None,
    fold: int | None,
) -> None:
    """
    Measure the error rate of MODEL on the labeled readings DATA.

    A row with a class that the model does not know counts as an error. --groups reports the error
    rate of each group, too.

    If MODEL has a front end, DATA may be recordings, a file or a folder; rows are then their
    windows with one label. With `--with filter`, classes are those after all rows of the group, or
    all windows of the segment, so far; the log loss stays that of single rows without rules. With
    `--with confidence`, the report has the error of accepted decisions and the calibration error.
    With `--with unknown`, it has the false alarms, and how many rows of classes that the model does
    not know are detected. With `--adapt-rows`, classes are those of a device that has learned these
    rows first. With `--with adapt` alone, the report has the error before and after a device has
    learned a part of each group's rows, on others of the group.
    """
    model = load_model(model_path)
    more += ("adapt",) if adapt_path is not None else ()
    over_time = filter_for(model, missing) if "filter" in more else None
    confidence = confidence_for(model, more, missing)
    rule = unknown_for(model, more, missing)
    columns = replace(
        columns,
        groups=groups,
        class_name=class_name,
        intervals=intervals,
        ignored=ignore,
        purity=purity,
    )
    adapt_rows = adapt_rows_for(model, more, missing, adapt_path, columns)
    recorded = recorded_windows(model, data_path, columns, fold, console, is_labeled=True)
    if recorded is None:
        dataset, labels = labeled_rows(model, data_path, class_name, fold, console, groups)
        table, y = dataset.table, dataset.y
        note_training_rows(model, data_path, fold, console)
    else:
        table, y, labels = recorded.table, recorded.classes(model), recorded.groups
    X = states_of(model.features, table)
    n_missing = sum(
        int(column.missing.sum())
        for column in table.columns
        if column.name in {feature.name for feature in model.features}
    )
    gaps = missing_of(model.features, table) if missing == "marginal" else None
    units = None if recorded is None else _units(recorded)
    decisions: IntArray | None = None
    learned: LabeledInputs | None = None
    adapted: AdaptationEffect | None = None
    if adapt_rows is not None:
        learned = adapt_rows.read(model, console)
        note_strangers(console, labels, learned)
        if adapt_rows.is_of(data_path):
            console.note("the rows to learn are among those to judge; name others for an error")
        decisions = scores_with(model, X, labels, learned).argmin(axis=1)
        adapted = learned.effect(predict(model, X), decisions, y, labels)
    elif "adapt" in more:
        note_one_group(console, labels)
        adapted = effect_on_halves(model, X, y, sequences_of(len(X), labels, None))
    if over_time is not None:
        note_one_sequence(console, labels, recorded)
        sequences = sequences_of(len(X), labels, recorded)
        if recorded is None:
            decisions = decided(scores_with(model, X, labels, learned), sequences, over_time)
        else:
            decisions = filtered_windows(model, recorded, learned)
    found = evaluation(model, X, y, gaps, labels, units, decisions)
    if "adapt" in more:
        found["adaptation"] = None if adapted is None else asdict(adapted)
    if over_time is not None and decisions is not None:
        before = scores_with(model, X, labels, learned).argmin(axis=1)
        effect = effect_of(y, before, decisions, sequences)
        assert effect is not None, "some rows are left"
        found["filter"] = asdict(effect)
    if confidence is not None:
        of_rows = scores(model, X)
        rated = confidence_effect(confidence, margins_of(of_rows), of_rows.argmin(axis=1) == y)
        assert rated is not None, "some rows are left"
        found["confidence"] = asdict(rated)
    if rule is not None:
        groups_of = np.unique(labels, return_inverse=True)[1] if labels else None
        known = rule.knows(model.features, table, scores(model, X))
        found["unknown"] = asdict(unknown_effect(known, y, groups_of))
    found["missing_cells"] = n_missing
    found["classes"] = list(model.classes)
    if model.front_end is not None:
        found["macro_f1"] = macro_f1(found["confusion"])
    if recorded is not None:
        found["recordings"] = len(recorded.recordings.recordings)
        found["left_out"] = recorded.windows.n_left_out
    of_cycle = cycle_note(model)
    if of_cycle:
        console.note(of_cycle)
    rows = "rows" if recorded is None else "windows"
    excluded = "the log loss and the confusion matrix"
    note_unknown_classes(console, y, rows, excluded=excluded)
    console.result(found, _report(found, model.classes), essential=True)


def evaluation(
    model: Model,
    X: IntArray,
    y: IntArray,
    gaps: BoolArray | None = None,
    labels: Sequence[str] = (),
    units: tuple[IntArray, str] | None = None,
    decisions: IntArray | None = None,
) -> dict[str, Any]:
    """
    Evaluate a model on states and classes, with an interval if rows belong to named units.

    Shapes: `X` (n_samples, n_features) int; `y` (n_samples,) int; `gaps` (n_samples, n_features)
    bool; `units` has (n_samples,) int; `decisions` (n_samples,) int, filtered ones.
    """
    if len(y) == 0:
        raise DataError("no row is left to evaluate; provide labeled rows")
    if decisions is None:
        decisions = predict(model, X) if gaps is None else marginal.predict(model, X, gaps)
    known = np.flatnonzero(y >= 0)
    confusion = confusion_matrix(y, decisions, model.n_classes).tolist()
    errors = int((decisions != y).sum())
    log_loss = None
    if len(known):
        if gaps is None:
            log_probabilities = log_proba(model, X[known])
        else:
            log_probabilities = marginal.log_proba(model, X[known], gaps[known])
        log_loss = float(-log_probabilities[np.arange(len(known)), y[known]].mean())
    found: dict[str, Any] = {
        "n": len(y),
        "errors": errors,
        "error": errors / len(y),
        "log_loss": log_loss,
        "confusion": confusion,
        "recall": recall_of(confusion),
    }
    if units is not None:
        interval, method = error_interval(decisions != y, *units)
        found |= {"error_interval": interval, "interval_method": method}
    return found | ({"groups": _by_group(decisions != y, labels)} if labels else {})


def _units(recorded: RecordedWindows) -> tuple[IntArray, str]:
    """Return the group of each window, or its recording without groups, and what they are."""
    if not recorded.groups:
        return recorded.windows.recording, "recordings"
    _, codes = np.unique(recorded.groups, return_inverse=True)
    return codes, "groups"


def _by_group(misses: BoolArray, labels: Sequence[str]) -> list[dict[str, Any]]:
    """Return the error of each group, in the order of their first rows."""
    found: dict[str, list[bool]] = {}
    for label, is_missed in zip(labels, misses.tolist(), strict=True):
        found.setdefault(label, []).append(is_missed)
    return [
        {"group": label, "n": len(each), "errors": sum(each), "error": sum(each) / len(each)}
        for label, each in found.items()
    ]


def _report(found: dict[str, Any], classes: Sequence[str]) -> str:
    loss = "unknown" if found["log_loss"] is None else f"{found['log_loss']:.4f} nats"
    rows = "windows" if "left_out" in found else "rows"
    lines = [f"error     {100 * found['error']:.2f} % ({found['errors']} of {found['n']} {rows})"]
    if "error_interval" in found:
        words = interval_words(found["error_interval"], found["interval_method"])
        lines.append(f"interval  {words}")
    if found.get("macro_f1") is not None:
        lines.append(f"macro F1  {found['macro_f1']:.4f}")
    is_alone = "filter" in found or found.get("adaptation") is not None
    lines.append(f"log-loss  {loss}{', of the model alone' * is_alone}")
    if found.get("adaptation") is not None:
        lines.append(f"adapted   {AdaptationEffect(**found['adaptation']).words}")
    if "filter" in found:
        lines.append(f"filter    {FilterEffect(**found['filter']).words}")
    if "confidence" in found:
        lines.append(f"confident {ConfidenceEffect(**found['confidence']).words}")
    if "unknown" in found:
        lines.append(f"unknown   {UnknownEffect(**found['unknown']).words}")
    if "left_out" in found:
        left_out = f"{found['left_out']} windows without a single label, or with an ignored one"
        lines.append(f"left out  {left_out}")
    else:
        lines.append(f"missing   {found['missing_cells']} cells")
    lines += confusion_lines(found, classes)
    return "\n".join([*lines, *(_group_lines(found["groups"]) if "groups" in found else [])])


def _group_lines(groups: list[dict[str, Any]]) -> list[str]:
    """Return a table of groups, the largest error first."""
    order = sorted(groups, key=lambda one: -one["error"])
    rows = [["group", "rows", "error"]]
    rows += [[one["group"], str(one["n"]), f"{100 * one['error']:.2f} %"] for one in order]
    shown = rows[: 1 + _MOST_GROUPS]
    more = len(rows) - len(shown)
    tail = [f"... and {more} more groups; --json has all"] if more else []
    return ["", aligned(shown, right=(1, 2)), *tail]
