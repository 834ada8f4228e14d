"""Repeated training: with several seeds, and by cross-validation."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from bncc._types import IntArray
from bncc.data.dataset import Dataset
from bncc.discretize.feature import states_of
from bncc.interrupts import StopRequest
from bncc.model import reference
from bncc.model.adaptation import MAX_TABLES, addressable, rows_of
from bncc.model.confidence import margins_of
from bncc.model.model import Model
from bncc.progress import Progress, nth_part, silence
from bncc.recordings.front_end import FrontEnd
from bncc.train.checkpoint.folder import Checkpoint
from bncc.train.holdout import judged_record, tells_apart
from bncc.train.settings import TrainSettings
from bncc.train.train_model import TrainResult, model_alone, train_model
from bncc.train.unseen_classes import unseen_classes, unseen_notes, with_unseen
from bncc.train.weights import counting_rows


class _AbandonedError(Exception):
    """A training is abandoned: of a seed after the first, or of a fold."""


@dataclass(frozen=True)
class Repeats:
    """Trainings that differ only in their seeds."""

    # By seed, at least one; all were completed, except possibly a single first one
    results: tuple[TrainResult, ...]
    asked: int  # Number of requested trainings

    @property
    def first(self) -> TrainResult:
        """The training of the first seed, whose model is the result."""
        return self.results[0]

    @property
    def is_short(self) -> bool:
        """True if the trainings ended early."""
        return self.first.is_interim or len(self.results) < self.asked

    @property
    def seconds(self) -> float:
        """Total wall time."""
        return sum(result.seconds for result in self.results)

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes for the user, without duplicates."""
        return tuple(dict.fromkeys(note for result in self.results for note in result.notes))

    def with_front_end(self, front_end: FrontEnd) -> "Repeats":
        """Return trainings whose models have a front end."""
        return replace(self, results=tuple(each.with_front_end(front_end) for each in self.results))

    def after(self, seconds: float) -> "Repeats":
        """Return trainings of which the first began some seconds before."""
        first = replace(self.first, seconds=self.first.seconds + seconds)
        return replace(self, results=(first, *self.results[1:]))

    def errors(self, part: str) -> tuple[float, ...] | None:
        """Return error rates by seed."""
        found = [result.model.training[f"error_{part}"] for result in self.results]
        return None if None in found else tuple(found)


def train_repeats(
    dataset: Dataset,
    settings: TrainSettings,
    repeats: int,
    *,
    test: Dataset | None = None,
    progress: Progress = silence,
    checkpoint: Checkpoint | None = None,
    stop: StopRequest | None = None,
) -> Repeats:
    """Train with one seed after the other, from that of the settings on."""
    assert checkpoint is None or repeats == 1
    seeded = [replace(settings, seed=settings.seed + k) for k in range(repeats)]
    results: list[TrainResult] = []
    for k, one in enumerate(seeded):
        # A descent ends itself on request, with the current model; a search of settings does not.
        ends_itself = settings.descends and not settings.is_thorough
        gives_up = stop if results and not ends_itself else None
        try:
            result = train_model(
                dataset,
                one,
                test=test,
                progress=_part(progress, k, repeats, gives_up),
                checkpoint=checkpoint,
                stop=stop,
            )
        except _AbandonedError:
            break
        if not (results and result.is_interim):
            results.append(result)
        if stop is not None:
            stop.is_armed = True
        if result.is_interim or (stop is not None and stop.is_wanted):
            break
    return Repeats(tuple(results), repeats)


def _part(progress: Progress, k: int, n: int, gives_up: StopRequest | None) -> Progress:
    """Return the callback of one training among all, which abandons it on request."""
    tell = nth_part(progress, k, n)

    def report(share: float, words: str) -> None:
        if gives_up is not None and gives_up.is_wanted:
            raise _AbandonedError
        tell(share, words)

    return report


DEFAULT_FOLDS = 5


