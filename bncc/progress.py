"""Progress reporting and cancellation of long-running work."""

from collections.abc import Callable
from dataclasses import dataclass

Progress = Callable[[float, str], None]
"""Callback with the completed share, 0 .. 1, and a short text such as the current loss."""


def silence(share: float, words: str) -> None:
    """Ignore a progress report."""


def part_of(progress: Progress, start: float, end: float) -> Progress:
    """Return the progress callback of one part of the work, scaled to its share."""
    return lambda share, words: progress(start + share * (end - start), words)


def nth_part(progress: Progress, k: int, n: int, title: str = "") -> Progress:
    """Return the progress of one of several parts that are alike, from part 0 on."""
    return lambda share, words: progress((k + share) / n, f"{title} {words}".strip())


@dataclass(frozen=True)
class Watch:
    """Progress and cancellation callbacks of work in steps."""

    progress: Progress = silence  # Called after each step
    # Called after each step; True ends the work with the current result
    should_stop: Callable[[], bool] | None = None

    def goes_on(self, noun: str, done: int, total: int) -> bool:
        """Report a step, and return whether to continue."""
        self.progress(done / total, f"{noun} {done} of {total}")
        return done < total and not (self.should_stop is not None and self.should_stop())

    def part(self, start: float, end: float) -> "Watch":
        """Return the callbacks for a part of the work."""
        return Watch(part_of(self.progress, start, end), self.should_stop)
