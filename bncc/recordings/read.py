"""Recordings from files: one file of several recordings, or a folder with one a file."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np

from bncc._types import FloatArray, IntArray, StrPath
from bncc.data.columns import first_text_row
from bncc.data.dataset import Column, Table
from bncc.data.files import suffix_of
from bncc.data.readers import KNOWN_SUFFIXES, read_table
from bncc.data.target import dataset_of, label_texts
from bncc.errors import DataError, OptionError
from bncc.recordings.intervals import LABEL, labels_of_intervals
from bncc.recordings.recording import (
    Recording,
    Recordings,
    SampleFormat,
    bounds_of,
    check_order,
    check_rate,
    is_rate_of,
    rate_of,
    unbroken,
)

TIME_UNITS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
"""Units of a time column, and how many of each are a second."""
RECORDING = "recording"
"""Name of the column of recordings in a table if recordings are files."""
_WIDER = "; choose another --sample-type if the device has wider ones"


@dataclass(frozen=True)
class Roles:
    """The columns of recordings, and the format of their samples."""

    sample_format: SampleFormat
    channels: tuple[str, ...] | None = None  # None: all numeric columns without another role
    class_name: str | None = None  # None: as in tables, the column `class` or the last
    recording: str | None = None
    groups: str | None = None
    time: str | None = None
    time_unit: str = "s"
    rate: Fraction | None = None
    intervals: str | None = None  # File of labels of intervals, instead of a column
    is_labeled: bool = True  # False if samples need no label: every one has none then
    of_model: bool = False  # True if channels and format are those of a model

    @property
    def others(self) -> list[str]:
        """Names of columns that are neither channels nor labels."""
        named = (self.time, self.recording, self.groups)
        return list(dict.fromkeys(name for name in named if name is not None))


@dataclass(frozen=True, eq=False)
class _Piece:
    """One recording as its file has it."""

    name: str
    group: str | None
    samples: IntArray  # (n, n_channels) int64
    labels: IntArray  # (n,) int64, an index of the labels of its file, or -1
    times: FloatArray | None  # (n,) float64, in the unit of the column


@dataclass(frozen=True, eq=False)
class _File:
    pieces: tuple[_Piece, ...]
    channels: tuple[str, ...]
    labels: tuple[str, ...]
    label_column: str
    unused: tuple[str, ...]


Reader = Callable[[Path], Table]
"""Reads the table of a file."""


def read_recordings(
    path: StrPath,
    roles: Roles,
    say: Callable[[str], None] = lambda text: None,
    read: Reader = read_table,
) -> Recordings:
    """Read recordings from a file or a folder of files; `say` receives notes."""
    _check_roles(roles)
    files = [_read(file, roles, qualified, read) for file, qualified in files_of(path)]
    for file in files[1:]:
        for what in ("channels", "label_column"):
            first, other = getattr(files[0], what), getattr(file, what)
            if first != other:
                raise DataError(
                    f"the files of '{path}' have different columns: recording "
                    f"{file.pieces[0].name!r} has {_listed(other)}, the first has "
                    f"{_listed(first)}; name common ones with --channels and --class"
                )
    if files[0].unused:
        say(f"columns without a role and without numbers are ignored: {_listed(files[0].unused)}")
    pieces = [piece for file in files for piece in file.pieces]
    rate = _rate(pieces, roles)
    labels, of_pieces = _common_labels(files, roles)
    form, n_saturated, recordings = roles.sample_format, 0, []
    for piece, of_piece in zip(pieces, of_pieces, strict=True):
        samples = form.saturated(piece.samples)
        n_saturated += int(np.count_nonzero(samples != piece.samples))
        if piece.times is None or rate is None:
            bounds = unbroken(len(samples))
        else:
            bounds = bounds_of(piece.times, TIME_UNITS[roles.time_unit], rate)
        recordings.append(Recording(piece.name, piece.group, samples, of_piece, bounds))
    if n_saturated:
        of_model = " of the model" if roles.of_model else ""
        remedy = "" if roles.of_model else _WIDER
        say(
            f"{n_saturated} samples are outside {form.least}..{form.largest}{of_model} and saturate"
            f"{remedy}"
        )
    return Recordings(
        tuple(recordings),
        files[0].channels,
        form,
        labels,
        rate,
        roles.recording or RECORDING,
        roles.groups,
        files[0].label_column,
        n_saturated,
    )


def _common_labels(files: Sequence[_File], roles: Roles) -> tuple[tuple[str, ...], list[IntArray]]:
    """Return all labels, and the index of each sample's for each recording."""
    if roles.intervals is not None:
        positions = {
            piece.name: np.arange(len(piece.samples)) if piece.times is None else piece.times
            for file in files
            for piece in file.pieces
        }
        return labels_of_intervals(roles.intervals, positions)
    labels = tuple(sorted({label for file in files for label in file.labels}))
    found: list[IntArray] = []
    for file in files:
        number = np.array([*(labels.index(label) for label in file.labels), -1], dtype=np.int64)
        found += [number[piece.labels] for piece in file.pieces]
    return labels, found


