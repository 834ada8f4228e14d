"""
Batch inference on this computer: a program's integer tables added in vectors, through CFFI.

Its decisions equal those of the emitted C, on which it does not depend: the C processes one input
at a time in as little code as possible, this as many inputs per second as possible.
"""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

import cffi
import numpy as np

from bncc._types import AnyArray, IntArray
from bncc.device.sources import support_file
from bncc.discretize.readings import state_dtype
from bncc.errors import ToolchainError
from bncc.program.ir import Program, leveled, width_of
from bncc.program.ranges import cost_bounds
from bncc.toolchain.tools import Tool, host_compilers, run

VECTOR_BYTES = 16
"""Sums fill whole vectors of the smallest common size."""
LINE_BYTES = 64
"""Cache line size: rows of a table start so that they touch as few lines as possible."""
FLAGS = ("-std=gnu99", "-O3", "-fPIC", "-shared")
NATIVE = "-march=native"


class Batch:
    """A program's decisions on arrays of states."""

    def __init__(self, program: Program, compiler: Tool | None = None) -> None:
        self._leveled = leveled(program)
        program = self._leveled.program
        self._state = state_dtype(program.n_states)
        self._sum = np.dtype(f"u{width_of(int(cost_bounds(program)[1].max())) // 8}")
        lanes = _lanes(program.n_classes, self._sum.itemsize)
        most_rows = max((len(table.costs) for table in program.tables), default=1)
        self._place = np.dtype(f"u{max(16, width_of(most_rows * lanes)) // 8}")
        self._constants = tuple(_aligned(part) for part in self._laid_out(program, lanes))
        sizes = {
            "N_FEATURES": len(program.features),
            "N_TABLES": len(program.tables),
            "ARITY": self._constants[1].shape[1],
            "LANES": lanes,
            "ALIGNMENT": min(LINE_BYTES, lanes * self._sum.itemsize),
            "SUM": f"uint{8 * self._sum.itemsize}_t",
            "KEY": f"uint{16 * self._sum.itemsize}_t",
            "PLACE": f"uint{8 * self._place.itemsize}_t",
            "STATE": f"uint{8 * self._state.itemsize}_t",
        }
        self._ffi: Any = cffi.FFI()
        self._ffi.cdef(
            "void bncc_batch(const void *, int16_t *, uint32_t, const void *, const void *, "
            "const void *, const void *, const void *, const void *);"
        )
        self._library = _built(self._ffi, compiler or host_compilers()[0], sizes)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Unload the code; no call may follow."""
        self._ffi.dlclose(self._library)

    def predict(self, X: IntArray) -> IntArray:
        """
        Classify many inputs.

        Shapes: `X` (n, n_features) integer array; returns (n,) int16, index of the class with the
        smallest cost, the smallest on ties; -1 if a state is out of range.
        """
        rows = np.ascontiguousarray(self._leveled.states(np.asarray(X)), dtype=self._state)
        y = np.empty(len(rows), dtype=np.int16)
        read = [self._ffi.from_buffer(constant) for constant in self._constants]
        buffer = self._ffi.from_buffer
        self._library.bncc_batch(buffer(rows), buffer("int16_t[]", y), len(rows), *read)
        return y

    def _laid_out(self, program: Program, lanes: int) -> tuple[AnyArray, ...]:
        """Return last states, features, strides, starts, rows and prior."""
        arity = max((len(table.features) for table in program.tables), default=1)
        features = np.zeros((len(program.tables), arity), dtype=np.uint32)
        strides = np.zeros(features.shape, dtype=self._place)
        starts, parts, start = [], [np.empty((0, lanes), dtype=self._sum)], 0
        for t, table in enumerate(program.tables):
            stride = lanes
            for k, f in enumerate(reversed(table.features)):
                features[t, k], strides[t, k] = f, stride
                stride *= program.n_states[f]
            rows = np.zeros((len(table.costs), lanes), dtype=self._sum)
            rows[:, : program.n_classes] = table.costs
            starts.append(start)
            parts.append(rows)
            start += rows.size
        # Lanes without a class never win, since no row adds to them.
        prior = np.full(lanes, np.iinfo(self._sum).max, dtype=self._sum)
        prior[: program.n_classes] = program.prior
        last = np.array(program.n_states) - 1
        return (
            last.astype(self._state), features, strides, np.array(starts, dtype=np.uint32),
            np.concatenate(parts), prior,
        )  # fmt: skip


def _lanes(n_classes: int, itemsize: int) -> int:
    """Return the sums per vector: a power of two of bytes."""
    size = max(VECTOR_BYTES, n_classes * itemsize)
    return (1 << (size - 1).bit_length()) // itemsize


def _aligned(values: AnyArray) -> AnyArray:
    """Return a copy that starts at a cache line."""
    memory = np.empty(values.nbytes + LINE_BYTES, dtype=np.uint8)
    begin = -memory.ctypes.data % LINE_BYTES
    copy = memory[begin : begin + values.nbytes].view(values.dtype).reshape(values.shape)
    copy[...] = values
    return copy


def _built(ffi: Any, tool: Tool, sizes: dict[str, object]) -> Any:
    with TemporaryDirectory(prefix="bncc-") as folder:
        (Path(folder) / "batch.c").write_text(support_file("batch.c"), encoding="utf-8")
        defined = [f"-D{name}={value}" for name, value in sizes.items()]
        command = (*tool.command, *FLAGS, *defined, "batch.c", "-o", "batch.so")
        try:
            run((*command, NATIVE), Path(folder))
        except ToolchainError:
            run(command, Path(folder))  # a compiler that does not recognize the local processor
        return ffi.dlopen(str(Path(folder) / "batch.so"))
