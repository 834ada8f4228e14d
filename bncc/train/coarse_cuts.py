"""Cuts that the highest bits of a reading decide, so that the C compares a byte of it."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from bncc.data.dataset import Column, Table
from bncc.discretize.feature import Feature, saturated
from bncc.discretize.missing import missing_cells

WIDTHS = {"int16": 16, "int32": 32}
"""Bits of a reading, by kind."""
LEAST_SPAN = 16
"""Smallest number of different high parts of a column's readings for such cuts; others keep all
theirs: a sensor of 10 bits has four high bytes in 16 bits."""


def coarse_inputs(features: Sequence[Feature], table: Table, bits: int) -> tuple[Feature, ...]:
    """Restrict the thresholds of whole numbers to those that their highest bits decide; 0: none."""
    columns = {column.name: column for column in table.columns}
    return tuple(
        coarse(feature, columns[feature.name], bits)
        if bits and WIDTHS.get(feature.kind, 0) > bits
        else feature
        for feature in features
    )


def coarse(feature: Feature, column: Column, bits: int) -> Feature:
    """
    Move each threshold to the nearest that the highest bits decide, within the column's readings.

    All lower bits of such a threshold are 1. The one below which all missing readings lie remains.
    """
    low = WIDTHS[feature.kind] - bits
    present = ~missing_cells(feature.kind, column)
    readings = saturated(feature.kind, column.values[present]).astype(np.int64)
    parts = np.unique(readings >> low)
    if len(parts) < LEAST_SPAN:
        return feature
    n_kept = int(feature.has_missing_below)
    given = np.array(feature.thresholds[n_kept:], dtype=np.int64)
    nearest = ((given + 1 + (1 << low >> 1)) >> low) - 1
    moved = np.unique(np.clip(nearest, parts[0], parts[-1] - 1))
    cuts = (((moved + 1) << low) - 1).tolist()
    thresholds = (*feature.thresholds[:n_kept], *cuts)
    return replace(feature, thresholds=thresholds, n_states=len(thresholds) + 1)
