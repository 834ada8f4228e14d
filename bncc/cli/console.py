"""Output of a command: results on stdout, messages and progress on stderr."""

import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

import click

from bncc.data.files import printable as printable
from bncc.progress import Progress, silence

_BOLD = re.compile("(\x1b\\[1m|\x1b\\[0m)")
"""Escape sequences that `table_text` adds on a terminal."""

EVERY = 30.0
"""Seconds between two lines of progress where there is no terminal."""


def legible(text: str, *, has_bold: bool = False) -> str:
    """Return a text of several lines with all control characters made visible."""
    parts = _BOLD.split(text) if has_bold else [text]
    return "".join(
        part if k % 2 else "\n".join(map(printable, part.split("\n")))
        for k, part in enumerate(parts)
    )


def aligned(rows: Iterable[Sequence[str]], *, right: Iterable[int] = ()) -> str:
    """Align cells in columns of equal width."""
    cells = [[printable(cell) for cell in row] for row in rows]
    n_columns = max((len(row) for row in cells), default=0)
    widths = [
        max((len(row[k]) for row in cells if k < len(row)), default=0) for k in range(n_columns)
    ]
    to_right = set(right)
    lines = []
    for row in cells:
        padded = [
            cell.rjust(width) if k in to_right else cell.ljust(width)
            for k, (cell, width) in enumerate(zip(row, widths, strict=False))
        ]
        lines.append("  ".join(padded).rstrip())
    return "\n".join(lines)


def table_text(title: str, rows: Sequence[Sequence[str]], *, right: Iterable[int] = ()) -> str:
    """Format a table: ruled on a terminal, plain columns elsewhere."""
    if not sys.stdout.isatty():
        return f"{printable(title)}\n{aligned(rows, right=right)}"
    from rich.box import SIMPLE_HEAD
    from rich.console import Console as RichConsole
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for k, head in enumerate(rows[0]):
        table.add_column(Text(head), justify="right" if k in set(right) else "left")
    for row in rows[1:]:
        table.add_row(*(Text(printable(cell)) for cell in row))
    screen = RichConsole(force_terminal=True)
    with screen.capture() as captured:
        screen.print(Text(printable(title), style="bold"), table)
    return captured.get().rstrip("\n")


@dataclass
class Console:
    """Output and verbosity of one command."""

    json: bool = False  # The result is one JSON object on stdout and nothing else
    quiet: bool = False  # No messages, and no report where the result is a file or the exit code
    verbose: bool = False  # More messages, at once; an unexpected error shows its traceback
    _notes: list[str] = field(default_factory=list)
    _said_once: set[str] = field(default_factory=set)

    def note(self, text: str) -> None:
        """
        Print a message on stderr once the command is known to succeed.

        Messages wait for the end, since a command that fails prints a single line. The same words
        are printed once.
        """
        if not (self.verbose or self.quiet):
            self._add(text)
        elif self.verbose and self._is_new(text):
            click.echo(f"bncc: {printable(text)}", err=True)

    def warning(self, text: str) -> None:
        """Print a message on stderr likewise, even with ``--quiet``."""
        if self.verbose:
            self.note(text)
        else:
            self._add(text)

    def _add(self, text: str) -> None:
        if self._is_new(text):
            self._notes.append(text)

    def _is_new(self, text: str) -> bool:
        """Return whether a message is the first of its words: a command says all once."""
        is_new = text not in self._said_once
        self._said_once.add(text)
        return is_new

    def detail(self, text: str) -> None:
        """Print a detail on stderr at once, if ``-v`` was given."""
        if self.verbose:
            click.echo(f"bncc: {printable(text)}", err=True)

    def flush_notes(self) -> None:
        """Print the messages that waited."""
        for text in self._notes:
            click.echo(f"bncc: {printable(text)}", err=True)
        self._notes.clear()

    def result(self, payload: Mapping[str, Any], report: str, *, essential: bool = False) -> None:
        """Print the result of the command."""
        if self.json:
            click.echo(json.dumps(payload, allow_nan=False))
        elif report and (essential or not self.quiet):
            click.echo(legible(report, has_bold=sys.stdout.isatty()))

    def document(self, payload: Mapping[str, Any], content: bytes) -> None:
        """Print the content of a file: unchanged to a file or a pipe, legible on a terminal."""
        if self.json:
            click.echo(json.dumps(payload, allow_nan=False))
        elif sys.stdout.isatty():
            text = content.decode("utf-8", "replace").replace("\r\n", "\n")
            click.echo(legible(text), nl=False)
        else:
            click.echo(content, nl=False)

    @staticmethod
    def _said(description: str) -> Progress:
        """Return a callback that prints the progress every half minute."""
        due = monotonic() + EVERY

        def advance(fraction: float, text: str) -> None:
            nonlocal due
            if monotonic() >= due:
                line = f"{description}: {100 * fraction:.0f} %, {text}"
                click.echo(f"bncc: {printable(line)}", err=True)
                due = monotonic() + EVERY

        return advance

    @contextmanager
    def progress(self, description: str) -> Iterator[Progress]:
        """Show a progress bar with the time left, on a terminal; elsewhere print lines."""
        is_terminal = sys.stderr.isatty()
        if not is_terminal and (self.verbose or not self.quiet):
            yield self._said(description)
            return
        if self.quiet or self.json or not is_terminal:
            yield silence
            return
        from rich.console import Console as RichConsole
        from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bars

        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f} %"),
            TextColumn("{task.fields[text]}", markup=False),
            TimeRemainingColumn(),
        )
        with Bars(*columns, console=RichConsole(stderr=True), transient=True) as bars:
            task = bars.add_task(description, total=1.0, text="")
            yield lambda fraction, text: bars.update(task, completed=fraction, text=printable(text))
