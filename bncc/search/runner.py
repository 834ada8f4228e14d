"""The work on a study: trials are handed out until so many have finished."""

from collections.abc import Callable

from bncc.errors import TrialError
from bncc.search.executor import Execution, Outcome
from bncc.search.study import Journal

PATIENCE = 0.2
"""Seconds between two looks whether an end is wanted."""
MOST_FAILED = 10
"""Trials that may come to nothing, or as many as are wanted, if those are more."""

Tell = Callable[[Outcome], None]


def work_on(
    journal: Journal,
    execution: Execution,
    n_trials: int,
    *,
    stop: Callable[[], bool] = lambda: False,
    no_more: Callable[[], bool] = lambda: False,
    tell: Tell = lambda outcome: None,
) -> None:
    """
    Work on a study until it has so many finished trials.

    Trials that a killed process has left come first. A new one is begun only if all that are being
    worked on would not do: so the trials are the same whoever works on them, and in which order.
    """
    n_running = n_failed = 0
    while not stop():
        journal.beat()
        while (
            n_running < execution.n_slots
            and len(journal.finished) + n_running < n_trials
            and not no_more()
        ):
            execution.submit(journal.next_task())
            n_running += 1
        if n_running == 0:
            return
        for outcome in execution.collect(PATIENCE):
            n_running -= 1
            n_failed += outcome.point is None
            journal.tell(outcome)
            tell(outcome)
        if n_failed > max(MOST_FAILED, n_trials):
            reason = journal.failed[max(journal.failed)].rstrip(".")
            raise TrialError(
                f"{n_failed} trials came to nothing, the last one because {reason}; mend it, or "
                "name another --space"
            )
