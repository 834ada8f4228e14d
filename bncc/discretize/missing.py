"""Which readings of a table are missing."""

import numpy as np

from bncc._types import BoolArray
from bncc.data.dataset import Table
from bncc.discretize.feature import MISSING_INT, Feature, numeric_cells


def gaps_of(features: tuple[Feature, ...], table: Table) -> BoolArray:
    """
    Return where a classifier's features are missing in a table.

    Shapes: returns (n_rows, n_features) bool, true for missing cells and for integers that equal
    the C's marker.
    """
    columns = {column.name: column for column in table.columns}
    gaps = np.empty((table.n_rows, len(features)), dtype=np.bool_)
    for i, feature in enumerate(features):
        column = columns[feature.name]
        gaps[:, i] = column.missing
        if feature.kind in MISSING_INT:
            gaps[:, i] |= numeric_cells(feature.name, column).values == MISSING_INT[feature.kind]
    return gaps
