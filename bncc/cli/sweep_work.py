"""Execution of a sweep, with progress."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from time import monotonic

from bncc.cli.console import Console
from bncc.cli.sweep_report import error_of
from bncc.interrupts import StopRequest
from bncc.search.fingerprint import Facts
from bncc.search.pool import Execution, Outcome
from bncc.search.space import Space
from bncc.search.storage import Place
from bncc.search.study import Journal, journal, work_on
from bncc.search.trial_result import Point


def swept(
    console: Console,
    place: Place,
    space: Space,
    facts: Facts,
    n_trials: int,
    stop: StopRequest,
    workers: Callable[[], AbstractContextManager[Execution]],
    time_limit: float | None = None,
) -> Journal:
    """Work on a study until it is complete, or a stop is requested."""
    end = None if time_limit is None else monotonic() + time_limit
    with journal(place, space, facts) as book, console.progress("sweep") as advance:

        def show() -> None:
            least = min((p.validation.mean for p in book.finished.values()), default=None)
            said = "" if least is None else f", best error {100 * least:.2f} %"
            done = len(book.finished)
            advance(min(1.0, done / n_trials), f"{done} of {n_trials}{said}")

        def tell(outcome: Outcome) -> None:
            console.detail(_line(outcome))
            show()

        stop.is_armed = True
        show()
        if len(book.finished) < n_trials:
            with workers() as execution:
                work_on(
                    book, execution, n_trials, tell=tell, stop=lambda: stop.is_wanted,
                    no_more=lambda: end is not None and monotonic() >= end,
                )  # fmt: skip
    return book


def _line(outcome: Outcome) -> str:
    point: Point | None = outcome.result
    if point is None:
        return f"trial {outcome.number} failed: {outcome.reason}"
    return (
        f"trial {point.number}: {error_of(point)} error rate on validation rows, in "
        f"{point.seconds:.1f} s"
    )
