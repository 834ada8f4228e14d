"""Choice of the length of windows: the shortest whose validation error is close to the lowest."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import sqrt

from bncc.errors import DataError
from bncc.progress import Progress, silence
from bncc.recordings.labeled import dataset_of_windows
from bncc.recordings.recording import Recordings
from bncc.recordings.signal_feature import SignalFeature
from bncc.recordings.table import feature_table, narrowed
from bncc.recordings.windows import Windows
from bncc.search.budget_search import with_held_rows
from bncc.search.feature_choice import on_held_groups
from bncc.train.settings import TrainSettings

LENGTHS = tuple(2**k for k in range(4, 11))
"""Lengths in samples that are tried; a new window begins after half of one."""
OVERLAP = 2
"""Windows that share a sample, which count as one in a standard error."""


@dataclass(frozen=True)
class WindowError:
    """Windows, and the error of boosted tables on all features, on validation windows."""

    windows: Windows
    error: float
    n_windows: int  # Validation windows

    @property
    def standard_error(self) -> float:
        """Standard error of the error rate."""
        return sqrt(self.error * (1 - self.error) * OVERLAP / self.n_windows)


def window_errors(
    recordings: Recordings,
    columns_of: Callable[[Windows], Sequence[SignalFeature]],
    base: TrainSettings,
    ignored: Sequence[str] = (),
    tell: Progress = silence,
    *,
    purity: float = 1.0,
) -> list[WindowError]:
    """Return the errors of all lengths of which there are enough windows."""
    base, found = with_held_rows(base), []
    for k, length in enumerate(LENGTHS):
        windows = Windows(length, length // OVERLAP)
        tell(k / len(LENGTHS), f"{length} samples")
        try:
            columns = columns_of(windows)
            table = feature_table(recordings, columns, windows, ignored, purity=purity)
        except DataError:
            continue  # No recording has such a window
        dataset = dataset_of_windows(narrowed(table))
        every = on_held_groups(dataset, base)
        if every and len(dataset.classes) == len(recordings.labels) - len(ignored):
            misses = every.misses[-1]
            found.append(WindowError(windows, float(misses.mean()), len(misses)))
    if not found:
        raise DataError(
            "no length of windows leaves enough of them with each label; name one with --window"
        )
    return found


def shortest(tried: Sequence[WindowError]) -> WindowError:
    """Return the shortest windows whose error is within one standard error of the lowest."""
    best = min(tried, key=lambda one: one.error)
    limit = best.error + best.standard_error
    return min((one for one in tried if one.error <= limit), key=lambda one: one.windows.length)
