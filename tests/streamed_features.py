"""Features of windows by their definitions, one sample at a time, in Python's integers."""

from collections.abc import Sequence
from math import comb

from bncc.recordings.recording import SampleFormat
from bncc.recordings.signal_feature import SignalFeature
from bncc.recordings.windows import Windows


class Signal:
    """A signal since the start of its segment."""

    def __init__(self, kind: str, channels: Sequence[int]) -> None:
        self.kind, self.channels = kind, channels
        self.before: list[int] | None = None

    def push(self, sample: Sequence[int]) -> int:
        """Return the signal's value at a sample."""
        x = [sample[channel] for channel in self.channels]
        before, self.before = self.before or x, x
        if self.kind == "jerk":
            return sum(abs(a - b) for a, b in zip(x, before, strict=True))
        if self.kind == "sum":
            return x[0] + x[1]
        if self.kind == "difference":
            return x[0] - x[1]
        (value,) = x
        return value


class Feature:
    """A feature since the start of a segment; it keeps what each sample contributes."""

    def __init__(self, column: SignalFeature) -> None:
        self.signal = Signal(column.signal.kind, column.signal.channels)
        self.feature, self.argument = column.feature, column.argument
        self.contributions: list[int] = []
        self.before: int | None = None
        self.values: list[int] = []
        self.side: bool | None = None
        self.mean: int | None = None
        self.first_of_pair: list[int | None] = [None] * 40

    def push(self, sample: Sequence[int]) -> None:
        """Add a sample."""
        value = self.signal.push(sample)
        self.values.append(value)
        self.contributions.append(self._contribution(value))
        self.before = value

    def _contribution(self, value: int) -> int:
        if self.feature == "change":
            return 0 if self.before is None else abs(value - self.before)
        if self.feature == "lag":
            return abs(value - self.values[max(len(self.values) - 1 - self.argument, 0)])
        if self.feature == "hoc":
            at, last = self.argument, len(self.values) - 1
            terms = [(-1) ** k * comb(at, k) * self.values[max(last - k, 0)] for k in range(at + 1)]
            return self._crossed(sum(terms) >= 0)
        if self.feature == "haar":
            return self._lift(1, value)
        if self.feature == "crossings":
            scaled = value * 2**self.argument
            mean = scaled if self.mean is None else self.mean
            self.mean = mean + value - mean // 2**self.argument
            return self._crossed(scaled >= mean)
        if self.feature == "level-crossings":
            return self._crossed(value >= self.argument)
        if self.feature == "above":
            return int(value >= self.argument)
        return value

    def _crossed(self, side: bool) -> int:
        before, self.side = self.side, side
        return int(before is not None and before != side)

    def _lift(self, level: int, value: int) -> int:
        first = self.first_of_pair[level]
        if first is None:
            self.first_of_pair[level] = value
            return 0
        self.first_of_pair[level] = None
        if level == self.argument:
            return abs(value - first)
        return self._lift(level + 1, (first + value) // 2)

    def value(self, length: int, hop: int, pane: int) -> int:
        """Return the feature of the last samples, or of one of their panes."""
        window = self.contributions[-length:]
        if pane:
            window = window[(pane - 1) * hop : pane * hop]
        if self.feature == "min":
            return min(window)
        if self.feature == "max":
            return max(window)
        if self.feature == "range":
            return max(window) - min(window)
        return sum(window)


class Ratio:
    """The difference of the logarithms of two features since the start of a segment."""

    def __init__(self, column: SignalFeature) -> None:
        self.parts = [Feature(column.dividend), Feature(column.divided_by)]

    def push(self, sample: Sequence[int]) -> None:
        """Add a sample."""
        for part in self.parts:
            part.push(sample)

    def value(self, length: int, hop: int, pane: int) -> int:
        """Return the feature of the last samples."""
        of, by = (self._logarithm(part.value(length, hop, pane)) for part in self.parts)
        return of - by

    def _logarithm(self, value: int) -> int:
        if value == 0:
            return 0
        doublings = value.bit_length() - 1
        return 16 * doublings + value * 16 // 2**doublings


class Stream:
    """All features of a segment."""

    def __init__(
        self, columns: Sequence[SignalFeature], form: SampleFormat, windows: Windows
    ) -> None:
        self.form, self.windows = form, windows
        self.columns = tuple(columns)
        self.features = [
            Feature(column) if column.divisor is None else Ratio(column) for column in columns
        ]
        self.n_samples = 0

    def push(self, sample: Sequence[int]) -> list[int] | None:
        """Add a sample; return the features if a window ends with it."""
        within = [min(max(x, self.form.least), self.form.largest) for x in sample]
        for feature in self.features:
            feature.push(within)
        self.n_samples += 1
        length, hop = self.windows.length, self.windows.hop
        if self.n_samples < length or (self.n_samples - length) % hop:
            return None
        found = zip(self.features, self.columns, strict=True)
        return [
            feature.value(length, hop, column.pane) // 2**column.shift for feature, column in found
        ]
