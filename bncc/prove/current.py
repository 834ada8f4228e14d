"""The current region of inputs of an algebra, and the bounds of terms in it."""

from math import prod

import numpy as np

from bncc._types import BoolArray
from bncc.prove.regions import (
    Numbers,
    Partition,
    Partitions,
    Region,
    axis_numbers,
    both,
    common,
    count_numbers,
)
from bncc.prove.values import Exact, Term, UndecidedError, Value


class Current:
    """One region of inputs, which terms are bounded in."""

    def __init__(self, full: tuple[Numbers, ...]) -> None:
        self.full = full
        self.partitions = Partitions()
        self._region: Region = ((),)
        self._place: object = None
        self._places: dict[Region, object] = {}  # A name of each region: regions hash slowly
        self._active: dict[tuple[int, object], BoolArray] = {}
        self.region = self._region

    @property
    def region(self) -> Region:
        """The inputs of which all operations are."""
        return self._region

    @region.setter
    def region(self, region: Region) -> None:
        if self._place is None or region is not self._region:
            self._region = region
            self._place = self._places.setdefault(region, object())

    def active(self, partition: Partition) -> BoolArray:
        """Return which cells have an input in the current region."""
        key = (id(partition), self._place)
        if key not in self._active:
            self._active[key] = self._find_active(partition)
        return self._active[key]

    def _find_active(self, partition: Partition) -> BoolArray:
        """Return which cells have an input; verify that no input is in none of them."""
        counts = np.zeros(len(partition.cells), dtype=object)
        if len(partition.scope) == 1:
            axis = partition.scope[0]
            allowed = axis_numbers(self.region, axis, self.full[axis])
            counts[:] = [
                sum(count_numbers(common(box[0][1], allowed)) for box in cell)
                for cell in partition.cells
            ]
            is_covered = counts.sum() == count_numbers(allowed)
        else:
            is_covered = True
            for box in self.region:
                of_box = tuple(item for item in box if item[0] in partition.scope)
                found = [self._volume(both(cell, (of_box,)), partition) for cell in partition.cells]
                is_covered &= sum(found) == self._volume((of_box,), partition)
                counts += found
        if not is_covered:
            raise UndecidedError("undefined", "a value is not known for every input that gets here")
        return np.asarray(counts > 0, dtype=bool)

    def _volume(self, region: Region, partition: Partition) -> int:
        """Return the number of inputs in a region, counting those that a partition depends on."""
        total = 0
        for box in region:
            own = dict(box)
            total += prod(count_numbers(own.get(axis, self.full[axis])) for axis in partition.scope)
        return total

    def bounds(self, term: Term) -> tuple[int, int]:
        """Return the smallest and largest value of a term in the current region."""
        known = term.bounds_in.get(self._place)
        if known is None:
            known = term.bounds_in[self._place] = self._find_bounds(term)
        return known

    def _find_bounds(self, term: Term) -> tuple[int, int]:
        active = self.active(term.partition)
        if term.slopes is None:
            values = term.values[active]
            return (int(values.min()), int(values.max())) if len(values) else (0, 0)
        axis = term.partition.scope[0]
        allowed = axis_numbers(self.region, axis, self.full[axis])
        ends = []
        for k in np.flatnonzero(active):
            cell = both(term.partition.cells[k], ((((axis, allowed)),),))
            for box in cell:
                for low, high in box[0][1]:
                    slope, value = int(term.slopes[k]), int(term.values[k])
                    ends += [slope * low + value, slope * high + value]
        return (min(ends), max(ends)) if ends else (0, 0)

    def range_of(self, total: Exact | Value) -> tuple[int, int]:
        """Return bounds of a sum in the current region."""
        low = high = total.const
        for term in total.terms.values():
            a, b = self.bounds(term)
            low, high = low + a, high + b
        return low, high
