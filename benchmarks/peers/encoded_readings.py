"""Readings in the form of emlearn's trees: one array of numbers of one C type."""

from dataclasses import dataclass, replace

import numpy as np

from bncc._types import FloatArray
from bncc.baselines.exporters import Style
from bncc.data.dataset import Column, Table

LARGEST = 2**15 - 1
"""Maximum of int16; the minimum marks a missing reading."""
BYTES = (0, 254)
"""Range of readings that fit an unsigned byte, with all states of a feature."""


@dataclass(frozen=True, eq=False)
class Encoding:
    """Conversion of columns to one array."""

    styles: tuple[Style, ...]  # Styles in which trees over these numbers can be printed
    categories: tuple[tuple[str, ...], ...]  # Per column, numbered in this order; empty for numbers
    shift: FloatArray  # (n_features,) float64; a number is (reading - shift) * factor
    factor: FloatArray  # (n_features,) float64
    missing: FloatArray  # (n_features,) float64; number of missing readings and unknown categories

    @property
    def is_float(self) -> bool:
        """True if numbers are not whole."""
        return self.styles[0].c_type == "float"

    def numbers(self, table: Table) -> FloatArray:
        """Return the readings of a table, (n_rows, n_features)."""
        found = (_cells(table, self.categories) - self.shift) * self.factor
        if self.is_float:
            found = found.astype(np.float32).astype(np.float64)
        else:
            found = np.clip(np.rint(found), -LARGEST, LARGEST)
        return np.where(np.isnan(found), self.missing, found)


def encodings(table: Table) -> tuple[Encoding, ...]:
    """
    Return the encodings of training readings for trees.

    Whole numbers that fit an int16 stay unchanged, as bytes if possible. Other columns are scaled
    to int16, from the smallest to the largest training reading, with minimal loss; a second
    encoding has floats.
    """
    categories = tuple(map(_categories, table.columns))
    cells = _cells(table, categories)
    low, high = np.nanmin(cells, axis=0), np.nanmax(cells, axis=0)
    is_whole = (np.nan_to_num(np.rint(cells) - cells) == 0).all(axis=0)
    is_kept = is_whole & (low >= -LARGEST) & (high <= LARGEST)
    span = np.where(high > low, high - low, 1.0)
    fits_bytes = is_kept & (low >= BYTES[0]) & (high <= BYTES[1]) & ~np.isnan(cells).any(axis=0)
    narrow = Encoding(
        _styles(Style("uint8_t" if fits_bytes.all() else "int16_t"), Style("int16_t", "loadable")),
        categories,
        np.where(is_kept, 0.0, (low + high) / 2),
        np.where(is_kept, 1.0, 2 * LARGEST / span),
        np.full(len(low), -LARGEST - 1.0),
    )
    if is_kept.all():
        return (narrow,)
    nothing, once = np.zeros(len(low)), np.ones(len(low))
    return narrow, Encoding(_styles(Style("float")), categories, nothing, once, low - span)


def _styles(*hard: Style) -> tuple[Style, ...]:
    """Return styles with one vote per tree, and the same with probabilities."""
    return (*hard, *(replace(one, leaf_bits=8) for one in hard))


def _categories(column: Column) -> tuple[str, ...]:
    if column.kind != "category":
        return ()
    return tuple(sorted(set(column.values[~column.missing].tolist())))


def _cells(table: Table, categories: tuple[tuple[str, ...], ...]) -> FloatArray:
    """Return readings and numbers of categories, NaN for missing ones."""
    return np.column_stack(
        [_numbers(column, known) for column, known in zip(table.columns, categories, strict=True)]
    )


def _numbers(column: Column, known: tuple[str, ...]) -> FloatArray:
    if column.kind == "category":
        code = {label: float(k) for k, label in enumerate(known)}
        values = np.array([code.get(label, np.nan) for label in column.values.tolist()])
    else:
        values = column.values.astype(np.float64)
    return np.where(column.missing, np.nan, values)
