"""A CRC-32 of all constants of an emission: what the C adds up, and the sum that is expected."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from zlib import crc32

import numpy as np

from bncc.lower.c.c99 import ArrayText

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
    for array in arrays:
        mask = (1 << array.bits) - 1
        values = np.array([value & mask for value in array.values()], f"<u{array.bits // 8}")
        total = crc32(values.tobytes(), total)
    return crc32(label_bytes(labels) + b"\0", total)


def label_bytes(labels: Sequence[str]) -> bytes:
    """Return the labels of all classes one after the other, each with the zero at its end."""
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
