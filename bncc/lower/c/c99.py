"""Numbers, arrays and sentences as C99 text."""

import re
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

LINE = 92
"""Columns of an array's lines, which are indented by up to 8."""
INDENT = "    "


@dataclass(frozen=True)
class ArrayText:
    """A constant array, ready for the template."""

    type: str  # C type of an entry
    name: str  # Name without the model's prefix
    length: int  # Number of entries
    comment: str  # What the entries mean
    lines: tuple[str, ...]  # The initializer, line by line
    n_bytes: int  # Bytes in flash


def number_text(value: float) -> str:
    """Print a reading: a float by the fewest digits that identify the float32."""
    return str(value) if isinstance(value, int) else str(np.float32(value)).removesuffix(".0")


def unsigned(bits: int) -> str:
    """Return the unsigned C type of a width in bits."""
    return f"uint{bits}_t"


def literal_suffix(bits: int, *, signed: bool = False) -> str:
    """
    Return the suffix of an unsigned or signed hexadecimal literal of a number of bits.

    Without it, a number that fills an int's bits is unsigned, whose width depends on the target.
    """
    if signed:
        return "LL" if bits > 32 else "L"
    return "U" if bits <= 32 else "ULL"


def counter(n: int) -> str:
    """Return the unsigned C type that counts to a number below 65,536."""
    return unsigned(8 if n <= 255 else 16)


def wrap(values: Iterable[int], signed: bool = False) -> list[str]:
    """Print numbers separated by commas, wrapped to lines."""
    return wrap_words(_signed(int(v)) if signed else f"{int(v)}U," for v in values)


def whole_text(kind: str, value: int) -> str:
    """Return an integer as a constant of the essential type of a kind of readings."""
    return f"{value}U" if kind.startswith(("uint", "code")) else str(value)


def wrap_words(words: Iterable[str]) -> list[str]:
    """Join words by blanks into lines of at most `LINE` columns."""
    lines, line = [], ""
    for word in words:
        if line and len(line) + 1 + len(word) > LINE:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
    return [*lines, line] if line else lines


def broken(statement: str, sign: str = "+", columns: int = LINE) -> list[str]:
    """Break a statement before an operator where it is too long for a line."""
    indent = " " * (len(statement) - len(statement.lstrip()) + 4)
    line, *operands = statement.split(f" {sign} ")
    lines = []
    for operand in operands:
        longer = f"{line} {sign} {operand}"
        if len(longer) <= columns:
            line = longer
        else:
            lines.append(line)
            line = f"{indent}{sign} {operand}"
    return [*lines, line]


def cast(expression: str, c_type: str) -> str:
    """Print an expression cast to a type, in parentheses where it has operators."""
    return f"({c_type})({expression})" if " " in expression else f"({c_type}){expression}"


def _signed(value: int) -> str:
    # -2147483648 is an expression of a wider type in C; INT32_MIN is not.
    return "INT32_MIN," if value == -(2**31) else f"{value},"


def array(
    name: str, bits: int, values: Sequence[int], comment: str, *, signed: bool = False
) -> ArrayText:
    """Return a constant array of plain numbers."""
    entries = [int(value) for value in values] or [0]
    c_type = f"int{bits}_t" if signed else unsigned(bits)
    lines = tuple(wrap(entries, signed))
    return ArrayText(c_type, name, len(entries), comment, lines, len(entries) * bits // 8)


COMMENT = 94
"""Columns of a comment's lines, between its marks."""


def counted(n: int, noun: str) -> str:
    """Return a number with its noun."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def comment(text: str) -> str:
    """Break sentences into the lines of a comment."""
    lines = textwrap.wrap(
        " ".join(text.split()), COMMENT, break_long_words=False, break_on_hyphens=False
    )
    return "\n * ".join(lines)


def indented(lines: Iterable[str]) -> list[str]:
    """Indent lines by one level."""
    return [f"{INDENT}{line}" for line in lines]


def wrapped(statement: str) -> list[str]:
    """Break a statement before its operators where it is too long for a line."""
    if len(statement) <= LINE - 8:
        return [statement]
    if " ? " not in statement and " + " not in statement:
        return _filled(re.split(r" (?=- )", statement))
    return re.sub(r" (?=[?:+] )", f"\n{INDENT}", statement).split("\n")


def _filled(parts: Sequence[str]) -> list[str]:
    """Join the parts of a statement to lines, as few as possible."""
    lines = [parts[0]]
    for part in parts[1:]:
        if len(lines[-1]) + len(part) < LINE - 8:
            lines[-1] += f" {part}"
        else:
            lines.append(f"{INDENT}{part}")
    return lines
