"""Cuts that the highest bits of a reading decide, so that the C compares only those."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from bncc.data.dataset import Column, Table
from bncc.discretize.feature import Feature, saturated
from bncc.discretize.float_order import float_key, float_keys, floats_of_keys
from bncc.discretize.missing import LOWEST_HALF, missing_cells

WIDTHS = {8: {"int16": 16, "int32": 32}, 16: {"int32": 32, "float32": 32}}
"""Kinds of readings with more bits than are compared, by those: the bits of a reading, or of the
integer that orders like a float, whose highest 8 are its sign and most of its exponent."""
NEGATIVE_ZERO = float_key(-0.0) >> 16
"""High half of the integer of -0.0, whose low bits are all 1."""
LEAST_SPAN = 16
"""Smallest number of different high parts of a column's readings for such cuts; others keep all
theirs: a sensor of 10 bits has four high bytes in 16 bits."""


def coarse_inputs(features: Sequence[Feature], table: Table, bits: int) -> tuple[Feature, ...]:
    """Restrict the thresholds of wide readings to those that their highest bits decide; 0: none."""
    columns = {column.name: column for column in table.columns}
    return tuple(
        coarse(feature, columns[feature.name], bits)
        if feature.kind in WIDTHS.get(bits, {})
        else feature
        for feature in features
    )


def coarse(feature: Feature, column: Column, bits: int) -> Feature:
    """
    Move each threshold to the nearest that the highest bits decide, within the column's readings.

    All lower bits of such a threshold are 1. The one below which all missing readings lie becomes
    such a threshold if they are floats, and remains if they are integers.
    """
    low = WIDTHS[bits][feature.kind] - bits
    present = column.values[~missing_cells(feature.kind, column)]
    is_float = feature.kind == "float32"
    readings = float_keys(present) if is_float else saturated(feature.kind, present)
    parts = np.unique(readings.astype(np.int64) >> low)
    if len(parts) < LEAST_SPAN:
        return feature
    n_kept = int(feature.has_missing_below)
    rest = np.array(feature.thresholds[n_kept:])
    given = float_keys(rest) if is_float else rest.astype(np.int64)
    nearest = ((given + 1 + (1 << low >> 1)) >> low) - 1
    moved = np.clip(nearest, parts[0], parts[-1] - 1)
    if is_float:  # -0.0 is no threshold: its neighbor within the readings is
        moved[moved == NEGATIVE_ZERO] += 1 if parts[-1] > 0 else -1
    moved = np.unique(moved)
    keys = ((moved + 1) << low) - 1
    cuts = floats_of_keys(keys) if is_float else keys
    missing = (LOWEST_HALF,) if is_float else feature.thresholds[:1]
    thresholds = (*missing[:n_kept], *cuts.tolist())
    return replace(feature, thresholds=thresholds, n_states=len(thresholds) + 1)
