"""Classes of validation rows that their training rows lack, so that every such row is an error."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bncc._types import IntArray
from bncc.data.dataset import Dataset
from bncc.model.training_record import UNSEEN, recorded_unseen
from bncc.train.data_notes import classes_of_one_group, shown_names


@dataclass(frozen=True)
class Unseen:
    """Classes that training parts lack and their validation parts have."""

    folds: Mapping[str, frozenset[int]]  # Parts that lack a class, by its label
    n_folds: int  # Number of all parts

    @property
    def labels(self) -> list[str]:
        """Labels of the classes, in their order."""
        return [*self.folds]


def unseen_classes(dataset: Dataset, parts: Iterable[tuple[IntArray, IntArray]]) -> Unseen:
    """
    Return the classes that some training part lacks and its validation part has.

    ``parts`` are the classes of the rows of each. Random splits are by class; there are none then.
    """
    lacking = [np.setdiff1d(held, rest).tolist() for rest, held in parts]
    if dataset.split.is_random:
        return Unseen({}, len(lacking))
    folds = {
        dataset.classes[c]: frozenset(k for k, each in enumerate(lacking) if c in each)
        for c in sorted({c for each in lacking for c in each})
    }
    return Unseen(folds, len(lacking))


def with_unseen(training: Mapping[str, Any], part: str, labels: list[str]) -> dict[str, Any]:
    """Return a training record with the unseen classes of the rows of an error rate."""
    others = {key: each for key, each in recorded_unseen(training).items() if key != part}
    known = {**others, **({part: labels} if labels else {})}
    kept = {key: each for key, each in training.items() if key != UNSEEN}
    return {**kept, **({UNSEEN: known} if known else {})}


_UNSEEN = "no training rows"


def unseen_notes(dataset: Dataset, part: str, unseen: Unseen) -> tuple[str, ...]:
    """Return a note, with its remedy, on unseen classes; those of one group have their own."""
    alone = classes_of_one_group(dataset)
    labels = [label for label in unseen.labels if label not in alone]
    if not labels:
        return ()
    n_lacking = len(frozenset.union(*(unseen.folds[label] for label in labels)))
    are_many, is_one_fold = len(labels) > 1, unseen.n_folds == 1
    which = f"class{'es' * are_many} {shown_names(labels)} ha{'ve' if are_many else 's'}"
    where = "for" if is_one_fold else f"in {n_lacking} of the {unseen.n_folds} folds of"
    there = "" if is_one_fold else " there"
    return (
        f"{which} {_UNSEEN} {where} the {part} error, because of the split by "
        f"{dataset.split.words}, so every validation row of {'them' if are_many else 'it'}{there} "
        "counts as an error; add rows of more groups or times with the same classes, or choose "
        "another split",
    )


def is_of_unseen(note: str) -> bool:
    """Return whether a note is that of unseen classes."""
    return _UNSEEN in note
