"""
Calls of Cortex-M and RISC-V functions in unicorn, each access to memory checked.

The function sees its code and constants, an input of exactly its size, an output of exactly its
size, and a stack. Everything else is unmapped or watched: hooks of a range of addresses run only
for an access outside these, so a call without a violation costs little more than its code.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from bncc.prove.call import JUNK, Call
from bncc.prove.code import Code
from bncc.prove.instructions import Load, Store
from bncc.prove.machines import decoder_of
from bncc.targets.base import Core

_PAGE = 0x1000
_WINDOW = 0x10_0000
"""Size of the free window around each region of a call."""
_STACK = 0x1_0000
_WIDEST = 8
"""Bytes of the widest access to memory."""


class _Registers(NamedTuple):
    """Registers by the names of unicorn's constants without their prefix."""

    prefix: str
    arguments: tuple[str, str]
    result: str
    stack: str
    back: str  # The return address
    kept: tuple[str, ...]  # The caller's, which a function restores
    junk: tuple[str, ...]  # Any value at a call


_REGISTERS = {
    "UC_ARCH_ARM": _Registers(
        "UC_ARM_REG_",
        ("R0", "R1"),
        "R0",
        "SP",
        "LR",
        (*(f"R{i}" for i in range(4, 12)), *(f"D{i}" for i in range(8, 16))),
        ("R2", "R3", "R12"),
    ),
    "UC_ARCH_RISCV": _Registers(
        "UC_RISCV_REG_",
        ("A0", "A1"),
        "A0",
        "SP",
        "RA",
        ("GP", "TP", *(f"S{i}" for i in range(12))),
        (*(f"A{i}" for i in range(2, 8)), *(f"T{i}" for i in range(7))),
    ),
}
ARCHITECTURES = frozenset(_REGISTERS)
"""Unicorn's names of those that can be called."""


