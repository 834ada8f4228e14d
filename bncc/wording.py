"""Numbers with their nouns in messages."""


def counted(n: int, noun: str) -> str:
    """Return a number with its noun, in the plural unless it is 1."""
    return f"{n:,} {noun}{'' if n == 1 else 's'}"
