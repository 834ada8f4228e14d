"""What trainings led to in a file, one JSON line each, so that a search can go on."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from functools import cache
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from bncc import __version__
from bncc.errors import OptionError, ToolchainError
from bncc.native.parts import DESCENT
from bncc.papers.folds import Fold
from bncc.papers.training import Judged
from bncc.toolchain.library import native_library
from bncc.train.settings import TrainSettings

TRAINER = (
    "train", "native", "structure", "discretize", "fixed_point.py", "toolchain/library.py",
    "data/splits.py", "papers/training.py",
)  # fmt: skip
"""Folders and files of bncc whose text decides what a training gives."""
BASELINES = ("baselines", "discretize", "data/splits.py", "papers/network_search.py")
"""The same of baselines."""


class TrainingLog:
    """What is known of trainings, and a file of it. Its first line tells the trainer and engine."""

    def __init__(self, path: Path | None, trainer: tuple[str, ...] = TRAINER) -> None:
        self._path = path
        self._known: dict[str, Judged] = {}
        text = path.read_text("utf-8", "replace") if path and path.exists() else ""
        lines = text.splitlines()
        if lines:
            _check_head(path, _entry(lines[0]), trainer)
        for entry in map(_entry, lines):
            key, error, entries = entry.get("key"), entry.get("error"), entry.get("entries")
            if isinstance(key, str) and isinstance(error, float) and isinstance(entries, int):
                self._known[key] = Judged(error, entries)
        if not lines:
            head = {"trainer": trainer_digest(trainer), "bncc": __version__}
            self._write({**head, "engine": _engine(trainer)})
        elif not text.endswith("\n"):
            self._write({})  # ends the line that was cut off

    def __contains__(self, key: str) -> bool:
        return key in self._known

    def __getitem__(self, key: str) -> Judged:
        return self._known[key]

    def add(self, key: str, judged: Judged) -> None:
        """Remember what a training led to."""
        self._known[key] = judged
        self._write({"key": key, **judged._asdict()})

    def _write(self, entry: Mapping[str, object]) -> None:
        if self._path is not None:
            with self._path.open("a", encoding="utf-8") as stream:
                print(json.dumps(entry), file=stream)


def training_key(
    fold: Fold, settings: TrainSettings, split: int | None, n_restarts: int = 1
) -> str:
    """Return what tells a training from all others."""
    values = {**asdict(settings), "rows": fold.digest, "split": split}
    values |= {"restarts": n_restarts} if n_restarts > 1 else {}
    text = json.dumps(values, sort_keys=True, default=str)
    return sha256(text.encode()).hexdigest()[:16]


@cache
def trainer_digest(trainer: tuple[str, ...] = TRAINER) -> str:
    """Return what tells this trainer from others: a hash of its Python and C."""
    digest = sha256(__version__.encode())
    for name in trainer:
        for text in _texts(files("bncc").joinpath(*name.split("/"))):
            digest.update(text)
    return digest.hexdigest()[:16]


def _check_head(path: Path | None, head: Mapping[str, object], trainer: tuple[str, ...]) -> None:
    """Refuse errors of another trainer, or of another engine."""
    if head.get("trainer") != trainer_digest(trainer):
        raise OptionError(
            f"'{path}' is no checkpoint of this version of bncc's trainer, and errors of two "
            "versions are not mixed; name another file with --checkpoint"
        )
    if head.get("engine") != _engine(trainer):
        raise OptionError(
            f"'{path}' holds errors of engine '{head.get('engine')}', which rounds differently "
            f"from '{_engine(trainer)}', the one of this machine; name another file with "
            "--checkpoint"
        )


def _engine(trainer: tuple[str, ...]) -> str:
    """Return what trains where the settings leave it open: C if it can be built."""
    if trainer == BASELINES:
        return "torch"
    try:
        native_library(DESCENT)
    except ToolchainError:
        return "torch"
    return "native"


def _texts(place: Traversable) -> list[bytes]:
    if place.is_dir():
        items = sorted(place.iterdir(), key=lambda item: item.name)
        return [text for item in items for text in _texts(item)]
    return [place.read_bytes()] if place.name.endswith((".py", ".c", ".h")) else []


def _entry(line: str) -> dict[str, object]:
    """Return what a line holds; nothing if it was cut off."""
    try:
        entry = json.loads(line)
    except ValueError:
        return {}
    return entry if isinstance(entry, dict) else {}
