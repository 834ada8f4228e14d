"""Replay: calls of a linked function on concrete inputs, each access to memory checked."""

from collections.abc import Mapping
from dataclasses import replace

from bncc.device.simulators.simavr import calls_library
from bncc.errors import ToolchainError
from bncc.prove.call import Call, Engine
from bncc.prove.code import Code
from bncc.prove.replay_avr import AvrEngine
from bncc.prove.replay_core import ARCHITECTURES, CoreEngine
from bncc.targets.base import Core
from bncc.toolchain.tools import require


class Replay:
    """
    A function of a linked program, ready to be called thousands of times.

    Calls run in unicorn, and those of AVR in simavr. With `is_counted`, a call counts instructions,
    which a hook per block makes slower. An instruction in an IT block counts whether or not its
    condition holds. With the `alignments` of input and output, these are at multiples of no larger
    powers of two, and the alignment of each access is checked, which makes calls slower.
    """

    def __init__(
        self,
        code: Code,
        symbol: str,
        *,
        is_counted: bool = False,
        alignments: Mapping[str, int] | None = None,
    ) -> None:
        self._code = code
        self._entry = code.entry(symbol)
        self._is_avr = code.target.name == "avr"
        if self._is_avr:
            calls_library()
        else:
            require("unicorn")
            core = code.target.simulated(Core)
            if core.architecture not in ARCHITECTURES:
                raise ToolchainError(
                    f"no calls can be replayed on {code.target.name}; choose a Cortex-M, rv32 or "
                    "avr"
                )
        self._is_counted, self._alignments = is_counted, alignments
        self._engine: Engine | None = None

    def call(self, input: bytes, n_output: int = 0, most: int = 1_000_000) -> Call:
        """Call the function with the address of an input, and of an output if it has bytes."""
        sizes = len(input), n_output
        if self._engine is None or self._engine.sizes != sizes:
            self._engine = self._made(sizes)
        return self._engine.call(self._entry, input, most)

    def _made(self, sizes: tuple[int, int]) -> Engine:
        if self._is_avr:
            return AvrEngine(self._code, sizes)
        core = self._code.target.simulated(Core)
        return CoreEngine(self._code, core, sizes, self._is_counted, self._alignments)


def patched(code: Code, address: int, new_bytes: bytes) -> Code:
    """Return a program with some bytes replaced, for tests by mutation."""
    if code.bytes_at(address, len(new_bytes)) is None:
        raise ValueError(f"no code or constants of {len(new_bytes)} bytes at {address:#x}")
    sections = tuple(
        (start, data[: address - start] + new_bytes + data[address - start + len(new_bytes) :])
        if start <= address < start + len(data)
        else (start, data)
        for start, data in code.sections
    )
    return replace(code, sections=sections)
