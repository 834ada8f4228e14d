"""Tables in Markdown, and pages whose tables a program updates, each between two comments."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from bncc.model.atomic import write_whole

NOTHING = "-"
"""Cell without a figure."""


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table, numbers aligned to the right."""
    rule = ["---", *["--:"] * (len(head) - 1)]
    return "".join(f"{row(cells)}\n" for cells in (head, rule, *rows))


def row(cells: Sequence[str]) -> str:
    """Return one row of a table, without the end of its line."""
    return f"| {' | '.join(cells)} |"


def held(text: str, name: str) -> str:
    """
    Return the whole lines of a page between ``<!-- table: NAME -->`` and the comment that ends it.

    Raises ValueError if the page has no such comments.
    """
    begin, end = _comments(name)
    _, begun, rest = text.partition(begin)
    inner, ended, _ = rest.partition(end)
    if not begun or not ended:
        raise ValueError(f"the page has no place for the table '{name}'; write {begin}{end}")
    return inner


def place(name: str) -> str:
    """Return the place for a table of a page, which is empty."""
    return "".join(_comments(name))


def renew(page: Path, tables: Mapping[str, str]) -> None:
    """
    Replace tables of a page, by name.

    Raises ValueError if the page has no place for one of them, and then leaves it unchanged.
    """
    text = page.read_text("utf-8")
    for name, new in tables.items():
        begin, end = _comments(name)
        text = text.replace(f"{begin}{held(text, name)}{end}", f"{begin}{new}{end}")
    write_whole(page, text.encode())


def _comments(name: str) -> tuple[str, str]:
    return f"<!-- table: {name} -->\n", f"<!-- end of table: {name} -->\n"
