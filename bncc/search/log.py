"""Log of finished tasks in a file, one JSON line each, so that killed work can resume."""

import json
import os
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from bncc.errors import BnccError, CheckpointError
from bncc.model.atomic import write_whole

Head = Mapping[str, Any]
"""JSON values that identify the work: versions, rows, options."""
Result = Mapping[str, Any]
"""JSON values by name."""


def key_of(*parts: object) -> str:
    """Return the digest of JSON values that identifies a task in a log."""
    return sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()[:16]


class Log:
    """
    Results by key, and a file of them unless `path` is None.

    The first line is the head. A file with another head is rejected with the error that `refusal`
    returns for that head, empty if the file is not a log. A line is on disk before `add` returns;
    a truncated line is ignored. Results are converted through JSON, whether they were read or
    added.
    """

    def __init__(self, path: Path | None, head: Head, refusal: Callable[[Head], BnccError]) -> None:
        self.path = path
        self._known: dict[str, Result] = {}
        if path is None:
            return
        try:
            if not os.path.lexists(path):
                path.parent.mkdir(parents=True, exist_ok=True)
                write_whole(path, _line({"head": head}))
            self._read(path, head, refusal)
        except OSError as error:
            raise _unwritable(path, error) from error

    def __contains__(self, key: str) -> bool:
        return key in self._known

    def __getitem__(self, key: str) -> Result:
        return self._known[key]

    def get(self, key: str) -> Result | None:
        """Return the result of a task, None if unknown."""
        return self._known.get(key)

    def add(self, key: str, result: Result) -> Result:
        """Store the result of a task, and return it as a later reader of the file sees it."""
        line = _line({"key": key, "result": result})
        if self.path is not None:
            try:
                with self.path.open("r+b") as file:
                    file.seek(0, os.SEEK_END)
                    file.write(line)
                    file.flush()
                    os.fsync(file.fileno())
            except OSError as error:
                raise _unwritable(self.path, error) from error
        self._known[key] = json.loads(line)["result"]
        return self._known[key]

    def remove(self) -> None:
        """Delete the log of completed work."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)

    def _read(self, path: Path, head: Head, refusal: Callable[[Head], BnccError]) -> None:
        content = path.read_bytes() if path.is_file() else b""
        whole = content[: content.rfind(b"\n") + 1]
        first, *others = whole.splitlines() or [b""]
        theirs = _entry(first).get("head")
        if theirs != json.loads(json.dumps(head)):
            raise refusal(theirs if isinstance(theirs, dict) else {})
        for entry in map(_entry, others):
            key, result = entry.get("key"), entry.get("result")
            if isinstance(key, str) and isinstance(result, dict):
                self._known[key] = result
        if whole != content:
            os.truncate(path, len(whole))


def _line(entry: Mapping[str, object]) -> bytes:
    return json.dumps(entry).encode("ascii") + b"\n"


def _entry(line: bytes) -> dict[str, Any]:
    """Return the values of a line, empty if it is damaged."""
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return entry if isinstance(entry, dict) else {}


def _unwritable(path: Path, error: OSError) -> CheckpointError:
    return CheckpointError(
        f"cannot write '{path}' ({error.strerror or error}); free some space or choose another "
        "path, and resume from the last saved state"
    )
