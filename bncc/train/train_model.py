"""Training from a data set to a frozen model: choose the bits, train on all rows, measure."""

from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np

from bncc.data.dataset import Dataset, check_trainable
from bncc.discretize.feature import states_of
from bncc.fixed_point import QFormat
from bncc.interrupts import StopRequest
from bncc.model.card import class_parent_names, cycle_note
from bncc.model.front import FRONT
from bncc.model.gate import GATE
from bncc.model.model import Model
from bncc.model.ranges import READINGS, readings_record
from bncc.model.training_record import EPOCHS_IN_ALL
from bncc.model.used import with_used_inputs
from bncc.progress import Progress, silence
from bncc.recordings.front_end import FrontEnd
from bncc.structure.graph import Structure
from bncc.train.checkpoint.callbacks import Session
from bncc.train.checkpoint.folder import Checkpoint, identity_digest, identity_of
from bncc.train.data_notes import data_notes, is_of_columns
from bncc.train.effort import settled
from bncc.train.fit_network import Draft, fit_model
from bncc.train.fit_tables import fit_sums
from bncc.train.formats import best_format, formats_of
from bncc.train.holdout import decided, judged_record, split_rows
from bncc.train.hyperparameters import hyperparameters_of
from bncc.train.learn_network import counted_instead
from bncc.train.record import origin_record, settings_record
from bncc.train.settings import TrainSettings
from bncc.train.sum_settings import boost_settings_of, differences_of
from bncc.train.unseen_classes import unseen_classes, unseen_notes, with_unseen
from bncc.train.unused_options import idle_notes
from bncc.train.weights import counting_rows, row_weights
from bncc.wording import counted

NO_FRONT = "no leaf of a front decides surely enough as the tables do, so the model has no front"
"""Warning where a front was requested."""
NO_GATE = (
    "no margin of the first tables is large enough to decide as all tables do, so the model has no "
    "gate"
)
"""Warning where a gate was requested."""


EARLY = 1 / 12
"""Smallest fraction of the second descent's epochs for its result: stopped earlier, it is worse
than the first one with its fewer rows. Errors in percent on a fifth of the training rows unseen by
both, mean of seeds 1 and 2, defaults; the first one, then the second after 1, 5, 10 and 60 of 60
epochs:

========  =====  =====  =====  =====  =====
letter    12.24  13.85  12.24  11.79  11.54
satimage  12.52  11.31  12.33  12.62  12.72
usps       5.99   6.10   5.59   5.62   5.76
robot      3.67   5.04   3.90   3.90   3.76
magic04   15.64  16.81  15.93  15.86  16.06
yeast     42.76  42.26  42.09  42.59  42.26
========  =====  =====  =====  =====  =====
"""


@dataclass(frozen=True)
class TrainResult:
    """Result of a training."""

    # The integer model; its `training` has the figures, and nothing that varies between runs
    model: Model
    seconds: float  # Wall time
    notes: tuple[str, ...]  # Notes for the user, for instance options without effect
    # Epochs done, and those of all descents, if training was ended early on request; the model is
    # then the best one so far
    epochs_done: tuple[int, int] | None = None

    @property
    def is_interim(self) -> bool:
        """True if training ended early."""
        return self.epochs_done is not None

    def with_front_end(self, front_end: FrontEnd) -> "TrainResult":
        """Return a training whose model takes samples, without features that it does not use."""
        model = with_used_inputs(replace(self.model, front_end=front_end))
        notes = tuple(note for note in self.notes if not is_of_columns(note))
        return replace(self, model=model, notes=notes)


