"""The same training with several seeds: how far its errors can be trusted."""

from dataclasses import dataclass, replace

from bncc.data.dataset import Dataset
from bncc.train.checkpoint.callbacks import News, Progress
from bncc.train.checkpoint.folder import Checkpoint
from bncc.train.interrupts import StopRequest
from bncc.train.settings import TrainSettings
from bncc.train.train_model import TrainResult, train_model


class _AbandonedError(Exception):
    """A training behind the first one is not to be ended."""


@dataclass(frozen=True)
class Repeats:
    """Trainings that differ in their seeds alone."""

    # By seed, at least one; all but a first one that stands alone were done
    results: tuple[TrainResult, ...]
    asked: int  # How many there were to be

    @property
    def first(self) -> TrainResult:
        """The training of the first seed, whose model counts."""
        return self.results[0]

    @property
    def is_short(self) -> bool:
        """Whether they were ended early."""
        return self.first.is_interim or len(self.results) < self.asked

    @property
    def seconds(self) -> float:
        """Wall time of all."""
        return sum(result.seconds for result in self.results)

    @property
    def notes(self) -> tuple[str, ...]:
        """What the user should know, each sentence once."""
        return tuple(dict.fromkeys(note for result in self.results for note in result.notes))

    def errors(self, part: str) -> tuple[float, ...] | None:
        """Return fractions of wrong decisions by seed."""
        found = [result.model.training[f"error_{part}"] for result in self.results]
        return None if None in found else tuple(found)


def train_repeats(
    dataset: Dataset,
    settings: TrainSettings,
    repeats: int,
    *,
    test: Dataset | None = None,
    progress: Progress | None = None,
    checkpoint: Checkpoint | None = None,
    stop: StopRequest | None = None,
) -> Repeats:
    """Train with one seed after the other, from that of the settings on."""
    assert checkpoint is None or repeats == 1
    seeded = [replace(settings, seed=settings.seed + k) for k in range(repeats)]
    results: list[TrainResult] = []
    for k, one in enumerate(seeded):
        # A descent ends by itself where it is asked to, with the model so far.
        gives_up = stop if results and not settings.descends else None
        try:
            result = train_model(
                dataset,
                one,
                test=test,
                progress=_part(progress, k, repeats, gives_up),
                checkpoint=checkpoint,
                stop=stop,
            )
        except _AbandonedError:
            break
        if not (results and result.is_interim):
            results.append(result)
        if stop is not None:
            stop.is_armed = True
        if result.is_interim or (stop is not None and stop.is_wanted):
            break
    return Repeats(tuple(results), repeats)


def _part(
    progress: Progress | None, k: int, repeats: int, gives_up: StopRequest | None
) -> Progress | None:
    """Return what tells of a training as of a part of all, and leaves it where that is asked."""
    if progress is None and gives_up is None:
        return None

    def report(done: int, total: int, news: News) -> None:
        if gives_up is not None and gives_up.is_wanted:
            raise _AbandonedError
        if progress is not None:
            progress(k * total + done, repeats * total, news)

    return report
