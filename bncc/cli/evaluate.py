"""``bncc evaluate``: how often a model is wrong on labeled readings."""

from collections.abc import Sequence
from typing import Any

import click
import numpy as np

from bncc._types import BoolArray, IntArray
from bncc.cli.console import Console, aligned
from bncc.cli.inputs import labeled_rows
from bncc.cli.options import (
    class_option,
    data_argument,
    fold_option,
    missing_option,
    model_argument,
    speaks,
)
from bncc.discretize.feature import states_of
from bncc.discretize.gaps import gaps_of
from bncc.errors import DataError
from bncc.model import missing as marginal
from bncc.model.card import cycle_note
from bncc.model.file import load_model
from bncc.model.model import Model
from bncc.model.reference import log_proba, predict

_MOST_COLUMNS = 30
"""Classes up to which the confusion matrix is shown to people."""


@click.command("evaluate")
@model_argument
@data_argument
@missing_option
@class_option
@fold_option
@speaks
def command(
    console: Console,
    model_path: str,
    data_path: str,
    missing: str,
    class_name: str | None,
    fold: int | None,
) -> None:
    """Count the errors of MODEL on the labeled readings DATA.

    A row whose class the model does not know counts as an error.
    """
    model = load_model(model_path)
    dataset = labeled_rows(model, data_path, class_name, fold, console)
    X = states_of(model.features, dataset.table)
    n_missing = sum(
        int(column.missing.sum())
        for column in dataset.table.columns
        if column.name in {feature.name for feature in model.features}
    )
    gaps = gaps_of(model.features, dataset.table) if missing == "marginal" else None
    found = evaluation(model, X, dataset.y, gaps)
    found["missing_cells"] = n_missing
    found["classes"] = list(model.classes)
    of_cycle = cycle_note(model)
    if of_cycle:
        console.note(of_cycle)
    unknown = int((dataset.y < 0).sum())
    if unknown:
        console.note(
            f"{unknown} of {dataset.n_rows} rows have a class that the model does not know; they "
            "count as errors and are left out of the log-loss and the confusion matrix"
        )
    console.result(found, _report(found, model.classes), essential=True)


def evaluation(
    model: Model, X: IntArray, y: IntArray, gaps: BoolArray | None = None
) -> dict[str, Any]:
    """Measure a model on states and classes.

    Parameters
    ----------
    model : Model
        The integer model.
    X : (n_samples, n_features) int
        States.
    y : (n_samples,) int
        Class indices; -1 for a class that the model does not know.
    gaps : (n_samples, n_features) bool, optional
        Features to sum out; none by default.

    Returns
    -------
    dict
        ``n``, ``errors``, ``error`` (a fraction), ``log_loss`` (nats per row of a known class, None
        without such rows) and ``confusion`` (rows: true class; columns: prediction).

    Raises
    ------
    DataError
        If there is no row.
    ModelError
        If there are features to sum out and the model is none in which they can be.
    """
    if len(y) == 0:
        raise DataError("there is no row to evaluate; give labeled rows")
    decisions = predict(model, X) if gaps is None else marginal.predict(model, X, gaps)
    known = np.flatnonzero(y >= 0)
    confusion = np.zeros((model.n_classes, model.n_classes), dtype=np.int64)
    np.add.at(confusion, (y[known], decisions[known]), 1)
    errors = int((decisions != y).sum())
    log_loss = None
    if len(known):
        if gaps is None:
            log_probabilities = log_proba(model, X[known])
        else:
            log_probabilities = marginal.log_proba(model, X[known], gaps[known])
        log_loss = float(-log_probabilities[np.arange(len(known)), y[known]].mean())
    return {
        "n": len(y),
        "errors": errors,
        "error": errors / len(y),
        "log_loss": log_loss,
        "confusion": confusion.tolist(),
    }


def _report(found: dict[str, Any], classes: Sequence[str]) -> str:
    loss = "unknown" if found["log_loss"] is None else f"{found['log_loss']:.4f} nats"
    lines = [
        f"error     {100 * found['error']:.2f} % ({found['errors']} of {found['n']} rows)",
        f"log-loss  {loss}",
        f"missing   {found['missing_cells']} cells",
    ]
    if len(classes) > _MOST_COLUMNS:
        lines.append(f"the confusion matrix of {len(classes)} classes is in --json")
    else:
        rows = [["true \\ predicted", *classes]]
        rows += [
            [label, *map(str, row)] for label, row in zip(classes, found["confusion"], strict=True)
        ]
        lines += ["", aligned(rows, right=range(1, len(classes) + 1))]
    return "\n".join(lines)