def _listed(names: str | Sequence[str]) -> str:
    return repr(names) if isinstance(names, str) else ", ".join(map(repr, names[:8]))


def _check_roles(roles: Roles) -> None:
    named = [*roles.others, *(roles.channels or ())]
    named += [] if roles.class_name is None else [roles.class_name]
    twice = next((name for name in named if named.count(name) > 1), None)
    if twice is None and roles.time is not None and roles.time in (roles.recording, roles.groups):
        twice = roles.time
    if twice is not None:
        raise OptionError(f"column {twice!r} has two roles; name each column once")


def files_of(path: StrPath) -> list[tuple[Path, bool]]:
    """Return the files of recordings, and whether a name of a recording needs that of its file."""
    folder = Path(path)
    if not folder.is_dir():
        return [(folder, False)]
    known = [suffix for suffix in KNOWN_SUFFIXES if suffix != ".npz"]
    found = [
        file
        for file in sorted(folder.iterdir())
        if file.is_file() and not file.name.startswith(".") and suffix_of(file) in known
    ]
    if not found:
        raise DataError(
            f"the folder '{path}' has no file of recordings; add files in {', '.join(known)}"
        )
    stems = [_stem(file) for file in found]
    twice = next((stem for stem in stems if stems.count(stem) > 1), None)
    if twice is not None:
        raise DataError(f"the folder '{path}' has two files called {twice!r}; rename one")
    return [(file, True) for file in found]


def _stem(file: Path) -> str:
    name = file.with_suffix("") if file.suffix.lower() == ".gz" else file
    return name.stem


def _read(file: Path, roles: Roles, qualified: bool, read: Reader) -> _File:
    if suffix_of(file) == ".npz":
        raise DataError(f"'{file}' has no named columns; pass recordings as CSV or Parquet")
    table = read(file)
    named = {column.name: column for column in table.columns}
    for name in [*roles.others, *(roles.channels or ())]:
        if name not in named:
            raise DataError(f"'{file}' has no column {name!r}; its columns are {_listed([*named])}")
    used = {*roles.others, *(roles.channels or ())}
    rest = [column for column in table.columns if column.name not in used]
    y, labels, label_column = _labels(file, rest, table.n_rows, roles)
    unused: tuple[str, ...] = ()
    if roles.channels is not None:
        channels = roles.channels
    else:
        rest = [column for column in rest if column.name != label_column]
        unused = tuple(column.name for column in rest if _is_text(column))
        channels = tuple(column.name for column in rest if column.name not in unused)
    if not channels:
        raise DataError(f"'{file}' has no channel, a column of numbers without another role")
    samples = np.column_stack([_samples(file, named[name]) for name in channels])
    times = None if roles.time is None else _times(file, named[roles.time])
    pieces = []
    for name, rows in _runs(file, None if roles.recording is None else named[roles.recording]):
        name = name if not qualified else f"{_stem(file)}/{name}" if name else _stem(file)
        name = name or _stem(file)
        group = None if roles.groups is None else _group(name, named[roles.groups], rows)
        piece_times = None if times is None else times[rows]
        pieces.append(_Piece(name, group, samples[rows], y[rows], piece_times))
    return _File(tuple(pieces), channels, labels, label_column, unused)


