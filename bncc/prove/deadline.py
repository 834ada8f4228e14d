"""The end of a proof's time, which the inner loops of its operations watch."""

from time import monotonic

from bncc.prove.values import UndecidedError

REASON = "time-limit"
"""Reason of the verdict of a proof that takes too long."""


class Deadline:
    """When a proof has to end."""

    def __init__(self, at: float | None = None) -> None:
        self._at = at  # On the monotonic clock; None if it may take any time

    @property
    def is_over(self) -> bool:
        """True if there is no time left."""
        return self._at is not None and monotonic() > self._at

    def check(self) -> None:
        """Give up if there is no time left."""
        if self.is_over:
            raise UndecidedError(REASON, "the time limit is reached")

    def lift(self) -> None:
        """Allow any time for what follows the proof, such as its certificate."""
        self._at = None
