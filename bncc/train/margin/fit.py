"""Maximum-margin parameters of S1: L-BFGS from counts, stopped by cross-validation."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import fmin_l_bfgs_b
from scipy.sparse import csr_array

from bncc._types import BoolArray, FloatArray, IntArray
from bncc.data.splits import SplitRule
from bncc.progress import Progress
from bncc.structure.counts import family_rows
from bncc.structure.graph import Structure, n_rows
from bncc.train.margin.settings import MarginSettings
from bncc.train.maximum_likelihood import LogTables, ml_log_tables

HUBER = 0.5
"""h, half the width of the parabola between the two straight parts (S1, footnote 8)."""


def huber_hinge(t: FloatArray) -> tuple[FloatArray, FloatArray]:
    r"""
    Return a hinge with a rounded corner, and its slope.

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
    Return log margins with the soft maximum of S0, and each wrong class's share of them.

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


@dataclass(frozen=True, eq=False)
class MarginLayout:
    """Concatenated tables, one column per class, followed by the prior."""

    structure: Structure  # The graph; its arcs may form cycles
    n_states: Sequence[int]  # Cardinality of each feature
    # Features with trainable tables: with the class as a parent, and more than one state
    features: tuple[int, ...]
    offset: IntArray  # (n_features,) int64: First row of the table of each of `features`
    # (n_distributions,) int64: start and size: First row and rows of each distribution: a feature's
    # states given a state of its parents
    start: IntArray
    size: IntArray

    @property
    def n_rows(self) -> int:
        """Rows of all tables."""
        return int(self.size.sum())

    def reads(self, X: IntArray) -> csr_array:
        """
        Return the table rows that samples read, as a sparse matrix of ones.

        Shapes: `X` (n_samples, n_features) int; returns (n_samples, n_rows) csr_array of float64,
        one entry per sample and table: 12 bytes each.
        """
        n, width = len(X), len(self.features)
        columns = np.empty((n, width), dtype=np.int32)
        for k, (i, first) in enumerate(zip(self.features, self.offset, strict=True)):
            columns[:, k] = first + family_rows(X, self.structure, self.n_states, i)
        entries = np.ones(n * width), columns.ravel(), np.arange(n + 1) * width
        return csr_array(entries, shape=(n, self.n_rows))

    def pack(self, tables: LogTables) -> FloatArray:
        """
        Return the vector of normalized tables.

        Shapes: returns ((n_rows + 1) * n_classes,) float64, logits.
        """
        prior, of_features = tables
        moving = [of_features[i] for i in self.features]
        return np.concatenate([*moving, prior[None, :]]).ravel()

    def log_probabilities(self, logits: FloatArray) -> tuple[FloatArray, FloatArray]:
        """
        Normalize logits to tables.

        Shapes: `logits` ((n_rows + 1) * n_classes,) float64; returns theta (n_rows, n_classes)
        float64, log-probabilities of states given those of parents and class; returns prior
        (n_classes,) float64, log-probabilities of the classes.
        """
        rows = logits.reshape(self.n_rows + 1, -1)
        theta, prior = rows[:-1], rows[-1] - rows[-1].max()
        if self.features:
            theta = theta - np.repeat(np.maximum.reduceat(theta, self.start), self.size, axis=0)
            theta = theta - np.log(self._totals(np.exp(theta)))
        return np.minimum(theta, 0.0), np.minimum(prior - np.log(np.exp(prior).sum()), 0.0)

    def slope(self, theta: FloatArray, by_theta: FloatArray, by_prior: FloatArray) -> FloatArray:
        """
        Return the derivative by logits from that by log-probabilities.

        Shapes: `theta` (n_rows, n_classes) float64; returns ((n_rows + 1) * n_classes,) float64,
        derivative by the vector of `pack`.
        """
        if self.features:
            by_theta = by_theta - np.exp(theta) * self._totals(by_theta)
        return np.concatenate([by_theta, by_prior[None, :]]).ravel()

    def unpack(self, logits: FloatArray) -> tuple[FloatArray, dict[int, FloatArray]]:
        """
        Return the trainable tables.

        Shapes: `logits` ((n_rows + 1) * n_classes,) float64; returns prior (n_classes,) float64,
        natural log-probabilities.
        """
        theta, prior = self.log_probabilities(logits)
        ends = np.append(self.offset, self.n_rows)[1:]
        rows = zip(self.features, self.offset, ends, strict=True)
        return prior, {i: theta[first:end] for i, first, end in rows}

    def _totals(self, values: FloatArray) -> FloatArray:
        """Return for each row the sum over its distribution."""
        return np.repeat(np.add.reduceat(values, self.start), self.size, axis=0)


