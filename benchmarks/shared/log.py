"""Logs of results, one line of JSON each, from which an interrupted program resumes."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from operator import attrgetter
from pathlib import Path
from typing import Any, TypeVar

Result = TypeVar("Result")


def last_results(
    log: Path, result: Callable[..., Result], key: Callable[[Result], str] = attrgetter("key")
) -> dict[str, Result]:
    """Return the last result of every key in a log; a truncated line is skipped."""
    found = {}
    for line in log.read_text("utf-8").splitlines() if log.exists() else ():
        try:
            values: Mapping[str, Any] = json.loads(line)
            one = result(**values)
        except (ValueError, TypeError):
            continue
        found[key(one)] = one
    return found


@contextmanager
def appending(log: Path) -> Iterator[Callable[[Any], None]]:
    """Open a log, created if missing, and yield a function that appends a result to it."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("a", encoding="utf-8") as stream:
        stream.write("\n")  # ends a line that a killed run has left
        yield lambda result: print(json.dumps(asdict(result)), file=stream, flush=True)