@dataclass(frozen=True, eq=False)
class Trained:
    """Decisions and margins of a training without a fold on all rows, in its own units."""

    decisions: IntArray  # (n_rows,) int64
    margins: IntArray  # (n_rows,) int64


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Scores of all rows by trainings that have not seen them."""

    scores: IntArray  # (n_rows, n_classes) int64
    frac_bits: IntArray  # (n_rows,) int64: Their units, ``2**-frac_bits`` nats
    folds: IntArray  # (n_rows,) int64: Fold of each row, without which its training was
    dataset: Dataset  # The rows
    # (n_rows, n) int64: Rows that are read of the first tables that an adaptation can use, up to
    # the number that all trainings have
    rows: IntArray
    trainings: tuple["Trained", ...] = ()  # By fold

    @property
    def y(self) -> IntArray:
        """True class of each row."""
        return self.dataset.y

    @property
    def decisions(self) -> IntArray:
        """Decision on each row, (n_rows,) int64."""
        return np.asarray(self.scores.argmin(axis=1))

    @property
    def n_folds(self) -> int:
        """Number of trainings."""
        return int(self.folds.max(initial=-1)) + 1

    def margins_in(self, frac_bits: int) -> IntArray:
        """Return the margins, (n_rows,) int64, in units of ``2**-frac_bits`` nats."""
        shift = frac_bits - self.frac_bits
        margins = margins_of(self.scores) << np.maximum(shift, 0)
        return np.asarray(margins >> np.maximum(-shift, 0))

    def in_one_unit(self, frac_bits: int) -> tuple[IntArray, int]:
        """Return scores in the finest unit of all, and how many of it a unit of some bits has."""
        finest = max(frac_bits, int(self.frac_bits.max(initial=frac_bits)))
        return self.scores << (finest - self.frac_bits)[:, None], 1 << (finest - frac_bits)

    @property
    def sequences(self) -> IntArray | None:
        """Sequence in time of each row."""
        return self.dataset.time_sequences


def held_out_scores(
    dataset: Dataset,
    settings: TrainSettings,
    n_folds: int,
    tell: Progress = silence,
    stop: StopRequest | None = None,
) -> HeldOut | None:
    """
    Train without each fold in turn, and return the scores of its rows; None if stopped.

    The whole procedure, including its own choices on validation rows, is repeated. Folds follow the
    data set's split rule; there is nothing to return if it allows fewer than two.
    """
    dataset = counting_rows(dataset)
    n_folds = min(n_folds, dataset.split.most_folds(dataset.n_rows))
    if n_folds < 2:
        return None
    fold = dataset.split.folds(dataset.y, n_folds, settings.seed)
    n_folds = int(fold.max()) + 1
    scores = np.zeros((dataset.n_rows, len(dataset.classes)), dtype=np.int64)
    frac_bits = np.zeros(dataset.n_rows, dtype=np.int64)
    trainings = []
    rows = np.zeros((dataset.n_rows, MAX_TABLES), dtype=np.int64)
    n_tables = MAX_TABLES
    try:
        for k in range(n_folds):
            rest = dataset.take(np.flatnonzero(fold != k))
            progress = _part(tell, k, n_folds, stop)
            progress(0.0, "")
            found, frac_bits[fold == k], of_fold = _scores(rest, dataset, settings, progress)
            scores[fold == k] = found[fold == k]
            trainings.append(Trained(found.argmin(axis=1), margins_of(found)))
            n_tables = min(n_tables, of_fold.shape[1])
            rows[fold == k, :n_tables] = of_fold[fold == k, :n_tables]
    except _AbandonedError:
        return None
    return HeldOut(scores, frac_bits, fold, dataset, rows[:, :n_tables], tuple(trainings))


def with_effects(model: Model, key: str, effects: Mapping[str, Any]) -> Model:
    """Return a model whose record has, under a key, the effects of a rule by part of the rows."""
    record = {part: None if each is None else asdict(each) for part, each in effects.items()}
    return replace(model, training={**model.training, key: record})


def cross_validated(result: TrainResult, held: HeldOut | None) -> TrainResult:
    """
    Add the cross-validation error of a model's training to the model's record.

    The record gets ``error_cross_validation`` and ``folds``; the confusion matrix, the recall and
    the interval become those of all rows, each classified once.
    """
    if held is None:
        return result
    dataset, decisions = held.dataset, held.decisions
    judged = judged_record(
        dataset.y, decisions, len(dataset.classes), dataset.split, "cross-validation"
    )
    error = float((decisions != dataset.y).mean())
    record = {"error_cross_validation": error, "folds": held.n_folds, **judged}
    parts = ((dataset.y[held.folds != k], dataset.y[held.folds == k]) for k in range(held.n_folds))
    unseen = unseen_classes(dataset, parts)
    training = with_unseen({**result.model.training, **record}, "cross-validation", unseen.labels)
    notes = (*result.notes, *unseen_notes(dataset, "cross-validation", unseen))
    return replace(result, model=replace(result.model, training=training), notes=notes)


def _scores(
    rest: Dataset, every: Dataset, settings: TrainSettings, progress: Progress
) -> tuple[IntArray, int, IntArray]:
    """Return scores of all rows by a training on some of them, their unit, and rows of tables."""
    if len(np.unique(rest.y)) < 2 or not tells_apart(rest):
        is_other = np.arange(len(rest.classes)) != np.bincount(rest.y).argmax()
        none = np.zeros((every.n_rows, 0), dtype=np.int64)
        return np.tile(is_other.astype(np.int64), (every.n_rows, 1)), 0, none
    model = model_alone(rest, settings, progress)
    assert model.classes == every.classes
    X = states_of(model.features, every.table)
    tables = addressable(model.structure)[:MAX_TABLES]
    rows = rows_of(model.lookups, tables, X)[:, : len(tables)]
    return reference.scores(model, X), model.q_format.frac_bits, rows
