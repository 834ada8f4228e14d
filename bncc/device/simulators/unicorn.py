"""
Unicorn: Cortex-M, RV32, big-endian MIPS and x86-64 from a Python wheel, without other software.

A program accesses input, output and the counter through the doorbell (``port_doorbell.h``).
Instructions are counted per basic block, before it runs: a program reads the counter as of the end
of the block with the doorbell, which is therefore in a function of its own.
"""

import gc
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from io import BytesIO
from time import monotonic
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias

from bncc.device.image import Image
from bncc.device.machine import RUN_LIMIT, HarnessError
from bncc.interrupts import interrupts_deferred
from bncc.targets import find_target
from bncc.targets.base import Core, Target
from bncc.targets.timing import CountedCore
from bncc.toolchain.tools import Tool, find_tools, require

_DOORBELL = 0x7000_0000
_PAGE = 0x1000
_MEMORY = 4 << 20
_DONE, _INTERRUPTED = "ended with status 0", "was interrupted"
_SYSTEM_CONTROL = 0xE000_E000
"""Address at which a Cortex-M enables its floating-point unit; plain memory here: it is on."""


Place: TypeAlias = tuple[int, int]
"""Address and bytes of a basic block."""


class Reading(NamedTuple):
    """Cycles in pairs of readings of the counter, up to one of them."""

    low: int  # low and high: Fewest and most
    high: int
    unknown: int  # Number of executed blocks whose cycles are unknown, and not included


class ClockRun(Protocol):
    """Count of the cycles of one run."""

    trace: list[Place]  # Basic blocks as they begin
    readings: list[Reading]  # One for each reading of the counter
    watched: Mapping[int, int]  # Registers of RISC-V by addresses of instructions that read them
    values: list[int]  # Values of these registers before the instructions

    def read(self) -> None:
        """Begin or end a pair of readings, between which cycles are counted."""


class Clock(Protocol):
    """Counts cycles of runs; see `bncc.timing`."""

    def start(self, image: Image) -> ClockRun:
        """Return the count of a run."""

    @property
    def counted(self) -> CountedCore:
        """Core whose cycles are counted."""

    @property
    def loop(self) -> tuple[int, int]:
        """Cycles of a round of the loop in ``runtime/meter.c``, fewest and most."""


def core_of(target: Target) -> Core:
    """Return the processor that represents a target."""
    return target.simulated(Core)


class Unicorn:
    """Runs images on the processors of unicorn."""

    name = "unicorn"
    port = "port_doorbell.h"
    defines: tuple[str, ...] = (f"BNCC_DOORBELL={_DOORBELL:#x}U",)

    def tool(self, target: str) -> Tool:
        """Return the wheel, installed or not."""
        return next(tool for tool in find_tools() if tool.name == "unicorn")

    def describe(self, target: str) -> str:
        """Return name, version and processor, for display."""
        core = core_of(find_target(target))
        model = core.model.removeprefix("UC_CPU_") if core.model else core.architecture[8:]
        return f"{require('unicorn')} {model}"

    def per_unit(self, target: str) -> float:
        """Return the increment of the counter per instruction."""
        return 1.0

    def run(self, image: Image, request: bytes, *, is_metered: bool = False) -> bytes:
        """Run an image to its end."""
        return self._run(image, request, is_metered, None)[0]

    def run_timed(self, image: Image, request: bytes, clock: Clock) -> tuple[bytes, list[Reading]]:
        """Run a metered image to its end, and read a clock whenever it reads its counter."""
        return self._run(image, request, True, clock)

    def _run(
        self, image: Image, request: bytes, is_metered: bool, clock: Clock | None
    ) -> tuple[bytes, list[Reading]]:
        require("unicorn")
        while True:
            count = None if clock is None else clock.start(image)
            run = _Run(image, request, is_metered, count)
            # If raised in a function called by C, Ctrl-C would be printed and lost.
            with interrupts_deferred(run.interrupt), _garbage_freed():
                run.go()
            if not run.is_interrupted:
                return run.reply(), [] if count is None else count.readings
            # Ctrl-C was only noted, as in a search that ends early on request: raise it again.


