"""Classification rate, conditional likelihood and margin of joints, as sums of integers."""

from dataclasses import dataclass

import numpy as np

from bncc._types import AnyArray, IntArray

KINDS = ("mm", "cr", "cl")
"""Maximum margin, classification rate, conditional likelihood; the first is S1's own."""
ALONE = -(2**31)
"""Stands for the best other class where there is none."""


@dataclass(frozen=True)
class Score:
    r"""
    One of the three scores, as a sum of an integer for each row.

    .. math::
       CR = \frac{1}{M} \sum_m 1\{c^m = \arg\max_c P(c, x^m)\}, \quad
       CL = \sum_m \log P(c^m \mid x^m), \quad
       MM = \sum_m \min(1, \lambda \log d^m)

    with :math:`\log d^m = \log P(c^m, x^m) - \max_{c \ne c^m} \log P(c, x^m)`. Of equal classes
    the smallest is decided.


    References
    ----------
    S1, sections 3.1 and 3.2.
    """

    kind: str  # Which one
    scale: int  # Integer that stands for one nat
    lambda_: float = 1.0  # Of ``mm``, > 0: rows whose margin is beyond 1 / lambda nats count alike

    @property
    def most(self) -> int:
        """The largest integer of a row: the cap scale / lambda of ``mm``."""
        if self.kind == "mm":
            return min(max(1, round(self.scale / self.lambda_)), 2**31 - 1)
        return 1 if self.kind == "cr" else 0

    def value(self, total: int, n_samples: int) -> float:
        """Return a score in its own unit."""
        return total / self.units(n_samples)

    def units(self, n_samples: int) -> int:
        """Return how many integers make a score of 1."""
        if self.kind == "cr":
            return max(n_samples, 1)
        return self.most if self.kind == "mm" else self.scale

    def of_rows(self, joint: IntArray, y: IntArray) -> IntArray:
        """
        Return the integer of each row.

        Shapes: `joint` (n_samples, n_classes) int32; `y` (n_samples,) int; returns (n_samples,)
        int64, 1 or 0 for ``cr``; at most `most` for ``mm``; at most 0 for ``cl``, each row rounded.
        """
        rows = np.arange(len(y))
        own = joint[rows, y].astype(np.int64)
        if self.kind == "cl":
            return -_rounded_log_sum(joint, own, self.scale)
        others = joint.astype(np.int64)
        if self.kind == "cr":
            others += np.arange(joint.shape[1]) < y[:, None]
        others[rows, y] = ALONE
        margins = own - others.max(axis=1)
        if self.kind == "cr":
            return np.asarray(margins >= 0, dtype=np.int64)
        return np.asarray(np.minimum(margins, self.most))


def _rounded_log_sum(joint: IntArray, own: AnyArray, scale: int) -> IntArray:
    """Return -log P(c^m | x^m), rounded; sums go from class 0 on."""
    top = joint.max(axis=1).astype(np.int64)
    total = np.zeros(len(joint))
    for of_class in joint.T:
        total += np.exp((of_class - top) / scale)
    return np.asarray((top - own) + np.rint(np.log(total) * scale).astype(np.int64))