def _labels(
    file: Path, columns: Sequence[Column], n_rows: int, roles: Roles
) -> tuple[IntArray, tuple[str, ...], str]:
    """Return each row's label, -1 for none, the labels, and the name of their column."""
    y, missing = np.full(n_rows, -1, dtype=np.int64), np.zeros(n_rows, dtype=np.bool_)
    if roles.intervals is not None or not roles.is_labeled:
        return y, (), LABEL
    names, name = [column.name for column in columns], roles.class_name
    if not names:
        raise DataError(f"'{file}' has no column left for labels; add one, or pass --intervals")
    if name is not None and name not in names:
        raise DataError(f"'{file}' has no column {name!r}; its other columns are {_listed(names)}")
    # The readers of tables drop rows without a class; their numbers show which are left.
    numbers = Column("", "integer", np.arange(n_rows), missing)
    dataset = dataset_of(Table((numbers, *columns)), name)
    y[dataset.table.columns[0].values] = dataset.y
    return y, dataset.classes, dataset.class_name


def _is_text(column: Column) -> bool:
    """Return whether a column has only text: one with numbers too has a wrong cell."""
    if column.kind != "category":
        return False
    return not any(map(_is_number, column.values[~column.missing].tolist()))


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _samples(file: Path, column: Column) -> IntArray:
    """Return a channel's samples, (n,) int64."""
    where = f"'{file}', channel {column.name!r}"
    if column.kind == "category":
        row = first_text_row(column)
        raise DataError(
            f"{where}: row {row + 1} contains {column.values[row]!r}, which is no number; fix the "
            "cell, or name the channels with --channels"
        )
    if column.missing.any():
        raise DataError(
            f"{where}: row {int(column.missing.argmax()) + 1} has no sample; remove the row and "
            "name the time with --time, so that a gap is there"
        )
    whole = column.values == np.floor(column.values)
    if not whole.all():
        row = int(whole.argmin())
        raise DataError(
            f"{where}: row {row + 1} contains {column.values[row]:g}, but samples are integers; "
            "store the counts that the device reads, such as value / resolution, rounded"
        )
    if np.abs(column.values).max() > 2**31:
        raise DataError(
            f"{where}: a sample exceeds 32 bits; name the channels with --channels, and the time "
            "with --time"
        )
    return column.values.astype(np.int64)


def _times(file: Path, column: Column) -> FloatArray:
    """Return times, (n,) float64."""
    if column.kind == "category" or column.missing.any():
        missing = int(column.missing.argmax())
        row = first_text_row(column) if column.kind == "category" else missing
        raise DataError(
            f"'{file}', time {column.name!r}: row {row + 1} has no number; fix the cell, or remove "
            "the row"
        )
    return column.values.astype(np.float64)


def _runs(file: Path, column: Column | None) -> list[tuple[str, slice]]:
    """Return the name and the rows of each recording of a file; no name for the only one."""
    if column is None:
        return [("", slice(None))]
    if column.missing.any():
        row = int(column.missing.argmax()) + 1
        raise DataError(
            f"'{file}' has no recording in row {row} of column {column.name!r}; fill it in, or "
            "remove the row"
        )
    codes = column.codes
    starts = [0, *(np.flatnonzero(np.diff(codes)) + 1).tolist()]
    names = label_texts(column.take(np.array(starts)))
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise DataError(
            f"the rows of recording {twice!r} of '{file}' are not together; sort by recording"
        )
    edges = zip(starts, [*starts[1:], len(codes)], strict=True)
    return [(name, slice(a, b)) for name, (a, b) in zip(names, edges, strict=True)]


def _group(recording: str, column: Column, rows: slice) -> str:
    part = column.take(np.arange(len(column.values))[rows])
    if part.missing.any() or len(set(part.values.tolist())) > 1:
        raise DataError(
            f"recording {recording!r} has no single group in column {column.name!r}; name a column "
            "that is constant in each recording with --groups"
        )
    return label_texts(part.take(np.zeros(1, dtype=np.int64)))[0]


def _rate(pieces: Sequence[_Piece], roles: Roles) -> Fraction | None:
    """Return the rate that was given or that the times have, after a check of both."""
    times = [piece.times for piece in pieces if piece.times is not None]
    if not times:
        return roles.rate
    for piece in pieces:
        if piece.times is not None:
            check_order(piece.name, piece.times)
    unit = TIME_UNITS[roles.time_unit]
    if roles.rate is None:
        return rate_of(times, unit)
    if roles.of_model:
        found = rate_of(times, unit)
        return roles.rate if is_rate_of(found, roles.rate) else found  # the caller refuses it
    check_rate(times, unit, roles.rate)
    return roles.rate
