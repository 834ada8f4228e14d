"""Tables of features: the windows of recordings as rows."""

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from bncc._types import IntArray, StrPath
from bncc.errors import DataError, OptionError
from bncc.recordings.features import FEATURES
from bncc.recordings.recording import Recording, Recordings, SampleFormat
from bncc.recordings.signal_feature import (
    SignalFeature,
    default_features,
    default_orders,
    default_panes,
    default_ratios,
    feature_of,
)
from bncc.recordings.signals import Signal, signal_of, split_list
from bncc.recordings.stream import FeatureStream
from bncc.recordings.windows import Windows, common_labels

_WIDEST = 2**15 - 1
"""Largest magnitude of a feature of 16 bits, of which the smallest number means a missing one."""
DEFAULT = "default"
"""The list of features that is computed where none is named."""
START = "start"
"""Name of the column with the first sample of a window."""


@dataclass(frozen=True, eq=False)
class FeatureTable:
    """The values of features, one row per window."""

    columns: tuple[SignalFeature, ...]
    values: IntArray  # (n_windows, n_features) int64
    recordings: Recordings
    windows: Windows
    recording: IntArray  # (n_windows,) int64: index of its recording
    start: IntArray  # (n_windows,) int64: its first sample, counted in its recording
    label: IntArray  # (n_windows,) int64: index of its label, or -1 without one
    n_left_out: int  # Windows with several labels, without one, or with an ignored one
    too_short: tuple[str, ...]  # Recordings without a window

    @property
    def segment(self) -> IntArray:
        """Number of the gapless segment of each window, (n_windows,) int64, over all recordings."""
        found = np.zeros(len(self.start), dtype=np.int64)
        n_before = 0
        for index, each in enumerate(self.recordings.recordings):
            starts = np.array([a for a, _ in each.segments], dtype=np.int64)
            rows = self.recording == index
            found[rows] = n_before + np.searchsorted(starts, self.start[rows], side="right")
            n_before += len(starts)
        return found


def columns_of(
    text: str | None, signals: Sequence[Signal], channels: Sequence[str], windows: Windows
) -> list[SignalFeature]:
    """
    Parse a list of features.

    A feature alone is one of every signal; SIGNAL.FEATURE is one of that signal. ``default``,
    ``ratios``, ``panes`` and ``hoc`` stand for several. Columns are in the order of signals, then
    of features.
    """
    several = {
        DEFAULT: default_features(windows.length),
        "ratios": default_ratios(windows.length),
        "panes": default_panes(windows),
        "hoc": default_orders(),
    }
    given = [DEFAULT] if text is None else split_list(text)
    items = [item for name in given for item in several.get(name, [name])]
    every = [item for item in items if feature_of(signals[0], item) is not None]
    found = [_known(feature_of(signal, item), item) for signal in signals for item in every]
    for item in items:
        if item not in every:
            name, _, feature = item.rpartition(".")
            if not name:
                raise _unknown(item)
            found.append(_known(feature_of(signal_of(name, channels), feature), item))
    return list(dict.fromkeys(found))


def columns_like(
    path: StrPath, names: Sequence[str], channels: Sequence[str]
) -> list[SignalFeature]:
    """Return the features that columns of a table are called after, in their order."""
    found = []
    for item in names:
        name, _, feature = item.rpartition(".")
        if name and feature_of(Signal(name, "channel", (0,)), feature) is not None:
            found.append(_known(feature_of(signal_of(name, channels), feature), item))
    if not found:
        raise DataError(f"'{path}' has no column of a feature; name a table of bncc features")
    return found


def _known(found: SignalFeature | None, item: str) -> SignalFeature:
    if found is None:
        raise _unknown(item)
    return found


def _unknown(item: str) -> OptionError:
    forms = {
        "none": "{}",
        "lag": "{}3",
        "number": "{}1",
        "order": "{}1",
        "shift": "{}",
        "level": "{}(q50)",
    }
    names = ", ".join(forms[each.argument].format(name) for name, each in FEATURES.items())
    return OptionError(
        f"{item!r} is no feature; choose {names}, a ratio such as haar1/change, sum@2 of the "
        "second pane, SIGNAL.FEATURE, default, ratios, panes or hoc"
    )


