"""Class labels in flash: one text after the other, and where each begins."""

from collections.abc import Sequence
from dataclasses import dataclass

from bncc.lower.c.c99 import ArrayText, array, wrap_words
from bncc.lower.c.identifiers import c_characters, c_string
from bncc.program.ir import width_of

MAX_STRING = 4095
"""Characters that every C99 compiler takes in one string literal."""


@dataclass(frozen=True)
class LabelText:
    """The labels of all classes as C."""

    lines: tuple[str, ...]  # The initializer of the array of characters, line by line
    starts: ArrayText  # Where each class's label begins, and behind the last one an empty string
    n_bytes: int  # Bytes of the characters in flash


def label_text(classes: Sequence[str]) -> LabelText:
    """Print the labels of all classes."""
    starts = [0]
    for label in classes:
        starts.append(starts[-1] + len(label.encode("utf-8", errors="replace")) + 1)
    if starts[-1] <= MAX_STRING:
        lines = [f'{c_string(label)[:-1]}\\000"' for label in classes]
    else:
        lines = wrap_words(c for label in classes for c in [*c_characters(label), "'\\000',"])
        lines.append("'\\000'")
    meaning = "Where each class's label begins."
    return LabelText(
        tuple(lines), array("label_start", width_of(starts[-1]), starts, meaning), starts[-1] + 1
    )
