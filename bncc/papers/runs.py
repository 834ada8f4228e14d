"""Calls with kept results: each is made once, in this process or in several."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TypeVar

from bncc import __version__
from bncc.errors import OptionError
from bncc.search.log import Log as TaskLog
from bncc.search.log import Result, key_of
from bncc.search.pool import workers

__all__ = ["Log", "Program", "Result", "digest_of", "kept", "key_of", "workers"]

Given = TypeVar("Given")
Call = TypeVar("Call")


@dataclass(frozen=True)
class Program:
    """Name, source files and engine that determine results."""

    name: str  # Name in messages
    texts: tuple[str, ...]  # Folders and files of bncc whose Python and C determine results
    # Returns the training engine where settings leave it open, if that makes a difference
    engine: Callable[[], str] | None = None

    def head(self) -> dict[str, str]:
        """Return the first line of a log."""
        head = {"program": digest_of(self.texts), "bncc": __version__}
        return head if self.engine is None else {**head, "engine": self.engine()}

    def refusal(self, path: Path | None, head: Mapping[str, object]) -> OptionError:
        """Return the error for the log of another program, or of another engine."""
        if head.get("program") == digest_of(self.texts) and self.engine is not None:
            return OptionError(
                f"'{path}' has results of engine '{head.get('engine')}', which rounds "
                f"differently from '{self.engine()}', the engine on this computer; name another "
                "file with --checkpoint"
            )
        return OptionError(
            f"'{path}' is not a checkpoint of this version of {self.name}, and results of two "
            "versions are not mixed; name another file with --checkpoint"
        )


class Log(TaskLog):
    """Log of the results of a program; results of two programs are not mixed."""

    def __init__(self, path: Path | None, program: Program) -> None:
        super().__init__(path, program.head(), partial(program.refusal, path))


@cache
def digest_of(texts: tuple[str, ...]) -> str:
    """Return the fingerprint of a program: a hash of its Python and C."""
    digest = sha256(__version__.encode())
    for name in texts:
        for text in _texts(files("bncc").joinpath(*name.split("/"))):
            digest.update(text)
    return digest.hexdigest()[:16]


def _texts(place: Traversable) -> list[bytes]:
    if place.is_dir():
        items = sorted(place.iterdir(), key=lambda item: item.name)
        return [text for item in items for text in _texts(item)]
    return [place.read_bytes()] if place.name.endswith((".py", ".c", ".h")) else []


Told = Callable[[int, int, Call, Result], object]
"""Callback for each result, known ones first: number done, total number, the call, the result.
"""
Kept = Callable[[Sequence[Call], Told[Call]], list[Result]]
"""Makes the calls without a known result, and returns the results of all."""


@contextmanager
def kept(
    function: Callable[[Given, Call], Result],
    given: Given,
    key: Callable[[Call], str],
    log: Log,
    jobs: int,
) -> Iterator[Kept[Call]]:
    """Provide processes for calls of a function, whose results a log keeps."""
    with workers(function, given, jobs) as run:

        def results(calls: Sequence[Call], told: Told[Call]) -> list[Result]:
            keys = [key(call) for call in calls]
            by_key = dict(zip(keys, calls, strict=True))
            todo = {name: call for name, call in by_key.items() if name not in log}
            known = [name for name in by_key if name in log]
            for done, name in enumerate(known, 1):
                told(done, len(by_key), by_key[name], log[name])
            waiting = list(todo)
            answers = run(list(todo.values()))
            for done, (index, result) in enumerate(answers, len(known) + 1):
                log.add(waiting[index], result)
                told(done, len(by_key), todo[waiting[index]], result)
            return [log[name] for name in keys]

        yield results
