"""
Points as inputs of an entry point: their states, readings and bytes.

An input is a point: one number for each reading or state, by its bits.
"""

import numpy as np

from bncc._types import BoolArray, FloatArray, IntArray
from bncc.device.machine import row_dtype
from bncc.discretize.feature import LARGEST_INT
from bncc.discretize.readings import n_known, states_of_raw
from bncc.model.model import Model
from bncc.model.used import used_features
from bncc.prove.specification import OF_READINGS, Entry, Specification

_FILL = 0xA5
"""Byte in the gaps of a struct."""


class Encoding:
    """States, readings and bytes of the points of one entry point."""

    def __init__(self, model: Model, entry: Entry, of: Specification, *, packed: bool) -> None:
        self.model, self.entry, self.of = model, entry, of
        self._is_raw = entry in OF_READINGS
        self._size = sum(one.size for one in of.inputs)
        if self._is_raw:
            self._size = row_dtype(model.features, packed=packed).itemsize
        self._subtracted = [one.difference for one in of.inputs if one.difference is not None]

    @property
    def n_axes(self) -> int:
        """Number of readings or states."""
        return len(self.of.inputs) - len(self._subtracted)

    @property
    def n_numbers(self) -> IntArray:
        """Number of values of each input, from 0 on: all readings, or the states in range."""
        if self._is_raw:
            sizes = [one.size for one in self.of.inputs[: self.n_axes]]
            return np.array([1 << 8 * size for size in sizes], dtype=np.int64)
        return np.array(self.model.n_states, dtype=np.int64)

    def states(self, points: IntArray) -> tuple[IntArray, BoolArray]:
        """
        Return the states of points (n, n_features), and which points the entry decides.

        The state of a feature that no decision depends on may be out of range; it is 0 here.
        """
        if self._is_raw:
            return states_of_raw(self.model.features, self.readings(points)), np.ones(
                len(points), dtype=bool
            )
        inside = np.asarray(points < np.array(self.model.n_states), dtype=bool)
        decided = np.asarray(inside[:, list(used_features(self.model))].all(axis=1), dtype=bool)
        return np.where(decided[:, None] & inside, points, 0), decided

    def readings(self, points: IntArray) -> FloatArray:
        """Return the numbers that the bits of points stand for."""
        R = np.empty(points.shape, dtype=np.float64)
        for axis, feature in enumerate(self.model.features[: self.n_axes]):
            bits = points[:, axis]
            size = self.of.inputs[axis].size
            if self._is_raw and feature.kind == "float32":
                with np.errstate(invalid="ignore"):  # a signaling NaN
                    R[:, axis] = bits.astype(np.uint32).view(np.float32)
            elif self._is_raw and feature.kind in LARGEST_INT and feature.kind != "uint8":
                top = 1 << 8 * size
                R[:, axis] = np.where(bits >= top >> 1, bits - top, bits)
            else:
                R[:, axis] = bits
        return R

    def buffers(self, points: IntArray) -> list[bytes]:
        """Return the memory that a function reads for each point."""
        found = np.full((len(points), self._size), _FILL, dtype=np.uint8)
        for axis, one in enumerate(self.of.inputs[: self.n_axes]):
            for k in range(one.size):
                found[:, one.offset + k] = points[:, axis] >> 8 * k & 0xFF
        return [row.tobytes() for row in found]

    def described(self, point: IntArray) -> dict[str, float | int | str]:
        """Return an input by feature name, as a user writes it."""
        found: dict[str, float | int | str] = {}
        (row,) = self.readings(point[None])
        features = self.model.features[: self.n_axes]
        for feature, value in zip(features, row.tolist(), strict=True):
            if self._is_raw and feature.kind == "float32":
                found[feature.name] = value
            elif self._is_raw and feature.kind == "category" and value < n_known(feature):
                found[feature.name] = feature.categories[int(value)]
            else:
                found[feature.name] = int(value)
        return found

    def with_differences(self, points: IntArray) -> IntArray:
        """
        Return points with the number of each difference.

        Shapes: `points` (n, n_axes); returns (n, n_inputs).
        """
        if not self._subtracted:
            return points
        R = self.readings(points)
        found = [
            (R[:, of.first] - R[:, of.second]).astype(np.int64) % of.span**2
            for of in self._subtracted
        ]
        return np.column_stack([points, *found])

    def _set(self, point: IntArray, axis: int, x: int) -> tuple[int, ...]:
        """Change a point so that an input is a number; return the axes that it depends on."""
        if axis < self.n_axes:
            point[axis] = x
            return (axis,)
        of = self._subtracted[axis - self.n_axes]
        low = -of.span // 2 if of.is_signed else 0
        high = low + of.span - 1
        wanted = x - of.span**2 if x >= of.span else x
        other = int(point[of.second])
        other -= of.span if other > high else 0
        second = min(max(other, low - min(wanted, 0)), high - max(wanted, 0))
        point[of.first], point[of.second] = (second + wanted) % of.span, second % of.span
        return of.first, of.second
