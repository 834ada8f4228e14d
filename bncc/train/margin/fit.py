"""Maximum-margin parameters of S1: L-BFGS from counts, ended where cross-validation errs least."""

from collections.abc import Iterator, Sequence

import numpy as np

from bncc._types import FloatArray, IntArray
from bncc.data.splits import SplitRule
from bncc.structure.graph import Structure
from bncc.structure.learner import Tell
from bncc.train.margin.descent import MarginDescent, Samples, Seen
from bncc.train.margin.layout import margin_layout_of
from bncc.train.margin.settings import MarginSettings
from bncc.train.maximum_likelihood import LogTables, ml_log_tables


def margin_log_tables(
    X: IntArray,
    y: IntArray,
    structure: Structure,
    n_states: Sequence[int],
    n_classes: int,
    settings: MarginSettings,
    weights: FloatArray | None = None,
    told: Tell | None = None,
    split: SplitRule | None = None,
) -> LogTables:
    r"""
    Return probability tables that maximize S1's soft margin.

    .. math:: \min_\Theta \sum_n w_n\, \ell(\lambda \ln d_n), \qquad
       \ln d_n = \ln p(c_n, x_n) - \max_{c \ne c_n} \ln p(c, x_n)

    with the Huber hinge and the soft maximum of `margin_loss`. The search is over logits of the
    tables, so that these stay normalized, and begins at `ml_log_tables`. Followed to its end it
    fits the rows alone: lambda and the number of iterations are those of the largest rate of right
    decisions in cross-validation; of equals the fewest iterations, then the largest lambda, whose
    tables are the least steep and lose least when they are rounded.

    Shapes: `X` (n_samples, n_features) int; `y` (n_samples,) int; `weights` (n_samples,) float64;
    returns log_prior (n_classes,) float64, natural log-probabilities; minus infinity for a class
    without rows.

    References
    ----------
    S1, section 3.2, equation of M(B|S), and section 5; the parameters are those of its reference
    23, which descends by conjugate gradients.
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
    Return how much of what is held out is decided rightly, at first and after each iteration.

    A descent that ends by itself stays where it is.
    """
    right = [descent.right(descent.begin, held)]

    def judge(logits: FloatArray) -> None:
        right.append(descent.right(logits, held))
        tell(logits)

    descent.run(lambda_, settings.eta, settings.most_iterations, judge)
    return np.array(right + right[-1:] * (settings.most_iterations + 1 - len(right)))


def _counted(told: Tell | None, n_descents: int, most: int) -> Iterator[Seen]:
    """Yield for one descent after the other what counts its iterations."""
    for descent in range(n_descents):
        done = 0

        def tell(_: FloatArray, begun: int = descent * most) -> None:
            nonlocal done
            done += 1
            if told is not None:
                words = f"margin, descent {begun // most + 1} of {n_descents}"
                told((begun + done) / (n_descents * most), words)

        yield tell
