"""Task pool: processes that end with their parent, and tasks that survive a dead process."""

import os
import pickle
import signal
import sys
import tempfile
import threading
import warnings
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from multiprocessing import connection, get_context, parent_process
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Protocol

from bncc.errors import BnccError, TrialError, WorkerError

MOST_DEATHS = 3
"""Number of workers that a task may crash before it has failed."""
PATIENCE = 0.2
"""Seconds between two checks for cancellation."""


@dataclass(frozen=True)
class Task:
    """A task."""

    number: int  # Unique number
    params: Any  # Input; with a study, values by option


@dataclass(frozen=True)
class Outcome:
    """Outcome of a task."""

    number: int  # Number of the task
    result: Any  # Its result, None if it failed
    reason: str = ""  # Reason of the failure; empty with a result
    error: BnccError | None = None  # The failure, if bncc raised it on purpose

    @property
    def failure(self) -> BnccError | None:
        """Exception to raise if a task may not fail."""
        if self.error is None and self.reason:
            return WorkerError(f"a task failed: {self.reason}")
        return self.error


Run = Callable[[Any, int, Any], Any]
"""Function of the shared data and a task; importable by its name."""


class Execution(Protocol):
    """Pool of parallel workers; a killed worker never loses a task."""

    @property
    def n_slots(self) -> int:
        """Current number of tasks that can run at the same time."""

    def submit(self, task: Task) -> None:
        """Start a task."""

    def collect(self, timeout: float) -> Sequence[Outcome]:
        """Wait for the outcome of any task."""


def run(
    call: Callable[[Any, Any], Any], tasks: Sequence[Any], jobs: int, shared: Any = None
) -> Iterator[tuple[int, Any]]:
    """
    Call ``call(shared, task)`` for each task, in this process or in several.

    Each result comes with the index of its task, as soon as it is available. `call` is importable
    by its name; its exceptions are raised here.
    """
    with workers(call, shared, min(jobs, len(tasks))) as results:
        yield from results(tasks)


Results = Callable[[Sequence[Any]], Iterator[tuple[int, Any]]]
"""Yields the index and the result of each task, as soon as it is available."""


@contextmanager
def workers(call: Callable[[Any, Any], Any], shared: Any, jobs: int) -> Iterator[Results]:
    """Provide processes for tasks, so that they start once; see `run`."""
    with ExitStack() as stack:
        held: list[LocalProcesses] = []
        numbers = count()

        def results(tasks: Sequence[Any]) -> Iterator[tuple[int, Any]]:
            if min(jobs, len(tasks)) <= 1:
                yield from enumerate(call(shared, task) for task in tasks)
                return
            if not held:
                held.append(stack.enter_context(local_processes((call, shared), jobs, _called)))
            index_of = {next(numbers): index for index in range(len(tasks))}
            for number, index in index_of.items():
                held[0].submit(Task(number, tasks[index]))
            while index_of:
                for outcome in held[0].collect(PATIENCE):
                    if outcome.number not in index_of:
                        continue  # of abandoned tasks
                    if outcome.failure is not None:
                        raise outcome.failure
                    yield index_of.pop(outcome.number), outcome.result

        yield results


def _called(work: tuple[Callable[[Any, Any], Any], Any], number: int, task: Any) -> Any:
    call, shared = work
    return call(shared, task)


def outcome_of(work: Any, task: Task, run: Run) -> Outcome:
    """Work on a task in this process."""
    try:
        return Outcome(task.number, run(work, task.number, task.params))
    except BnccError as error:
        return Outcome(task.number, None, str(error), error)
    except MemoryError:
        return Outcome(task.number, None, "not enough memory; use fewer rows, or fewer --jobs")
    except Exception as error:
        name = type(error).__name__
        return Outcome(task.number, None, f"internal error ({name}: {str(error)[:200]})")


def died(task: Task) -> Outcome:
    """Return the outcome of a task that has crashed too many workers."""
    return Outcome(
        task.number,
        None,
        "its worker was killed repeatedly, probably for lack of memory; use fewer --jobs",
    )


@contextmanager
def local_processes(work: Any, jobs: int, run: Run) -> Iterator["LocalProcesses"]:
    """Provide processes that work on tasks."""
    with tempfile.TemporaryDirectory(prefix="bncc-", ignore_cleanup_errors=True) as scratch:
        # A file: a pipe would block until each process has imported its modules.
        file = Path(scratch, "work.pickle")
        file.write_bytes(pickle.dumps((work, run)))
        execution = LocalProcesses(jobs, file)
        try:
            yield execution
        finally:
            execution.kill()


