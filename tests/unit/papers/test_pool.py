"""Calls in one process and in several."""

import os
import signal

import pytest

from bncc.errors import WorkerError
from bncc.papers.pool import results_of

HELD = []


def hold(factor):
    HELD[:] = [factor]


def times(call):
    return HELD[-1] * call


def end(call):
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.parametrize("jobs", [1, 2])
def test_every_result_comes_with_the_number_of_its_call(jobs):
    assert sorted(results_of(times, [5, 7, 9], jobs, hold, (10,))) == [(0, 50), (1, 70), (2, 90)]


def test_no_calls_have_no_results():
    assert list(results_of(times, [], 2)) == []


def test_a_process_that_is_killed_is_told_of():
    with pytest.raises(WorkerError, match="try fewer --jobs, and go on with --checkpoint"):
        list(results_of(end, [1, 2], 2))
