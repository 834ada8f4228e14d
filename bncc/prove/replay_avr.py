"""Calls of AVR functions in simavr, each access to memory checked by ``simavr_calls.c``."""

import ctypes
from typing import Any

from bncc.device.simulators.simavr import calls_library
from bncc.errors import ToolchainError
from bncc.prove.call import JUNK, Call
from bncc.prove.code import Code
from bncc.targets.base import Mcu

_MOST_BYTES = 0x1000
"""Largest input or output."""
_NAMES = (
    "",
    "read at {address:#x} of RAM, outside the input or output",
    "write at {address:#x} of RAM, outside the input or output",
    "read of 1 byte at {address:#x} of flash, outside the constants",
    "jump of 2 bytes at {address:#x}, outside the memory of a call",
    "unknown instruction at {at:#x}",
    "access at {address:#x} of RAM, outside the caller's frame",
    "return without restoring {name}",
)
"""Violations by the numbers of ``enum what``."""


class _Range(ctypes.Structure):
    _fields_ = [("start", ctypes.c_uint32), ("end", ctypes.c_uint32)]


class _Call(ctypes.Structure):
    _fields_ = [
        *((name, ctypes.c_uint32) for name in ("entry", "n_input", "n_output", "n_ranges", "most")),
        ("ranges", ctypes.POINTER(_Range)),
        ("input", ctypes.c_char_p),
        ("output", ctypes.c_char_p),
        ("outcome", ctypes.c_int32),
        *(
            (name, ctypes.c_uint32)
            for name in ("instructions", "stack", "what", "address", "at", "has_ended")
        ),
    ]


class AvrEngine:
    """A simulated AVR with a program in its flash."""

    def __init__(self, code: Code, sizes: tuple[int, int]) -> None:
        self.sizes = sizes
        if max(sizes) > _MOST_BYTES:
            raise ToolchainError(
                f"no call with a buffer of {max(sizes)} bytes can be replayed on avr; use a model "
                "with fewer features or classes"
            )
        self._library: Any = ctypes.CDLL(str(calls_library()))
        self._library.bncc_calls_new.restype = ctypes.c_void_p
        mcu = code.target.simulated(Mcu).name.encode()
        self._avr = ctypes.c_void_p(self._library.bncc_calls_new(mcu))
        for at, data in code.sections:
            if not self._library.bncc_calls_flash(self._avr, at, data, len(data)):
                raise ToolchainError(f"the program does not fit in the flash of {mcu.decode()}")
        ends = [_Range(at, at + len(data)) for at, data in code.sections]
        self._ranges = (_Range * len(ends))(*ends)

    def call(self, entry: int, input: bytes, most: int) -> Call:
        """Call a function of the program."""
        n_output = self.sizes[1]
        output = ctypes.create_string_buffer((JUNK * (n_output // 4 + 1))[:n_output], n_output + 1)
        call = _Call(
            entry, len(input), n_output, len(self._ranges), most, self._ranges, input,
            ctypes.cast(output, ctypes.c_char_p),
        )  # fmt: skip
        self._library.bncc_calls_call(self._avr, ctypes.byref(call))
        violation = None
        if call.what:
            name = {32: "sp", 33: "the flag I"}.get(call.address, f"r{call.address}")
            violation = _NAMES[call.what].format(address=call.address, at=call.at, name=name)
        return Call(
            call.outcome,
            output.raw[:n_output],
            call.instructions,
            call.stack,
            violation,
            bool(call.has_ended),
        )
