"""Effects of one call of a function on concrete inputs, and what executes it."""

from dataclasses import dataclass
from typing import Protocol

JUNK = b"\xa5\x5a\x3c\xc3"
"""Fills registers and memory that a function must not depend on."""


@dataclass(frozen=True)
class Call:
    """Effects of a call."""

    outcome: int  # The result register, signed; the upper bits of an int16_t are its sign
    scores: bytes  # The output after the call
    instructions: int  # Executed ones; 0 if they are not counted
    stack: int  # Bytes of the stack from its top at the call to the lowest written one
    violation: str | None  # First access or state that the rules of a call forbid
    ended: bool  # True if it returned


class Engine(Protocol):
    """A processor with a program in its memory."""

    sizes: tuple[int, int]  # Bytes of the input and of the output

    def call(self, entry: int, input: bytes, most: int) -> Call:
        """Call a function, for so many instructions at most."""
