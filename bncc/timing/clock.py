"""The cycles of a simulated run, from its basic blocks, remembered at each reading."""

from dataclasses import dataclass, field

from bncc.device.image import Image
from bncc.device.simulators.unicorn import Reading
from bncc.prove import riscv, thumb
from bncc.prove.code import code_of
from bncc.prove.instructions import Instruction, UnknownInstruction
from bncc.targets.timing import CORES, Timing
from bncc.timing.blocks import Block, Flash, UnknownTimeError, block_of, edge_cycles


@dataclass(frozen=True)
class CycleClock:
    """Counts the cycles of programs for one core, whose flash has some wait states."""

    core: str  # Key of `CORES`
    flash: Flash = field(default_factory=Flash)

    def start(self, image: Image) -> "Run":
        """Return a clock for one run of a program."""
        code = code_of(image.path, image.target)
        is_riscv = image.target.name == "rv32"
        decoder = riscv.Decoder(code) if is_riscv else thumb.Decoder(code)
        return Run(decoder, CORES[self.core], self.flash)

    @property
    def loop(self) -> tuple[int, int]:
        """Cycles of a round of the loop in ``runtime/meter.c``, fewest and most."""
        cycles = CORES[self.core].cycles
        plain, jump = cycles["plain"], cycles["jump-if"]
        # Two instructions of two bytes each, and those that were fetched past the jump
        waits = 4 * self.flash.states if self.flash.states else 0
        return plain[0] + jump[0], plain[1] + jump[1] + waits


class Run:
    """The clock of one run."""

    def __init__(
        self, decoder: "riscv.Decoder | thumb.Decoder", timing: Timing, flash: Flash
    ) -> None:
        self._decoder, self._timing, self._flash = decoder, timing, flash
        self._blocks: dict[tuple[int, int], Block | None] = {}
        self._edges: dict[tuple[int, int, int, int], tuple[int, int, int]] = {}
        self._at, self._size = 0, 0
        self._low = self._high = self._unknown = 0
        self.readings: list[Reading] = []
        self.unknown: dict[str, None] = {}  # Why blocks have no known time

    def enter(self, address: int, size: int) -> None:
        """Count a basic block that begins."""
        key = self._at, self._size, address, size
        cost = self._edges.get(key)
        if cost is None:
            cost = self._edges[key] = self._edge(address, size)
        self._low += cost[0]
        self._high += cost[1]
        self._unknown += cost[2]
        self._at, self._size = address, size

    def read(self) -> None:
        """Remember the cycles so far, those of the current block included."""
        self.readings.append(Reading(self._low, self._high, self._unknown))

    def _edge(self, address: int, size: int) -> tuple[int, int, int]:
        """Return fewest and most cycles, and 1 if they are unknown."""
        block = self._block(address, size)
        if block is None:
            return 0, 0, 1
        before = self._blocks.get((self._at, self._size))
        is_taken = address != self._at + self._size
        low, high = edge_cycles(
            before, block, is_taken=is_taken, timing=self._timing, flash=self._flash
        )
        return low, high, 0

    def _block(self, address: int, size: int) -> Block | None:
        key = address, size
        if key not in self._blocks:
            try:
                self._blocks[key] = block_of(self._code(address, size), self._timing)
            except (UnknownInstruction, UnknownTimeError) as error:
                self._blocks[key] = None
                self.unknown[str(error)] = None
        return self._blocks[key]

    def _code(self, address: int, size: int) -> list[Instruction]:
        found, at = [], address
        while at < address + size:
            found.append(self._decoder.decode(at))
            at += found[-1].size
        return found
