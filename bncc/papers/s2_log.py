"""What the learners of a study reach, case by case, in a file of JSON lines."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import Any

from bncc import __version__
from bncc.errors import OptionError
from bncc.papers.s2_protocol import Protocol
from bncc.papers.training_log import trainer_digest

TEXTS = (
    "structure", "data", "discretize/binning.py", "model/marginal.py",
    "train/maximum_likelihood.py", "baselines/aode.py", "papers/s2_sets.py",
    "papers/s2_protocol.py", "papers/s2_learners.py", "papers/s2_losses.py", "papers/s2_study.py",
)  # fmt: skip
"""Folders and files of bncc whose text decides what the study gives."""


class SetLog:
    """Results by case, and a file of them. Its first line tells this version of the study."""

    def __init__(
        self, path: Path | None, texts: tuple[str, ...] | None = None, study: str = "S2"
    ) -> None:
        version = trainer_digest(texts or TEXTS)
        self._path = path
        self._known: dict[str, Mapping[str, Any]] = {}
        text = path.read_text("utf-8", "replace") if path and path.exists() else ""
        lines = text.splitlines()
        if lines and _entry(lines[0]).get("study") != version:
            raise OptionError(
                f"'{path}' is no checkpoint of this version of {study}'s study, and results of two "
                "versions are not mixed; name another file with --checkpoint"
            )
        for entry in map(_entry, lines):
            key, result = entry.get("key"), entry.get("result")
            if isinstance(key, str) and isinstance(result, dict):
                self._known[key] = result
        if not lines:
            self._write({"study": version, "bncc": __version__})
        elif not text.endswith("\n"):
            self._write({})  # ends the line that was cut off

    def __contains__(self, key: str) -> bool:
        return key in self._known

    def __getitem__(self, key: str) -> Mapping[str, Any]:
        return self._known[key]

    def add(self, key: str, name: str, result: Mapping[str, Any]) -> None:
        """Remember what was found on a set."""
        self._known[key] = result
        self._write({"key": key, "set": name, "result": result})

    def _write(self, entry: Mapping[str, object]) -> None:
        if self._path is not None:
            with self._path.open("a", encoding="utf-8") as stream:
                print(json.dumps(entry), file=stream)


def set_key(name: str, path: Path, protocol: Protocol) -> str:
    """Return what tells a data set and how it is dealt out from all others."""
    digest = sha256(json.dumps([name, asdict(protocol)], sort_keys=True).encode())
    digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _entry(line: str) -> dict[str, Any]:
    """Return what a line holds; nothing if it was cut off."""
    try:
        entry = json.loads(line)
    except ValueError:
        return {}
    return entry if isinstance(entry, dict) else {}
