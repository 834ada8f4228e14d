"""Facts of a training record, which anybody can have written."""

import re
from collections.abc import Mapping
from typing import Any, TypeGuard

from bncc.model.model import Model

UNSEEN = "unseen_classes"
"""Key in a training record of the classes that the training rows of an error rate lack."""

OPTIONS_RECORD = "options"
"""Key in a training record of the options that reproduce the training without a search."""

EPOCHS_IN_ALL = "epochs_in_all"
"""
Key in a training record, and of a fact, of a training that was stopped early.

Its epochs done and those asked for, of all descents; ``epochs`` and ``epochs_done`` are those of
the descent whose tables the model has.
"""

CANDIDATES_TRIED = "candidates_tried"
"""Key in a training record, and of a fact: candidates of a search that was stopped early."""


def is_rate(value: Any) -> TypeGuard[float]:
    """Return whether a value of a training record is a fraction from 0 to 1."""
    return type(value) in (int, float) and 0 <= value <= 1


def recorded_data(training: Mapping[str, Any]) -> dict[str, Any] | None:
    """
    Return ``rows``, ``columns``, ``sha256`` and ``of`` of the training data, where recorded.

    None where any of it is no size or digest, as in a record that somebody else wrote.
    """
    data = training.get("data")
    if not isinstance(data, Mapping):
        return None
    sizes, digest = [data.get(key) for key in ("rows", "columns")], data.get("sha256")
    is_sound = isinstance(digest, str) and re.fullmatch(r"[0-9a-f]{64}", digest)
    if not is_sound or not all(type(n) is int and n > 0 for n in sizes):
        return None
    of = "file" if data.get("of") == "file" else "values"
    return {"rows": sizes[0], "columns": sizes[1], "sha256": digest, "of": of}


def recorded_unseen(training: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the classes, by part of the rows, that the training rows of an error rate lack."""
    record = training.get(UNSEEN)
    items = record.items() if isinstance(record, Mapping) else ()
    return {
        part: labels
        for part, labels in items
        if isinstance(labels, list) and labels and all(type(label) is str for label in labels)
    }


def recorded_options(training: Mapping[str, Any]) -> list[str] | None:
    """Return the options of ``bncc train`` that a search chose, None where none are recorded."""
    words = training.get(OPTIONS_RECORD)
    is_sound = isinstance(words, list) and all(type(word) is str for word in words)
    return words if is_sound and words else None


def search_folds(training: Mapping[str, Any]) -> int | None:
    """Return the folds whose mean is a search's validation error; None for other trainings."""
    folds = training.get("validation_folds")
    return folds if type(folds) is int else None


def has_folds(training: Mapping[str, Any]) -> bool:
    """Return whether a validation error is a search's mean of folds, and not of one fold alone."""
    return (search_folds(training) or 0) > 1


def search_words(training: Mapping[str, Any]) -> str | None:
    """Describe the validation error of a search for a budget; None for other trainings."""
    folds = search_folds(training)
    if folds is None:
        return None
    mean = f"the mean of {folds} folds" if has_folds(training) else "one fold"
    measure = {"balanced-error": "balanced error", "log-loss": "log-loss"}.get(
        str(training.get("chosen_by"))
    )
    if measure is None:
        return f"{mean}, the search criterion"
    return f"{mean}; search criterion: {measure} on the same rows"


def candidates_tried(training: Mapping[str, Any]) -> int | None:
    """Return the candidates that a search tried before it was stopped early, where recorded."""
    tried = training.get(CANDIDATES_TRIED)
    return tried if type(tried) is int and tried > 0 else None


def epochs_in_all(training: Mapping[str, Any]) -> tuple[int, int] | None:
    """Return the epochs of all descents before an early end, and those asked for, where known."""
    found = training.get(EPOCHS_IN_ALL)
    if not isinstance(found, list) or [type(n) for n in found] != [int, int]:
        return None
    done, asked = found
    return (done, asked) if 0 < done <= asked else None


def in_all_words(done: int, asked: int) -> str:
    """Describe an early end by the epochs of all descents."""
    return f"after {done} of {asked} epochs in all"


def early_end_note(model: Model) -> str | None:
    """Return what a user should know of a model whose training or search was ended early."""
    training, words = model.training, []
    if (tried := candidates_tried(training)) is not None:
        words.append(f"search stopped early, after {tried} candidate{'s' * (tried != 1)}")
    if training.get("interim") is True:
        done, asked = training.get("epochs_done"), training.get("epochs")
        in_all, is_first = epochs_in_all(training), done == asked
        when = [f"after {done} of {asked} epochs"] if in_all is None and not is_first else []
        when += [] if in_all is None else [in_all_words(*in_all)]
        when += ["before training on all rows"] if is_first else []
        words.append(f"stopped early, {', '.join(when)}")
    return "; ".join(words) or None
