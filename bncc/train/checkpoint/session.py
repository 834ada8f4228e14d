"""The one or two descents behind a model: what is told, kept and asked of them together."""

from bncc.errors import CheckpointError
from bncc.model.model import Model
from bncc.train.checkpoint.callbacks import Course, News, Progress
from bncc.train.checkpoint.codec import Saved
from bncc.train.checkpoint.fingerprint import Identity
from bncc.train.checkpoint.folder import Checkpoint
from bncc.train.checkpoint.snapshot import Moment
from bncc.train.interrupts import StopRequest


class Session:
    """A training on its way."""

    def __init__(
        self,
        epochs: int,
        n_runs: int,
        progress: Progress | None = None,
        stop: StopRequest | None = None,
    ) -> None:
        self.first: Model | None = None
        self.not_kept: str | None = None
        self._has_kept = False
        self.epochs, self._n_runs = epochs, n_runs
        self._progress, self._stop = progress, stop
        self._checkpoint: Checkpoint | None = None
        self._identity: Identity = {}
        self._start: Moment | None = None

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

    def _keep(self, moment: Moment) -> None:
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

    def _progress_of(self, run: int) -> Progress | None:
        if self._progress is None:
            return None
        progress, n_runs = self._progress, self._n_runs

        def report(epoch: int, epochs: int, news: News) -> None:
            progress(run * epochs + epoch, n_runs * epochs, news)

        return report
