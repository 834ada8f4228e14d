"""Interface to compiled C: entry points on arrays of inputs, in this process or by a program."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any, Literal, Self, TypeAlias

import numpy as np

from bncc._types import AnyArray, BoolArray, FloatArray, IntArray
from bncc.device.sources import Interface
from bncc.discretize.feature import Feature
from bncc.discretize.readings import raw_dtypes, state_dtype
from bncc.errors import MeasurementError, ToolchainError

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
    Convert raw readings to the memory layout of the C.

    Shapes: `R` (n, n_features) float64; returns (n,) array of `dtype`, the rows, contiguous.
    """
    rows = np.zeros(len(R), dtype=dtype)
    for i, name in enumerate(dtype.names or ()):
        rows[name] = R[:, i]
    return rows


def side_by_side(words: AnyArray, rows: AnyArray) -> AnyArray:
    """Return rows of words (n, n_words), each with a row behind them: raw ones (n,), or states."""
    fields = [("words", words.dtype, words.shape[1:]), ("rows", rows.dtype, rows.shape[1:])]
    found = np.zeros(len(rows), dtype=fields)
    found["words"], found["rows"] = words, rows
    return found


Entry = Literal[
    "predict",
    "trusted",
    "scores",
    "scores_raw",
    "raw",
    "raw_checked",
    "missing",
    "raw_missing",
    "stream",
    "stream_raw",
    "filter",
    "confidence",
    "unknown",
    "counters",
    "adaptation",
]

RUN_LIMIT = 600.0
"""Timeout of a program in seconds."""

Exchange: TypeAlias = Callable[[bytes], bytes]
"""Runs a program once, from its input to its output."""


class HarnessError(MeasurementError):
    """The program ended before it had processed all inputs."""

    exit_code = 1


