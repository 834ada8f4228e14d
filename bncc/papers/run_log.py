"""What long runs led to in a file, one JSON line each, so that an experiment can go on."""

import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from bncc import __version__
from bncc.errors import OptionError
from bncc.papers.training_log import trainer_digest

Result = Mapping[str, Any]
"""JSON values by name."""


def run_key(name: str, rows: str, arguments: object) -> str:
    """Return what tells a run from all others."""
    return sha256(json.dumps([name, rows, arguments]).encode()).hexdigest()[:16]


class RunLog:
    """What is known of runs, and a file of it. Its first line tells the program that ran them."""

    def __init__(self, path: Path | None, program: tuple[str, ...]) -> None:
        self._path = path
        self._known: dict[str, Result] = {}
        text = path.read_text("utf-8", "replace") if path and path.exists() else ""
        entries = [_entry(line) for line in text.splitlines()]
        if entries and entries[0].get("program") != trainer_digest(program):
            raise OptionError(
                f"'{path}' is no checkpoint of this version of bncc's learners, and results of "
                "two versions are not mixed; name another file with --checkpoint"
            )
        self._known = {e["key"]: e["result"] for e in entries if "key" in e and "result" in e}
        if not entries:
            self._write({"program": trainer_digest(program), "bncc": __version__})
        elif not text.endswith("\n"):
            self._write({})  # ends the line that was cut off

    def __contains__(self, key: str) -> bool:
        return key in self._known

    def __getitem__(self, key: str) -> Result:
        return self._known[key]

    def add(self, key: str, result: Result) -> None:
        """Remember what a run led to."""
        self._known[key] = result
        self._write({"key": key, "result": result})

    def _write(self, entry: Mapping[str, object]) -> None:
        if self._path is not None:
            with self._path.open("a", encoding="utf-8") as stream:
                print(json.dumps(entry), file=stream)


def _entry(line: str) -> dict[str, Any]:
    """Return what a line holds; nothing if it was cut off."""
    try:
        entry = json.loads(line)
    except ValueError:
        return {}
    return entry if isinstance(entry, dict) else {}
