"""The course of a descent: who hears of it, where it is kept, and what ends it early."""

from collections.abc import Callable
from time import monotonic

from bncc.train.checkpoint.snapshot import Moment
from bncc.train.gradient.engine import Passed
from bncc.train.interrupts import StopRequest

News = Passed | str | None
"""What the last epoch says, or words of what goes before the descent; None for neither."""
Progress = Callable[[int, int, News], None]
"""Called with (epochs done, epochs of all trainings, news)."""

STRUCTURE_STEPS = 1000
"""Stands for epochs while a structure is learned before the descent."""

INTERVAL = 5.0
"""Seconds between two checkpoints at least."""
LARGEST_SHARE = 0.05
"""Of the time, that checkpoints may take."""


class Course:
    """What accompanies one descent."""

    def __init__(
        self,
        progress: Progress | None = None,
        start: Moment | None = None,
        keep: Callable[[Moment], None] | None = None,
        stop: StopRequest | None = None,
        *,
        is_last: bool = True,
    ) -> None:
        self.start = start
        self.stopped_after: int | None = None
        self._progress, self._keep, self._stop, self._is_last = progress, keep, stop, is_last
        self._due = 0.0

    def tell(self, share: float, words: str) -> None:
        """Tell of what is learned without epochs: a structure before the descent, or a margin."""
        if self._progress is not None:
            self._progress(round(share * STRUCTURE_STEPS), STRUCTURE_STEPS, words)

    def disarm(self) -> None:
        """Let the first Ctrl-C end what is left, where there is no descent to end early."""
        if self._stop is not None:
            self._stop.is_armed = False

    def goes_on(
        self, epoch: int, epochs: int, passed: Passed, moment: Callable[[], Moment]
    ) -> bool:
        """Tell of an epoch."""
        if self._progress is not None:
            self._progress(epoch, epochs, passed)
        is_stopped = self._stop is not None and self._stop.is_wanted
        if self._keep is not None and (is_stopped or monotonic() >= self._due):
            begin = monotonic()
            self._keep(moment())
            took = monotonic() - begin
            self._due = begin + took + max(INTERVAL, took / LARGEST_SHARE)
        if self._stop is not None:
            self._stop.is_armed = True
        if is_stopped and not (self._is_last and epoch == epochs):
            self.stopped_after = epoch
        return not is_stopped
