"""Trials in processes of this machine: they end with their parent, and a dead one loses nothing."""

import os
import pickle
import signal
import sys
import tempfile
import threading
import warnings
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import connection, get_context, parent_process
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from bncc.errors import TrialError
from bncc.search.executor import MOST_DEATHS, Outcome, Run, Task, died, outcome_of
from bncc.search.trial import run_trial
from bncc.search.workload import Workload


@contextmanager
def local_processes(work: Workload, jobs: int, run: Run = run_trial) -> Iterator["LocalProcesses"]:
    """Hold processes ready to work on trials."""
    with tempfile.TemporaryDirectory(prefix="bncc-", ignore_cleanup_errors=True) as scratch:
        # A file: a pipe would have us wait until each process has imported what it needs.
        file = Path(scratch, "work.pickle")
        file.write_bytes(pickle.dumps((work, run)))
        execution = LocalProcesses(jobs, file)
        try:
            yield execution
        finally:
            execution.kill()


class LocalProcesses:
    """Trials in processes of this machine."""

    def __init__(self, jobs: int, file: Path) -> None:
        self._jobs, self._file = jobs, file
        self._waiting: deque[Task] = deque()
        self._workers: list[_Worker] = []
        self._deaths: Counter[int] = Counter()

    @property
    def n_slots(self) -> int:
        """Tasks that can be worked on at the same time."""
        return self._jobs

    @property
    def pids(self) -> tuple[int, ...]:
        """Of the processes that live."""
        return tuple(worker.process.pid for worker in self._workers)

    def submit(self, task: Task) -> None:
        """Begin with a task."""
        self._waiting.append(task)
        self._assign()

    def collect(self, timeout: float) -> Sequence[Outcome]:
        """Wait for what comes of any task."""
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
        """End all processes at once."""
        for worker in self._workers:
            worker.kill()
        self._workers.clear()

    def _bury(self, worker: "_Worker") -> list[Outcome]:
        """Forget a dead process; begin its task anew, or give it up."""
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


# Not forked: threads of torch and numpy would not live on in a copy of this process.
_CONTEXT = get_context("spawn")


def _started(theirs: Connection, file: Path) -> Any:
    """Return a process; one that is killed before it knows what to do is replaced."""
    for _ in range(MOST_DEATHS):
        process = _CONTEXT.Process(target=_serve, args=(theirs, file), daemon=True)
        try:
            process.start()
        except BrokenPipeError:
            continue
        return process
    raise TrialError("processes that shall work on trials are killed at once; use fewer --jobs")


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
        """Return what came of its task, if anything did."""
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
    """End when the parent does; leave signals of the terminal to it, and its folder the litter."""
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