def margin_layout_of(structure: Structure, n_states: Sequence[int]) -> MarginLayout:
    """Lay out the tables of a structure."""
    features = tuple(
        i for i, has_class in enumerate(structure.class_is_parent) if has_class and n_states[i] > 1
    )
    rows = np.array([n_rows(structure, n_states, i) for i in features], dtype=np.int64)
    states = np.array([n_states[i] for i in features], dtype=np.int64)
    size = np.repeat(states, rows // np.maximum(states, 1))
    return MarginLayout(
        structure, n_states, features, np.cumsum(rows) - rows, np.cumsum(size) - size, size
    )


MEMORY = 10
"""Pairs of steps and slopes that L-BFGS stores."""
MOST_SEARCHED = 20
"""Limit on evaluations in a line search."""

Seen = Callable[[FloatArray], object]
"""Callback with the logits after each iteration."""


@dataclass(frozen=True, eq=False)
class Samples:
    """Samples, and the rows that they read."""

    reads: csr_array  # (n, n_rows) csr_array: From `MarginLayout.reads`
    X: IntArray  # (n, n_features) int: States
    y: IntArray  # (n,) int: Class indices
    # (n,) float64 or None: Sample weights; None for equal weights
    weights: FloatArray | None

    def among(self, chosen: BoolArray) -> "Samples":
        """
        Return some of the samples.

        Shapes: `chosen` (n,) bool.
        """
        weights = None if self.weights is None else self.weights[chosen]
        rows = np.flatnonzero(chosen)
        return Samples(self.reads[rows], self.X[rows], self.y[rows], weights)


class MarginDescent:
    """A descent on the logits of the tables, over the classes with samples."""

    def __init__(self, layout: MarginLayout, samples: Samples, n_classes: int) -> None:
        self._layout, self._samples = layout, samples
        self._classes, self._y = np.unique(samples.y, return_inverse=True)
        n = len(samples.y)
        total = n if samples.weights is None else samples.weights.sum()
        self._weights = (np.ones(n) if samples.weights is None else samples.weights) / total
        self._counted = ml_log_tables(
            samples.X, samples.y, layout.structure, layout.n_states, n_classes,
            weights=None if samples.weights is None else self._weights * n,
        )  # fmt: skip
        prior, tables = self._counted
        there = prior[self._classes], tuple(table[:, self._classes] for table in tables)
        self.begin = layout.pack(there)

    def run(self, lambda_: float, eta: float, iterations: int, seen: Seen) -> FloatArray:
        """Run the descent."""
        if len(self._classes) < 2:
            return self.begin
        logits, _, _ = fmin_l_bfgs_b(
            self.loss, self.begin, args=(lambda_, eta), m=MEMORY, factr=0.0, pgtol=0.0,
            maxiter=iterations, maxfun=iterations * MOST_SEARCHED + 1, maxls=MOST_SEARCHED,
            callback=seen,
        )  # fmt: skip
        return np.asarray(logits)

    def loss(self, logits: FloatArray, lambda_: float, eta: float) -> tuple[float, FloatArray]:
        """Return the mean Huber hinge of the samples, and its slope."""
        theta, prior = self._layout.log_probabilities(logits)
        log_joint = self._samples.reads @ theta + prior
        loss, rows, slopes = margin_loss(log_joint, self._y, self._weights, lambda_, eta)
        by_theta = self._samples.reads[rows].T @ slopes
        return loss, self._layout.slope(theta, by_theta, slopes.sum(axis=0))

    def right(self, logits: FloatArray, held: Samples) -> float:
        """Return the accuracy on other samples, with the first class on ties."""
        theta, prior = self._layout.log_probabilities(logits)
        decided = self._classes[(held.reads @ theta + prior).argmax(axis=1)]
        is_right = decided == held.y
        return float(is_right.sum() if held.weights is None else held.weights[is_right].sum())

    def tables(self, logits: FloatArray) -> LogTables:
        """Return the tables that logits represent."""
        counted_prior, counted = self._counted
        of_classes, moved = self._layout.unpack(logits)
        prior, tables = counted_prior.copy(), [table.copy() for table in counted]
        prior[self._classes] = of_classes
        for i, table in moved.items():
            tables[i][:, self._classes] = table
        return prior, tuple(tables)


def margin_log_tables(
    X: IntArray,
    y: IntArray,
    structure: Structure,
    n_states: Sequence[int],
    n_classes: int,
    settings: MarginSettings,
    weights: FloatArray | None = None,
    told: Progress | None = None,
    split: SplitRule | None = None,
) -> LogTables:
    r"""
    Return probability tables that maximize S1's soft margin.

    .. math:: \min_\Theta \sum_n w_n\, \ell(\lambda \ln d_n), \qquad
       \ln d_n = \ln p(c_n, x_n) - \max_{c \ne c_n} \ln p(c, x_n)

    with the Huber hinge and the soft maximum of `margin_loss`. The search is over logits of the
    tables, so that these stay normalized, and starts at `ml_log_tables`. Run to convergence, it
    would overfit: lambda and the number of iterations are those with the highest accuracy in
    cross-validation; ties take the fewest iterations, then the largest lambda, whose tables are the
    least steep and lose least by rounding.

    Shapes: `X` (n_samples, n_features) int; `y` (n_samples,) int; `weights` (n_samples,) float64;
    returns log_prior (n_classes,) float64, natural log-probabilities; minus infinity for a class
    without rows.

    References
    ----------
    S1, section 3.2, equation of M(B|S), and section 5; the parameters are those of its reference
    23, which uses conjugate gradients.
    """
    counted = ml_log_tables(X, y, structure, n_states, n_classes, weights=weights)
    if len(np.unique(y)) < 2:
        return counted
    layout = margin_layout_of(structure, n_states)
    samples = Samples(layout.reads(X), X, y, weights)
    split = split or SplitRule()
    n_folds = min(settings.n_folds, max(2, split.most_folds(len(y))))
    folds = split.folds(y, n_folds, settings.seed)
    n_folds = int(folds.max()) + 1
    tell = _counted(told, n_folds * len(settings.lambdas) + 1, settings.most_iterations)
    right = np.zeros((settings.most_iterations + 1, len(settings.lambdas)))
    for k in range(n_folds):
        held = samples.among(folds == k)
        descent = MarginDescent(layout, samples.among(folds != k), n_classes)
        for j, lambda_ in enumerate(settings.lambdas):
            right[:, j] += _course(descent, held, lambda_, settings, next(tell))
    lambdas = sorted(settings.lambdas)
    falling = right[:, np.argsort(settings.lambdas)][:, ::-1]
    iterations, best = divmod(int(falling.argmax()), len(lambdas))
    if iterations == 0:
        return counted
    descent = MarginDescent(layout, samples, n_classes)
    logits = descent.run(lambdas[::-1][best], settings.eta, iterations, next(tell))
    return descent.tables(logits)


def _course(
    descent: MarginDescent, held: Samples, lambda_: float, settings: MarginSettings, tell: Seen
) -> FloatArray:
    """
    Return the validation accuracy, initially and after each iteration.

    A descent that converges keeps its result.
    """
    right = [descent.right(descent.begin, held)]

    def judge(logits: FloatArray) -> None:
        right.append(descent.right(logits, held))
        tell(logits)

    descent.run(lambda_, settings.eta, settings.most_iterations, judge)
    return np.array(right + right[-1:] * (settings.most_iterations + 1 - len(right)))


def _counted(told: Progress | None, n_descents: int, most: int) -> Iterator[Seen]:
    """Yield for each descent in turn the callback that counts its iterations."""
    for descent in range(n_descents):
        done = 0

        def tell(_: FloatArray, begun: int = descent * most) -> None:
            nonlocal done
            done += 1
            if told is not None:
                words = f"margin, descent {begun // most + 1} of {n_descents}"
                told((begun + done) / (n_descents * most), words)

        yield tell
