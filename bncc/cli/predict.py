"""``bncc predict``: the class of every row of readings."""

import csv
import io
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import click
import numpy as np

from bncc._types import IntArray
from bncc.cli.console import Console
from bncc.cli.decision_rules import (
    adapt_rows_for,
    confidence_for,
    filter_for,
    note_one_sequence,
    note_strangers,
    rules_option,
    scores_with,
    sequences_of,
    unknown_for,
)
from bncc.cli.options import (
    class_option,
    data_argument,
    fold_option,
    force_option,
    groups_option,
    missing_option,
    model_argument,
    speaks,
)
from bncc.cli.output import check_free, write_file
from bncc.cli.recordings import (
    RecordedColumns,
    RecordedWindows,
    recorded_options,
    rows_or_windows,
)
from bncc.data.target import group_labels
from bncc.discretize.feature import missing_of, states_of
from bncc.errors import OptionError
from bncc.model import missing as marginal
from bncc.model.confidence import margins_of
from bncc.model.file import load_model
from bncc.model.filter import decided, filtered_scores
from bncc.model.model import Model


@click.command("predict")
@model_argument
@data_argument
@click.option("-o", "--output", metavar="FILE.csv", help="Output file [default: stdout].")
@click.option("--scores", is_flag=True, help="Add one score column per class.")
@rules_option
@groups_option
@missing_option
@recorded_options
@class_option
@fold_option
@force_option
@speaks
def command(
    console: Console,
    model_path: str,
    data_path: str,
    output: str | None,
    scores: bool,
    more: tuple[str, ...],
    adapt_path: str | None,
    groups: str | None,
    missing: str,
    columns: RecordedColumns,
    class_name: str | None,
    fold: int | None,
    force: bool,
) -> None:
    """
    Classify the readings DATA with MODEL, one row per input.

    A score is a class's cost minus the smallest cost, in units of 2**-B_F nats. ``margin`` is the
    score of the second-best class; 0 is a tie. With `--missing marginal` the unit is that of the C
    function predict_missing: 2**-8 nats or finer if features have feature parents.

    If MODEL has a front end, DATA may be recordings, a file or a folder, without labels. There is a
    row for each window then: its recording, the numbers of its first and last sample, from 0, and
    the class that NAME_push returns for the last one.

    With `--with filter`, classes and scores are those after all rows of the sequence so far. With
    `--with confidence`, ``confidence`` is the probability in percent that the class is right, and
    ``accepted`` is 0 where NAME_sure_class rejects it. With `--with unknown`, ``known`` is 0 where
    NAME_known_class tells a reading of no known class. With `--adapt-rows`, classes and scores are
    those of a device that has learned these rows first, by NAME_learn.
    """
    if output is not None:
        read = [model_path, data_path, *([adapt_path] if adapt_path else [])]
        check_free(output, force=force, sources=read)
    model = load_model(model_path)
    is_filtered = "filter" in more
    over_time = filter_for(model, missing) if is_filtered else None
    more += ("adapt",) if adapt_path is not None else ()
    confidence = confidence_for(model, more, missing)
    unknown = unknown_for(model, more, missing)
    labeled = replace(columns, groups=groups, class_name=class_name)
    adapt_rows = adapt_rows_for(model, more, missing, adapt_path, labeled)
    if "adapt" in more and adapt_rows is None:
        raise OptionError("--with adapt needs labeled rows to learn; name them with --adapt-rows")
    if adapt_rows is not None:
        columns, class_name = replace(columns, groups=groups), None
    table, recorded = rows_or_windows(model, data_path, columns, class_name, fold, console)
    labels = group_labels(table, groups) if groups is not None and recorded is None else ()
    if groups is not None and adapt_rows is None and (recorded is not None or not is_filtered):
        console.note("--groups has no effect on decisions without --with filter on a table")
    X = states_of(model.features, table)
    if missing == "marginal":
        all_scores = marginal.scores(model, X, missing_of(model.features, table))
    else:
        learned = None if adapt_rows is None else adapt_rows.read(model, console)
        of_rows = labels if recorded is None else recorded.groups
        if learned is not None:
            note_strangers(console, of_rows, learned)
        all_scores = scores_with(model, X, of_rows, learned)
    decisions = None
    if over_time is not None:
        note_one_sequence(console, labels, recorded)
        sequences = sequences_of(len(X), labels, recorded)
        decisions = decided(all_scores, sequences, over_time)
        all_scores = filtered_scores(all_scores, sequences, over_time.prices)
    found = _places(recorded) | prediction_columns(model, all_scores, decisions, with_scores=scores)
    if confidence is not None:
        margins = margins_of(all_scores)
        found["confidence"] = confidence.percent_of(margins).tolist()
        found["accepted"] = confidence.accepts(margins).astype(int).tolist()
    if unknown is not None:
        found["known"] = unknown.knows(model.features, table, all_scores).astype(int).tolist()
    if output is not None:
        write_file(output, _csv(found), force=force)
        payload: dict[str, Any] = {"output": output, "n": len(all_scores)}
        console.result(payload, f"wrote {len(all_scores)} predictions to {output}")
    else:
        payload = {"output": None, "n": len(all_scores), **_json_columns(found)}
        console.document(payload, _csv(found))


def _places(recorded: RecordedWindows | None) -> dict[str, list[str] | list[int]]:
    """Return the columns that identify windows; none for rows of a table."""
    if recorded is None:
        return {}
    return {
        "recording": recorded.names,
        "start": recorded.windows.start.tolist(),
        "end": recorded.ends.tolist(),
    }


def prediction_columns(
    model: Model, scores: IntArray, decisions: IntArray | None = None, *, with_scores: bool
) -> dict[str, list[str] | list[int]]:
    """
    Return the columns that ``predict`` writes.

    Shapes: `scores` (n_rows, n_classes) int; `decisions` (n_rows,) int, None for the least scores.
    """
    decisions = scores.argmin(axis=1) if decisions is None else decisions
    second = np.partition(scores, 1, axis=1)[:, 1] if len(scores) else np.zeros(0, dtype=np.int64)
    columns: dict[str, list[str] | list[int]] = {
        "prediction": [model.classes[c] for c in decisions],
        "margin": second.tolist(),
    }
    if with_scores:
        for c, label in enumerate(model.classes):
            columns[f"score:{label}"] = scores[:, c].tolist()
    return columns


def _csv(columns: Mapping[str, list[str] | list[int]]) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return text.getvalue().encode("utf-8", errors="surrogateescape")


def _json_columns(columns: Mapping[str, list[str] | list[int]]) -> dict[str, Any]:
    payload: dict[str, Any] = {key: v for key, v in columns.items() if ":" not in key}
    scores = {key.removeprefix("score:"): v for key, v in columns.items() if ":" in key}
    return payload | ({"scores": scores} if scores else {})
