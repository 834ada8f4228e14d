"""Provenance of an emitted header: training data, recall, and a digest of the code."""

import re
import shlex
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import PurePosixPath
from typing import Any

from bncc.lower.c.identifiers import c_comment
from bncc.model.model import Model
from bncc.model.training_record import has_folds, recorded_data

_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)


def code_files(files: Mapping[str, str], name: str) -> dict[str, str]:
    """Return the header and the source of an emission, without the folders of a package."""
    kept = (f"{name}.h", f"{name}.c")
    paths = {PurePosixPath(path).name: path for path in files}
    return {file: files[paths[file]] for file in kept}  # others are printed when asked for


def code_digest(files: Mapping[str, str], name: str) -> str:
    """Return the digest of the code of an emission."""
    texts = code_files(files, name).values()
    return sha256("\f".join(_code(text, name) for text in texts).encode()).hexdigest()


def _code(text: str, name: str) -> str:
    figures = r"_DIGEST\b|#define \w+_(STACK|INSTRUCTIONS|CYCLES) \d+U$"
    lines = (line for line in _COMMENT.sub(" ", text).splitlines() if not re.search(figures, line))
    neutral = re.sub(rf"\b{name}(?=[_.])", "m", "\n".join(lines))
    neutral = re.sub(rf"\b{name.upper()}(?=_)", "M", neutral)
    return " ".join(neutral.split())


_COUNTED_ON = {
    "test": "on test rows",
    "validation": "on validation rows",
    "cross-validation": "by cross-validation",
    "train": "on training rows",
}
"""By the training record's ``confusion_of``."""
FIRST_FOLD = "on validation rows of the first fold"
"""Likewise, of a search for a budget by several folds."""
MOST_CLASSES = 24
"""Classes up to which the recall of each is printed."""


def command_lines(command: Iterable[str], width: int) -> list[str]:
    """Return a command line for a comment, broken between its words only."""
    lines: list[str] = []
    for word in map(shlex.quote, command):
        if lines and len(lines[-1]) + 1 + len(word) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def data_line(training: Mapping[str, Any]) -> str | None:
    """Return what is recorded of the training data: size and digest."""
    data = recorded_data(training)
    if data is None:
        return None
    of = "their file" if data["of"] == "file" else "their values"
    return f"{data['rows']:,} rows of {data['columns']:,} columns; sha256 of {of} {data['sha256']}"


def recall_line(model: Model) -> str | None:
    """Return the recall of each class as recorded, with the rows that it was counted on."""
    recall, part = model.training.get("recall"), model.training.get("confusion_of")
    if not isinstance(part, str) or part not in _COUNTED_ON or not isinstance(recall, list):
        return None
    if len(recall) != model.n_classes or not all(map(_is_share, recall)):
        return None
    is_first = part == "validation" and has_folds(model.training)
    rows = FIRST_FOLD if is_first else _COUNTED_ON[part]
    known = [
        f"{c_comment(label)}: {100 * share:.1f} %"
        for label, share in zip(model.classes, recall, strict=True)
        if share is not None
    ]
    if len(known) > MOST_CLASSES:
        least = min(share for share in recall if share is not None)
        return f"{rows}: at least {100 * least:.1f} % of each of {len(known)} classes"
    return f"{rows}: {', '.join(known)}" if known else None


def _is_share(value: object) -> bool:
    return value is None or (type(value) in (int, float) and 0 <= value <= 1)  # type: ignore[operator]
