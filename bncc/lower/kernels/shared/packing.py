"""
Several costs in a word: packing, splitting into wider lanes, and their C.

Rows as words of several costs: how many bits a cost takes, and where a row's words lie.

Word k of every row is in plane k. A row is then found by its number alone, without multiplying the
number by the bytes of a row, and its next word is one plane further.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bncc._types import IntArray
from bncc.lower.c.c99 import wrap_words
from bncc.lower.kernels.shared.rows import distinct, table_heading
from bncc.program.ir import WIDTHS, Program, Table, width_of


@dataclass(frozen=True)
class Packing:
    """Packing of a row's costs into words, the first class in the lowest bits of the first word."""

    entry_bits: int  # Bits of a cost
    word_bits: int  # Bits of a word

    @property
    def per_word(self) -> int:
        """Costs in a word; the bits that are left above them are zero."""
        return self.word_bits // self.entry_bits

    def n_planes(self, n_classes: int) -> int:
        """Return the words of a row; the last one may have room for more classes."""
        return -(-n_classes // self.per_word)

    def row_bytes(self, n_classes: int) -> int:
        """Return the bytes of a row."""
        return self.n_planes(n_classes) * self.word_bits // 8


@dataclass(frozen=True, eq=False)
class Rows:
    """Stored rows, all of them or the distinct ones."""

    costs: IntArray  # (n_stored, n_classes) int64: The stored rows
    # (n_rows,) int64 or None: Which stored row is each; None when all are stored in their order
    index: IntArray | None = None

    @cached_property
    def index_bits(self) -> int:
        """Width of an index."""
        return width_of(len(self.costs) - 1)

    @property
    def index_bytes(self) -> int:
        """Bytes of all indices."""
        return 0 if self.index is None else len(self.index) * self.index_bits // 8


def packings(largest: int) -> Iterator[Packing]:
    """Return the packings of costs up to a largest one."""
    needed = max(1, largest.bit_length())
    for word_bits in WIDTHS:
        if needed <= word_bits:
            yield Packing(needed, word_bits)
    yield from (Packing(bits, 8) for bits in (1, 2, 4, 8) if bits > needed)


def packed_words(costs: IntArray, packing: Packing) -> IntArray:
    """
    Pack rows into words.

    Shapes: `costs` (n_rows, n_classes) int64; returns (n_planes, n_rows) int64, word k of every row
    in plane k.
    """
    n_rows, n_classes = costs.shape
    n_planes = packing.n_planes(n_classes)
    entries = np.zeros((n_rows, n_planes * packing.per_word), dtype=np.int64)
    entries[:, :n_classes] = costs
    shifts = np.arange(packing.per_word) * packing.entry_bits
    words = (entries.reshape(n_rows, n_planes, packing.per_word) << shifts).sum(axis=2)
    return np.ascontiguousarray(words.T)


def unique_rows(costs: IntArray) -> Rows:
    """
    Store equal rows once.

    Shapes: `costs` (n_rows, n_classes) int64.
    """
    return Rows(*distinct(costs))


SUM_BITS = 32
"""Width of a sum of several lanes."""


@dataclass(frozen=True)
class Part:
    """Every k-th cost of a word, each in a lane k times as wide as it is stored."""

    word: int  # Which word of a row
    shift: int  # How far its costs are moved down
    lane_bits: int  # Width of a lane
    classes: tuple[int, ...]  # By lane, the lowest first
    is_rest: bool  # True if only these costs are left in the word after the shift

    @property
    def moved_bits(self) -> int:
        """Bits that its lanes are moved down by in the end, altogether."""
        return sum(lane * self.lane_bits for lane in range(len(self.classes)))

    def capacity(self) -> IntArray:
        """Return the bits that the sum of each lane may have, (n_lanes,) int64."""
        bits = np.full(len(self.classes), self.lane_bits)
        bits[-1] = SUM_BITS - self.lane_bits * (len(self.classes) - 1)
        return bits


def parts_of(packing: Packing, n_classes: int, n_parts: int) -> tuple[Part, ...]:
    """Split the words of a row into lanes."""
    found = []
    for word, first in enumerate(range(0, n_classes, packing.per_word)):
        classes = range(first, min(first + packing.per_word, n_classes))
        for place in range(min(n_parts, len(classes))):
            lanes = tuple(classes[place::n_parts])
            is_rest = lanes == tuple(classes[place:])
            shift = place * packing.entry_bits
            found.append(Part(word, shift, n_parts * packing.entry_bits, lanes, is_rest))
    return tuple(found)


def longest_run(parts: tuple[Part, ...], largest: IntArray) -> int:
    """
    Return the number of consecutive rows that lanes can sum, wherever they begin.

    Shapes: `largest` (n_tables, n_classes) int64.
    """
    capacity = np.zeros(largest.shape[1], dtype=np.int64)
    for part in parts:
        capacity[list(part.classes)] = part.capacity()
    sums = np.vstack([np.zeros_like(largest[:1]), largest.cumsum(axis=0)])
    fits, too_long = 0, len(largest) + 1
    while too_long - fits > 1:
        run = (fits + too_long) // 2
        most = (sums[run:] - sums[:-run]).max(axis=0)
        if (most < 1 << capacity).all():
            fits = run
        else:
            too_long = run
    return fits


def moved(packing: Packing, part: Part, word: str) -> str:
    """Print the lanes of a part, moved down."""
    down = f"{word} >> {part.shift}" if part.shift else word
    if part.is_rest:
        return down
    entry = (1 << packing.entry_bits) - 1
    mask = sum(entry << (lane * part.lane_bits) for lane in range(len(part.classes)))
    digits = packing.word_bits // 4
    return f"({down}) & 0x{mask:0{digits}X}U" if part.shift else f"{down} & 0x{mask:0{digits}X}U"


def added_whole(packing: Packing, parts: Sequence[Part], first: int, read: str) -> list[str]:
    """Print the additions of a word: itself to the first sum, some of its costs to the others."""
    if len(parts) == 1:
        return [f"part{first} += {read};"]
    moves = [
        f"part{k} += {moved(packing, part, 'word')};" for k, part in enumerate(parts[1:], first + 1)
    ]
    return [f"word = {read};", f"part{first} += word;", *moves]


def taken_off(parts: Sequence[Part], first: int) -> list[str]:
    """Print the final subtractions from the first sum of a word."""
    return [
        f"part{first} -= part{k} << {part.shift};" for k, part in enumerate(parts[1:], first + 1)
    ]


def lane_values(parts: Iterable[Part], sum_bits: int) -> list[str]:
    """Print the value of each class in its lane."""
    lanes: dict[int, str] = {}
    for k, part in enumerate(parts):
        for lane, c in enumerate(part.classes):
            text = f"part{k} >> {lane * part.lane_bits}" if lane else f"part{k}"
            if c != part.classes[-1] and part.lane_bits != sum_bits:
                mask = f"0x{(1 << part.lane_bits) - 1:X}U"
                text = f"({text}) & {mask}" if lane else f"{text} & {mask}"
            lanes[c] = text
    return [lanes[c] for c in sorted(lanes)]


def plus(start: str, lane: str) -> str:
    """Print the sum of where a class starts and its lane; nothing to start from is empty."""
    if not start:
        return lane
    return f"{start} + {lane}" if " " not in lane else f"{start} + ({lane})"


def plane_lines(
    program: Program,
    packing: Packing,
    planes: IntArray,
    *,
    tables: Sequence[Table] = (),
    classes: Sequence[int] = (),
    word_bits: int | None = None,
) -> Iterator[str]:
    """
    Print words plane by plane, below the heading of each table.

    Shapes: `planes` (n_planes, n_rows) int64.
    """
    per_word, digits = packing.per_word, (word_bits or packing.word_bits) // 4
    classes = classes or range(program.n_classes)
    for k, plane in enumerate(planes.tolist()):
        which = _named(classes[k * per_word : (k + 1) * per_word])
        printed = [f"{w}U," if per_word == 1 else f"0x{w:0{digits}X}U," for w in plane]
        if not tables:
            yield f"/* {which} */"
            yield from wrap_words(printed)
        at = 0
        for table in tables:
            yield f"/* {which}: {table_heading(program, table)} */"
            yield from wrap_words(printed[at : at + len(table.costs)])
            at += len(table.costs)


def _named(classes: Sequence[int]) -> str:
    """Name the classes of a word."""
    first, *others = classes
    if not others:
        return f"Class {first}"
    if others == list(range(first + 1, first + 1 + len(others))):
        return f"Classes {first} to {others[-1]}"
    return f"Classes {', '.join(map(str, classes))}"
