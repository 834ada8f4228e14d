"""Choosing the binary point: which split of B bits errs least on rows held out."""

from collections.abc import Sequence

import numpy as np

from bncc._types import FloatArray, IntArray
from bncc.fixed_point import QFormat, quantize
from bncc.structure.counts import family_rows
from bncc.structure.graph import Structure

MAX_INT_BITS = 8
"""Largest B_I tried: costs up to 256 nats, p = 1e-111. S3 tries 1 to 6."""


def candidate_formats(
    bits: int, int_bits: int | None = None, frac_bits: int | None = None
) -> tuple[QFormat, ...]:
    """Return the formats of a total width, B_F negative included.

    Parameters
    ----------
    bits : int
        B, total width.
    int_bits, frac_bits : int, optional
        Fix one side of the binary point.

    Returns
    -------
    tuple of QFormat
        One format when a side is fixed, else one for each B_I in 1 .. 8.
    """
    if int_bits is not None:
        return (QFormat(int_bits, bits - int_bits),)
    if frac_bits is not None:
        return (QFormat(bits - frac_bits, frac_bits),)
    return tuple(QFormat(i, bits - i) for i in range(1, MAX_INT_BITS + 1))


def best_format(
    formats: Sequence[QFormat],
    log_prior: FloatArray,
    log_tables: Sequence[FloatArray],
    structure: Structure,
    n_states: Sequence[int],
    X: IntArray,
    y: IntArray,
) -> QFormat:
    """Return the format whose integer model errs least on the given rows.

    Parameters
    ----------
    formats : sequence of QFormat
        The candidates.
    log_prior : (n_classes,) float64
        Natural log-probabilities, <= 0.
    log_tables : sequence of (n_rows_i, n_classes) float64
        One table per feature.
    structure : Structure
        The graph.
    n_states : sequence of int
        Cardinality of each feature.
    X : (n_samples, n_features) int
        States of rows that did not train the tables.
    y : (n_samples,) int
        Their class indices.

    Returns
    -------
    QFormat
        Of least error; among equals of least log loss, then the first.
    """
    if len(formats) == 1:
        return formats[0]
    rows = [family_rows(X, structure, n_states, i) for i in range(structure.n_features)]
    ranking = []
    for k, fmt in enumerate(formats):
        costs = np.zeros((len(y), len(log_prior)), dtype=np.int64) + quantize(log_prior, fmt)
        for table, row in zip(log_tables, rows, strict=True):
            costs += quantize(table, fmt)[row]
        errors = int((costs.argmin(axis=1) != y).sum())
        ranking.append((errors, _log_loss(costs, y, fmt), k))
    return formats[min(ranking)[2]]


def _log_loss(costs: IntArray, y: IntArray, fmt: QFormat) -> float:
    theta = (costs.min(axis=1, keepdims=True) - costs) * 2.0**-fmt.frac_bits
    true = theta[np.arange(len(y)), y]
    return float((np.log(np.exp(theta).sum(axis=1)) - true).sum())
