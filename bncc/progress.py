"""Progress of long work, in one form, and what ends it early."""

from collections.abc import Callable
from dataclasses import dataclass

Progress = Callable[[float, str], None]
"""Called with the share that is done, 0 .. 1, and a short text such as the current loss."""


def silence(share: float, words: str) -> None:
    """Report to nobody."""


def part_of(progress: Progress, start: float, end: float) -> Progress:
    """Return the progress of a part of the work, which goes from one share to another."""
    return lambda share, words: progress(start + share * (end - start), words)


def nth_part(progress: Progress, k: int, n: int, title: str = "") -> Progress:
    """Return the progress of one of several parts that are alike, from part 0 on."""
    return lambda share, words: progress((k + share) / n, f"{title} {words}".strip())


@dataclass(frozen=True)
class Watch:
    """What accompanies work in steps."""

    progress: Progress = silence  # Called after each step
    # Asked after each; the work ends where it says so, with what there is by then
    should_stop: Callable[[], bool] | None = None

    def goes_on(self, noun: str, done: int, total: int) -> bool:
        """Report a step, and return whether there is to be another one."""
        self.progress(done / total, f"{noun} {done} of {total}")
        return done < total and not (self.should_stop is not None and self.should_stop())

    def part(self, start: float, end: float) -> "Watch":
        """Return what accompanies a part of the work."""
        return Watch(part_of(self.progress, start, end), self.should_stop)
