"""Rows of readings in the memory of a machine."""

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

import numpy as np

from bncc._types import AnyArray, FloatArray
from bncc.discretize.feature import Feature
from bncc.discretize.readings import raw_dtypes

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
