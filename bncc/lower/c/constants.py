"""Constant data of emitted C: how much an array may hold, class labels, and a CRC-32 of all."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from zlib import crc32

import numpy as np

from bncc.lower.c.c99 import ArrayText, array, wrap_words
from bncc.lower.c.identifiers import c_characters, c_string
from bncc.program.ir import width_of

MOST_IN_ARRAY = 32767
"""Bytes of the largest object that compilers allow on a target with a 16-bit ptrdiff_t."""
MOST_IN_ALL = 65536 - 508
"""Bytes of constants that 16-bit addresses surely reach.

An AVR's linkers place ``PROGMEM`` behind the interrupt vectors, at most 127 * 4 bytes (XMEGA).
"""


def must_be_divided(array_bytes: int, rom_bytes: int) -> bool:
    """Return whether 16-bit targets could hold all constants, but not an array in one piece."""
    return array_bytes > MOST_IN_ARRAY and rom_bytes <= MOST_IN_ALL


_REMEDY = "train with fewer states, parents or bits"
_FEWER = "emit fewer with --vectors, or leave the self-test out"


def avr_error(largest_array: int, rom_bytes: int) -> str:
    """Explain why an AVR cannot hold a model's constants."""
    if rom_bytes > MOST_IN_ALL:
        return (
            f"{rom_bytes} bytes of constants are more than the {MOST_IN_ALL} that an AVR reads "
            f"by 16-bit addresses; {_REMEDY}"
        )
    if largest_array > MOST_IN_ARRAY:
        return (
            f"an array of {largest_array} bytes is more than the {MOST_IN_ARRAY} that AVR "
            f"compilers take; {_REMEDY}"
        )
    return ""


def avr_vectors_error(rom_bytes: int, vector_bytes: Sequence[int]) -> str:
    """Explain why an AVR cannot hold the self-test's vectors in addition to the model."""
    in_all = sum(vector_bytes)
    if rom_bytes <= MOST_IN_ALL < rom_bytes + in_all:
        return (
            f"the model's {rom_bytes} bytes and {in_all} of vectors are together more than "
            f"the {MOST_IN_ALL} that an AVR reads by 16-bit addresses; {_FEWER}"
        )
    if max(vector_bytes) > MOST_IN_ARRAY:
        return (
            f"{max(vector_bytes)} bytes of vectors are more than the {MOST_IN_ARRAY} that AVR "
            f"compilers take in one array; {_FEWER}"
        )
    return ""


MAX_STRING = 4095
"""Characters that every C99 compiler takes in one string literal."""


@dataclass(frozen=True)
class LabelText:
    """The labels of all classes as C."""

    lines: tuple[str, ...]  # The initializer of the array of characters, line by line
    starts: ArrayText  # Where each class's label begins, and behind the last one an empty string
    n_bytes: int  # Bytes of the characters in flash


def label_text(classes: Sequence[str]) -> LabelText:
    """Print the labels of all classes."""
    starts = [0]
    for label in classes:
        starts.append(starts[-1] + len(label.encode("utf-8", errors="replace")) + 1)
    if starts[-1] <= MAX_STRING:
        lines = [f'{c_string(label)[:-1]}\\000"' for label in classes]
    else:
        lines = wrap_words(c for label in classes for c in [*c_characters(label), "'\\000',"])
        lines.append("'\\000'")
    meaning = "Index of the first character of each class's label."
    return LabelText(
        tuple(lines), array("label_start", width_of(starts[-1]), starts, meaning), starts[-1] + 1
    )


_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_ADDRESS = re.compile(r"&\w+\[(\d+)\]")
_NAMED = {"INT32_MIN": -(2**31)}


@dataclass(frozen=True)
class Summed:
    """A constant array as its sum is taken."""

    name: str  # Without the model's prefix
    length: int  # Number of entries
    bits: int  # Width of an entry; 32 of an address, which counts in bytes from `base`
    reader: str  # Ends the name of the function that reads an entry from flash
    base: str  # Array that addresses point into; empty for numbers
    step: int  # Bytes that an address moves per entry; 1 for numbers
    lines: tuple[str, ...]  # The initializer

    def values(self) -> list[int]:
        """Return the entries, read back from what is printed."""
        text = _COMMENT.sub(" ", "\n".join(self.lines))
        return [_number(word.strip()) * self.step for word in text.split(",") if word.strip()]


def summed_arrays(arrays: Sequence[ArrayText]) -> tuple[Summed, ...]:
    """Plan the sum over the arrays of an emission."""
    widths = {array.name: _bits(array.type) for array in arrays if "*" not in array.type}
    return tuple(_summed(array, widths) for array in arrays)


def crc_of(arrays: Sequence[Summed], labels: Sequence[str]) -> int:
    """Return the CRC-32 of all constants."""
    total = 0
    for constant in arrays:
        mask = (1 << constant.bits) - 1
        values = np.array([value & mask for value in constant.values()], f"<u{constant.bits // 8}")
        total = crc32(values.tobytes(), total)
    return crc32(label_bytes(labels) + b"\0", total)


def label_bytes(labels: Sequence[str]) -> bytes:
    """Return the concatenated labels of all classes, each with its terminating zero."""
    return b"".join(label.encode("utf-8", errors="replace") + b"\0" for label in labels)


def _summed(array: ArrayText, widths: dict[str, int]) -> Summed:
    if "*" not in array.type:
        bits, reader = _bits(array.type), array.type.removesuffix("_t")
        return Summed(array.name, array.length, bits, reader, "", 1, array.lines)
    # Every array of addresses points into one array of rows.
    base = array.lines[0].partition("[")[0].removeprefix("&")
    step = next(bits for name, bits in widths.items() if base.endswith(f"_{name}")) // 8
    return Summed(array.name, array.length, 32, "row", base, step, array.lines)


def _bits(c_type: str) -> int:
    return int(c_type.removesuffix("_t").lstrip("uint"))


def _number(word: str) -> int:
    if word in _NAMED:
        return _NAMED[word]
    address = _ADDRESS.fullmatch(word)
    return int(address[1]) if address else int(word.rstrip("UL"), 0)
