"""Output files appear whole or not at all."""

import os
import secrets
from pathlib import Path

from bncc._types import StrPath


def write_whole(path: StrPath, data: bytes) -> None:
    """Write a file so that, whatever happens, its name leads to the old content or to all the new.

    Parameters
    ----------
    path : path
        Where the file goes; a link is followed, an existing file replaced.
    data : bytes
        Its content.

    Raises
    ------
    OSError
        If the folder is missing, read-only or full; nothing is left behind then.
    """
    target = Path(os.path.realpath(path))
    temporary = target.with_name(f".bncc-{secrets.token_hex(8)}.tmp")
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