def train_model(
    dataset: Dataset,
    settings: TrainSettings,
    *,
    test: Dataset | None = None,
    progress: Progress = silence,
    checkpoint: Checkpoint | None = None,
    stop: StopRequest | None = None,
) -> TrainResult:
    """
    Train a classifier on raw readings.

    Two trainings. The first excludes the validation rows from every stage: thresholds, structure
    and tables; on those rows the split of the bits is chosen and ``error_validation`` measured.
    The second learns from all rows in that format. So ``error_validation`` is optimistic only
    because the best of at most eight splits was chosen on its rows. With the effort ``thorough``
    it is more so: all rows took part in the choice of the settings. All errors are those of integer
    models, with equal row weights.
    """
    begin = perf_counter()
    origin = origin_record(dataset)
    dataset = counting_rows(dataset)
    check_trainable(dataset)
    notes, asked = list(idle_notes(settings)), settings
    if checkpoint is not None and settings.is_thorough:
        checkpoint.load(identity_of(dataset, settings))  # one of another training ends it here
    settings, progress = settled(settings, dataset, progress)
    rest, held = split_rows(dataset, settings)
    if held.n_rows == 0 and settings.validation > 0:
        notes.append(_none_held_note(settings, dataset))
    epochs = hyperparameters_of(settings, dataset.n_rows).epochs
    session = Session(epochs, 2 if held.n_rows else 1, progress, stop)
    if checkpoint is not None:
        notes += _kept(session, checkpoint, dataset, asked)
    fitted = (
        fit_sums(settings, dataset, rest, held, progress)
        if settings.is_boosted
        else _fit(session, settings, dataset, rest, held)
    )
    first, model, rows, stopped_after = fitted
    notes += data_notes(model, dataset)
    unseen = unseen_classes(dataset, [(rest.y, held.y)])
    notes += unseen_notes(dataset, "validation", unseen)
    done, more = _as_done(settings, model)
    notes += more
    notes += _isolated_notes(model)
    notes += _front_notes(settings, model)
    notes += _inputs_notes(settings, dataset)
    of_cycle = cycle_note(model)
    notes += [of_cycle] if of_cycle else []
    figures = {
        **origin,
        "class_name": dataset.class_name,
        **_split_record(dataset),
        "error_train": error_of(model, rows),
        "error_validation": error_of(first, held),
        "error_test": None if test is None else error_of(model, test),
        "n_train": rows.n_rows,
        "n_validation": held.n_rows,
        "n_test": None if test is None else test.n_rows,
        READINGS: readings_record(model.features, rows.table, dataset.units),
        **_judged(model, first, rows, held, test),
    }
    if stopped_after is not None:
        notes += [session.not_kept] if session.not_kept else []
        identity = identity_digest(identity_of(dataset, asked))
        figures |= {"interim": True, "epochs_done": stopped_after, "identity": identity}
        if session.epochs_done is not None:
            figures[EPOCHS_IN_ALL] = list(session.epochs_done)
    figures |= {key: model.training[key] for key in (FRONT, GATE) if key in model.training}
    figures = with_unseen(figures, "validation", unseen.labels)
    model = replace(model, training=settings_record(done, dataset.n_rows) | figures)
    return TrainResult(model, perf_counter() - begin, tuple(notes), session.epochs_done)


def model_alone(dataset: Dataset, settings: TrainSettings, progress: Progress) -> Model:
    """Train as `train_model` does, without measuring and recording the training."""
    settings, progress = settled(settings, dataset, progress)
    rest, held = dataset, dataset.take(np.arange(0))
    if settings.is_boosted:
        return fit_sums(settings, dataset, rest, held, progress)[1]
    if len(formats_of(settings)) > 1:  # the best is chosen on validation rows
        rest, held = split_rows(dataset, settings)
    epochs = hyperparameters_of(settings, dataset.n_rows).epochs
    session = Session(epochs, 2 if held.n_rows else 1, progress)
    return _fit(session, settings, dataset, rest, held)[1]


def _as_done(settings: TrainSettings, model: Model) -> tuple[TrainSettings, list[str]]:
    """Return the settings of the fitted tables, with a note if they differ from the given ones."""
    if not class_parent_names(model) or settings.is_counted:
        return settings, []
    note = (
        "the class has parents: tables were learned by --parameters ml instead of gradient descent"
    )
    return counted_instead(settings), [note]


def _kept(
    session: Session, checkpoint: Checkpoint, dataset: Dataset, settings: TrainSettings
) -> list[str]:
    """Set up checkpoints for a training; return notes for the user."""
    if not settings.descends:
        return [f"--checkpoint has no effect with --parameters {settings.parameters}"]
    note = session.keep_in(checkpoint, identity_of(dataset, settings))
    return [] if note is None else [note]


