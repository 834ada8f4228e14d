"""Tables in training by C on one core: feature states and tables as engine.h lays them out."""

from typing import Any

import numpy as np

from bncc._types import AnyArray, IntArray
from bncc.fixed_point import QFormat
from bncc.train.engine import Problem
from bncc.train.hyperparameters import Hyperparameters
from bncc.train.layout import LEAST_LOG, layout_of
from bncc.train.maximum_likelihood import LogTables
from bncc.train.native.library import native_library

VECTOR = 8
"""Floats of a vector; rows are padded to whole ones."""
ALIGNMENT = 64
"""Bytes of a line of memory."""
PARTS = ("rho", "theta", "p", "gradient", "first", "second")
"""What engine.h keeps of each parameter."""


class NativeEngine:
    """A model in training, see `bncc.train.engine.Engine`.

    Parameters
    ----------
    problem : Problem
        What is trained.
    hyper : Hyperparameters
        What steers it.

    Raises
    ------
    ToolchainError
        If the C cannot be built.
    """

    def __init__(self, problem: Problem, hyper: Hyperparameters) -> None:
        self._ffi, self._library = native_library()
        self._layout = layout_of(problem.structure, problem.n_states)
        self._n_classes = len(problem.start[0])
        self._n_samples = len(problem.y)
        lanes = -(-self._n_classes // VECTOR) * VECTOR
        layout = self._layout
        self._tables = {part: _aligned((layout.n_rows + 1, lanes)) for part in PARTS}
        self._prior = {part: _aligned((1, lanes)) for part in PARTS}
        start = layout.stack(problem.start[1])
        self._tables["rho"][:-1, : self._n_classes] = np.maximum(start, LEAST_LOG)
        self._prior["rho"][0, : self._n_classes] = np.maximum(problem.start[0], LEAST_LOG)
        has_parents = layout.stride.any(axis=0)
        self._read: dict[str, AnyArray] = {
            "x": np.ascontiguousarray(problem.X, dtype=np.uint16),
            "y": np.ascontiguousarray(problem.y, dtype=np.uint16),
            "offset": layout.offset.astype(np.uint32),
            "parent": np.ascontiguousarray(layout.parent.T[has_parents], dtype=np.uint32),
            "stride": np.ascontiguousarray(layout.stride.T[has_parents], dtype=np.uint32),
            "group": np.array(layout.groups, dtype=np.uint32),
            "row": np.zeros(problem.X.shape[1], dtype=np.uint32),
        }
        self._engine = self._ffi.new(
            "engine_t *",
            {
                "n_features": problem.X.shape[1],
                "n_parents": int(has_parents.sum()),
                "n_classes": self._n_classes,
                "n_lanes": lanes,
                "n_rows": layout.n_rows,
                "n_groups": len(layout.groups),
                "batch_size": hyper.batch_size,
                "dropped_below": hyper.dropped_below,
                "is_hybrid": hyper.loss == "hybrid",
                "lambda": hyper.lambda_,
                "gamma": hyper.gamma,
                "eta": hyper.eta,
                **{name: self._address(array) for name, array in self._read.items()},
                "tables": {part: self._address(array) for part, array in self._tables.items()},
                "prior": {part: self._address(array) for part, array in self._prior.items()},
            },
        )
        self._library.bncc_normalize(self._engine)

    def epoch(self, order: IntArray, noise: AnyArray, lr: float) -> float:
        """Take one step of Adam for each batch; see `Engine`."""
        order = np.ascontiguousarray(order, dtype=np.uint32)
        total = self._library.bncc_epoch(
            self._engine, self._address(order), self._address(noise), len(order), lr
        )
        return float(total) / len(order)

    def quantize(self, fmt: QFormat) -> None:
        """Compute with quantized prior and tables from now on."""
        self._engine.is_quantized = 1
        self._engine.scale = 2.0**fmt.frac_bits
        self._engine.max_cost = float(fmt.max_cost)
        self._library.bncc_normalize(self._engine)

    def log_tables(self) -> LogTables:
        """Return prior and tables before quantization; see `Engine`."""
        is_quantized, self._engine.is_quantized = self._engine.is_quantized, 0
        self._library.bncc_normalize(self._engine)
        prior, tables = (part["theta"].astype(np.float64) for part in (self._prior, self._tables))
        self._engine.is_quantized = is_quantized
        self._library.bncc_normalize(self._engine)
        n = self._n_classes
        return prior[0, :n], self._layout.unstack(tables[:-1, :n])

    def _address(self, array: AnyArray) -> Any:
        kind = {"f": "float *", "u1": "uint8_t *", "u2": "uint16_t *", "u4": "uint32_t *"}
        name = "f" if array.dtype.kind == "f" else array.dtype.str[1:]
        return self._ffi.cast(kind[name], array.ctypes.data)


def _aligned(shape: tuple[int, int]) -> AnyArray:
    """Return float32 zeros that begin where a line of memory does."""
    size = 4 * shape[0] * shape[1]
    memory = np.zeros(size + ALIGNMENT, dtype=np.uint8)
    begin = -memory.ctypes.data % ALIGNMENT
    zeros: AnyArray = memory[begin : begin + size].view(np.float32).reshape(shape)
    return zeros
