"""The course of a training: who hears of it, where it is kept, what ends it early."""

from collections.abc import Callable
from time import monotonic

from bncc.errors import CheckpointError
from bncc.interrupts import StopRequest
from bncc.model.model import Model
from bncc.train.checkpoint.folder import Checkpoint, Identity, Saved
from bncc.train.checkpoint.snapshot import TrainingState
from bncc.train.gradient.engine import Passed

News = Passed | str | None
"""What the last epoch says, or words of what goes before the descent; None for neither."""
EpochProgress = Callable[[int, int, News], None]
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
        progress: EpochProgress | None = None,
        start: TrainingState | None = None,
        keep: Callable[[TrainingState], None] | None = None,
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
        self, epoch: int, epochs: int, passed: Passed, moment: Callable[[], TrainingState]
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


class Session:
    """A training on its way."""

    def __init__(
        self,
        epochs: int,
        n_runs: int,
        progress: EpochProgress | None = None,
        stop: StopRequest | None = None,
    ) -> None:
        self.first: Model | None = None
        self.not_kept: str | None = None
        self._has_kept = False
        self.epochs, self._n_runs = epochs, n_runs
        self._progress, self._stop = progress, stop
        self._checkpoint: Checkpoint | None = None
        self._identity: Identity = {}
        self._start: TrainingState | None = None

    def keep_in(self, checkpoint: Checkpoint, identity: Identity) -> str | None:
        """Keep the training from now on, and go on from what was kept, if that is wanted."""
        self._checkpoint, self._identity = checkpoint, identity
        if not checkpoint.resume:
            return None
        saved = checkpoint.load(identity)
        if saved is None:
            return f"'{checkpoint.folder}' holds no checkpoint yet; training began at the start"
        self.first, self._start = saved.first, saved.moment
        done = saved.moment.epoch + (0 if saved.first is None else self.epochs)
        return f"training went on after {done} of {self._n_runs * self.epochs} epochs"

    def course(self, run: int) -> Course:
        """Return what accompanies a descent."""
        start, self._start = self._start, None
        keep = None if self._checkpoint is None else self._keep
        is_last = run + 1 == self._n_runs
        return Course(self._progress_of(run), start, keep, self._stop, is_last=is_last)

    def _keep(self, moment: TrainingState) -> None:
        assert self._checkpoint is not None
        try:
            self._checkpoint.save(Saved(self._identity, moment, self.first))
        except CheckpointError as error:
            # Only an epoch is lost by then; later ones are worth more than being kept.
            if not self._has_kept:
                raise
            self.not_kept = str(error)
        else:
            self._has_kept, self.not_kept = True, None

    def _progress_of(self, run: int) -> EpochProgress | None:
        if self._progress is None:
            return None
        progress, n_runs = self._progress, self._n_runs

        def report(epoch: int, epochs: int, news: News) -> None:
            progress(run * epochs + epoch, n_runs * epochs, news)

        return report
