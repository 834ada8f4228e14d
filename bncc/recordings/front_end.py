"""The front end of a classifier: all that leads from samples to the features of windows."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from bncc._types import IntArray
from bncc.data.dataset import Column, Table
from bncc.errors import OptionError
from bncc.recordings.recording import SampleFormat
from bncc.recordings.signal_feature import SignalFeature, feature_of
from bncc.recordings.signals import Signal, signal_of
from bncc.recordings.stream import FeatureStream
from bncc.recordings.table import segment_values
from bncc.recordings.windows import Windows


@dataclass(frozen=True)
class FrontEnd:
    """Features of windows of samples, with all that defines their integers."""

    form: SampleFormat
    channels: tuple[str, ...]  # Names, in the order of a sample's values
    windows: Windows
    columns: tuple[SignalFeature, ...]  # Without quantiles, which `fixed` replaces by levels
    rate: Fraction | None = None  # Samples per second, if known

    def __post_init__(self) -> None:
        """Refuse features that need more than 32 bits or do not fit in a window."""
        if not self.columns:
            raise OptionError("a front end needs a feature; name one with --features")
        assert not any(column.is_quantile for column in self.columns)
        for column in self.columns:
            column.bounds(self.form, self.windows)

    @property
    def bounds(self) -> tuple[tuple[int, int], ...]:
        """The least and the largest value of each column."""
        return tuple(column.bounds(self.form, self.windows) for column in self.columns)

    @property
    def types(self) -> tuple[str, ...]:
        """The smallest integer type of each column, such as ``int16``."""
        return tuple(column.column_type(self.form, self.windows) for column in self.columns)

    @property
    def signals(self) -> tuple[Signal, ...]:
        """The different signals of the columns."""
        return tuple(dict.fromkeys(column.signal for column in self.columns))

    def part(self, columns: Sequence[int]) -> "FrontEnd":
        """Return the front end of only these columns."""
        return replace(self, columns=tuple(self.columns[k] for k in columns))

    def values(self, samples: IntArray) -> IntArray:
        """
        Return the features of all windows of one gapless segment.

        Shapes: `samples` (n, n_channels) int, saturated here; the result
        (windows.count(n), n_columns) int64.
        """
        return segment_values(self.columns, self.form.saturated(samples), self.form, self.windows)

    def table(self, values: IntArray) -> Table:
        """Return the features of windows, (n_windows, n_columns), as columns of a table."""
        present = np.zeros(len(values), dtype=np.bool_)
        columns = zip(self.columns, values.T, strict=True)
        return Table(tuple(Column(column.name, "integer", of, present) for column, of in columns))

    @property
    def feature_words(self) -> str:
        """Names of the features."""
        return ", ".join(column.name for column in self.columns)

    @property
    def words(self) -> str:
        """Samples and windows in words."""
        return f"{', '.join(self.channels)} {self.form_words}"

    @property
    def form_words(self) -> str:
        """Range and rate of samples, and windows in words."""
        rate = "" if self.rate is None else f" at {float(self.rate):g} Hz"
        return (
            f"in {self.form.least} .. {self.form.largest}{rate}; windows of {self.windows.length}, "
            f"every {self.windows.hop}"
        )

    def to_json(self) -> dict[str, Any]:
        """Return all but the features, whose names tell the rest."""
        return {
            "channels": list(self.channels),
            "samples": [self.form.least, self.form.largest],
            "window": self.windows.length,
            "hop": self.windows.hop,
            "rate": None if self.rate is None else str(self.rate),
        }

    def stream(self) -> FeatureStream:
        """Return the features of a segment whose samples arrive in blocks."""
        return FeatureStream(self.columns, self.form, self.windows)


def columns_of_names(names: Sequence[str], channels: Sequence[str]) -> tuple[SignalFeature, ...]:
    """Return the features that columns of a table are called after, such as ``x.sum``."""
    found = []
    for item in names:
        name, _, feature = item.rpartition(".")
        column = feature_of(signal_of(name, channels), feature) if name else None
        if column is None or column.is_quantile:
            raise OptionError(f"{item!r} is no feature of the channels {', '.join(channels)}")
        found.append(column)
    return tuple(found)
