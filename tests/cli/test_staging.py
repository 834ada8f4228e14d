"""Folders are written whole or not at all wherever Ctrl-C, SIGTERM or kill -9 hits."""

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from bncc.cli import output
from bncc.cli.output import staged_directory

OLD = {"a.c": "mine", "sub/b.h": "mine too", "main.c": "unrelated"}
NEW = {"a.c": "new", "new/c.h": "new", "sub/b.h": "new"}
BOTH = dict(sorted({**OLD, **NEW}.items()))


def fill(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def content(folder: Path) -> dict[str, str]:
    """Return the files of a folder; a remaining staging folder counts as one file."""
    found = {str(p.relative_to(folder)): p for p in folder.rglob("*") if not p.is_dir()}
    return {name: path.read_text() for name, path in sorted(found.items())}


def replace(target: Path) -> None:
    with staged_directory(target, force=True) as stage:
        fill(stage, NEW)


FORKS = pytest.mark.skipif(not hasattr(os, "fork"), reason="forks a process to be struck")
STEP = 3
by_first = pytest.mark.parametrize("first", range(1, STEP + 1))
"""Every third line, from one of the first three on: together all lines."""


class Hit:
    """Tracer that calls a function at some of the executed lines of the module, counted from 1."""

    def __init__(self, lines: tuple[int, ...], strike: Callable[[], None]) -> None:
        self.lines, self.strike, self.seen = lines, strike, 0

    def __call__(self, frame: FrameType, event: str, _: Any) -> Any:
        if frame.f_code.co_filename != output.__file__:
            return None
        if event == "line":
            self.seen += 1
            if self.seen in self.lines:
                self.strike()
        return self

    def during(self, work: Callable[[], None]) -> None:
        before = sys.gettrace()
        sys.settrace(self)
        try:
            work()
        finally:
            sys.settrace(before)


def interrupt() -> None:
    raise KeyboardInterrupt


def struck(target: Path, lines: tuple[int, ...], strike: Callable[[], None]) -> int:
    """Replace the files of a folder in a process that is interrupted, and return its exit code."""
    fill(target, OLD)
    child = os.fork()
    if child == 0:
        code = 99
        try:
            Hit(lines, strike).during(lambda: replace(target))
            code = 0
        except KeyboardInterrupt:
            code = 130
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def users(folder: Path) -> dict[str, str]:
    """Return the files that do not belong to a staging folder."""
    return {name: text for name, text in content(folder).items() if not name.startswith(".bncc-")}


@FORKS
@by_first
def test_an_interruption_at_any_line_leaves_the_old_or_the_new(first: int, tmp_path: Path) -> None:
    outcomes = []
    for line in count(first, STEP):
        target = tmp_path / str(line) / "c"
        code = struck(target, (line,), interrupt)
        outcomes.append(users(target))
        assert (code, outcomes[-1]) in ((130, OLD), (130, BOTH), (0, BOTH)), line
        recovered(target)
        assert content(target) == outcomes[-1], line
        if code == 0:
            break
    assert outcomes.count(OLD) > 20 // STEP


@FORKS
@by_first
@pytest.mark.parametrize("later", [1, 7])
def test_two_interruptions_lose_nothing(later: int, first: int, tmp_path: Path) -> None:
    """The second comes while the first is undone: the old files are present or restored."""
    for line in count(first, STEP):
        target = tmp_path / str(line) / "c"
        code = struck(target, (line, line + later), interrupt)
        assert all(users(target)[name] in (OLD[name], BOTH[name]) for name in OLD), line
        recovered(target)
        assert content(target) in (OLD, BOTH), line
        if code == 0:
            break


@FORKS
@by_first
def test_the_next_command_clears_what_a_killed_one_left(first: int, tmp_path: Path) -> None:
    outcomes = []
    for line in count(first, STEP):
        target = tmp_path / str(line) / "c"
        code = struck(target, (line,), lambda: os._exit(9))
        assert all(users(target)[name] in (OLD[name], BOTH[name]) for name in OLD), line
        recovered(target)
        outcomes.append(content(target))
        assert outcomes[-1] in (OLD, BOTH), line
        if code == 0:
            break
    assert outcomes.count(OLD) > 20 // STEP


def recovered(target: Path) -> None:
    """Begin another command in a folder, which ends without writing."""
    stages = [each for each in target.iterdir() if each.name.startswith(".bncc-")]
    for stage in stages:
        os.utime(stage, (0, 0))
    with suppress(ZeroDivisionError), staged_directory(target, force=True):
        raise ZeroDivisionError


def test_the_only_copies_of_an_earlier_version_are_kept(tmp_path: Path) -> None:
    """An earlier version moved the user's files into its staging folder, where a kill left them."""
    fill(tmp_path, {".bncc-x1/old/a.c": "mine", ".bncc-x2/new/a.c": "half"})
    recovered(tmp_path)
    assert content(tmp_path) == {".bncc-x1/old/a.c": "mine"}


def test_the_stage_of_a_running_command_is_left_alone(tmp_path: Path) -> None:
    with staged_directory(tmp_path, force=True) as stage:
        fill(stage, NEW)
        recovered(tmp_path)
    assert content(tmp_path) == NEW
