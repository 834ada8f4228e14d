"""Lock of a study in a database: one process at a time works on it."""

import os
import platform
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from bncc.errors import StudyError
from bncc.locks import study_taken

if TYPE_CHECKING:
    from optuna.study import Study

CLAIM = "bncc:coordinator"
"""Attribute of a study in a database with the owner of the lock."""
BEAT_EVERY, DEAD_AFTER = 10.0, 60.0
"""Seconds between two heartbeats, and the age at which a missing heartbeat means a dead owner."""


@contextmanager
def claimed(
    study: "Study",
    said: str,
    *,
    now: Callable[[], float] = time.time,
    sleep: Callable[[float], None] = time.sleep,
) -> Iterator[Callable[[], None]]:
    """
    Prevent other bncc processes from using a study in a database.

    The end of an owner on this computer is noticed at once; an owner elsewhere is considered dead
    once its last heartbeat is `DEAD_AFTER` seconds old.
    """
    _await_end(study, said, now, sleep)
    token = token_hex(8)
    last = 0.0

    def beat() -> None:
        nonlocal last
        if now() - last < BEAT_EVERY:
            return
        if last and _owner(study).get("token") != token:
            raise StudyError(study_taken(said))
        last = now()
        owner = {"token": token, "machine": _machine(), "pid": os.getpid(), "beat": last}
        study.set_user_attr(CLAIM, owner)

    beat()
    sleep(0.2)  # if two start at once, the later one is seen here
    if _owner(study).get("token") != token:
        raise StudyError(study_taken(said))
    try:
        yield beat
    finally:
        if _owner(study).get("token") == token:
            study.set_user_attr(CLAIM, {})


def _await_end(
    study: "Study", said: str, now: Callable[[], float], sleep: Callable[[float], None]
) -> None:
    first, since = _owner(study), now()
    while True:
        owner = _owner(study)
        # Clocks of two computers may differ: the same time without a heartbeat by ours is enough.
        if not owner or now() - owner["beat"] > DEAD_AFTER or now() - since > DEAD_AFTER:
            return
        is_alive = _is_alive(owner)
        if is_alive is False:
            return
        if is_alive or owner != first:
            raise StudyError(study_taken(said))
        sleep(1.0)


def _owner(study: "Study") -> dict[str, Any]:
    return dict(study.user_attrs.get(CLAIM, {}))


def _is_alive(owner: dict[str, Any]) -> bool | None:
    """Return whether a process of this computer is alive; None for another computer's."""
    if owner["machine"] != _machine():
        return None
    try:
        os.kill(owner["pid"], 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _machine() -> str:
    """Return an anonymous identifier of this computer."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii")
    except OSError:
        boot = ""
    return sha256(f"{platform.node()} {boot}".encode()).hexdigest()[:16]
