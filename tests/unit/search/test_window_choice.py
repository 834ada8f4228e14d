"""Windows as short as the validation error allows."""

import pytest

from bncc.errors import DataError
from bncc.recordings.recording import Recordings
from bncc.recordings.signal_feature import SignalFeature
from bncc.recordings.signals import signals_of
from bncc.recordings.table import columns_of
from bncc.recordings.windows import Windows
from bncc.search import window_choice
from bncc.search.window_choice import WindowError, shortest, window_errors
from bncc.train.settings import TrainSettings
from tests.recorded import recordings

BASE = TrainSettings(seed=0)


def tried(*errors: float, n: int = 1000) -> list[WindowError]:
    """Return errors of windows of 16, 32, ... samples."""
    return [WindowError(Windows(16 << k, 8 << k), error, n) for k, error in enumerate(errors)]


def test_the_shortest_of_low_error_is_chosen() -> None:
    # The standard error of 5 % on 1,000 windows, half of which count, is 0.97 points.
    assert shortest(tried(0.2, 0.0595, 0.05, 0.07)).windows.length == 32
    assert shortest(tried(0.2, 0.0599, 0.05, 0.07)).windows.length == 64
    assert shortest(tried(0.2, 0.0, 0.0)).windows.length == 32


def errors_of(of: Recordings) -> list[WindowError]:
    def columns(windows: Windows) -> list[SignalFeature]:
        return columns_of("range,change,crossings", signals_of(None, "xy"), "xy", windows)

    return window_errors(of, columns, BASE)


def test_lengths_without_a_window_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each label lasts 100 samples, in which a window of 128 does not fit."""
    monkeypatch.setattr(window_choice, "LENGTHS", (16, 64, 128))
    found = errors_of(recordings(4, 100))
    assert [one.windows.length for one in found] == [16, 64]
    assert all(one.windows.hop == one.windows.length // 2 for one in found)
    assert found[1].error < 0.1
    monkeypatch.setattr(window_choice, "LENGTHS", (128, 256))
    with pytest.raises(DataError, match="no length of windows leaves enough"):
        errors_of(recordings(4, 100))
