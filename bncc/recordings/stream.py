"""Features of windows of a segment whose samples arrive in blocks of any length."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bncc._types import IntArray
from bncc.recordings.features import PARTIALS
from bncc.recordings.recording import SampleFormat
from bncc.recordings.signal_feature import SignalFeature
from bncc.recordings.signals import Signal
from bncc.recordings.windows import Windows, merged_panes, panes_of

_Key = tuple[Signal, str, int]


class FeatureStream:
    """All features of one segment, up to the samples so far."""

    def __init__(
        self, columns: Sequence[SignalFeature], form: SampleFormat, windows: Windows
    ) -> None:
        self._columns, self._form, self._windows = tuple(columns), form, windows
        self.start()

    def start(self) -> None:
        """Begin a recording, or a segment after a gap."""
        self._last: IntArray | None = None  # (1, n_channels): the last sample
        self._carried: dict[_Key, Any] = {}
        # Contributions from the start of the next window on
        self._kept: dict[_Key, IntArray] = {}

    def partial(self, samples: IntArray) -> IntArray:
        """
        Add samples; return the features of the windows that end with one of them.

        Shapes: `samples` (n, n_channels) int within the format; the result (n_windows, n_columns)
        int64.
        """
        if not len(samples):
            return np.empty((0, len(self._columns)), dtype=np.int64)
        offsets: dict[Signal, IntArray] = {}
        panes: dict[_Key, IntArray] = {}
        values = []
        for column in self._columns:
            signal, scope = column.signal, column.scope(self._form, self._windows)
            if signal not in offsets:
                offsets[signal] = self._offsets(signal, samples)
            keys = [(signal, name, argument) for name, argument in column.partials(scope)]
            for key in keys:
                if key not in panes:
                    panes[key] = self._panes_of(key, offsets[signal])
            values.append(column.value([_partial(panes[key], key, column) for key in keys], scope))
        self._last = samples[-1:]
        return np.column_stack(values)

    def _offsets(self, signal: Signal, samples: IntArray) -> IntArray:
        """Return the signal at samples, which may need the one before."""
        if self._last is None:
            return signal.offsets(samples, self._form)
        return signal.offsets(np.concatenate([self._last, samples]), self._form)[1:]

    def _panes_of(self, key: _Key, u: IntArray) -> IntArray:
        """Return a partial of each pane of the windows that end, and keep what later ones need."""
        _, name, argument = key
        partial = PARTIALS[name]
        parts, self._carried[key] = partial.contribution(u, argument, self._carried.get(key))
        if key in self._kept:
            parts = np.concatenate([self._kept[key], parts])
        n_windows = self._windows.count(len(parts))
        self._kept[key] = parts[n_windows * self._windows.hop :]
        return panes_of(parts, self._windows, partial.merge)


def _partial(panes: IntArray, key: _Key, column: SignalFeature) -> IntArray:
    """Return the partial that a feature reads: of one pane, or of the whole window."""
    if column.pane:
        return panes[:, column.pane - 1]
    return merged_panes(panes, PARTIALS[key[1]].merge)
