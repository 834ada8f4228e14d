"""A Ctrl-C in the middle of training, in this process."""

import signal
from typing import Any

import pytest

from bncc.train.checkpoint.callbacks import Callbacks


def stop_after(monkeypatch: pytest.MonkeyPatch, epochs: int, n_signals: int = 1) -> None:
    """Raise Ctrl-C in the epoch after so many, counted over both descents."""
    done = []
    tell = Callbacks.goes_on

    def goes_on(self: Callbacks, *told: Any) -> bool:
        done.append(told)
        goes = tell(self, *told)
        for _ in range(n_signals if len(done) == epochs else 0):
            signal.raise_signal(signal.SIGINT)
        return goes

    monkeypatch.setattr(Callbacks, "goes_on", goes_on)
