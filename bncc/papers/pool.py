"""Calls in this process or in several, each result as soon as it is there."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import Any, TypeVar

from bncc.errors import WorkerError

Call = TypeVar("Call")
Result = TypeVar("Result")


def results_of(
    function: Callable[[Call], Result],
    calls: Sequence[Call],
    jobs: int,
    begin: Callable[..., None] | None = None,
    given: tuple[Any, ...] = (),
) -> Iterator[tuple[int, Result]]:
    """Call a function for each of some arguments."""
    jobs = min(jobs, len(calls))
    if jobs <= 1:
        if begin is not None:
            begin(*given)
        yield from enumerate(map(function, calls))
        return
    with ProcessPoolExecutor(
        jobs, mp_context=get_context("spawn"), initializer=begin, initargs=given
    ) as pool:
        index_of = {pool.submit(function, call): index for index, call in enumerate(calls)}
        try:
            for future in as_completed(index_of):
                yield index_of[future], future.result()
        except BrokenProcessPool:
            raise WorkerError(
                "a process was ended from outside, perhaps as memory was short; try fewer --jobs, "
                "and go on with --checkpoint"
            ) from None
