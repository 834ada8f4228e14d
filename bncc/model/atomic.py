"""Output files appear whole or not at all."""

import errno
import os
import secrets
from collections.abc import Mapping
from pathlib import Path

from bncc._types import StrPath


def write_whole(path: StrPath, data: bytes, *, half: str | None = None) -> None:
    """Write a file so that, whatever happens, its name leads to the old content or to all the new.

    Parameters
    ----------
    path : path
        Where the file goes; a link is followed, an existing file replaced.
    data : bytes
        Its content.
    half : str, optional
        Name, in the same folder, of what is not yet whole: a file of that name is what a killed
        process has left, and is removed. The default is a name that nobody else has.

    Raises
    ------
    OSError
        If the folder is missing, read-only or full; nothing is left behind then.
    """
    target = Path(os.path.realpath(path))
    temporary = target.with_name(half or f".bncc-{secrets.token_hex(8)}.tmp")
    if half is not None:
        temporary.unlink(missing_ok=True)
    try:
        with temporary.open("xb") as file:
            file.write(data)
            file.flush()
            # Without it a power cut after the rename could leave an empty file.
            os.fsync(file.fileno())
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def write_all(
    directory: StrPath, files: Mapping[str, str], *, overwrite: bool = False
) -> list[Path]:
    """Write text files into a folder, each whole.

    Parameters
    ----------
    directory : path
        The folder; made if absent.
    files : mapping of str to str
        Text by file name.
    overwrite : bool, default=False
        Whether existing files may be replaced.

    Returns
    -------
    list of Path
        The files, in the mapping's order.

    Raises
    ------
    OSError
        If a file exists and `overwrite` is not set, before anything is written; or if the disk
        refuses.
    """
    paths = [Path(directory) / name for name in files]
    for path in paths:
        if path.exists() and not overwrite:
            reason = f"{os.strerror(errno.EEXIST)}, and overwrite=True is not given"
            raise FileExistsError(errno.EEXIST, reason, str(path))
    for path, text in zip(paths, files.values(), strict=True):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, text.encode("utf-8"))
    return paths
