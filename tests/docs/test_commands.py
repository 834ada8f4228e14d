"""Every `bncc` command line in any document is valid for this bncc."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from bncc.cli.main import main
from tests.docs.blocks import blocks, name_of, pages

SHELL = frozenset({"sh", "console", "text", "make", "makefile", "yaml", "cmake", ""})
"""Languages of blocks that may contain commands."""
ENDS = frozenset({"&&", "||", "|", ";", ">", ">>", "<", "&", "2>"})
PLACEHOLDER = re.compile(r"[A-Z][A-Z0-9_]*(\|[A-Z]+)*(\[k\])?|\$\S*|<.*>")


def commands(path: Path) -> Iterator[str]:
    """Yield the lines of a page that call bncc, in blocks and within sentences."""
    for block in blocks(path):
        if block.language in SHELL:
            for line in block.text.replace("\\\n", " ").splitlines():
                yield from re.findall(r"(?:^|&& |; |\$ |\$\()\s*(bncc [a-z].*)", line)
    text = re.sub(r"(?ms)^ *```.*?^ *```$", "", path.read_text("utf-8"))
    for span in re.findall(r"(?<!`)`(bncc [a-z][^`]*)`(?!`)", text):
        # A sentence may name an option without its value.
        yield re.sub(r"( --[a-z-]+)$", r"\1 VALUE", " ".join(span.split()))


def words_of(line: str) -> list[str]:
    """Return the words of a command up to its end in the shell, without the program's name."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars="();<>|&")
    lexer.whitespace_split = True
    words = []
    for word in lexer:
        if word in ENDS or set(word) <= set("();<>|&"):
            break
        words.append(word)
    return [word for word in words[1:] if word != "..."]


def check(line: str) -> None:
    """Raise click's error for a command with unknown options or choices."""
    name, *words = words_of(line)
    context = click.Context(main, **main.context_settings)
    command = main.get_command(context, name)
    assert command is not None, f"there is no command '{name}'"
    # A command keeps its option of help, so that its name must be that of a call.
    parser = command.make_parser(click.Context(command, context, info_name=name))
    given, _, order = parser.parse_args(words)
    for param in order:
        if isinstance(param.type, click.Choice):
            values = given[param.name]
            for value in values if isinstance(values, list) else [values]:
                if isinstance(value, str) and not PLACEHOLDER.fullmatch(value):
                    param.type.convert(value, param, context)


@pytest.mark.parametrize("path", pages(), ids=name_of)
def test_commands_are_understood(path: Path) -> None:
    """Commands, options and choices exist."""
    for line in commands(path):
        try:
            check(line)
        except click.UsageError as error:
            raise AssertionError(f"{line}: {error.format_message()}") from error


def test_commands_are_found() -> None:
    """The search finds those of the README, in blocks and in sentences."""
    found = list(commands(pages()[0].parent / "README.md"))
    assert any(line.startswith("bncc emit-c rooms.bncc -o rooms/") for line in found)
    assert any(line.startswith("bncc verify rooms.bncc --data readings.csv.gz") for line in found)
    assert any(line.startswith("bncc train --max-flash 4k") for line in found)


@pytest.mark.parametrize(
    "line",
    [
        "bncc trian x.csv",
        "bncc train x.csv --structur naive",
        "bncc emit-c m.bncc -o m --optimize fastest",
        "bncc verify m.bncc --target avr --target z80 && true",
        "bncc emit-c m.bncc -o",
    ],
)
def test_a_command_that_is_wrong_is_noticed(line: str) -> None:
    with pytest.raises((click.UsageError, AssertionError)):
        check(line)
