"""Text from users' files, made fit to be shown."""


def printable(text: str) -> str:
    """Return a text on one line, safe for a terminal."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
