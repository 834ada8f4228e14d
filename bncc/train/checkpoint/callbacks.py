"""Progress reporting, checkpoints and cancellation of a training."""

from collections.abc import Callable
from time import monotonic

from bncc.errors import CheckpointError
from bncc.interrupts import StopRequest
from bncc.model.model import Model
from bncc.progress import Progress, nth_part, silence
from bncc.train.checkpoint.folder import Checkpoint, Identity, Saved
from bncc.train.checkpoint.snapshot import TrainingState
from bncc.train.gradient.engine import Passed

INTERVAL = 5.0
"""Smallest number of seconds between two checkpoints."""
LARGEST_SHARE = 0.05
"""Largest fraction of the time that checkpoints may take."""


class Callbacks:
    """Progress callback, checkpoint callback and cancellation of one descent."""

    def __init__(
        self,
        progress: Progress = silence,
        start: TrainingState | None = None,
        keep: Callable[[TrainingState], None] | None = None,
        stop: StopRequest | None = None,
        *,
        is_last: bool = True,
    ) -> None:
        # Also called for learning without epochs: a structure before the descent, or a margin
        self.progress, self.start = progress, start
        self.stopped_after: int | None = None
        self._keep, self._stop, self._is_last = keep, stop, is_last
        self._due = 0.0

    def disarm(self) -> None:
        """Let the first Ctrl-C end the rest, where there is no descent to end early."""
        if self._stop is not None:
            self._stop.is_armed = False

    def goes_on(
        self, epoch: int, epochs: int, passed: Passed, moment: Callable[[], TrainingState]
    ) -> bool:
        """Report an epoch."""
        self.progress(epoch / epochs, passed.words)
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
    """A training in progress."""

    def __init__(
        self,
        epochs: int,
        n_runs: int,
        progress: Progress = silence,
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
        self._run = 0, Callbacks()

    def keep_in(self, checkpoint: Checkpoint, identity: Identity) -> str | None:
        """Save checkpoints from now on, and resume from an existing one if requested."""
        self._checkpoint, self._identity = checkpoint, identity
        if not checkpoint.resume:
            return None
        saved = checkpoint.load(identity)
        if saved is None:
            return (
                f"'{checkpoint.folder}' contains no checkpoint yet; training started from "
                "the beginning"
            )
        self.first, self._start = saved.first, saved.moment
        done = saved.moment.epoch + (0 if saved.first is None else self.epochs)
        return f"training resumed after {done} of {self._n_runs * self.epochs} epochs"

    def callbacks(self, run: int) -> Callbacks:
        """Return the callbacks of a descent."""
        start, self._start = self._start, None
        keep = None if self._checkpoint is None else self._keep
        is_last = run + 1 == self._n_runs
        progress = nth_part(self._progress, run, self._n_runs)
        self._run = run, Callbacks(progress, start, keep, self._stop, is_last=is_last)
        return self._run[1]

    @property
    def epochs_done(self) -> tuple[int, int] | None:
        """Epochs of the last descent if it ended early: those done, and those of all descents."""
        run, callbacks = self._run
        if callbacks.stopped_after is None:
            return None
        return run * self.epochs + callbacks.stopped_after, self._n_runs * self.epochs

    def _keep(self, moment: TrainingState) -> None:
        assert self._checkpoint is not None
        try:
            self._checkpoint.save(Saved(self._identity, moment, self.first))
        except CheckpointError as error:
            # At most one epoch is lost here; later ones are worth more than a checkpoint.
            if not self._has_kept:
                raise
            self.not_kept = str(error)
        else:
            self._has_kept, self.not_kept = True, None
