"""Recordings as the DATA of a command, for models with a front end: detection and windows."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, update_wrapper
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from bncc._types import IntArray
from bncc.cli.console import Console
from bncc.cli.inputs import rows_to_classify
from bncc.cli.recording_options import (
    IGNORE_OPTION,
    INTERVALS_OPTION,
    PURITY_OPTION,
    RECORDING_OPTION,
    TIME_OPTION,
    TIME_UNIT_OPTION,
)
from bncc.data.dataset import Table
from bncc.data.files import suffix_of
from bncc.data.readers import read_table
from bncc.device.inputs.samples import Part
from bncc.errors import DataError, OptionError
from bncc.model.model import Model
from bncc.recordings.front_end import FrontEnd
from bncc.recordings.read import Reader, Roles, files_of, read_recordings
from bncc.recordings.recording import Recordings, is_rate_of
from bncc.recordings.table import FeatureTable, feature_table

Command = TypeVar("Command", bound=Callable[..., Any])


@dataclass(frozen=True)
class RecordedColumns:
    """Options of recordings: columns with a role, and labels."""

    time: str | None = None
    time_unit: str = "s"
    recording: str | None = None
    groups: str | None = None
    class_name: str | None = None
    intervals: str | None = None
    ignored: tuple[str, ...] = ()
    purity: float = 1.0

    @property
    def given(self) -> list[str]:
        """Options that only recordings have, of those that were given."""
        named = ("time", "recording", "intervals")
        found = [f"--{name}" for name in named if getattr(self, name) is not None]
        found += ["--ignore"] if self.ignored else []
        return found + (["--purity"] if self.purity < 1 else [])


def recorded_options(function: Command) -> Command:
    """Add the options of recordings, and pass them as `RecordedColumns`."""

    def bundled(
        *args: Any, time: str | None, time_unit: str, recording: str | None, **rest: Any
    ) -> Any:
        return function(*args, columns=RecordedColumns(time, time_unit, recording), **rest)

    command: Any = update_wrapper(bundled, function)
    options: Command = TIME_OPTION(TIME_UNIT_OPTION(RECORDING_OPTION(command)))
    return options


def label_options(function: Command) -> Command:
    """Add the options of labels of recordings."""
    return INTERVALS_OPTION(IGNORE_OPTION(PURITY_OPTION(function)))


@dataclass(frozen=True, eq=False)
class RecordedWindows:
    """The windows of recordings, with what a model reads of them."""

    front_end: FrontEnd
    windows: FeatureTable

    @property
    def recordings(self) -> Recordings:
        """The recordings."""
        return self.windows.recordings

    @property
    def table(self) -> Table:
        """The features, one row per window."""
        return self.front_end.table(self.windows.values)

    @property
    def ends(self) -> IntArray:
        """Number of the last sample of each window in its recording, (n_windows,) int64."""
        return self.windows.start + self.front_end.windows.length - 1

    @property
    def names(self) -> list[str]:
        """Name of the recording of each window."""
        return [self.recordings.recordings[k].name for k in self.windows.recording.tolist()]

    @property
    def groups(self) -> tuple[str, ...]:
        """Group of each window; empty without a column of groups."""
        if self.recordings.group_column is None:
            return ()
        of = [each.group or "" for each in self.recordings.recordings]
        return tuple(of[k] for k in self.windows.recording.tolist())

    def classes(self, model: Model) -> IntArray:
        """Return the class of each window, (n_windows,) int64, or -1 if the model lacks it."""
        known = {label: c for c, label in enumerate(model.classes)}
        number = np.array([*(known.get(label, -1) for label in self.recordings.labels), -1])
        return np.asarray(number[self.windows.label], dtype=np.int64)

    @property
    def parts(self) -> list[Part]:
        """The gapless segments."""
        return [
            Part(each.name, each.samples[a:b], a)
            for each in self.recordings.recordings
            for a, b in each.segments
        ]


def rows_or_windows(
    model: Model,
    path: str,
    columns: RecordedColumns,
    class_name: str | None,
    fold: int | None,
    console: Console,
) -> tuple[Table, RecordedWindows | None]:
    """Read rows that need no class: those of a table, or the windows of recordings."""
    found = recorded_windows(model, path, columns, fold, console, is_labeled=False)
    if found is None:
        return rows_to_classify(path, class_name, fold, console), None
    if class_name is not None:
        console.note("--class has no effect here: no class is needed")
    return found.table, found


def note_idle(
    columns: RecordedColumns, class_name: str | None, fold: int | None, console: Console
) -> None:
    """Warn about options of DATA where there are none."""
    if fold is not None or class_name is not None or columns.given:
        names = ["--class", "--fold", *columns.given]
        console.note(f"{', '.join(names[:-1])} and {names[-1]} have no effect without --data")


def recorded_windows(
    model: Model,
    path: str,
    columns: RecordedColumns,
    fold: int | None,
    console: Console,
    *,
    is_labeled: bool,
) -> RecordedWindows | None:
    """
    Read the windows of recordings; None if DATA is a table, as it is for most models.

    DATA are recordings if the model has a front end and they have its channels, not its features.
    Windows have one label each, or none if `is_labeled` is False.
    """
    reader = cache(lambda file: read_table(file))
    front_end = model.front_end
    if front_end is None or not _is_recorded(path, front_end, reader):
        if columns.given:
            why = "the model reads no recordings" if front_end is None else "DATA is a table"
            console.note(f"{' and '.join(columns.given)} have no effect: {why}")
        return None
    if fold is not None:
        raise OptionError(f"recordings have no folds, so --fold {fold} does not apply; drop --fold")
    if columns.intervals is not None and columns.class_name is not None:
        raise OptionError("--intervals replaces the class column; leave out --class")
    roles = Roles(
        front_end.form,
        front_end.channels,
        _class_column(model, path, columns, reader) if is_labeled else None,
        columns.recording,
        columns.groups,
        columns.time,
        columns.time_unit,
        front_end.rate,
        columns.intervals,
        is_labeled=is_labeled,
        of_model=True,
    )
    found = read_recordings(path, roles, console.note, reader)
    _check_rate(front_end, found.rate, path)
    unknown = [label for label in columns.ignored if label not in found.labels]
    if unknown:
        console.note(f"no sample has the ignored label {unknown[0]!r}")
    _check_length(front_end, found, path)
    with console.progress("features") as advance:
        windows = feature_table(
            found, front_end.columns, front_end.windows, columns.ignored, advance,
            unlabeled=not is_labeled, purity=columns.purity,
        )  # fmt: skip
    console.detail(f"{path}: {len(windows.values)} windows of {len(found.recordings)} recordings")
    return RecordedWindows(front_end, windows)


def _is_recorded(path: str, front_end: FrontEnd, reader: Reader) -> bool:
    """Return whether DATA are recordings; refuse files that are neither these nor features."""
    if Path(path).is_dir():
        return True
    if suffix_of(path) == ".npz":
        return False
    names = set(reader(Path(path)).names)
    features = [column.name for column in front_end.columns]
    if names.issuperset(features):
        return False
    if names.issuperset(front_end.channels):
        return True
    raise DataError(
        f"'{path}' has neither the channels {_listed(front_end.channels)} of the model nor its "
        f"features {_listed(features)}; name recordings with these columns, or a table of "
        "bncc features"
    )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names[:4])) + (", ..." if len(names) > 4 else "")


def _class_column(model: Model, path: str, columns: RecordedColumns, reader: Reader) -> str | None:
    """Return the class column that was named, or that of the training if there is one."""
    if columns.class_name is not None or columns.intervals is not None:
        return columns.class_name
    name = model.training.get("class_name")
    (first, _), *_ = files_of(path)
    taken = (columns.recording, columns.groups, columns.time)
    is_there = isinstance(name, str) and name not in taken and name in reader(first).names
    return str(name) if is_there else None


def _check_rate(front_end: FrontEnd, rate: Fraction | None, path: str) -> None:
    """Refuse recordings at another rate than that of the model."""
    if front_end.rate is None or rate is None:
        return
    if not is_rate_of(rate, front_end.rate):
        raise DataError(
            f"the model takes samples at {float(front_end.rate):g} Hz, but the time steps of "
            f"'{path}' are those of {float(rate):g} Hz; resample the recordings, or correct "
            "--time-unit"
        )


def _check_length(front_end: FrontEnd, found: Recordings, path: str) -> None:
    longest = max((b - a for each in found.recordings for a, b in each.segments), default=0)
    if longest < front_end.windows.length:
        raise DataError(
            f"'{path}' has no window of {front_end.windows.length} samples: the longest recording "
            f"without a gap has {longest}; name longer recordings"
        )
