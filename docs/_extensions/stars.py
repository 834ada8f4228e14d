"""Stars in the help of commands: ``tan-*`` is no emphasis that begins."""

from sphinx.application import Sphinx


def escaped(app: Sphinx, context: object, lines: list[str]) -> None:
    """Escape every star in the lines that sphinx-click has written."""
    lines[:] = [line.replace("*", r"\*") for line in lines]


def setup(app: Sphinx) -> dict[str, bool]:
    """Look at the descriptions of commands and of their options."""
    for part in ("description", "options"):
        app.connect(f"sphinx-click-process-{part}", escaped)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
