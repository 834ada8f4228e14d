"""Sentences in emitted C: numbers with their nouns, and comments that end by column 100."""

from textwrap import wrap

COMMENT = 94
"""Columns of a comment's lines, between its marks."""


def counted(n: int, noun: str) -> str:
    """Return a number with its noun.

    Parameters
    ----------
    n : int
        How many.
    noun : str
        Of what, in the singular; its plural ends in s.

    Returns
    -------
    str
        As in "1 bit" and "2 bits".
    """
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def comment(text: str) -> str:
    """Break sentences into the lines of a comment.

    Parameters
    ----------
    text : str
        Sentences without the comment's marks; line ends in them are blanks.

    Returns
    -------
    str
        Lines, all but the first behind the mark of a comment that goes on.
    """
    lines = wrap(" ".join(text.split()), COMMENT, break_long_words=False, break_on_hyphens=False)
    return "\n * ".join(lines)
