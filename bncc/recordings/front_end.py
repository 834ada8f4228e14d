"""The front end of a classifier: all that leads from samples to the features of windows."""

from dataclasses import dataclass

from bncc._types import IntArray
from bncc.errors import OptionError
from bncc.recordings.features import SignalFeature
from bncc.recordings.recording import SampleFormat
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

    def values(self, samples: IntArray) -> IntArray:
        """
        Return the features of all windows of one gapless segment.

        Shapes: `samples` (n, n_channels) int, saturated here; the result
        (windows.count(n), n_columns) int64.
        """
        return segment_values(self.columns, self.form.saturated(samples), self.form, self.windows)

    def stream(self) -> FeatureStream:
        """Return the features of a segment whose samples arrive in blocks."""
        return FeatureStream(self.columns, self.form, self.windows)
