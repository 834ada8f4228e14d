"""Text that ``bncc demo`` prints for each step and at the end."""

import shlex
import sys
from pathlib import Path
from typing import Any

import click

from bncc.cli.console import Console, aligned, legible
from bncc.resources import Resources, functions_of


class Narrator:
    """Prints each step as the command that a user would type, with its outcome."""

    def __init__(self, console: Console, output: str) -> None:
        self._silent = console.json or console.quiet
        self._output = output

    def place(self, name: str) -> str:
        """Return the path of a file of the demo, as the user knows it."""
        return str(Path(self._output) / name)

    def path(self, name: str) -> str:
        """Return the path of a file of the demo, as one would type it."""
        return shlex.quote(self.place(name))

    def step(self, title: str, command: str | None = None) -> None:
        """Announce a step and, if there is one, the command that does the same."""
        self.say(f"\n{title}" + (f"\n$ {command}" if command else ""))

    def say(self, text: str) -> None:
        """Print text unless output is suppressed."""
        if not self._silent:
            click.echo(legible(text, has_bold=sys.stdout.isatty()))


def summary(facts: dict[str, Any], name: str) -> str:
    """Return a summary of the demo, and the next steps."""
    output = facts["directory"]
    proof = f"{facts['checked']:,} inputs, {facts['mismatches']} differences ({facts['toolchain']})"
    rows = [
        ["error rate on unseen rows", f"{100 * facts['error_test']:.2f} % of {facts['n_test']}"],
        [
            "size",
            f"{facts['table_bytes']} bytes of tables in C; additions only, no heap or library",
        ],
        ["C against Python", proof],
        ["inputs", facts["strength"]],
        *(["on " + target, _figures(found)] for target, found in facts["bench"].items()),
        *(["proof for " + target, _proof(found)] for target, found in facts["prove"].items()),
        *([["alternatives", _choice(facts)]] if facts["trials"] else []),
        ["took", f"{facts['seconds']} s"],
        ["output", output],
    ]
    folder = shlex.quote(str(Path(output) / "c"))
    model = shlex.quote(str(Path(output) / f"{name}.bncc"))
    steps = [
        *([["compare", f"open {facts['report']} in a browser"]] * bool(facts["report"])),
        ["inspect the model", f"bncc inspect {model}"],
        ["read the C", f"less {folder}/{name}.h {folder}/{name}.c"],
        ["your own data", "bncc train readings.csv --class NAME --max-flash 2k -o model.bncc"],
        ["other targets", "bncc targets"],
    ]
    return f"\nSummary\n{aligned(rows)}\n\nNext steps\n{aligned(steps)}"


def _proof(found: dict[str, Any]) -> str:
    """Describe the verdicts about the machine code in one line."""
    parts = []
    for entry, verdict in found.items():
        bounds = ""
        if verdict["verdict"] == "proved":
            bounds = f", at most {verdict['instructions']['max']:,} instructions"
        parts.append(f"{functions_of((entry,))} is {verdict['verdict']} for every input{bounds}")
    return "; ".join(parts)


def _choice(facts: dict[str, Any]) -> str:
    """Return the number of classifiers, and of those that failed."""
    failed = len(facts["failed"])
    also = f"; {failed} trial{'s' * (failed > 1)} failed, see above" if failed else ""
    return f"{facts['trials']} classifiers{also}"


def _figures(found: dict[str, Any]) -> str:
    """Describe the footprint on a target in one line."""
    resources = Resources.from_json(found["resources"])
    (entry,) = resources.entries
    return (
        f"{found['flash']:,} bytes of flash, {found['ram']:,} of RAM, {found['stack']:,} of "
        f"stack, {resources.spans[entry].mean:,.0f} {resources.unit} per call of "
        f"{functions_of((entry,))}"
    )
