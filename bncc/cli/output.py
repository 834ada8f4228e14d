"""Files and folders that appear whole or not at all, and never over another without ``--force``."""

import errno
import os
from collections.abc import Iterable
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
    errno.EBADF: "standard output is closed; redirect it to a file, or to /dev/null",
    errno.ENAMETOOLONG: "the file name is too long; choose a shorter one",
}


def os_error_sentence(error: OSError) -> str:
    """Say in one sentence what the operating system refused and what to do."""
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
    """Refuse an output path that is taken or has no place, before any work is done."""
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
        if any(_is_same(path, source) for source in sources if source is not None):
            raise OptionError(f"'{path}' is what the command reads; give the output another name")
        if not force:
            raise OptionError(f"'{path}' exists; give --force to replace it, or another name")
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
    """Write a file whole or not at all."""
    check_free(path, force=force)
    write_whole(path, content)
