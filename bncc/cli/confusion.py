"""Errors of a training, for people: with an interval, by class, and as a confusion matrix."""

from collections.abc import Mapping, Sequence
from typing import Any

from bncc.cli.console import aligned
from bncc.model.card import has_folds
from bncc.model.error_rates import interval_words, is_interval
from bncc.model.model import Model

MOST_COLUMNS = 30
"""Classes up to which the confusion matrix is shown."""
_ROWS = {
    "test": "test rows",
    "cross-validation": "rows of all folds, each decided by a training without its fold",
    "validation": "validation rows, decided by a training without them",
    "first fold": "validation rows of the first fold, decided by a training without them",
    "train": "training rows",
}
"""By the training record's ``confusion_of``; of a search for a budget, the first of its folds."""


def confusion_lines(found: Mapping[str, Any], classes: Sequence[str], title: str = "") -> list[str]:
    """
    Return the lines of a confusion matrix with the recall of each class, after an empty line.

    ``found`` has ``confusion`` and ``recall``, in the order of ``classes``. More than
    `MOST_COLUMNS` classes take one line, which names ``--json``.
    """
    if len(classes) > MOST_COLUMNS:
        return [f"the confusion matrix of {len(classes)} classes is in --json"]
    rows = [["true \\ predicted", *classes, "recall"]]
    for label, row, recall in zip(classes, found["confusion"], found["recall"], strict=True):
        rows.append([label, *map(str, row), "-" if recall is None else f"{100 * recall:.1f} %"])
    return ["", *filter(None, [title]), aligned(rows, right=range(1, len(classes) + 2))]


def trained_confusion(model: Model) -> list[str]:
    """Return the lines of the confusion matrix in a model's training record."""
    facts = model.training
    part = facts["confusion_of"]
    rows = _ROWS["first fold" if part == "validation" and has_folds(facts) else part]
    return confusion_lines(facts, model.classes, f"confusion matrix of the {rows}:")


def error_words(facts: Mapping[str, Any]) -> str | None:
    """Return the error that new readings can expect, with its interval, for people."""
    part, of_new = facts["confusion_of"], facts["error_cross_validation"]
    if not is_interval(facts["error_interval"]):
        return None
    words = interval_words(facts["error_interval"], str(facts["interval_method"]))
    if part == "cross-validation" and of_new is not None:
        return f"{100 * of_new:.2f} % by cross-validation in {facts['folds']} folds, {words}"
    return f"{part} error: {words}"
