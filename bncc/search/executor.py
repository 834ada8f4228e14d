"""Who works on trials: something that takes tasks and gives back what came of them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from bncc.errors import BnccError
from bncc.search.trial import run_trial
from bncc.search.trial_result import Choice, Point
from bncc.search.workload import Workload

MOST_DEATHS = 3
"""Workers that a trial may take with it before it has failed."""


@dataclass(frozen=True)
class Task:
    """A trial to work on."""

    number: int  # In the study
    params: Mapping[str, Choice]  # Values by option


@dataclass(frozen=True)
class Outcome:
    """What came of a trial."""

    number: int  # In the study
    point: Point | None  # What it has found
    reason: str = ""  # Why it has found nothing; empty with a point


Run = Callable[[Workload, int, Mapping[str, Choice]], Point]
"""`bncc.search.trial.run_trial`, or what a test puts in its place; importable by its name."""


class Execution(Protocol):
    """Works on tasks, several at a time; a task is never lost, whoever is killed."""

    @property
    def n_slots(self) -> int:
        """Tasks that can be worked on at the same time, now."""

    def submit(self, task: Task) -> None:
        """Begin with a task."""

    def collect(self, timeout: float) -> Sequence[Outcome]:
        """Wait for what comes of any task."""


def outcome_of(work: Workload, task: Task, run: Run = run_trial) -> Outcome:
    """Work on a task in this process."""
    try:
        return Outcome(task.number, run(work, task.number, task.params))
    except BnccError as error:
        return Outcome(task.number, None, str(error))
    except MemoryError:
        return Outcome(task.number, None, "not enough memory; use fewer rows, or fewer --jobs")
    except Exception as error:
        name = type(error).__name__
        return Outcome(task.number, None, f"internal error ({name}: {str(error)[:200]})")


def died(task: Task) -> Outcome:
    """Return the outcome of a task that has taken too many workers with it."""
    return Outcome(
        task.number,
        None,
        "its worker was killed each time, as for want of memory; use fewer --jobs",
    )