class CoreEngine:
    """A simulated Cortex-M or RISC-V processor with a program and the regions of a call."""

    def __init__(
        self,
        code: Code,
        core: Core,
        sizes: tuple[int, int],
        is_counted: bool,
        alignments: Mapping[str, int] | None,
    ) -> None:
        import unicorn

        self.sizes = sizes
        self._core = core
        self._registers = _REGISTERS[core.architecture]
        self._input, self._output, stack, self._back = _free_windows(code, 4)
        self._top = stack + _STACK - _PAGE  # above it the caller's frame
        if alignments is not None:
            self._decoder = decoder_of(code)
            self._input += alignments["input"]
            self._output += alignments["output"]
        self._violation: str | None = None
        self._lowest = self._top
        self._executed = 0
        self._lengths: dict[tuple[int, int], int] = {}
        self._uc = _processor(core)
        self._map_code(code)
        self._map(self._input, sizes[0], unicorn.UC_PROT_READ)
        self._map(self._output, sizes[1], unicorn.UC_PROT_READ | unicorn.UC_PROT_WRITE)
        self._uc.mem_map(stack, _STACK, unicorn.UC_PROT_READ | unicorn.UC_PROT_WRITE)
        self._uc.mem_write(stack, JUNK * (_STACK // 4))
        self._uc.mem_map(self._back, _PAGE)
        self._watch("caller's frame", self._top, stack + _STACK)
        self._hook(unicorn.UC_HOOK_MEM_WRITE, self._deepen, stack, self._top - 1)
        self._hook(unicorn.UC_HOOK_MEM_INVALID, self._miss)
        self._hook(unicorn.UC_HOOK_INTR, self._trap)
        if is_counted:
            self._hook(unicorn.UC_HOOK_BLOCK, self._count)
        if alignments is not None:
            kinds = unicorn.UC_HOOK_MEM_READ | unicorn.UC_HOOK_MEM_WRITE
            self._hook(kinds, self._check_alignment)
        self._set_registers(code)
        self._context = self._uc.context_save()
        names = self._registers
        self._pc_id, self._result = self._id("PC"), self._id(names.result)
        self._kept = [self._id(name) for name in (names.stack, *names.kept)]
        self._before = self._uc.reg_read_batch(self._kept)

    def call(self, entry: int, input: bytes, most: int) -> Call:
        """Call a function of the program."""
        import unicorn

        uc = self._uc
        uc.context_restore(self._context)
        uc.mem_write(self._input, input)
        if self.sizes[1]:
            uc.mem_write(self._output, _repeated(self.sizes[1]))
        self._violation, self._lowest, self._executed = None, self._top, 0
        bit = self._core.entry_bit
        try:
            uc.emu_start(entry | bit, self._back, count=most)
        except unicorn.UcError as error:
            self._violation = self._violation or f"{error} at {self._pc():#x}"
        has_ended = self._violation is None and self._pc() == self._back
        if has_ended:
            self._check_registers()
        outcome = uc.reg_read(self._result) & 0xFFFF_FFFF
        return Call(
            outcome - (1 << 32) if outcome >> 31 else outcome,
            bytes(uc.mem_read(self._output, self.sizes[1])),
            self._executed,
            self._top - self._lowest,
            self._violation,
            has_ended,
        )

    def _map_code(self, code: Code) -> None:
        import unicorn

        at = None
        for start, end in _pages(code):
            self._uc.mem_map(start, end - start, unicorn.UC_PROT_READ | unicorn.UC_PROT_EXEC)
            at = start
            for first, data in sorted(code.sections):
                if start <= first < end:
                    self._uc.mem_write(first, data)
                    self._watch("constants", at, first)
                    at = first + len(data)
            self._watch("constants", at, end)

    def _map(self, start: int, size: int, permissions: int) -> None:
        """Map a region with a page before it, and watch what is outside the object."""
        first, end = start // _PAGE * _PAGE - _PAGE, _rounded(start + size) + _PAGE
        self._uc.mem_map(first, end - first, permissions)
        self._uc.mem_write(first, _repeated(end - first))
        self._watch("input or output", first, start)
        self._watch("input or output", start + size, end)

    def _watch(self, what: str, start: int, end: int) -> None:
        """Report accesses to ``start <= address < end``, and those that reach into it."""
        import unicorn

        if start >= end:
            return

        def report(uc: Any, kind: int, address: int, size: int, *_: Any) -> None:
            if address + size > start:
                verb = "write" if kind == unicorn.UC_MEM_WRITE else "read"
                self._stop(f"{verb} of {_bytes(size)} at {address:#x}, outside the {what}")

        kinds = unicorn.UC_HOOK_MEM_READ | unicorn.UC_HOOK_MEM_WRITE
        self._hook(kinds, report, max(start - _WIDEST + 1, 0), end - 1)

    def _hook(self, kind: int, function: Any, begin: int = 1, end: int = 0) -> None:
        self._uc.hook_add(kind, function, None, begin, end)

    def _deepen(self, uc: Any, kind: int, address: int, *_: Any) -> None:
        self._lowest = min(self._lowest, address)

    def _check_alignment(self, uc: Any, kind: int, address: int, size: int, *_: Any) -> None:
        """Stop at an access that is not aligned as its instruction requires."""
        import unicorn

        size = min(size, 4)  # Two words may be one access here
        if address % size and any(
            isinstance(effect, Load | Store) and not effect.anywhere
            for effect in self._decoder.decode(self._pc()).effects
        ):
            verb = "write" if kind == unicorn.UC_MEM_WRITE else "read"
            self._stop(f"{verb} of {_bytes(size)} at {address:#x}, no multiple of {size}")

    def _miss(self, uc: Any, kind: int, address: int, size: int, *_: Any) -> bool:
        import unicorn

        verb = {
            unicorn.UC_MEM_READ_UNMAPPED: "read",
            unicorn.UC_MEM_WRITE_UNMAPPED: "write",
            unicorn.UC_MEM_WRITE_PROT: "write",
        }.get(kind, "jump")
        self._stop(f"{verb} of {_bytes(size)} at {address:#x}, outside the memory of a call")
        return False

    def _trap(self, uc: Any, number: int, *_: Any) -> None:
        self._stop(f"trap {number} at {self._pc():#x}")

    def _stop(self, violation: str) -> None:
        self._violation = self._violation or violation
        self._uc.emu_stop()

    def _count(self, uc: Any, address: int, size: int, *_: Any) -> None:
        count = self._lengths.get((address, size))
        if count is None:
            block = bytes(uc.mem_read(address, size))
            count = self._lengths[address, size] = self._core.count_instructions(block)
        self._executed += count if address != self._back else 0

    def _set_registers(self, code: Code) -> None:
        names, write = self._registers, self._uc.reg_write
        for i, name in enumerate((*names.kept, *names.junk)):
            write(self._id(name), int.from_bytes(JUNK, "little") + i)
        if "__global_pointer$" in code.symbols:
            write(self._id("GP"), code.symbols["__global_pointer$"])
        write(self._id(names.stack), self._top)
        write(self._id(names.back), self._back | self._core.entry_bit)
        write(self._id(names.arguments[0]), self._input)
        write(self._id(names.arguments[1]), self._output)

    def _check_registers(self) -> None:
        after = self._uc.reg_read_batch(self._kept)
        if after != self._before:
            names = (self._registers.stack, *self._registers.kept)
            pairs = zip(names, self._before, after, strict=True)
            name = next(name for name, old, new in pairs if old != new)
            self._violation = f"return without restoring {name.lower()}"

    def _pc(self) -> int:
        return int(self._uc.reg_read(self._pc_id)) & ~self._core.entry_bit

    def _id(self, name: str) -> int:
        from unicorn import arm_const, riscv_const

        constants = arm_const if self._core.architecture == "UC_ARCH_ARM" else riscv_const
        return int(getattr(constants, self._registers.prefix + name))


def _processor(core: Core) -> Any:
    """Return a processor without memory."""
    import unicorn
    from unicorn import arm_const

    mode = 0
    for name in core.mode:
        mode |= getattr(unicorn, name)
    uc = unicorn.Uc(getattr(unicorn, core.architecture), mode)
    if core.model is not None:
        uc.ctl_set_cpu_model(getattr(arm_const, core.model))
    return uc


def _pages(code: Code) -> Iterator[tuple[int, int]]:
    """Yield the ranges of whole pages that hold code and constants, in order."""
    start = end = -1
    for first, data in sorted(code.sections):
        if first - first % _PAGE > end:
            if end > 0:
                yield start, end
            start = first - first % _PAGE
        end = max(end, _rounded(first + len(data)))
    if end > 0:
        yield start, end


def _free_windows(code: Code, n: int) -> list[int]:
    """Return addresses with space before and after them where the program has nothing."""
    taken = list(_pages(code))
    found: list[int] = []
    at = 0x2000_0000
    while len(found) < n:
        if all(end <= at - _WINDOW or at + 2 * _WINDOW <= start for start, end in taken):
            found.append(at)
        at += 3 * _WINDOW
    return found


def _rounded(size: int) -> int:
    return -(-size // _PAGE) * _PAGE


def _repeated(size: int) -> bytes:
    return (JUNK * (size // 4 + 1))[:size]


def _bytes(size: int) -> str:
    """Return a number of bytes in words."""
    return "1 byte" if size == 1 else f"{size} bytes"
