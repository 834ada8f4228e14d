"""``--with filter``, ``confidence``, ``unknown`` and ``adapt`` of commands that decide on rows."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import click
import numpy as np

from bncc._types import IntArray
from bncc.cli.console import Console
from bncc.cli.inputs import labeled_rows
from bncc.cli.recordings import RecordedColumns, RecordedWindows, recorded_windows
from bncc.discretize.feature import states_of
from bncc.errors import DataError, OptionError
from bncc.model.adaptation import required as adapting
from bncc.model.adapted import LabeledInputs
from bncc.model.confidence import Confidence
from bncc.model.confidence import required as rated
from bncc.model.filter import Filter, decided, required
from bncc.model.model import Model
from bncc.model.reference import scores
from bncc.model.unknown import Unknown
from bncc.model.unknown import required as knowing
from bncc.recordings.table import feature_table

Command = TypeVar("Command", bound=Callable[..., Any])


def rules_option(function: Command) -> Command:
    """Add ``--with filter``, ``confidence``, ``unknown`` and ``adapt``, and ``--adapt-rows``."""
    rows = click.option(
        "--adapt-rows",
        "adapt_path",
        metavar="FILE",
        help="Labeled rows or recordings that MODEL adapts to before it decides, in their order; "
        "with --groups, each group to its own. It implies --with adapt.",
    )
    return click.option(
        "--with",
        "more",
        type=click.Choice(("filter", "confidence", "unknown", "adapt")),
        multiple=True,
        help="filter: decide in time order with the filter of MODEL, which begins with each group "
        "of --groups, or segment of recordings. confidence: rate each decision. unknown: tell "
        "readings of no known class. adapt: decide with what --adapt-rows teach.",
    )(rows(function))


def filter_for(model: Model, missing: str) -> Filter:
    """Return the filter of a model; refuse models without one, and marginalized features."""
    found = required(model.filter)
    if missing == "marginal":
        raise OptionError("--with filter does not support --missing marginal; leave out either")
    return found


def confidence_for(model: Model, more: Sequence[str], missing: str) -> Confidence | None:
    """Return the confidence to use, None if not asked for; refuse what it does not rate."""
    if "confidence" not in more:
        return None
    _refuse_other_decisions("confidence", more, missing)
    return rated(model.confidence)


def unknown_for(model: Model, more: Sequence[str], missing: str) -> Unknown | None:
    """Return the rule for unknown readings to use, None if not asked for."""
    if "unknown" not in more:
        return None
    _refuse_other_decisions("unknown", more, missing)
    return knowing(model.unknown)


def _refuse_other_decisions(name: str, more: Sequence[str], missing: str) -> None:
    """Refuse decisions that depend on more than the states of one row."""
    if "adapt" in more:
        raise OptionError(
            f"--with {name} rates the decisions of the model, not adapted ones; choose one"
        )
    if "filter" in more:
        raise OptionError(
            f"--with {name} rates decisions on single rows, not those of a filter; choose one"
        )
    if missing == "marginal":
        raise OptionError(f"--with {name} does not support --missing marginal; leave out either")


@dataclass(frozen=True)
class AdaptRows:
    """Labeled rows, or recordings, that a model is to learn before it decides."""

    path: str
    columns: RecordedColumns  # With the class column and the groups

    def read(self, model: Model, console: Console) -> LabeledInputs:
        """Read the rows, or the windows of recordings."""
        try:
            found = self._read(model, console)
        except DataError as error:
            if self.path in str(error):
                raise
            raise DataError(f"'{self.path}' of --adapt-rows: {error}") from None
        note_one_group(console, found.groups)
        return found

    def is_of(self, path: str) -> bool:
        """Return whether the rows are in a file or folder."""
        return Path(self.path).resolve() == Path(path).resolve()

    def _read(self, model: Model, console: Console) -> LabeledInputs:
        columns = self.columns
        recorded = recorded_windows(model, self.path, columns, None, console, is_labeled=True)
        if recorded is None:
            dataset, labels = labeled_rows(
                model, self.path, columns.class_name, None, console, columns.groups
            )
            table, y = dataset.table, dataset.y
        else:
            table, y, labels = recorded.table, recorded.classes(model), recorded.groups
        unknown = int((y < 0).sum())
        if unknown == len(y):
            raise DataError(
                f"'{self.path}' has no row of a class that the model knows; name rows of the "
                "model's classes with --adapt-rows"
            )
        if unknown:
            console.note(
                f"{unknown} of {len(y)} rows of '{self.path}' have a class that the model does not "
                "know; they are not learned"
            )
        return LabeledInputs(states_of(model.features, table), y, labels)


def adapt_rows_for(
    model: Model, more: Sequence[str], missing: str, path: str | None, columns: RecordedColumns
) -> AdaptRows | None:
    """Return the rows to adapt to, None without any; refuse what does not adapt."""
    if path is None and "adapt" not in more:
        return None
    adapting(model.adaptation)
    if missing == "marginal":
        raise OptionError("--with adapt does not support --missing marginal; leave out either")
    if path is None and "filter" in more:
        raise OptionError(
            "--with adapt and --with filter need the rows to learn; name them with --adapt-rows"
        )
    return None if path is None else AdaptRows(path, columns)


def note_one_group(console: Console, labels: Sequence[str]) -> None:
    """Say that a device adapts to all rows at once, if no groups tell whose they are."""
    if not labels:
        console.note(
            "all rows are those of one device; name the column of the person or device with "
            "--groups if they are several"
        )


def note_strangers(console: Console, labels: Sequence[str], learned: LabeledInputs) -> None:
    """Say which groups the model does not adapt to, as no labeled row is theirs."""
    strangers = [label for label in dict.fromkeys(labels) if label not in set(learned.groups)]
    if strangers:
        console.note(
            f"no row to learn is of group {strangers[0]!r}"
            + (f" and of {len(strangers) - 1} others" if strangers[1:] else "")
            + "; their decisions are those of the model alone"
        )


def scores_with(
    model: Model, X: IntArray, labels: Sequence[str], learned: LabeledInputs | None
) -> IntArray:
    """Return scores (n, n_classes) of states, those of adapted models where rows are learned."""
    return scores(model, X) if learned is None else learned.scores(model, X, labels)


def sequences_of(n: int, labels: Sequence[str], recorded: RecordedWindows | None) -> IntArray:
    """Return the sequence of each row, (n,) int64: its segment, its group, or one for all."""
    if recorded is not None:
        return recorded.windows.segment
    if not labels:
        return np.zeros(n, dtype=np.int64)
    return np.asarray(np.unique(labels, return_inverse=True)[1], dtype=np.int64)


def note_one_sequence(console: Console, labels: Sequence[str], recorded: Any) -> None:
    """Say that all rows of a table are one sequence, if no groups tell sequences apart."""
    if recorded is None and not labels:
        console.note(
            "all rows are one sequence of the filter; name the column of the recording, device or "
            "person with --groups if they are several"
        )


def filtered_windows(
    model: Model, recorded: RecordedWindows, learned: LabeledInputs | None
) -> IntArray:
    """Return the filtered class of each window, (n_windows,), as after all windows before it."""
    some, front_end = recorded.windows, recorded.front_end
    every = feature_table(some.recordings, some.columns, some.windows, unlabeled=True)
    labels = replace(recorded, windows=every).groups
    X = states_of(model.features, front_end.table(every.values))
    of_every = scores_with(model, X, labels, learned)
    found = decided(of_every, every.segment, required(model.filter))
    place = {
        window: k
        for k, window in enumerate(zip(every.recording.tolist(), every.start.tolist(), strict=True))
    }
    windows = zip(some.recording.tolist(), some.start.tolist(), strict=True)
    return found[[place[window] for window in windows]]
