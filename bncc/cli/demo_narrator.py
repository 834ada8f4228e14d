"""How ``bncc demo`` tells what it does."""

import shlex
import sys
from pathlib import Path

import click

from bncc.cli.console import Console, legible


class Narrator:
    """Tells each step as the command that a user would type, and what came of it."""

    def __init__(self, console: Console, output: str) -> None:
        self._silent = console.json or console.quiet
        self._output = output

    def place(self, name: str) -> str:
        """Return where a file of the demo will be, as the user knows it."""
        return str(Path(self._output) / name)

    def path(self, name: str) -> str:
        """Return a file of the demo as one would type it."""
        return shlex.quote(self.place(name))

    def step(self, title: str, command: str | None = None) -> None:
        """Announce a step and, if there is one, the command that does the same."""
        self.say(f"\n{title}" + (f"\n$ {command}" if command else ""))

    def say(self, text: str) -> None:
        """Print text unless nobody listens."""
        if not self._silent:
            click.echo(legible(text, has_bold=sys.stdout.isatty()))
