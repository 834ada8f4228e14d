"""Who hears of a long piece of work, and what ends it early."""

from collections.abc import Callable
from dataclasses import dataclass

Progress = Callable[[str, int, int], None]
"""Called with what is being done ("tables" or "epochs"), how much of it, and of how much."""


@dataclass(frozen=True)
class Watch:
    """What accompanies boosting and refitting."""

    progress: Progress | None = None  # Told of each table and each epoch
    # Asked after each; the work ends where it says so, with what there is by then
    should_stop: Callable[[], bool] | None = None

    def goes_on(self, stage: str, done: int, total: int) -> bool:
        """Tell of a step, and return whether there is to be another one."""
        if self.progress is not None:
            self.progress(stage, done, total)
        return done < total and not (self.should_stop is not None and self.should_stop())