def fixed(columns: Sequence[SignalFeature], recordings: Recordings) -> list[SignalFeature]:
    """
    Replace quantiles by levels: the value at or below which that share of a signal's samples is.

    Only recordings for training may be passed.
    """
    form = recordings.sample_format
    ordered: dict[Signal, IntArray] = {}
    found = []
    for column in columns:
        if column.is_quantile:
            signal = column.signal
            if signal not in ordered:
                parts = [
                    signal.offsets(each.samples[a:b], form)
                    for each in recordings.recordings
                    for a, b in each.segments
                ]
                ordered[signal] = np.sort(np.concatenate(parts))
            values = ordered[signal]
            level = values[column.argument * (len(values) - 1) // 100] + signal.bounds(form)[0]
            column = replace(column, argument=int(level), is_quantile=False)
        found.append(column)
    return list(dict.fromkeys(found))


def segment_values(
    columns: Sequence[SignalFeature], samples: IntArray, form: SampleFormat, windows: Windows
) -> IntArray:
    """
    Return the features of all windows of one gapless segment.

    Shapes: `samples` (n, n_channels) int; the result (windows.count(n), n_features) int64.
    """
    if not windows.count(len(samples)):
        return np.empty((0, len(columns)), dtype=np.int64)
    return FeatureStream(columns, form, windows).partial(samples)


def feature_table(
    recordings: Recordings,
    columns: Sequence[SignalFeature],
    windows: Windows,
    ignored: Sequence[str] = (),
    advance: Callable[[float, str], None] = lambda fraction, text: None,
    *,
    unlabeled: bool = False,
    purity: float = 1.0,
) -> FeatureTable:
    """
    Compute the features of every window with a label, or of all windows, in order.

    A share of `purity` of its samples has the label.
    """
    form, everything = recordings.sample_format, recordings.recordings
    for column in columns:
        column.bounds(form, windows)
    left_out = np.array(
        [*(label in ignored for label in recordings.labels), not unlabeled], dtype=np.bool_
    )
    values: list[IntArray] = []
    of, start, label = [], [], []
    too_short, n_windows = [], 0
    for index, recording in enumerate(everything):
        advance(index / len(everything), recording.name)
        here = 0
        for a, b in recording.segments:
            count = windows.count(b - a)
            if not count:
                continue
            here += count
            labels = common_labels(recording.labels[a:b], windows, purity)
            kept = np.flatnonzero(~left_out[labels])
            if len(kept):
                values.append(segment_values(columns, recording.samples[a:b], form, windows)[kept])
                of.append(np.full(len(kept), index))
                start.append(a + kept * windows.hop)
                label.append(labels[kept])
        n_windows += here
        if not here:
            too_short.append(recording.name)
    _check_some(recordings, windows, n_windows, len(values))
    table = np.concatenate(values)
    return FeatureTable(
        tuple(columns),
        table,
        recordings,
        windows,
        np.concatenate(of),
        np.concatenate(start),
        np.concatenate(label),
        n_windows - len(table),
        tuple(too_short),
    )


def narrowed(table: FeatureTable) -> FeatureTable:
    """
    Shift features right, as little as possible, whose values do not fit in 16 bits.

    Only a table for training may be passed; its values decide, so that others may saturate.
    """
    columns, values = [], table.values.copy()
    for k, column in enumerate(table.columns):
        low, high = int(values[:, k].min()), int(values[:, k].max())
        shift = 0
        while not -_WIDEST <= low >> shift <= high >> shift <= _WIDEST:
            shift += 1
        values[:, k] >>= shift
        columns.append(replace(column, shift=column.shift + shift))
    return replace(table, columns=tuple(columns), values=values)


def _check_some(recordings: Recordings, windows: Windows, n_windows: int, n_kept: int) -> None:
    if not n_windows:
        longest = max(b - a for each in recordings.recordings for a, b in each.segments)
        raise DataError(
            f"no recording has a window of {windows.length} samples: the longest without a gap has "
            f"{longest}; choose a shorter --window"
        )
    if not n_kept:
        raise DataError(
            f"no window of {windows.length} samples has one label; choose a shorter --window, or "
            "name the right column with --class"
        )


def csv_of(table: FeatureTable) -> bytes:
    """Return a table as CSV: features, recording, group, start and label."""
    recordings = table.recordings
    group = recordings.group_column
    if group == recordings.recording_column:
        group = None
    parts = recordings.recordings
    names = [recordings.recording_column, *([group] if group else []), START]
    header = [*(column.name for column in table.columns), *names, recordings.label_column]
    twice = next((name for name in header if header.count(name) > 1), None)
    if twice is not None:
        raise DataError(
            f"two columns of the table would be called {twice!r}; rename that of the recordings"
        )
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    for row, index, start, label in zip(
        table.values.tolist(),
        table.recording.tolist(),
        table.start.tolist(),
        table.label.tolist(),
        strict=True,
    ):
        source: Recording = parts[index]
        of = [source.name, *([source.group] if group else []), start]
        writer.writerow([*row, *of, recordings.labels[label]])
    return text.getvalue().encode("utf-8", errors="surrogateescape")
