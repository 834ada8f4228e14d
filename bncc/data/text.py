"""Text from users' files, made fit to be shown."""


def printable(text: str) -> str:
    """Return a text on one line, safe for a terminal.

    Parameters
    ----------
    text : str
        Any text: a column name, a class label, a message with file names in it.

    Returns
    -------
    str
        The text with line breaks, control characters and lone surrogates escaped.
    """
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
