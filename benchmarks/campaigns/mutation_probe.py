"""
Plugin of pytest for `mutation_sample`: records the tests that reach a probe, and selects tests.

With ``mutation_probe.json`` in the folder of this file, each test that executes probe k is written
to the file named there. The probes in a cached value or a fixture count for each test that uses
it. With the environment variable ``MUTATION_TESTS`` only the tests of that file run, in its order.
"""

import builtins
import functools
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from pluggy import HookimplMarker  # pytest's own, but quick to import

hookimpl = HookimplMarker("pytest")
CONFIG = Path(__file__).resolve().with_suffix(".json")
_VARIABLE = "PYTEST_CURRENT_TEST"
_OURS = ("bncc", "tests")
_SIDE = "_mutation_probe_"
_computing: list[set[int]] = []
_seen: set[tuple[int, str]] = set()
_fixtures: dict[Any, set[int]] = {}
_files: dict[str, list[int]] = {}
_out = ""


def hit(*ks: int) -> str:
    """Record that the current test executed these probes; return an empty string."""
    for kept in _computing:
        kept.update(ks)
    test = os.environ.get(_VARIABLE, "?")
    for k in ks:
        if (k, test) not in _seen:
            _seen.add((k, test))
            file = os.open(_out, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
            os.write(file, f"{k}\t{test}\n".encode())
            os.close(file)
    return ""


def remembering(function: Callable[..., Any], maxsize: int | None, real: Any) -> Any:
    """Return a cached function that hits the probes of the computation again on a cache hit."""
    if not function.__module__.startswith(_OURS):
        return real(maxsize)(function)
    reach: dict[Any, set[int]] = {}

    def compute(*values: Any, **named: Any) -> Any:
        _computing.append(set())
        try:
            return function(*values, **named)
        finally:
            if kept := _computing.pop():
                reach[functools._make_key(values, named, False)] = kept

    cached = real(maxsize)(compute)

    @functools.wraps(function)
    def call(*values: Any, **named: Any) -> Any:
        value = cached(*values, **named)
        if reach:
            hit(*reach.get(functools._make_key(values, named, False), ()))
        return value

    call.cache_clear, call.cache_info = cached.cache_clear, cached.cache_info
    return call


_Property = functools.cached_property


class RememberingProperty(_Property):
    """A cached property that does the same, for classes of bncc alone."""

    def __new__(cls, func: Any) -> Any:
        """Return a plain property for the class of another package, which may inspect its type."""
        is_ours = func.__module__.startswith(_OURS)
        return super().__new__(cls) if is_ours else _Property(func)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """Return the value, computed at most once for an instance."""
        if instance is None:
            return self
        known, side = instance.__dict__, f"{_SIDE}{self.attrname}"
        if self.attrname in known:
            hit(*known.get(side, ()))
            return known[self.attrname]
        _computing.append(set())
        try:
            known[self.attrname] = self.func(instance)
        finally:
            if kept := _computing.pop():
                known[side] = tuple(kept)
        return known[self.attrname]

    def __set__(self, instance: Any, value: Any) -> None:
        """Take precedence over the dictionary of an instance."""
        instance.__dict__[self.attrname] = value


def _audit(event: str, values: tuple[Any, ...]) -> None:
    """Hit the probes of C files when they are opened or passed to a compiler."""
    if event == "open" and isinstance(values[0], str) and values[0] in _files:
        hit(*_files[values[0]])


def _begin() -> None:
    global _out
    config = json.loads(CONFIG.read_text("utf-8"))
    _out = config["out"]
    _files.update(config["files"])
    builtins._mutation_hit = hit
    if _files:
        sys.addaudithook(_audit)
    real = functools.lru_cache

    def lru_cache(maxsize: Any = 128, typed: bool = False) -> Any:
        if callable(maxsize):
            return remembering(maxsize, 128, real)
        return lambda function: remembering(function, maxsize, real)

    functools.lru_cache = lru_cache
    functools.cache = lambda function: remembering(function, None, real)
    functools.cached_property = RememberingProperty


if CONFIG.exists():
    _begin()


def pytest_collectstart(collector: Any) -> None:
    """Count the probes in the import of a test file for all its tests."""
    if type(collector).__name__ == "Module" and _out:
        os.environ[_VARIABLE] = f"{collector.nodeid} (collect)"


def pytest_collection_finish() -> None:
    """Return control of the variable to pytest."""
    os.environ.pop(_VARIABLE, None)


@hookimpl(hookwrapper=True)
def pytest_fixture_setup(fixturedef: Any) -> Iterator[None]:
    """Record the probes of a fixture that several tests share."""
    if not _out or fixturedef.scope == "function":
        yield
        return
    _computing.append(set())
    yield
    _fixtures.setdefault(fixturedef, set()).update(_computing.pop())


def pytest_runtest_call(item: Any) -> None:
    """Hit the probes of the fixtures of a test."""
    names = getattr(getattr(item, "_fixtureinfo", None), "name2fixturedefs", {})
    for fixtures in names.values():
        for fixture in fixtures:
            hit(*_fixtures.get(fixture, ()))


def pytest_runtest_logstart(nodeid: str) -> None:
    """Write the name of the running test, for the supervising process."""
    if "MUTATION_NOW" in os.environ:
        text = f"{time.time()}\t{nodeid}"
        Path(os.environ["MUTATION_NOW"]).write_text(text, encoding="utf-8")


def pytest_runtest_logreport(report: Any) -> None:
    """Write the outcome and duration of each test."""
    if "MUTATION_TIMES" in os.environ and "PYTEST_XDIST_WORKER" not in os.environ:
        line = json.dumps([report.nodeid, report.when, report.outcome, report.duration])
        with Path(os.environ["MUTATION_TIMES"]).open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")


@hookimpl(trylast=True)
def pytest_collection_modifyitems(config: Any, items: list[Any]) -> None:
    """Run the selected tests in their order, first those renamed by the mutation."""
    if "MUTATION_TESTS" not in os.environ:
        return
    asked = json.loads(Path(os.environ["MUTATION_TESTS"]).read_text("utf-8"))
    order = {nodeid: k for k, nodeid in enumerate(asked["tests"])}
    known = set(asked["known"])
    kept = [item for item in items if item.nodeid in order or item.nodeid not in known]
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = sorted(kept, key=lambda item: order.get(item.nodeid, -1))


def replay() -> None:
    """Generate each product of the replay in this process, under its name."""
    from tests.replay.products import all_tasks, made

    for name in all_tasks():
        os.environ[_VARIABLE] = f"replay::{name} (call)"
        made(name)
