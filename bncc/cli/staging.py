"""Folders of output files that are filled whole or not at all, whatever interrupts the command."""

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from bncc._types import StrPath
from bncc.cli.output import check_free
from bncc.errors import OptionError
from bncc.model.atomic import hold_file, is_held, is_old, write_whole

_PREFIX = ".bncc-"
_LOCK = "lock"
"""Locked as long as the process of a stage lives."""
_JOURNAL = "journal.json"
"""There while files are being replaced: all names, and those that were taken before."""


@contextmanager
def staged_directory(path: StrPath, *, force: bool) -> Iterator[Path]:
    """
    Fill a folder whole or not at all.

    What the body writes into the yielded folder appears under `path` when the body ends without
    an exception; other files in an existing folder stay as they are. What a killed process has
    left behind in `path` is first restored to how it was before that process.
    """
    path = Path(path)
    check_free(path, force=force, directory=True)
    for home in {path.parent, path}:
        _recover(home)
    home = path if path.is_dir() else path.parent
    stage = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=home))
    hold = None
    try:
        hold = hold_file(stage / _LOCK)
        new = stage / "new"
        new.mkdir()
        yield new
        if path.is_dir():
            _merge(stage, path, force=force)
        else:
            new.rename(path)
    finally:
        try:
            _remove(stage)
        except BaseException:  # a second Ctrl-C; a third leaves the rest to the next command
            _remove(stage)
            raise
        finally:
            if hold is not None:
                os.close(hold)


def _merge(stage: Path, target: Path, *, force: bool) -> None:
    """Move the files of a stage into a folder; a failure leaves a journal to restore it by."""
    new, old = stage / "new", stage / "old"
    names = sorted(str(file.relative_to(new)) for file in new.rglob("*") if not file.is_dir())
    taken = [name for name in names if os.path.lexists(target / name)]
    for name in taken:
        if (target / name).is_dir():
            raise OptionError(f"'{target / name}' is a directory; choose another output place")
    if taken and not force:
        raise OptionError(
            f"'{target / taken[0]}' exists; give --force to replace it, or another directory"
        )
    for name in taken:
        (old / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(target / name, old / name, follow_symlinks=False)
    parents = {parent for name in names for parent in Path(name).parents[:-1]}
    folders = sorted(str(parent) for parent in parents if not (target / parent).is_dir())
    journal = {"target": str(target.resolve()), "names": names, "taken": taken, "made": folders}
    write_whole(stage / _JOURNAL, json.dumps(journal).encode())
    for folder in folders:
        (target / folder).mkdir()
    for name in names:
        (new / name).replace(target / name)
    (stage / _JOURNAL).unlink()


def _remove(stage: Path) -> None:
    """
    Restore what a stage has half replaced, then remove it; what is interrupted can be repeated.

    The state of each file says what to do with it: a name that is still in ``new`` was not touched.
    """
    with suppress(FileNotFoundError):
        journal = json.loads((stage / _JOURNAL).read_text("utf-8"))
        target = Path(journal["target"])
        for name in journal["names"]:
            if os.path.lexists(stage / "new" / name):
                continue
            if name not in journal["taken"]:
                (target / name).unlink(missing_ok=True)
            elif os.path.lexists(stage / "old" / name):
                (stage / "old" / name).replace(target / name)
        for folder in reversed(journal["made"]):
            with suppress(OSError):
                (target / folder).rmdir()
        (stage / _JOURNAL).unlink()
    shutil.rmtree(stage, ignore_errors=True)


def _recover(home: Path) -> None:
    """Remove the stages in a folder whose processes live no more."""
    with suppress(OSError):
        for stage in [each for each in home.iterdir() if each.name.startswith(_PREFIX)]:
            with suppress(OSError):
                if stage.is_dir() and not stage.is_symlink() and _is_left(stage):
                    _remove(stage)


def _is_left(stage: Path) -> bool:
    """Return whether nobody works on a stage, and nothing in it is the only copy of a file."""
    if (stage / _LOCK).exists():
        return not is_held(stage / _LOCK)
    # Not locked yet, or of an earlier version, which moved the user's files to where they are.
    return is_old(stage) and not (stage / "old").exists()
