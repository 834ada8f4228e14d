"""What runs an emitted model: its entry points, which answer arrays of inputs."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, Literal, Self, TypeAlias

import numpy as np

from bncc._types import AnyArray, BoolArray, FloatArray, IntArray
from bncc.discretize.feature import Feature
from bncc.discretize.readings import raw_dtypes, state_dtype
from bncc.errors import ToolchainError
from bncc.model.model import Model

ByteOrder = Literal["=", "<", ">"]
Layout: TypeAlias = np.dtype[Any]


def row_dtype(
    features: Sequence[Feature], *, packed: bool = False, byte_order: ByteOrder = "="
) -> Layout:
    """Return the layout of one raw row: an array, or a struct with one field per feature."""
    types = raw_dtypes(features)
    fields = [(f"f{i}", dtype.newbyteorder(byte_order)) for i, dtype in enumerate(types)]
    return np.dtype(fields, align=not packed)


def pack(R: FloatArray, dtype: Layout) -> AnyArray:
    """
    Lay raw readings out in memory as the C expects them.

    Shapes: `R` (n, n_features) float64; returns (n,) array of `dtype`, the rows, contiguous.
    """
    rows = np.zeros(len(R), dtype=dtype)
    for i, name in enumerate(dtype.names or ()):
        rows[name] = R[:, i]
    return rows


Entry = Literal[
    "predict",
    "trusted",
    "scores",
    "raw",
    "raw_checked",
    "missing",
    "raw_missing",
    "stream",
    "stream_raw",
]

RUN_LIMIT = 600.0
"""Seconds after which a program that still runs is stopped."""

Exchange: TypeAlias = Callable[[bytes], bytes]
"""Runs a program once: what it reads, what it writes."""


class HarnessError(ToolchainError):
    """The program stopped before it had answered everything."""

    exit_code = 1


class Machine(ABC):
    """An emitted model on some machine, this one or a simulated one; a context manager."""

    def __init__(
        self,
        model: Model,
        entries: frozenset[str],
        toolchain: str,
        *,
        packed: bool = False,
        byte_order: ByteOrder = "=",
    ) -> None:
        self.entries = entries
        self.toolchain = toolchain
        self.n_classes = model.n_classes
        self.state_dtype = state_dtype(model.n_states).newbyteorder(byte_order)
        self.row_dtype = row_dtype(model.features, packed=packed, byte_order=byte_order)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @abstractmethod
    def close(self) -> None:
        """Give back what was built; no call may follow."""

    @abstractmethod
    def _answer(self, entry: Entry, rows: AnyArray) -> tuple[IntArray, IntArray]:
        """Return classes and, for ``scores``, the scores of rows in the machine's own types."""

    def predict(self, X: IntArray) -> IntArray:
        """
        Return ``m_predict`` of each row of states.

        Shapes: `X` (n, n_features) int; returns (n,) int16, class indices, or M_ERR_STATE.
        """
        return self._answer("predict", self._states(X))[0]

    def trusted(self, X: IntArray) -> IntArray:
        """
        Return ``m_predict_trusted`` of each row; every state must be in range.

        Shapes: `X` (n, n_features) int; returns (n,) int16, class indices.
        """
        return self._answer("trusted", self._states(X))[0]

    def scores(self, X: IntArray) -> tuple[IntArray, IntArray]:
        """
        Return ``m_scores`` of each row.

        Shapes: `X` (n, n_features) int; returns y (n,) int16, class indices, or M_ERR_STATE;
        returns scores (n, n_classes) unsigned, scores; all zeros in the rows of an error.
        """
        return self._answer("scores", self._states(X))

    def raw(self, R: FloatArray) -> IntArray:
        """
        Return ``m_predict_raw`` of each row of raw readings.

        Shapes: `R` (n, n_features) float64; returns (n,) int16, class indices.
        """
        return self.raw_rows(pack(R, self.row_dtype))

    def raw_checked(self, R: FloatArray) -> IntArray:
        """Return ``m_predict_raw_checked`` of each row of raw readings, (n, n_features) float64."""
        return self._answer("raw_checked", pack(R, self.row_dtype))[0]

    def missing(self, X: IntArray, is_missing: BoolArray) -> IntArray:
        """
        Return ``m_predict_missing`` of each row of states.

        Shapes: `X` (n, n_features) int; `is_missing` (n, n_features) bool; returns (n,) int16,
        class indices, or M_ERR_STATE.
        """
        marked = np.where(is_missing, np.iinfo(self.state_dtype).max, X)
        return self._answer("missing", self._states(marked))[0]

    def raw_missing(self, R: FloatArray, is_missing: BoolArray) -> IntArray:
        """
        Return ``m_predict_raw_missing`` of each row of raw readings.

        Shapes: `R` (n, n_features) float64; `is_missing` (n, n_features) bool; returns (n,) int16,
        class indices.
        """
        bits = np.packbits(is_missing, axis=1, bitorder="little")
        fields = [("readings", self.row_dtype), ("bits", np.uint8, bits.shape[1:])]
        rows = np.zeros(len(R), dtype=fields)
        rows["readings"] = pack(R, self.row_dtype)
        rows["bits"] = bits
        return self._answer("raw_missing", rows)[0]

    def stream(self, X: IntArray) -> IntArray:
        """
        Return what ``m_end`` says of each row of states, fed feature by feature.

        Shapes: `X` (n, n_features) int; returns (n,) int16, class indices, or M_ERR_STATE; -100
        where a misuse was not refused.

        Notes
        -----
        Each row comes in another order, see ``runtime/stream.h``.
        """
        return self._answer("stream", self._states(X))[0]

    def stream_raw(self, R: FloatArray) -> IntArray:
        """
        Return what ``m_end`` says of each row of raw readings, fed feature by feature.

        Shapes: `R` (n, n_features) float64; returns (n,) int16, class indices; -100 where a misuse
        was not refused.
        """
        return self._answer("stream_raw", pack(R, self.row_dtype))[0]

    def raw_rows(self, rows: AnyArray) -> IntArray:
        """
        Return ``m_predict_raw`` of rows that lie in memory as the C wants them.

        Shapes: `rows` (n,) array of `row_dtype`; returns (n,) int16, class indices.
        """
        return self._answer("raw", rows)[0]

    def _states(self, X: IntArray) -> AnyArray:
        return np.ascontiguousarray(X, dtype=self.state_dtype)