def _fit(
    session: Session, settings: TrainSettings, dataset: Dataset, rest: Dataset, held: Dataset
) -> tuple[Model, Model, Dataset, int | None]:
    """Return the model of the first descent and the last one, with its rows and its early end."""
    if session.first is None:
        # One block or a few groups may lack classes, so all rows judge a format together.
        judges = held if held.n_rows and dataset.split.is_random else dataset
        callbacks = session.callbacks(0)
        session.first = fit_model(
            rest, settings, lambda draft: _best_format(draft, judges, settings), callbacks
        )
        if held.n_rows == 0 or callbacks.stopped_after is not None:
            return session.first, session.first, rest, callbacks.stopped_after
    chosen = session.first.q_format
    callbacks = session.callbacks(1)
    model = fit_model(dataset, settings, lambda _: chosen, callbacks)
    if callbacks.stopped_after is not None and callbacks.stopped_after < EARLY * session.epochs:
        return session.first, session.first, rest, session.epochs
    return session.first, model, dataset, callbacks.stopped_after


def _none_held_note(settings: TrainSettings, dataset: Dataset) -> str:
    """Return the warnings about too few rows."""
    if not dataset.split.is_random:
        reason = f"validation rows by {dataset.split.words} would leave a single class for training"
    else:
        reason = "too few rows for a validation set"
    if settings.is_boosted:
        return f"{reason}: there is no validation error"
    return f"{reason}: the bits were chosen on training rows"


def _isolated_notes(model: Model) -> list[str]:
    """Return a note if no arc joins the class to a feature."""
    structure = model.structure
    if not isinstance(structure, Structure) or not structure.is_class_isolated:
        return []
    return [
        "no feature carries information about the class, so every prediction is the most "
        "frequent class; try --structure forest"
    ]


def _front_notes(settings: TrainSettings, model: Model) -> list[str]:
    """Return a note if a front or a gate was asked for and none is sure enough of the decisions."""
    if not settings.is_boosted:
        return []
    boosting = boost_settings_of(settings)
    notes = [NO_FRONT] if boosting.front and FRONT not in model.training else []
    return notes + ([NO_GATE] if boosting.gate and model.gate is None else [])


def _inputs_notes(settings: TrainSettings, dataset: Dataset) -> list[str]:
    """Return a note if a limit on the columns of boosted tables is above their number."""
    if not settings.is_boosted:
        return []
    limit, n_columns = boost_settings_of(settings).n_inputs, len(dataset.table.columns)
    if limit <= n_columns or differences_of(settings):
        return []
    return [
        f"structure option inputs={limit} has no effect, as the rows have "
        f"{counted(n_columns, 'column')}; choose fewer, or leave it out"
    ]


def _best_format(draft: Draft, judges: Dataset, settings: TrainSettings) -> QFormat:
    formats = formats_of(settings)
    n_states = tuple(feature.n_states for feature in draft.features)
    X = states_of(draft.features, judges.table)
    weights = row_weights(judges, settings.class_weight)
    return best_format(formats, *draft.log_tables, draft.structure, n_states, X, judges.y, weights)


def _split_record(dataset: Dataset) -> dict[str, Any]:
    """Return the rule of the row split, if not random."""
    split = dataset.split
    record: dict[str, Any] = {} if split.groups is None else {"groups": split.column}
    return record | ({"ordered": True} if split.ordered else {})


def _judged(
    model: Model, first: Model, rows: Dataset, held: Dataset, test: Dataset | None
) -> dict[str, Any]:
    """Return the errors on the rows most representative of new readings."""
    if test is not None and test.n_rows:
        judged, judges, part = model, test, "test"
    elif held.n_rows:
        judged, judges, part = first, held, "validation"
    else:
        judged, judges, part = model, rows, "train"
    return judged_record(*decided(judged, judges), model.n_classes, judges.split, part)


def error_of(model: Model, dataset: Dataset) -> float | None:
    """Return the fraction of rows that an integer model classifies wrongly; None without rows."""
    if dataset.n_rows == 0:
        return None
    y, decisions = decided(model, dataset)
    return float((decisions != y).mean())
