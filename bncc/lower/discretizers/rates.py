"""
Flash and instructions of discretizing a reading per target: rates fitted to measurements.

``benchmarks/fit/discretizer_rates.py`` measures every way alone: 4 and 12 sensors of one kind, 1 to
15 thresholds each, instructions (cycles on AVR) of ``raw`` less those of ``trusted`` at -O2, bytes
at -Os. Within 15 % of what is measured lie 80 % of the 128 instructions on Cortex-M0, 95 % of the
bytes; a search of one or two thresholds takes fewer than estimated, as compilers unroll it. The
rates of guides are fitted to such trials with all others as they stand.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from bncc.lower.discretizers.trees import Branch, Guide, GuideUse, nodes
from bncc.targets import fitted_as

Search = Literal["linear", "binary"]
Cost: TypeAlias = tuple[float, float]
"""Executed instructions, on AVR cycles, and bytes of flash."""


@dataclass(frozen=True)
class Rates:
    """Instructions and bytes of code of the discretizers, for readings of 16 bits."""

    line: Cost  # Around a way in straight-line code: the reading's load and the state's store
    call: Cost  # Calling a search with its four arguments, and what is done there once
    turn: Cost  # Around a search in a loop over all features; the bytes are those of the loop
    # linear and binary: Per threshold passed, or per halving; the bytes are those of the function
    linear: Cost
    binary: Cost
    tree: Cost  # Per comparison
    table: Cost  # Comparing with both ends and reading the state
    nibble: Cost  # Taking one of the two states of a byte
    # guide and guide32: Finding the entry of a reading of 16 or 32 bits, reading it and adding it
    guide: Cost
    guide32: Cost
    # half and word: What a comparison takes more with a number of 16 bits that is no byte, and with
    # any of 32
    half: Cost
    word: Cost

    def shared(self, search: Search) -> float:
        """Return the bytes of the function that searches."""
        return (self.linear if search == "linear" else self.binary)[1]

    def looped(self, search: Search, looks: float, bits: int) -> float:
        """Return the instructions of one turn of a loop, whose search looks so often on average."""
        return self.turn[0] + self._search(search, looks, bits)

    def called(self, search: Search, looks: float, bits: int) -> Cost:
        """Return the cost of a line that calls a search, likewise, without thresholds."""
        work = self.line[0] + self.call[0] + self._search(search, looks, bits)
        return work, self.line[1] + self.call[1]

    def compared(self, mean: float, bounds: Sequence[int], bits: int) -> Cost:
        """Return the cost of a line of comparisons with bounds, on average `mean` of them met."""
        work, size = self._more(bounds, bits)
        return (
            self.line[0] + mean * (self.tree[0] + work / max(len(bounds), 1)),
            self.line[1] + len(bounds) * self.tree[1] + size,
        )

    def looked_up(
        self, n_bytes: int, bounds: Sequence[int], bits: int, *, is_nibbles: bool = False
    ) -> Cost:
        """Return the footprint of a line with comparisons and a look-up table of some bytes."""
        work, size = (
            line + table + more + is_nibbles * nibble
            for line, table, more, nibble in zip(
                self.line, self.table, self._more(bounds, bits), self.nibble, strict=True
            )
        )
        return work, size + n_bytes

    def guided(self, guide: Guide, use: GuideUse, bits: int) -> Cost:
        """Return the cost of a line with a guide, used as often as expected."""
        bounds = [node.bound.last for node in nodes(guide.beyond) if isinstance(node, Branch)]
        more, size = self._more(bounds, bits)
        each = self.tree[0] + more / max(len(bounds), 1)
        found = self.guide32 if bits == 32 else self.guide
        others = self.tree[0] + use.comparisons * each
        work = use.inside * found[0] + (1 - use.inside) * others
        code = self.line[1] + found[1] + len(bounds) * self.tree[1] + size
        return self.line[0] + work, code + len(guide.entries) * bits // 8

    def _search(self, search: Search, looks: float, bits: int) -> float:
        """Return the instructions of a search that looks so often on average."""
        each = self.linear[0] if search == "linear" else self.binary[0]
        return looks * (each + self.word[0] * (bits == 32))

    def _more(self, bounds: Sequence[int], bits: int) -> Cost:
        """Return the extra footprint of comparisons with bounds over those with bytes."""
        if bits == 32:
            return len(bounds) * self.word[0], len(bounds) * self.word[1]
        n_half = sum(not 0 <= bound <= 255 for bound in bounds)
        return n_half * self.half[0], n_half * self.half[1]


_M0 = Rates(
    line=(0.45, 10.3),
    call=(0, 7.15),
    turn=(17.5, 51.1),
    linear=(7.25, 43.3),
    binary=(14.1, 59),
    tree=(4.17, 6.15),
    table=(11.6, 20.5),
    nibble=(4.38, 13.8),
    guide=(17, 32),
    guide32=(16.5, 35),
    half=(1.12, 4.87),
    word=(0.493, 4.75),
)
RATES: Mapping[str, Rates] = {
    "cortex-m0": _M0,
    "cortex-m4": Rates(
        line=(0.573, 6.45),
        call=(0, 9.01),
        turn=(12, 41),
        linear=(5.92, 46.6),
        binary=(12.6, 60.3),
        tree=(3.44, 7.6),
        table=(8.82, 28.7),
        nibble=(3.75, 15),
        guide=(10, 29),
        guide32=(10, 28),
        half=(0.823, 3.78),
        word=(1, 5.4),
    ),
    "rv32": Rates(
        line=(0.586, 7.97),
        call=(0, 10.9),
        turn=(16.1, 56.2),
        linear=(5.26, 63.1),
        binary=(13, 80.5),
        tree=(3.11, 9.64),
        table=(12.5, 41),
        nibble=(3.12, 16.1),
        guide=(15, 45),
        guide32=(16.7, 40),
        half=(0.476, 0.933),
        word=(0.943, 3.58),
    ),
    "x86": Rates(
        line=(0, 6.02),
        call=(0, 20.1),
        turn=(16.8, 70.2),
        linear=(4.73, 57.1),
        binary=(13.9, 78.3),
        tree=(3.33, 9.64),
        table=(11.7, 54.8),
        nibble=(5.28, 20.2),
        guide=(12.3, 58),
        guide32=(10.7, 50),
        half=(0.254, 0.695),
        word=(0.318, 1.25),
    ),
    "avr": Rates(
        line=(7.46, 11.6),
        call=(0, 9.66),
        turn=(44.4, 82.4),
        linear=(16.9, 78.7),
        binary=(34.4, 121),
        tree=(3.96, 10.1),
        table=(15.9, 30.5),
        nibble=(4.88, 10.1),
        guide=(32, 43),
        guide32=(170, 83),
        half=(2.33, 1.02),
        word=(8.37, 6.84),
    ),
    "big-endian": _M0,  # not measured
}
"""By target; others take the rates of a similar one."""


def rates_of(target: str | None) -> Rates:
    """Return the rates of a target, of a similar one, or of the generic one."""
    return next(RATES[each] for each in fitted_as(target) if each in RATES)
