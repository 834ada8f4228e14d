"""Processes that work on tasks: a dead one loses nothing, and none outlives its parent."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from bncc.errors import OptionError, WorkerError
from bncc.search.pool import LocalProcesses, Outcome, Task, local_processes, run
from tests.unit.search import stand_ins


def collected(execution: LocalProcesses, n: int) -> list[Outcome]:
    """Return the outcomes of so many tasks, by number."""
    outcomes: list[Outcome] = []
    end = time.monotonic() + 300
    while len(outcomes) < n:
        assert time.monotonic() < end
        outcomes += execution.collect(0.2)
    return sorted(outcomes, key=lambda outcome: outcome.number)


def awaited(condition: Callable[[], bool]) -> None:
    """Wait until something holds."""
    end = time.monotonic() + 300
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def tasks(n: int) -> list[Task]:
    return [Task(number, {"bits": number}) for number in range(n)]


@pytest.mark.parametrize("jobs", [1, 2])
def test_each_task_comes_back_once(tmp_path: Path, jobs: int) -> None:
    with local_processes(stand_ins.workload(tmp_path), jobs, stand_ins.refused) as execution:
        assert execution.n_slots == jobs
        for task in tasks(5):
            execution.submit(task)
        outcomes = collected(execution, 5)
        assert len(execution.pids) == jobs
        assert not execution.collect(0.01)
    assert [o.number for o in outcomes] == [0, 1, 2, 3, 4]
    assert [o.reason for o in outcomes] == ["", "", "2 is too many", "", ""]
    assert [o.result and o.result.params["bits"] for o in outcomes] == [0, 1, None, 3, 4]


def test_an_error_of_the_program_is_an_outcome(tmp_path: Path) -> None:
    with local_processes(stand_ins.workload(tmp_path), 1, stand_ins.broken) as execution:
        execution.submit(Task(0, {}))
        (outcome,) = collected(execution, 1)
    assert outcome == Outcome(0, None, "internal error (ZeroDivisionError: by zero)")


def test_a_trial_whose_process_was_killed_runs_again(tmp_path: Path) -> None:
    with local_processes(stand_ins.workload(tmp_path), 2, stand_ins.deadly_once) as execution:
        for task in tasks(4):
            execution.submit(task)
        outcomes = collected(execution, 4)
    assert (tmp_path / "death").exists()
    assert [o.result and o.result.number for o in outcomes] == [0, 1, 2, 3]


def test_a_trial_that_kills_three_processes_has_failed(tmp_path: Path) -> None:
    with local_processes(stand_ins.workload(tmp_path), 2, stand_ins.deadly) as execution:
        for task in tasks(4):
            execution.submit(task)
        outcomes = collected(execution, 4)
    assert len(list(tmp_path.glob("death-*"))) == 3
    assert "killed repeatedly" in outcomes[1].reason
    assert [o.result is None for o in outcomes] == [False, True, False, False]


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_function_is_called_for_each_task(jobs: int) -> None:
    found = sorted(run(stand_ins.halved, [2, 4, 6, 9], jobs, shared=1))
    assert found == [(0, 2.0), (1, 3.0), (2, 4.0), (3, 5.5)]
    assert list(run(stand_ins.halved, [], jobs)) == []


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_a_function_raises_on_purpose_is_raised_here(jobs: int) -> None:
    with pytest.raises(OptionError, match="less than nothing"):
        list(run(stand_ins.halved, [2, -4], jobs, shared=1))


def test_what_a_function_did_not_mean_to_raise_is_said() -> None:
    with pytest.raises(WorkerError, match=r"failed: internal error \(TypeError"):
        list(run(stand_ins.halved, [2, "x"], 2, shared=1))


def test_a_process_killed_while_idle_is_replaced(tmp_path: Path) -> None:
    with local_processes(stand_ins.workload(tmp_path), 1, stand_ins.plain) as execution:
        execution.submit(Task(0, {}))
        collected(execution, 1)
        (pid,) = execution.pids
        os.kill(pid, signal.SIGKILL)
        execution.submit(Task(1, {}))
        assert collected(execution, 1)[0].result is not None
        assert execution.pids != (pid,)


def test_processes_end_with_the_block(tmp_path: Path) -> None:
    with local_processes(stand_ins.workload(tmp_path), 1, stand_ins.endless) as execution:
        execution.submit(Task(0, {}))
        awaited(lambda: bool(list(tmp_path.glob("began-*"))))
        (pid,) = execution.pids
        assert not execution.collect(0.01)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


PARENT = """
import sys
from pathlib import Path
from bncc.search.pool import Task, local_processes
from tests.unit.search import stand_ins

if __name__ == "__main__":
    with local_processes(stand_ins.workload(Path(sys.argv[1])), 2, stand_ins.endless) as execution:
        execution.submit(Task(0, {}))
        execution.submit(Task(1, {}))
        while True:
            execution.collect(1)
"""


def test_processes_end_when_their_parent_is_killed(tmp_path: Path) -> None:
    (tmp_path / "parent.py").write_text(PARENT)
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "TMPDIR": str(tmp_path)}
    parent = subprocess.Popen(
        [sys.executable, str(tmp_path / "parent.py"), str(tmp_path)], env=environ
    )
    awaited(lambda: len(list(tmp_path.glob("began-*"))) == 2)
    pids = [int(path.name.removeprefix("began-")) for path in tmp_path.glob("began-*")]
    parent.kill()
    parent.wait()
    awaited(lambda: not any(is_alive(pid) for pid in pids))


def is_alive(pid: int) -> bool:
    """Return whether a process works; one that waits to be buried by init does not."""
    try:
        os.kill(pid, 0)
        return ") Z" not in Path(f"/proc/{pid}/stat").read_text()
    except (OSError, ValueError):
        return False
