"""Files and folders that appear whole or not at all, and never over another without ``--force``."""

import errno
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from bncc._types import StrPath
from bncc.errors import OptionError
from bncc.model.atomic import write_whole

_REMEDIES = {
    errno.ENOSPC: "the disk is full; free some space and run the command again",
    errno.EDQUOT: "the disk quota is used up; free some space and run the command again",
    errno.EACCES: "permission denied; choose another place or change its permissions",
    errno.EPERM: "not permitted; choose another place or change its permissions",
    errno.EROFS: "the file system is read-only; choose another place",
    errno.ENOENT: "no such file or directory; check the path",
    errno.ENOTDIR: "a part of the path is not a directory; check the path",
    errno.EISDIR: "it is a directory; name a file",
    errno.ENAMETOOLONG: "the file name is too long; choose a shorter one",
}


def os_error_sentence(error: OSError) -> str:
    """Say in one sentence what the operating system refused and what to do.

    Parameters
    ----------
    error : OSError
        As raised by a file operation.

    Returns
    -------
    str
        The file, when known, and the remedy.
    """
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
    """Refuse an output path that is taken or has no place, before any work is done.

    Parameters
    ----------
    path : path
        The file to be written, or with `directory` the folder to be filled.
    force : bool
        Whether an existing file may be replaced.
    directory : bool
        A folder may exist; what it holds is checked when it is published.
    sources : iterable of path or None
        Files that the command reads; none of them is replaced, whatever `force` says.

    Raises
    ------
    OptionError
        If the file exists and may not be replaced, is of the wrong kind or a source, or its folder
        is absent or not writable.
    """
    path = Path(path)
    if directory and path.is_dir():
        _check_writable(path)
        return
    if path.is_dir():
        raise OptionError(f"'{path}' is a directory; name a file to write")
    if path.exists() or path.is_symlink():
        if directory:
            raise OptionError(f"'{path}' exists and is not a directory; choose another name")
        if not path.is_file():
            raise OptionError(f"'{path}' is not a regular file; choose another name")
        if not force:
            raise OptionError(f"'{path}' exists; give --force to replace it, or another name")
        if any(_is_same(path, source) for source in sources if source is not None):
            raise OptionError(f"'{path}' is what the command reads; give the output another name")
    if not path.parent.is_dir():
        raise OptionError(f"the directory '{path.parent}' does not exist; create it first")
    _check_writable(path.parent)


def _is_same(path: Path, source: StrPath) -> bool:
    try:
        return path.samefile(source)
    except (OSError, ValueError):
        return False  # there is no such source, which its reader says better


def _check_writable(directory: Path) -> None:
    if not os.access(directory, os.W_OK | os.X_OK):
        raise OptionError(f"'{directory}' is not writable; choose another place for the output")


def write_file(path: StrPath, content: bytes, *, force: bool) -> None:
    """Write a file whole or not at all.

    Parameters
    ----------
    path : path
        Where to.
    content : bytes
        All of it.
    force : bool
        Whether an existing file may be replaced.

    Raises
    ------
    OptionError
        If the path is taken or has no place.
    OSError
        If the disk is full or fails; nothing is left behind then.
    """
    check_free(path, force=force)
    write_whole(path, content)


@contextmanager
def staged_directory(path: StrPath, *, force: bool) -> Iterator[Path]:
    """Fill a folder whole or not at all.

    What the body writes into the yielded folder appears under `path` when the body ends without
    an exception; other files in an existing folder stay as they are.

    Parameters
    ----------
    path : path
        The folder to fill; made if absent.
    force : bool
        Whether files in it may be replaced.

    Yields
    ------
    Path
        An empty folder beside or in the final one.

    Raises
    ------
    OptionError
        If the folder has no place, or holds one of the files and `force` is not given.
    OSError
        If the disk is full or fails; the folder is then as it was.
    """
    path = Path(path)
    check_free(path, force=force, directory=True)
    home = path if path.is_dir() else path.parent
    stage = Path(tempfile.mkdtemp(prefix=".bncc-", dir=home))
    try:
        new = stage / "new"
        new.mkdir()
        yield new
        if path.is_dir():
            _merge(new, path, stage / "old", force=force)
        else:
            new.rename(path)
    finally:
        shutil.rmtree(stage, ignore_errors=True)


def _merge(new: Path, target: Path, old: Path, *, force: bool) -> None:
    """Move the files of `new` into `target`; on any failure put back what was there."""
    names = sorted(file.relative_to(new) for file in new.rglob("*") if not file.is_dir())
    taken = [name for name in names if os.path.lexists(target / name)]
    for name in taken:
        if (target / name).is_dir():
            raise OptionError(f"'{target / name}' is a directory; choose another output place")
    if taken and not force:
        raise OptionError(
            f"'{target / taken[0]}' exists; give --force to replace it, or another directory"
        )
    made: list[Path] = []
    moved: list[Path] = []
    try:
        for name in names:
            _make_folders(target, name, made)
            if os.path.lexists(target / name):
                (old / name).parent.mkdir(parents=True, exist_ok=True)
                (target / name).rename(old / name)
            moved.append(name)
            (new / name).rename(target / name)
    except BaseException:
        for name in moved:
            (target / name).unlink(missing_ok=True)
            if os.path.lexists(old / name):
                (old / name).rename(target / name)
        for folder in reversed(made):
            folder.rmdir()
        raise


def _make_folders(target: Path, name: Path, made: list[Path]) -> None:
    for folder in reversed(name.parents[:-1]):
        if not (target / folder).is_dir():
            (target / folder).mkdir()
            made.append(target / folder)
