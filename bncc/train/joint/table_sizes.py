"""What the table of each slot takes: entries, as S3 counts them, or bits, as the compiler does."""

import numpy as np

from bncc._types import IntArray
from bncc.train.joint.candidate_layout import CandidateLayout


def entries_of(layout: CandidateLayout, n_classes: int) -> IntArray:
    """
    Return the entries of every table.

    Shapes: returns (n_features, n_slots) int64, 0 where a slot is absent.
    """
    return layout.n_table_rows * n_classes


def flash_bits_of(layout: CandidateLayout, costs: IntArray) -> IntArray:
    r"""
    Return the bits that every table is left with by three of the compiler's passes.

    .. math:: |\theta_{ik}|\,\bigl\lceil \log_2 (1 + \max_{r, c} (q_{rc} - \min_{c'} q_{rc'}))
        \bigr\rceil

    Those that look at a table alone: normalize rows subtracts from each row its least cost, drop
    constant drops a table whose rows are then all equal, and shrink width stores what is left in
    as many bits as the largest needs. Passes that look at several tables may leave less: the
    default flow left 3,552 bits of 3,920, 4,908 of 5,496 and 992 of 1,000 in three models.

    Shapes: `costs` (n_rows, n_classes) int64; returns (n_features, n_slots) int64, each table in
    the width of its slot; 0 where a slot is absent.
    """
    is_there = layout.n_table_rows[:, : layout.n_choices] > 0
    starts = layout.offset[:, : layout.n_choices][is_there]
    first_rows = np.repeat(starts, layout.n_table_rows[:, : layout.n_choices][is_there])
    excess = costs - costs.min(axis=1, keepdims=True)
    bits = np.zeros_like(layout.n_table_rows)
    planes = np.split(bits, layout.n_planes, axis=1)
    for plane, most in zip(planes, layout.most if layout.widths else [None], strict=True):
        left = excess if most is None else np.minimum(excess, most)
        # frexp tells the bits of an integer, and 0 for 0.
        needed = np.frexp(np.maximum.reduceat(left.max(axis=1), starts).astype(float))[1]
        differs = (left != left[first_rows]).any(axis=1)
        plane[is_there] = np.where(np.logical_or.reduceat(differs, starts), needed, 0)
    return bits * entries_of(layout, costs.shape[1])
