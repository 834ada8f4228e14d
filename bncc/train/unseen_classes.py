"""Classes of validation rows that their training rows lack, so that every such row is an error."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from bncc._types import IntArray
from bncc.data.dataset import Dataset
from bncc.model.card import UNSEEN, recorded_unseen
from bncc.train.data_notes import classes_of_one_group, shown_names


def unseen_classes(dataset: Dataset, parts: Iterable[tuple[IntArray, IntArray]]) -> list[str]:
    """
    Return the labels of classes that some training part lacks and its validation part has.

    ``parts`` are the classes of the rows of each. Random splits are by class; there are none then.
    """
    if dataset.split.is_random:
        return []
    found = {int(c) for rest, held in parts for c in np.setdiff1d(held, rest)}
    return [dataset.classes[c] for c in sorted(found)]


def with_unseen(training: Mapping[str, Any], part: str, labels: list[str]) -> dict[str, Any]:
    """Return a training record with the unseen classes of the rows of an error rate."""
    others = {key: each for key, each in recorded_unseen(training).items() if key != part}
    known = {**others, **({part: labels} if labels else {})}
    kept = {key: each for key, each in training.items() if key != UNSEEN}
    return {**kept, **({UNSEEN: known} if known else {})}


_UNSEEN = "lack a class of their validation rows"


def unseen_notes(dataset: Dataset, part: str, labels: list[str]) -> tuple[str, ...]:
    """Return a note, with its remedy, on unseen classes; those of one group have their own."""
    alone = classes_of_one_group(dataset)
    labels = [label for label in labels if label not in alone]
    if not labels:
        return ()
    which = f"class{'es' * (len(labels) > 1)} {shown_names(labels)}"
    return (
        f"training rows of the {part} error {_UNSEEN}: the split by {dataset.split.words} leaves "
        f"none of {which}, so all these validation rows count as errors; add rows of more groups "
        "or times with the same classes, or choose another split",
    )


def is_of_unseen(note: str) -> bool:
    """Return whether a note is that of unseen classes."""
    return _UNSEEN in note
