"""Test vectors as C: the arrays of `NAME_vectors.h`."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bncc._types import FloatArray, IntArray
from bncc.discretize.feature import Feature
from bncc.discretize.missing import MISSING_INT
from bncc.discretize.readings import raw_dtypes
from bncc.emit.near_ties import Steps
from bncc.emit.vectors import MissingVectors, Vectors, has_all_states, limit_vectors, state_ends
from bncc.lower.c.c99 import unsigned, whole_text, wrap, wrap_words
from bncc.lower.c.constants import label_bytes
from bncc.lower.layout import Layout
from bncc.model.checked import predict_checked
from bncc.model.model import Model
from bncc.model.reference import scores
from bncc.program.ir import width_of


@dataclass(frozen=True)
class VectorText:
    """The vectors of an emission, ready for the templates."""

    n_vectors: int  # How many
    n_states: int  # States in all vectors together
    states: tuple[str, ...]  # states and classes: Initializers, line by line
    classes: tuple[str, ...]
    n_readings: int  # Length of the array of readings: that of `n_states`, or one struct per vector
    readings: tuple[str, ...]  # Its initializer; empty where the model takes no readings
    array_bytes: tuple[int, ...]  # Bytes of each array on a target that does not pad structs
    # Initializer of the first number of each feature that is no state; 0 where there is none
    beyond: tuple[str, ...]
    labels_crc: str  # CRC-16 of the labels of all classes, each with the zero at its end
    # Initializer of the answers of the entry point that checks readings; empty without it
    checked: tuple[str, ...] = ()
    n_limit_rows: int = 0  # Rows of readings at and beyond limits; 0 without that entry point
    # n_limits and n_limit_answers: Length of the array of these readings, or of structs of them,
    # and answers to them
    n_limits: int = 0
    n_limit_answers: int = 0
    limits: tuple[str, ...] = ()  # limits and limit_answers: Their initializers
    limit_answers: tuple[str, ...] = ()
    # Bytes of all bits of missing features together; 0 where these are not summed out
    n_missing_bytes: int = 0
    # missing and missing_classes: Initializers of the bits and of the classes that are decided
    # for then
    missing: tuple[str, ...] = ()
    missing_classes: tuple[str, ...] = ()
    # Initializer of a CRC-16 of the scores of each vector; empty without scores
    scores: tuple[str, ...] = ()
    # n_steps and n_avr_steps: Steps to further inputs, and how many of them are left on an AVR
    n_steps: int = 0
    n_avr_steps: int = 0
    # step_features, step_states, step_classes: Their initializers on an AVR
    step_features: tuple[str, ...] = ()
    step_states: tuple[str, ...] = ()
    step_classes: tuple[str, ...] = ()
    # more_features, more_states, more_classes: What others have behind them
    more_features: tuple[str, ...] = ()
    more_states: tuple[str, ...] = ()
    more_classes: tuple[str, ...] = ()
    # step_scores and avr_step_scores: CRC-16 of the scores of all inputs that steps lead to
    step_scores: str = ""
    avr_step_scores: str = ""
    n_ends: int = 0  # Length of the array of ends of states
    # ends and first_ends: Initializers of the ends, and in an array of where those of each feature
    # begin; empty where readings are not compared directly
    ends: tuple[str, ...] = ()
    first_ends: tuple[str, ...] = ()

    @property
    def index_type(self) -> str:
        """C type that counts the states."""
        return unsigned(max(16, width_of(self.n_states)))

    @property
    def needs_nan(self) -> bool:
        """True if a float is missing somewhere."""
        return any("NAN" in line for line in self.readings + self.ends + self.limits)

    @property
    def needs_infinity(self) -> bool:
        """True if a reading beyond a limit is infinite."""
        return any("VECTORS_INF" in line for line in self.limits)

    @property
    def limit_index_type(self) -> str:
        """C type that counts readings at limits."""
        return unsigned(max(16, width_of(self.n_limit_answers)))


def vector_text(
    model: Model,
    vectors: Vectors,
    layout: Layout,
    missing: MissingVectors | None = None,
    steps: Steps | None = None,
    n_avr_steps: int | None = None,
) -> VectorText:
    """Print vectors for an emission."""
    n, raw = len(vectors.classes), layout.raw
    features, inputs = layout.program.features, model.inputs
    state_bytes = layout.state_bits // 8
    most = (1 << layout.state_bits) - 1
    unread = layout.check.unread
    beyond = [
        count if count <= most and i not in unread else 0
        for i, count in enumerate(layout.program.n_states)
    ]
    shown = vectors.states.copy()
    shown[:, [i for i, is_read in enumerate(_are_read(layout)) if not is_read]] = 0
    array_bytes = [vectors.states.size * state_bytes, n, len(features) * state_bytes]
    found: dict[str, Any] = {}
    if raw is not None:
        lines = _reading_lines(vectors.readings, inputs, layout.name.upper(), raw.is_array)
        found["readings"] = tuple(lines)
        found["n_readings"] = vectors.readings.size if raw.is_array else n
        row_bytes = sum(dtype.itemsize for dtype in raw_dtypes(features))
        array_bytes.append(n * row_bytes)
    if raw is not None and layout.range_check is not None:
        answers = predict_checked(model, layout.range_check.limits, vectors.readings)
        found["checked"] = tuple(wrap(answers.tolist(), signed=True))
        alone = limit_vectors(model, layout.range_check.limits)
        n_rows = len(alone.readings)
        lines = _reading_lines(alone.readings, inputs, layout.name.upper(), raw.is_array)
        found |= {
            "n_limit_rows": n_rows,
            "n_limits": alone.readings.size if raw.is_array else n_rows,
            "n_limit_answers": alone.answers.size,
            "limits": tuple(lines),
            "limit_answers": tuple(wrap(alone.answers.ravel().tolist(), signed=True)),
        }
        array_bytes += [2 * n, n_rows * row_bytes, 2 * alone.answers.size]
    if missing is not None:
        bits = np.packbits(missing.is_missing, axis=1, bitorder="little")
        array_bytes += [bits.size, n]
        found["n_missing_bytes"] = bits.size
        found["missing"] = tuple(line for row in bits.tolist() for line in wrap(row))
        found["missing_classes"] = tuple(wrap(missing.classes.tolist()))
    if layout.entries.scores:
        sums = [score_crc(layout, row[None]) for row in scores(model, vectors.states)]
        found["scores"] = tuple(wrap(sums))
        array_bytes.append(2 * n)
    if steps is not None and len(steps.features):
        kept = steps if n_avr_steps is None else steps.first(n_avr_steps)
        found |= _step_text(model, vectors, layout, steps, len(kept.features))
        n_kept = len(kept.features)
        array_bytes += [n_kept * (1 if len(features) < 256 else 2), n_kept * state_bytes, n_kept]
        has_ends = not model.has_differences and all(map(has_all_states, features))
        if raw is not None and layout.direct is not None and has_ends:
            found |= _end_text(layout) if raw.is_array else _end_rows(layout)
            of_one = row_bytes // (len(features) if raw.is_array else 1)
            array_bytes += [found["n_ends"] * of_one, 2 * len(features) * raw.is_array]
    # A C string ends at its first zero, so the rest of such a label is never read.
    readable = [label.partition("\0")[0] for label in model.classes]
    return VectorText(
        n_vectors=n,
        n_states=vectors.states.size,
        states=tuple(line for row in shown.tolist() for line in wrap(row)),
        classes=tuple(wrap(vectors.classes.tolist())),
        array_bytes=tuple(array_bytes),
        beyond=tuple(wrap(beyond)),
        labels_crc=f"0x{crc16(label_bytes(readable)):04X}U",
        **{"n_readings": 0, "readings": (), **found},
    )


def _are_read(layout: Layout) -> list[bool]:
    """Return whether a state is made of each reading; others have state 0 in the C."""
    if layout.raw is None:
        return [True] * len(layout.program.features)
    return [field.is_read for field in layout.raw.fields]


def crc16(data: bytes) -> int:
    """Return the CRC-16 of the polynomial 0x8408, lowest bit first, from 0xFFFF on."""
    crc = 0xFFFF
    for byte in data:
        crc = crc >> 8 ^ _CRC16[(crc ^ byte) & 0xFF]
    return crc


def score_crc(layout: Layout, rows: IntArray) -> int:
    """Return the CRC-16 of scores (n, n_classes) in the type that the C gives them."""
    return crc16(rows.astype(f"<u{layout.kernel.sum_bits // 8}").tobytes())


def _crc16_of_byte(byte: int) -> int:
    for _ in range(8):
        byte = byte >> 1 ^ (0x8408 if byte & 1 else 0)
    return byte


_CRC16 = tuple(_crc16_of_byte(byte) for byte in range(256))


def _step_text(
    model: Model, vectors: Vectors, layout: Layout, steps: Steps, n_avr: int
) -> dict[str, Any]:
    n = len(steps.features)
    found: dict[str, Any] = {"n_steps": n, "n_avr_steps": n_avr}
    for array in ("features", "states", "classes"):
        values = getattr(steps, array).tolist()
        found[f"step_{array}"] = tuple(wrap(values[:n_avr]))
        found[f"more_{array}"] = tuple(wrap(values[n_avr:]))
    if layout.entries.scores:
        rows = scores(model, steps.inputs(vectors.states[0]))
        is_input = steps.classes < len(model.classes)
        for key, stop in (("step_scores", n), ("avr_step_scores", n_avr)):
            found[key] = f"0x{score_crc(layout, rows[:stop][is_input[:stop]]):04X}U"
    return found


def _end_text(layout: Layout) -> dict[str, Any]:
    """Print the lowest and the highest reading of each state, one feature after the other."""
    lines, first, n = [], [], 0
    for feature in layout.program.features:
        readings = state_ends(feature).ravel().tolist()
        words = [_literal(feature, value, layout.name.upper()) for value in readings]
        lines += wrap_words(_separated(words))
        first.append(n)
        n += len(readings)
    return {"n_ends": n, "ends": tuple(lines), "first_ends": tuple(wrap(first))}


def _end_rows(layout: Layout) -> dict[str, Any]:
    """Print, for state 0, 1, ..., structs of the lowest and the highest reading of all features."""
    features, most = layout.program.features, max(layout.program.n_states)
    found = [state_ends(feature) for feature in features]
    columns = [ends[np.minimum(np.arange(most), len(ends) - 1)].ravel() for ends in found]
    lines = _reading_lines(np.stack(columns, axis=1), features, layout.name.upper(), False)
    return {"n_ends": 2 * most, "ends": tuple(lines)}


def _reading_lines(
    readings: FloatArray, features: Sequence[Feature], prefix: str, is_array: bool
) -> list[str]:
    lines: list[str] = []
    for row in readings.tolist():
        words = [_literal(f, value, prefix) for f, value in zip(features, row, strict=True)]
        lines += wrap_words(_separated(words) if is_array else _braced(words))
    return lines


def _separated(words: Iterable[str]) -> list[str]:
    return [f"{word}," for word in words]


def _braced(words: Sequence[str]) -> list[str]:
    """Return a struct's initializer, its braces attached to its first and its last word."""
    first, *rest = _separated(words)
    return [f"{{ {first}", *rest[:-1], f"{rest[-1][:-1]} }},"]


def _literal(feature: Feature, value: float, prefix: str) -> str:
    """Return a reading as a constant that is exactly this number in every C99 compiler."""
    if feature.kind == "float32":
        # The fewest digits that no other float32 is nearer to.
        if np.isnan(value):
            return f"{'-' if np.signbit(value) else ''}{prefix}_VECTORS_NAN"
        if np.isinf(value):
            return f"{'-' if value < 0 else ''}{prefix}_VECTORS_INF"
        return f"{np.float32(value)!s}F"
    if feature.is_numeric:
        # -32768 is an expression of a wider type in C; INT16_MIN is not.
        is_least = value == MISSING_INT.get(feature.kind)
        return f"{feature.kind.upper()}_MIN" if is_least else whole_text(feature.kind, int(value))
    return f"{int(value)}U"
