"""Parts of words as C: the costs that a part takes from a word, and what its lanes hold."""

from collections.abc import Iterable, Sequence

from bncc.lower.kernels.shared.packing import Packing
from bncc.lower.kernels.shared.parts import Part


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
    """Print what a word adds to its sums: itself to the first, some of its costs to the others."""
    if len(parts) == 1:
        return [f"part{first} += {read};"]
    moves = [
        f"part{k} += {moved(packing, part, 'word')};" for k, part in enumerate(parts[1:], first + 1)
    ]
    return [f"word = {read};", f"part{first} += word;", *moves]


def taken_off(parts: Sequence[Part], first: int) -> list[str]:
    """Print what the first sum of a word has too much in the end."""
    return [
        f"part{first} -= part{k} << {part.shift};" for k, part in enumerate(parts[1:], first + 1)
    ]


def lane_values(parts: Iterable[Part], sum_bits: int) -> list[str]:
    """Print what each class has in its lane."""
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
