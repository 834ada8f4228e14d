r"""What S1's maximum-margin parameters descend on: a Huber hinge of log margins."""

import numpy as np

from bncc._types import FloatArray, IntArray

HUBER = 0.5
"""h, half the width of the parabola between the two straight parts (S1, footnote 8)."""


def huber_hinge(t: FloatArray) -> tuple[FloatArray, FloatArray]:
    r"""
    Return a hinge whose corner is rounded, and its slope.

    .. math::
       \ell(t) = \begin{cases}
           0 & t > 1 + h \\ (1 + h - t)^2 / 4h & |1 - t| \le h \\ 1 - t & t < 1 - h
       \end{cases}

    Shapes: `t` (n,) float64; returns loss (n,) float64, at least 0; returns slope (n,) float64, in
    -1 .. 0.
    """
    short = np.clip(1 + HUBER - t, 0.0, 2 * HUBER)
    is_straight = t < 1 - HUBER
    loss = np.where(is_straight, 1 - t, short**2 / (4 * HUBER))
    slope = np.where(is_straight, -1.0, -short / (2 * HUBER))
    return loss, slope


def log_margins(log_joint: FloatArray, y: IntArray, eta: float) -> tuple[FloatArray, FloatArray]:
    r"""
    Return log margins with the soft maximum of S0, and the share of each wrong class in them.

    .. math:: \ln d_n = \ln p(c_n, x_n) - \frac1\eta \ln \sum_{c \ne c_n} p(c, x_n)^\eta

    Shapes: `log_joint` (n, n_classes) float64; `y` (n,) int; returns log_d (n,) float64, in nats;
    returns shares (n, n_classes) float64, of sum 1; that of the true class is 0.
    """
    rows = np.arange(len(y))
    true = log_joint[rows, y]
    scaled = eta * (log_joint - true[:, None])
    scaled[rows, y] = -np.inf
    top = scaled.max(axis=1)
    shares = np.exp(scaled - top[:, None])
    total = shares.sum(axis=1)
    return -(top + np.log(total)) / eta, shares / total[:, None]


def margin_loss(
    log_joint: FloatArray, y: IntArray, weights: FloatArray, lambda_: float, eta: float
) -> tuple[float, IntArray, FloatArray]:
    r"""
    Return :math:`\sum_n w_n \ell(\lambda \ln d_n)` and its slope.

    Shapes: `log_joint` (n, n_classes) float64; `y` (n,) int; `weights` (n,) float64; returns rows
    (m,) int64, samples whose slope is not 0; returns slopes (m, n_classes) float64, derivatives by
    the log joints of these samples.

    References
    ----------
    S1, section 3.2 and footnote 8; its reference 23 has the soft maximum and the Huber loss.
    """
    log_d, shares = log_margins(log_joint, y, eta)
    loss, slope = huber_hinge(lambda_ * log_d)
    by_margin = lambda_ * weights * slope
    rows = np.flatnonzero(by_margin)
    slopes = -shares[rows] * by_margin[rows, None]
    slopes[np.arange(len(rows)), y[rows]] += by_margin[rows]
    return float(weights @ loss), rows, slopes
