"""Task pool on a cluster of dask.distributed, whose workers may join, leave and be killed."""

import logging
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from queue import Empty, SimpleQueue
from secrets import token_hex
from time import monotonic
from typing import Any

import bncc
from bncc.errors import StudyError, extra_command
from bncc.search.pool import MOST_DEATHS, Outcome, Run, Task, died, outcome_of

NEEDED = f"--scheduler needs dask.distributed; run {extra_command('sweep')}"
_PATIENCE = 10.0
"""Timeout in seconds for an unresponsive scheduler."""

_HELD: dict[str, tuple[Any, Run]] = {}
"""In a worker: the shared data, by the name of the work."""
_ONE_AT_A_TIME = threading.Lock()
"""In a worker: lock, since training does not support several threads."""


@contextmanager
def dask_cluster(
    work: Any, address: str, run: Run, goes_on: str = "which resumes the study"
) -> Iterator["DaskCluster"]:
    """
    Work on tasks on a running cluster.

    `goes_on` describes the effect of repeating the command.
    """
    try:
        import distributed
    except ImportError as error:
        raise StudyError(NEEDED) from error
    for name in logging.Logger.manager.loggerDict:
        if name.startswith("distributed"):  # each has a level of its own
            logging.getLogger(name).setLevel(logging.CRITICAL)
    connect: Any = distributed.Client  # partly annotated
    try:
        client = connect(address, timeout=_PATIENCE, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise StudyError(
            f"no scheduler responds at '{address}'; start one with `dask scheduler`, or correct "
            "--scheduler"
        ) from error
    name = f"bncc-{token_hex(8)}"
    try:
        _check_workers(client, address)
        client.register_plugin(_carry(name, work, run), name=name)
        yield DaskCluster(client, name, address, goes_on)
    finally:
        with suppress(Exception):  # a scheduler that is gone has no record of us
            client.unregister_worker_plugin(name)
        client.close(timeout=_PATIENCE)


class DaskCluster:
    """Tasks on a cluster."""

    def __init__(self, client: Any, name: str, address: str, goes_on: str) -> None:
        self._client, self._name, self._address = client, name, address
        self._goes_on = goes_on
        self._tasks: dict[int, tuple[Task, Any]] = {}
        self._done: SimpleQueue[int] = SimpleQueue()
        self._attempts: Counter[int] = Counter()
        self._lost_since: float | None = None
        self._n_workers = 0

    @property
    def n_slots(self) -> int:
        """Current number of workers; 1 while there are none, so that a task waits for the first."""
        with suppress(Exception):  # `collect` reports the loss of the scheduler
            self._n_workers = len(self._client.nthreads())
        return max(1, self._n_workers)

    def submit(self, task: Task) -> None:
        """Start a task."""
        self._check_scheduler()
        self._attempts[task.number] += 1
        key = f"{self._name}-{task.number}-{self._attempts[task.number]}"
        future = self._client.submit(_run_there, self._name, task, key=key, pure=False)
        self._tasks[task.number] = task, future
        future.add_done_callback(lambda _: self._done.put(task.number))

    def collect(self, timeout: float) -> Sequence[Outcome]:
        """Wait for the outcome of any task."""
        try:
            number = self._done.get(timeout=timeout)
        except Empty:
            self._check_scheduler()
            return ()
        task, future = self._tasks.pop(number)
        outcome = self._outcome(task, future)
        return () if outcome is None else (outcome,)

    def _outcome(self, task: Task, future: Any) -> Outcome | None:
        """Return the outcome of a task; None if it was restarted."""
        from concurrent.futures import CancelledError

        from distributed.scheduler import KilledWorker

        try:
            outcome = future.result()
        except KilledWorker:
            return died(task)
        except CancelledError:
            self._check_scheduler()
            if self._attempts[task.number] >= MOST_DEATHS:
                return died(task)
            self.submit(task)
            return None
        assert isinstance(outcome, Outcome)
        return outcome

    def _check_scheduler(self) -> None:
        if self._client.status == "running":
            self._lost_since = None
            return
        self._lost_since = self._lost_since or monotonic()
        if self._client.status == "closed" or monotonic() - self._lost_since > _PATIENCE:
            raise StudyError(
                f"the scheduler at '{self._address}' is no longer reachable; restart it and "
                f"repeat the command, {self._goes_on}"
            )


def _carry(name: str, work: Any, run: Run) -> Any:
    """Return the plugin that sends data to each worker, whenever it joins."""
    from distributed import WorkerPlugin

    class Carry(WorkerPlugin):
        def setup(self, worker: Any) -> None:
            _hold(name, work, run)

        def teardown(self, worker: Any) -> None:
            _let_go(name)

    return Carry()


def _hold(name: str, work: Any, run: Run) -> None:
    _HELD[name] = work, run


def _let_go(name: str) -> None:
    _HELD.pop(name, None)


def _run_there(name: str, task: Task) -> Outcome:
    """Work on a task in a worker."""
    with _ONE_AT_A_TIME:
        work, run = _HELD[name]
        return outcome_of(work, task, run)


def _check_workers(client: Any, address: str) -> None:
    versions: Mapping[str, Any] = client.run(_version, on_error="return")
    if not versions:
        raise StudyError(
            f"the scheduler at '{address}' has no workers; start some with `dask worker {address}`"
        )
    for found in versions.values():
        if found != bncc.__version__:
            other = found if isinstance(found, str) else "none"
            raise StudyError(
                f"a worker of '{address}' has bncc {other}, and this process {bncc.__version__}; "
                "install the same version there"
            )


def _version() -> str:
    return bncc.__version__