class LocalProcesses:
    """Tasks in local processes."""

    def __init__(self, jobs: int, file: Path) -> None:
        self._jobs, self._file = jobs, file
        self._waiting: deque[Task] = deque()
        self._workers: list[_Worker] = []
        self._deaths: Counter[int] = Counter()

    @property
    def n_slots(self) -> int:
        """Number of tasks that can run at the same time."""
        return self._jobs

    @property
    def pids(self) -> tuple[int, ...]:
        """Process identifiers of live workers."""
        return tuple(worker.process.pid for worker in self._workers)

    def submit(self, task: Task) -> None:
        """Start a task."""
        self._waiting.append(task)
        self._assign()

    def collect(self, timeout: float) -> Sequence[Outcome]:
        """Wait for the outcome of any task."""
        handles: dict[Any, _Worker] = {}
        for worker in self._workers:
            handles[worker.ours] = worker
            handles[worker.process.sentinel] = worker
        ready = connection.wait(list(handles), timeout)
        outcomes = []
        for worker in dict.fromkeys(handles[handle] for handle in ready):
            outcome = worker.answer()
            if outcome is not None:
                outcomes.append(outcome)
            elif not worker.process.is_alive():
                outcomes += self._bury(worker)
        self._assign()
        return outcomes

    def kill(self) -> None:
        """Terminate all processes at once."""
        for worker in self._workers:
            worker.kill()
        self._workers.clear()

    def _bury(self, worker: "_Worker") -> list[Outcome]:
        """Remove a dead process; restart its task, or give it up."""
        worker.kill()
        self._workers.remove(worker)
        task = worker.task
        if task is None:
            return []
        self._deaths[task.number] += 1
        if self._deaths[task.number] >= MOST_DEATHS:
            return [died(task)]
        self._waiting.appendleft(task)
        return []

    def _assign(self) -> None:
        while self._waiting:
            worker = next((worker for worker in self._workers if worker.task is None), None)
            if worker is None:
                if len(self._workers) >= self._jobs:
                    return
                worker = _Worker(self._file)
                self._workers.append(worker)
            worker.begin(self._waiting.popleft())


# Not forked: threads of torch and numpy would not survive in a copy of this process.
_CONTEXT = get_context("spawn")


def _started(theirs: Connection, file: Path) -> Any:
    """Return a process; one that is killed during its start is replaced."""
    for _ in range(MOST_DEATHS):
        process = _CONTEXT.Process(target=_serve, args=(theirs, file), daemon=True)
        try:
            process.start()
        except BrokenPipeError:
            continue
        return process
    raise TrialError("worker processes are killed at once; use fewer --jobs")


class _Worker:
    """A process and our end of the pipe to it."""

    def __init__(self, file: Path) -> None:
        self.ours, theirs = _CONTEXT.Pipe()
        self.process: Any = _started(theirs, file)
        self.task: Task | None = None
        theirs.close()

    def begin(self, task: Task) -> None:
        self.task = task
        with suppress(OSError):  # a dead one is found by `answer`
            self.ours.send(task)

    def answer(self) -> Outcome | None:
        """Return the outcome of its task, if there is one."""
        try:
            if not self.ours.poll():
                return None
            outcome = self.ours.recv()
        except (EOFError, OSError):
            self.process.join()
            return None
        assert isinstance(outcome, Outcome)
        self.task = None
        return outcome

    def kill(self) -> None:
        if self.process.is_alive():
            with suppress(OSError, AttributeError):
                if os.getpgid(self.process.pid) == self.process.pid:
                    os.killpg(self.process.pid, signal.SIGKILL)
            self.process.kill()
        self.process.join()
        self.process.close()
        self.ours.close()


def _serve(theirs: Connection, file: Path) -> None:
    """Work on tasks until the pipe is closed."""
    _settle(str(file.parent))
    work, run = pickle.loads(file.read_bytes())
    while True:
        try:
            task = theirs.recv()
        except EOFError:
            return
        theirs.send(outcome_of(work, task, run))


def _settle(scratch: str) -> None:
    """End with the parent; leave terminal signals and the temporary folder's removal to it."""
    if hasattr(os, "setpgid"):
        os.setpgid(0, 0)  # compilers and simulators that it starts can be killed with it
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.environ["TMPDIR"] = tempfile.tempdir = scratch
    if not sys.warnoptions:
        warnings.simplefilter("ignore")
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    assert parent is not None
    parent.join()
    if hasattr(os, "killpg"):
        os.killpg(0, signal.SIGKILL)
    os._exit(1)
