"""Candidates of a search whose C cannot be built or run, so the search continues without them."""

from collections.abc import Sequence

from bncc.errors import MeasurementError
from bncc.search.log import Result

FAILED = "failed"
"""Key of a result with the reason why some C of its candidate could not be measured."""
MOST_FAILURES = 20
"""Number of failures without any success from which on the tools are to blame."""
_NOTE = "some C could not be measured, and the search continued without it: "


def failed(reasons: Sequence[str]) -> Result:
    """Return the part of a result about C that could not be measured: the first reason."""
    return {FAILED: reasons[0]} if reasons else {}


def is_of_unmeasured(note: str) -> bool:
    """Return whether a note is about C that could not be measured."""
    return note.startswith(_NOTE)


class Unmeasured:
    """Candidates that could not be measured so far, each with its first reason."""

    def __init__(self) -> None:
        self._reasons: dict[str, str] = {}
        self._n_failures, self._is_any_measured = 0, False

    def add(self, name: str, found: Result) -> None:
        """Note the reason in a result, if any, or that it has figures."""
        if FAILED in found:
            self.add_failure(name, str(found[FAILED]))
        elif found.get("price") is not None:
            self.add_success()

    def add_success(self) -> None:
        """Note that the tools work."""
        self._is_any_measured = True

    def add_failure(self, name: str, reason: str) -> None:
        """Note the reason of a failure; end a search that has measured nothing yet."""
        self._n_failures += 1
        self._reasons.setdefault(name, reason)
        if not self._is_any_measured and self._n_failures >= MOST_FAILURES:
            raise self.error("no candidate can be measured")

    @property
    def notes(self) -> list[str]:
        """One warning about all, empty without any."""
        return [f"{_NOTE}{self._words}"] if self._reasons else []

    def error(self, what: str) -> MeasurementError:
        """Return the error of a search that ends for lack of measurements."""
        return MeasurementError(f"{what}: {self._words}")

    @property
    def is_any(self) -> bool:
        """True if anything could not be measured."""
        return bool(self._reasons)

    def __contains__(self, name: str) -> bool:
        """Return whether some C of a candidate could not be measured."""
        return name in self._reasons

    @property
    def _words(self) -> str:
        """Name the first, with the reason, and the number of others."""
        (first, reason), *others = self._reasons.items()
        return f"{first!r}{f' and {len(others)} more' * bool(others)}: {reason}"