class Machine(ABC):
    """Compiled C on this computer or a simulated target; a context manager."""

    def __init__(
        self,
        interface: Interface,
        entries: frozenset[str],
        toolchain: str,
        *,
        packed: bool = False,
        byte_order: ByteOrder = "=",
    ) -> None:
        self.entries = entries
        self.toolchain = toolchain
        self.n_classes = interface.n_classes
        self.state_dtype = state_dtype(interface.n_states).newbyteorder(byte_order)
        self.row_dtype = row_dtype(interface.features, packed=packed, byte_order=byte_order)
        self.step_dtype = np.dtype(np.uint32).newbyteorder(byte_order)

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
        """Remove the build; no call may follow."""

    @abstractmethod
    def _answer(self, entry: Entry, rows: AnyArray) -> tuple[IntArray, IntArray]:
        """Return classes and, for ``scores``, the scores of rows in the target's types."""

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

    def scores_raw(self, R: FloatArray) -> tuple[IntArray, IntArray]:
        """
        Return ``m_scores_raw`` of each row of raw readings, (n, n_features) float64.

        Shapes: returns (n,) int16, class indices, and (n, n_classes), scores.
        """
        return self._answer("scores_raw", pack(R, self.row_dtype))

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
        Return ``m_end`` of each row of states, passed feature by feature.

        Shapes: `X` (n, n_features) int; returns (n,) int16, class indices, or M_ERR_STATE; -100
        if a misuse was not rejected.

        Notes
        -----
        The order of features differs between rows, see ``runtime/stream.h``.
        """
        return self._answer("stream", self._states(X))[0]

    def stream_raw(self, R: FloatArray) -> IntArray:
        """
        Return ``m_end`` of each row of raw readings, passed feature by feature.

        Shapes: `R` (n, n_features) float64; returns (n,) int16, class indices; -100 if a misuse
        was not rejected.
        """
        return self._answer("stream_raw", pack(R, self.row_dtype))[0]

    def filter(self, steps: IntArray) -> IntArray:
        """
        Return ``m_filter_next`` of each row of scores.

        Shapes: `steps` (n, 1 + n_classes) int, scores behind a number other than 0 if
        ``m_filter_begin`` comes first; returns (n,) int16, class indices.
        """
        return self._answer("filter", np.ascontiguousarray(steps, dtype=self.step_dtype))[0]

    def confidence(self, questions: IntArray) -> IntArray:
        """
        Return ``m_sure_class`` or ``m_confidence`` of each row of scores.

        Shapes: `questions` (n, 1 + n_classes) int, scores behind a number other than 0 for the
        confidence; returns (n,) int16, class indices or errors, and percentages.
        """
        rows = np.ascontiguousarray(questions, dtype=self.step_dtype)
        return self._answer("confidence", rows)[0]

    def unknown(self, questions: FloatArray) -> IntArray:
        """
        Return ``m_outside`` or ``m_known_class`` of each row of scores and raw readings.

        Shapes: `questions` (n, 1 + n_classes + n_inputs) float64: the class whose ranges are asked
        for, or from n_classes on for the decision; the scores; the readings. Returns (n,) int16:
        numbers, and class indices or errors.
        """
        n_words = 1 + self.n_classes
        words = questions[:, :n_words].astype(self.step_dtype)
        rows = side_by_side(words, pack(questions[:, n_words:], self.row_dtype))
        return self._answer("unknown", rows)[0]

    def counters(self, operations: FloatArray) -> IntArray:
        """
        Return the results of operations on counters, see ``runtime/counters.h``.

        Shapes: `operations` (n, 2 + n_classes) float64, or (n, 2 + n_classes + n_inputs) with raw
        readings where unknown ones are counted; returns (n,) int16, counters and class indices.
        """
        n_words = 2 + self.n_classes
        fields: list[tuple[Any, ...]] = [("words", self.step_dtype, (n_words,))]
        if "unknown" in self.entries:
            fields.append(("readings", self.row_dtype))
        rows = np.zeros(len(operations), dtype=fields)
        rows["words"] = operations[:, :n_words]
        if "unknown" in self.entries:
            rows["readings"] = pack(operations[:, n_words:], self.row_dtype)
        return self._answer("counters", rows)[0]

    def adaptation(self, steps: IntArray) -> IntArray:
        """
        Return ``m_adapted_class`` after each step, plus 256 if ``m_learn`` has moved offsets.

        Shapes: `steps` (n, 1 + n_classes + n_features) int: 0 for no more than a decision, 1 to
        forget first, from 2 on to learn that class less 2; the scores; the states. Returns (n,)
        int16.
        """
        n_words = 1 + self.n_classes
        n_states = steps.shape[1] - n_words
        rows = np.zeros(
            len(steps),
            dtype=[
                ("words", self.step_dtype, (n_words,)),
                ("states", self.state_dtype, (n_states,)),
            ],
        )
        rows["words"], rows["states"] = steps[:, :n_words], steps[:, n_words:]
        return self._answer("adaptation", rows)[0]

    def raw_rows(self, rows: AnyArray) -> IntArray:
        """
        Return ``m_predict_raw`` of rows in the memory layout of the C.

        Shapes: `rows` (n,) array of `row_dtype`; returns (n,) int16, class indices.
        """
        return self._answer("raw", rows)[0]

    def _states(self, X: IntArray) -> AnyArray:
        return np.ascontiguousarray(X, dtype=self.state_dtype)


def check_raw_size(interface: Interface, size: int) -> None:
    """Reject a raw row whose layout differs between C and Python."""
    expected = row_dtype(interface.features).itemsize
    if size != expected:
        raise ToolchainError(
            f"a raw row has {size} bytes in the C and {expected} in Python; report this, it is a "
            "bug in bncc"
        )


def cost_dtype(size: int) -> np.dtype[np.unsignedinteger]:
    """Return the score type for a size in bytes."""
    return np.dtype(f"u{size}")


CODES: Mapping[Entry, str] = {
    "predict": "p", "trusted": "t", "scores": "s", "raw": "r", "raw_checked": "c", "missing": "m",
    "raw_missing": "n", "stream": "f", "stream_raw": "g", "filter": "h",
    "confidence": "k", "unknown": "u", "counters": "w", "adaptation": "a", "scores_raw": "x",
}  # fmt: skip
"""Names of the entry points in the harness and the meter."""
OF_SUMS = frozenset[Entry]({"scores", "scores_raw"})
"""Entry points that also return scores."""


def request(entry: Entry, rows: AnyArray) -> bytes:
    """
    Return the input of the harness and the meter: an entry, a number of rows, the rows.

    Shapes: `rows` (n, ...) array.
    """
    return CODES[entry].encode() + len(rows).to_bytes(4, "little") + rows.tobytes()


class Harness(Machine):
    """Compiled C as a program that processes inputs on a stream."""

    def __init__(
        self,
        interface: Interface,
        entries: frozenset[str],
        exchange: Exchange,
        toolchain: str,
        *,
        packed: bool = False,
        byte_order: ByteOrder = "=",
    ) -> None:
        super().__init__(interface, entries, toolchain, packed=packed, byte_order=byte_order)
        self._exchange = exchange
        self._order = byte_order

    def close(self) -> None:
        """Do nothing: the creator of the program owns it."""

    def _answer(self, entry: Entry, rows: AnyArray) -> tuple[IntArray, IntArray]:
        reply = self._exchange(request(entry, rows))
        if len(reply) < 5:
            raise HarnessError(f"the program built by {self.toolchain} printed nothing")
        raw_size = int.from_bytes(reply[1:5], "little")
        if (
            entry in ("raw", "scores_raw", "raw_checked", "raw_missing", "stream_raw", "unknown")
            and raw_size != self.row_dtype.itemsize
        ):
            raise HarnessError(
                f"a raw row has {raw_size} bytes in the C and {self.row_dtype.itemsize} in "
                "Python; report this, it is a bug in bncc"
            )
        fields: list[tuple[str, Layout, tuple[int, ...]]] = [
            ("y", np.dtype(np.int16).newbyteorder(self._order), ())
        ]
        if entry in OF_SUMS:
            cost = cost_dtype(reply[0]).newbyteorder(self._order)
            fields.append(("scores", cost, (self.n_classes,)))
        layout = np.dtype(fields)
        if len(reply) - 5 != layout.itemsize * len(rows):
            raise HarnessError(
                f"the program built by {self.toolchain} answered "
                f"{(len(reply) - 5) // layout.itemsize} of {len(rows)} inputs"
            )
        answers = np.frombuffer(reply, dtype=layout, offset=5)
        y = answers["y"].astype(np.int16)
        none = np.empty((len(rows), 0), dtype=np.uint8)
        return y, answers["scores"] if entry in OF_SUMS else none