class _Run:
    """One run of one image: the processor, its memory, and the doorbell."""

    def __init__(
        self, image: Image, request: bytes, is_metered: bool, clock: ClockRun | None
    ) -> None:
        self._image = image
        self._clock = clock
        self._trace = [] if clock is None else clock.trace
        self._values = [] if clock is None else clock.values
        self._is_metered = is_metered
        self._core = core_of(image.target)
        self._uc: Any = None
        self._input, self._output = BytesIO(request), BytesIO()
        self._at = image.symbols["bncc_request"]
        self._order: Literal["big", "little"] = (
            "big" if image.target.byte_order == ">" else "little"
        )
        self._executed = 0
        self._end: str | None = None
        self._is_late = False
        self._lengths: dict[tuple[int, int], int] = {}

    def go(self) -> None:
        """Run to the end, whatever its cause."""
        import unicorn

        entry = self._image.symbols["bncc_start"] | self._core.entry_bit
        self._uc = _processor(self._image, self._core)
        self._listen()
        limit = monotonic() + RUN_LIMIT
        try:
            if self._end is None:
                self._uc.emu_start(
                    entry, 0xFFFF_FFF0, timeout=int(RUN_LIMIT * 1e6), count=self._core.most
                )
        except unicorn.UcError as error:
            # A stopped MIPS also reports an error, whatever stopped it.
            self._end = self._end or f"was stopped ({error})"
        finally:
            self._is_late = monotonic() >= limit
            self._uc = None

    def interrupt(self) -> None:
        """End the run now, or once it has started."""
        self._end = self._end or _INTERRUPTED
        if self._uc is not None:
            self._uc.emu_stop()

    @property
    def is_interrupted(self) -> bool:
        """True if a signal ended the run before the program did."""
        return self._end == _INTERRUPTED

    def reply(self) -> bytes:
        """Return the output."""
        if self._end == _DONE:
            return self._output.getvalue()
        if self._is_late:
            raise HarnessError(
                f"the program did not finish on unicorn within {RUN_LIMIT:.0f} s; try fewer inputs"
            )
        raise HarnessError(f"the program {self._end} on unicorn; report this, it is a bug in bncc")

    def _listen(self) -> None:
        """Install hooks for the doorbell, for faults, and for executed code."""
        import unicorn

        self._uc.mmio_map(_DOORBELL, _PAGE, lambda *_: 0, None, self._ring, None)
        self._uc.hook_add(unicorn.UC_HOOK_INTR, self._trap)
        if self._is_metered and self._core.length is None:
            self._uc.hook_add(unicorn.UC_HOOK_CODE, self._step)
        elif self._is_metered:
            hook = self._block if self._clock is None else self._timed_block
            self._uc.hook_add(unicorn.UC_HOOK_BLOCK, hook)
        for address, number in ({} if self._clock is None else self._clock.watched).items():
            register = unicorn.riscv_const.UC_RISCV_REG_X0 + number
            self._uc.hook_add(unicorn.UC_HOOK_CODE, self._watch, register, address, address)

    def _ring(self, uc: Any, offset: int, size: int, value: int, _: Any) -> None:
        if self._end is not None:
            self._uc.emu_stop()  # interrupted during the start, when stopping has no effect yet
            return
        address, length = self._field(0), self._field(1)
        operation = chr(value & 0xFF)
        if operation == "r":
            content = self._input.read(length)
            uc.mem_write(address, content)
            self._answer(len(content))
        elif operation == "w":
            self._output.write(uc.mem_read(address, length))
        elif operation == "t":
            if self._clock is not None:
                self._clock.read()
            self._answer(self._executed & 0xFFFF_FFFF)
        elif operation == "q":
            self._stop(f"ended with status {length}")
        else:
            self._stop(f"made the unknown request {operation!r}")

    def _field(self, index: int) -> int:
        return int.from_bytes(self._uc.mem_read(self._at + 4 * index, 4), self._order)

    def _answer(self, value: int) -> None:
        self._uc.mem_write(self._at + 8, value.to_bytes(4, self._order))

    def _trap(self, uc: Any, number: int, _: Any) -> None:
        self._stop("met a fault")

    def _stop(self, end: str) -> None:
        self._end = self._end or end
        self._uc.emu_stop()

    def _step(self, uc: Any, address: int, size: int, _: Any) -> None:
        self._executed += 1

    def _watch(self, uc: Any, address: int, size: int, register: int) -> None:
        self._values.append(uc.reg_read(register))

    def _block(self, uc: Any, address: int, size: int, _: Any) -> None:
        key = (address, size)
        count = self._lengths.get(key)
        if count is None:
            count = self._lengths[key] = self._core.count_instructions(
                bytes(uc.mem_read(address, size))
            )
        self._executed += count

    def _timed_block(self, uc: Any, address: int, size: int, _: Any) -> None:
        key = (address, size)
        self._trace.append(key)
        count = self._lengths.get(key)
        if count is None:
            count = self._lengths[key] = self._core.count_instructions(
                bytes(uc.mem_read(address, size))
            )
        self._executed += count


@contextmanager
def _garbage_freed() -> Iterator[None]:
    """
    Free the objects that the block leaves behind.

    A processor and its hooks refer to each other. Python's collector would free them at any later
    point, by a function of unicorn that suppresses Ctrl-C.
    """
    was_enabled = gc.isenabled()
    gc.disable()  # objects created from here on stay young
    try:
        yield
    finally:
        gc.collect(0)
        if was_enabled:
            gc.enable()


def _processor(image: Image, core: Core) -> Any:
    """Return a processor with the image in its memory and its stack pointer set."""
    import unicorn
    from unicorn import arm_const

    mode = 0
    for name in core.mode:
        mode |= getattr(unicorn, name)
    uc = unicorn.Uc(getattr(unicorn, core.architecture), mode)
    if core.model is not None:
        uc.ctl_set_cpu_model(getattr(arm_const, core.model))
    uc.mem_map(image.target.rom, _MEMORY)
    uc.mem_map(image.target.ram, _MEMORY)
    for address, content in image.segments:
        uc.mem_write(address, content)
    if core.architecture == "UC_ARCH_ARM":
        uc.mem_map(_SYSTEM_CONTROL, _PAGE)
        uc.reg_write(arm_const.UC_ARM_REG_SP, image.symbols["bncc_stack_top"])
    return uc
