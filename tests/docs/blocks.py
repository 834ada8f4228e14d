"""
The fenced blocks of a Markdown page, and the marks of each.

An HTML comment before a block, which no reader sees, says how the block is verified:

``file: NAME``
    The block becomes that file of the page's scratch folder.
``output``
    The output of the block run last; ``...`` stands for anything, a line or part of one.
``output of: COMPILER VERSION``
    The same, where that compiler has that version; otherwise not checked.
``excerpt: FILE``
    Its lines occur in that file of the scratch folder, with ``...`` as above.
``fragment: HEADER ...``
    C that compiles after these headers, among declarations or inside a function.
``sketch: FOLDER``
    C++ that compiles for an Arduino Uno with the headers of this folder.
``says: TEXT``
    The block is run, and prints that; ``...`` as above.
``exits: N``
    The block is run, and ends with that exit status.
``checked by: TEST``
    That file of tests checks it.
``not run: REASON``
    Not checked, for that reason.

One more is anywhere on a page: ``needs: TOOL, target MACHINE, module NAME, core arduino``.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

RUN = frozenset({"sh", "python"})
"""Languages whose blocks are run by default."""
SYNTAX = frozenset({"json", "toml", "yaml", "ini"})
"""Languages whose blocks are parsed by default."""
MARKS = frozenset(
    {
        "file",
        "output",
        "output of",
        "excerpt",
        "fragment",
        "sketch",
        "says",
        "exits",
        "checked by",
        "not run",
    }
)

FENCE = re.compile(r"^( *)(`{3,}|~{3,})\s*(.*?)\s*$")
MARK = re.compile(rf"^ *<!-- (needs|{'|'.join(sorted(MARKS))})(?:: (.*?))? -->$")


@dataclass(frozen=True)
class Block:
    """
    A fenced block.

    Parameters
    ----------
    line : int
        Where it begins, from 1.
    language : str
        The info string of the fence, possibly empty.
    text : str
        Its lines without their common indentation, each ended by a newline.
    marks : dict of str to str
        The marks in the comments before it.
    """

    line: int
    language: str
    text: str
    marks: dict[str, str] = field(default_factory=dict)

    @property
    def is_run(self) -> bool:
        """Return whether a shell or Python runs it."""
        return self.language in RUN and not {"file", "not run"} & set(self.marks)


@dataclass(frozen=True)
class Needs:
    """A comment that lists the tools that the page needs."""

    value: str


def parts(text: str) -> Iterator[Block | Needs]:
    """Yield the blocks of a page and the comments about the page, in order."""
    lines = text.splitlines()
    marks: dict[str, str] = {}
    number = 0
    while number < len(lines):
        line = lines[number]
        number += 1
        mark, fence = MARK.match(line), FENCE.match(line)
        if mark and mark[1] == "needs":
            yield Needs(mark[2])
        elif mark:
            marks[mark[1]] = mark[2] or ""
        elif fence:
            indent, ticks, language = fence.groups()
            begin = number
            while not re.fullmatch(rf" *{ticks}{ticks[0]}*\s*", lines[number]):
                number += 1
            inside = "".join(f"{each.removeprefix(indent)}\n" for each in lines[begin:number])
            number += 1
            yield Block(begin, language, inside, marks)
            marks = {}
        elif line.strip():
            assert not marks, f"line {number}: a comment on a block stands before something else"


def blocks(path: Path) -> list[Block]:
    """Return the blocks of a page, but those that are directives of Sphinx."""
    found = [part for part in parts(path.read_text("utf-8")) if isinstance(part, Block)]
    return [block for block in found if not block.language.startswith("{")]


def pages() -> list[Path]:
    """Return all documents of the repository that readers are shown."""
    patterns = ("*.md", "docs/**/*.md", "firmware_examples/**/*.md", "benchmarks/*.md")
    found = {path for pattern in patterns for path in ROOT.glob(pattern)}
    return sorted(path for path in found if not {"_build", "build"} & set(path.parts))


def name_of(path: Path) -> str:
    """Return a page's path in the repository."""
    return path.relative_to(ROOT).as_posix()


def matches(shown: str, said: str) -> bool:
    """
    Return whether a text contains the lines consecutively, ``...`` being anything.

    Spaces at the ends of lines do not count.
    """
    lines = [line.rstrip() for line in shown.strip("\n").splitlines()]
    pattern = "\n".join(re.escape(line).replace(r"\.\.\.", ".*") for line in lines)
    # A line of dots alone is any number of lines.
    pattern = re.sub(r"(?m)^\s*(?:\\ )*\.\*\n", "(?:.*\n)*?", pattern)
    text = "".join(f"{line.rstrip()}\n" for line in said.splitlines())
    return re.search(f"(?m)^{pattern}$", text) is not None
