"""Sentences in emitted C: numbers with their nouns, and comments that end by column 100."""

from textwrap import wrap

COMMENT = 94
"""Columns of a comment's lines, between its marks."""


def counted(n: int, noun: str) -> str:
    """Return a number with its noun."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def comment(text: str) -> str:
    """Break sentences into the lines of a comment."""
    lines = wrap(" ".join(text.split()), COMMENT, break_long_words=False, break_on_hyphens=False)
    return "\n * ".join(lines)
