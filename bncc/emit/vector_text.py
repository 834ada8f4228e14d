"""Test vectors as C: the arrays of `NAME_vectors.h`."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from bncc.compiler.ir import width_of
from bncc.discretize.feature import MISSING_INT, Feature
from bncc.discretize.readings import raw_dtypes
from bncc.emit.c99 import unsigned, wrap, wrap_words
from bncc.emit.gap_vectors import GapVectors
from bncc.emit.layout import Layout
from bncc.emit.vectors import Vectors


@dataclass(frozen=True)
class VectorText:
    """The vectors of an emission, ready for the templates.

    Parameters
    ----------
    n_vectors : int
        How many.
    n_states : int
        States in all vectors together.
    states, classes : tuple of str
        Initializers, line by line.
    n_readings : int
        Length of the array of readings: that of `n_states`, or one struct per vector.
    readings : tuple of str
        Its initializer; empty where the model takes no readings.
    array_bytes : tuple of int
        Bytes of each array on a machine that does not pad structs.
    n_gap_bytes : int
        Bytes of all bits of missing features together; 0 where these are not summed out.
    gaps, gap_classes : tuple of str
        Initializers of the bits and of the classes that are decided for then.
    """

    n_vectors: int
    n_states: int
    states: tuple[str, ...]
    classes: tuple[str, ...]
    n_readings: int
    readings: tuple[str, ...]
    array_bytes: tuple[int, ...]
    n_gap_bytes: int = 0
    gaps: tuple[str, ...] = ()
    gap_classes: tuple[str, ...] = ()

    @property
    def index_type(self) -> str:
        """C type that counts the states."""
        return unsigned(max(16, width_of(self.n_states)))

    @property
    def needs_nan(self) -> bool:
        """Whether a float is missing somewhere."""
        return any("NAN" in line for line in self.readings)


def vector_text(vectors: Vectors, layout: Layout, gaps: GapVectors | None = None) -> VectorText:
    """Print vectors for an emission.

    Parameters
    ----------
    vectors : Vectors
        Inputs and answers.
    layout : Layout
        Types of the C.
    gaps : GapVectors or None, default=None
        The same inputs with gaps, where missing features are summed out.

    Returns
    -------
    VectorText
        One vector per line, or per group of lines.
    """
    n, raw = len(vectors.classes), layout.raw
    array_bytes = [vectors.states.size * layout.state_bits // 8, n]
    readings: list[str] = []
    n_readings = 0
    if raw is not None:
        features = layout.program.features
        readings = _reading_lines(vectors, features, layout.name.upper(), raw.is_array)
        n_readings = vectors.readings.size if raw.is_array else n
        array_bytes.append(n * sum(dtype.itemsize for dtype in raw_dtypes(features)))
    bits = np.zeros((n, 0), np.uint8)
    if gaps is not None:
        bits = np.packbits(gaps.is_missing, axis=1, bitorder="little")
        array_bytes += [bits.size, n]
    return VectorText(
        n_vectors=n,
        n_states=vectors.states.size,
        states=tuple(line for row in vectors.states.tolist() for line in wrap(row)),
        classes=tuple(wrap(vectors.classes.tolist())),
        n_readings=n_readings,
        readings=tuple(readings),
        array_bytes=tuple(array_bytes),
        n_gap_bytes=bits.size,
        gaps=tuple(line for row in bits.tolist() for line in wrap(row)),
        gap_classes=() if gaps is None else tuple(wrap(gaps.classes.tolist())),
    )


def _reading_lines(
    vectors: Vectors, features: Sequence[Feature], prefix: str, is_array: bool
) -> list[str]:
    lines: list[str] = []
    for row in vectors.readings.tolist():
        words = [_literal(f, value, prefix) for f, value in zip(features, row, strict=True)]
        lines += wrap_words(_separated(words) if is_array else _braced(words))
    return lines


def _separated(words: Iterable[str]) -> list[str]:
    return [f"{word}," for word in words]


def _braced(words: Sequence[str]) -> list[str]:
    """Return a struct's initializer, its braces kept beside its first and its last word."""
    first, *rest = _separated(words)
    return [f"{{ {first}", *rest[:-1], f"{rest[-1][:-1]} }},"]


def _literal(feature: Feature, value: float, prefix: str) -> str:
    """Return a reading as a constant that is exactly this number in every C99 compiler."""
    if feature.kind == "float32":
        # The fewest digits that no other float32 is nearer to.
        return f"{prefix}_VECTORS_NAN" if np.isnan(value) else f"{np.float32(value)!s}F"
    if feature.is_numeric:
        # -32768 is an expression of a wider type in C; INT16_MIN is not.
        is_least = value == MISSING_INT[feature.kind]
        return f"{feature.kind.upper()}_MIN" if is_least else str(int(value))
    return f"{int(value)}U"
