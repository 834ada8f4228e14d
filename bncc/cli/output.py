"""Files and folders written atomically, and never over an existing one without ``--force``."""

import errno
import json
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from bncc._types import StrPath
from bncc.errors import OptionError
from bncc.model.atomic import hold_file, is_held, is_old, write_whole

_REMEDIES = {
    errno.ENOSPC: "the disk is full; free some space and run the command again",
    errno.EDQUOT: "the disk quota is used up; free some space and run the command again",
    errno.EACCES: "permission denied; choose another path or change its permissions",
    errno.EPERM: "not permitted; choose another path or change its permissions",
    errno.EROFS: "the file system is read-only; choose another path",
    errno.ENOENT: "no such file or directory; check the path",
    errno.ENOTDIR: "a part of the path is not a directory; check the path",
    errno.EISDIR: "it is a directory; name a file",
    errno.EBADF: "standard output is closed; redirect it to a file, or to /dev/null",
    errno.ENAMETOOLONG: "the file name is too long; choose a shorter one",
}
_PREFIX = ".bncc-"
_LOCK = "lock"
"""Locked while the process of a stage is alive."""
_JOURNAL = "journal.json"
"""Exists while files are being replaced: all names, and those that existed before."""
INTERRUPTED = "interrupted; nothing was left half-written"


def os_error_sentence(error: OSError) -> str:
    """Describe in one sentence what the operating system refused and the remedy."""
    reason = error.strerror or str(error) or type(error).__name__
    said = _REMEDIES.get(error.errno or 0, f"{reason}; check the path and the disk")
    return f"'{os.fsdecode(error.filename)}': {said}" if error.filename else said


def check_free(
    path: StrPath,
    *,
    force: bool,
    directory: bool = False,
    sources: Iterable[StrPath | None] = (),
) -> None:
    """Refuse an output path that is taken or has no parent folder, before any work is done."""
    path = Path(path)
    if directory and path.is_dir():
        _check_writable(path)
        return
    if path.is_dir():
        raise OptionError(f"'{path}' is a directory; name an output file")
    if path.exists() or path.is_symlink():
        if directory:
            raise OptionError(f"'{path}' exists and is not a directory; choose another name")
        if not path.is_file():
            raise OptionError(f"'{path}' is not a regular file; choose another name")
        if any(_is_same(path, source) for source in sources if source is not None):
            raise OptionError(f"'{path}' is an input of the command; choose another output name")
        if not force:
            raise OptionError(
                f"'{path}' exists; use --force to overwrite it, or choose another name"
            )
    if not path.parent.is_dir():
        raise OptionError(f"the directory '{path.parent}' does not exist; create it first")
    _check_writable(path.parent)


def _is_same(path: Path, source: StrPath) -> bool:
    try:
        return path.samefile(source)
    except (OSError, ValueError):
        return False  # there is no such source, which its reader reports better


def _check_writable(directory: Path) -> None:
    if not os.access(directory, os.W_OK | os.X_OK):
        raise OptionError(f"'{directory}' is not writable; choose another output directory")


def write_file(path: StrPath, content: bytes, *, force: bool) -> None:
    """Write a file atomically."""
    check_free(path, force=force)
    write_whole(path, content)


@contextmanager
def staged_directory(path: StrPath, *, force: bool) -> Iterator[Path]:
    """
    Fill a folder atomically.

    Files that the body writes into the yielded folder appear in `path` when the body ends without
    an exception; other files in an existing folder are kept. Leftovers of a killed process in
    `path` are first restored to their state before that process.
    """
    import tempfile  # only here: its import is slow, and every command imports this module

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
    """Move the files of a stage into a folder; a failure leaves a journal for the recovery."""
    new, old = stage / "new", stage / "old"
    names = sorted(str(file.relative_to(new)) for file in new.rglob("*") if not file.is_dir())
    taken = [name for name in names if os.path.lexists(target / name)]
    for name in taken:
        if (target / name).is_dir():
            raise OptionError(f"'{target / name}' is a directory; choose another output directory")
    if taken and not force:
        raise OptionError(
            f"'{target / taken[0]}' exists; use --force to overwrite it, or choose another "
            "directory"
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
    Restore files that a stage has half replaced, then remove it; it can be repeated if interrupted.

    The state of each file determines the action: a name that is still in ``new`` was not touched.
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
    """Remove the stages of dead processes in a folder."""
    with suppress(OSError):
        for stage in [each for each in home.iterdir() if each.name.startswith(_PREFIX)]:
            with suppress(OSError):
                if stage.is_dir() and not stage.is_symlink() and _is_left(stage):
                    _remove(stage)


def _is_left(stage: Path) -> bool:
    """Return whether a stage is abandoned, and nothing in it is the only copy of a file."""
    if (stage / _LOCK).exists():
        return not is_held(stage / _LOCK)
    # Not locked yet, or of an earlier version, which moved the user's files to their place.
    return is_old(stage) and not (stage / "old").exists()
