"""The cycles of a simulated run, from its basic blocks, remembered at each reading."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from bncc.device.image import Image
from bncc.device.simulators.unicorn import Place, Reading
from bncc.prove import riscv, thumb
from bncc.prove.code import Code, code_of
from bncc.prove.instructions import Instruction, UnknownInstruction
from bncc.targets.timing import CORES, CountedCore, Timing, steps_of
from bncc.timing.blocks import Block, Flash, UnknownTimeError, block_of, edge_cycles


@dataclass(frozen=True)
class CycleClock:
    """Counts the cycles of programs for one core, whose flash has some wait states."""

    core: str  # Key of `CORES`
    flash: Flash = field(default_factory=Flash)

    @classmethod
    def of(cls, core: CountedCore) -> "CycleClock":
        """Return the clock of a core with its flash."""
        return cls(core.core, Flash(core.states, core.has_prefetch))

    @property
    def counted(self) -> CountedCore:
        """The core and its flash."""
        return CountedCore(self.core, self.flash.states, self.flash.has_prefetch)

    def start(self, image: Image) -> "Run":
        """Return a clock for one run of a program."""
        code = code_of(image.path, image.target)
        return Run(code, CORES[self.core], self.flash)

    @property
    def loop(self) -> tuple[int, int]:
        """Cycles of a round of the loop in ``runtime/meter.c``, fewest and most."""
        cycles = CORES[self.core].cycles
        plain, jump = cycles["plain"], cycles["jump-if"]
        # Two instructions of two bytes each, and those that were fetched past the jump
        waits = 4 * self.flash.states if self.flash.states else 0
        return plain[0] + jump[0], plain[1] + jump[1] + waits


class Run:
    """
    The clock of one run.

    Code between the pairs of readings, such as the harness, is neither decoded nor counted.
    """

    def __init__(self, code: Code, timing: Timing, flash: Flash) -> None:
        self._decoder: riscv.Decoder | thumb.Decoder
        if code.target.name == "rv32":
            self._decoder = riscv.Decoder(code)
        else:
            self._decoder = thumb.Decoder(code)
        self._timing, self._flash = timing, flash
        self._blocks: dict[Place, Block | None] = {}
        self._edges: dict[tuple[Place, Place], Reading] = {}
        self._total = Reading(0, 0, 0)
        shifts = riscv.register_shifts(code) if timing.shifts_in_steps else ()
        self.watched: Mapping[int, int] = dict(shifts)
        self.values: list[int] = []
        self.trace: list[Place] = []
        self.readings: list[Reading] = []
        self.unknown: dict[str, None] = {}  # Why blocks have no known time

    def read(self) -> None:
        """Begin a pair of readings, or end it and count what has run since its begin."""
        if len(self.readings) % 2:
            for edge, n in Counter(pairwise(self.trace)).items():
                if edge not in self._edges:
                    self._edges[edge] = self._edge(*edge)
                low, high, unknown = self._edges[edge]
                self._add(n * low, n * high, n * unknown)
            steps = sum(steps_of(value % 32) for value in self.values)
            self._add(steps, steps, 0)
        self.readings.append(self._total)
        self.values.clear()
        del self.trace[:-1]

    def _add(self, low: int, high: int, unknown: int) -> None:
        total = self._total
        self._total = Reading(total.low + low, total.high + high, total.unknown + unknown)

    def _edge(self, source: Place, target: Place) -> Reading:
        """Return the cycles of a block after another, and of the jump between them."""
        before, block = self._block(source), self._block(target)
        if before is None or block is None:
            return Reading(0, 0, 1)
        is_taken = target[0] != source[0] + source[1]
        low, high = edge_cycles(
            before, block, is_taken=is_taken, timing=self._timing, flash=self._flash
        )
        return Reading(low, high, 0)

    def _block(self, place: Place) -> Block | None:
        if place not in self._blocks:
            try:
                code = self._code(*place)
                self._blocks[place] = block_of(code, self._timing, behind=self._behind(code[-1]))
            except (UnknownInstruction, UnknownTimeError) as error:
                self._blocks[place] = None
                self.unknown[str(error)] = None
        return self._blocks[place]

    def _behind(self, last: Instruction) -> int:
        """Return the size of the instruction behind another, 0 if there is none."""
        try:
            return self._decoder.decode(last.address + last.size).size
        except UnknownInstruction:
            return 0

    def _code(self, address: int, size: int) -> list[Instruction]:
        found, at = [], address
        while at < address + size:
            found.append(self._decoder.decode(at))
            at += found[-1].size
        return found
