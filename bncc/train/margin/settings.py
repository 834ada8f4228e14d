"""
Settings of maximum-margin parameters, with measured defaults.

Both were chosen by cross-validation accuracy on five random halves of spambase (the seeds 0 to 4 of
a permutation) and on the training rows of the authors' fold of usps. Best accuracy over five folds
within 60 iterations, in percent; for spambase the mean of the halves:

==================  =====  =====  =====  =====  =====  =====
lambda              0.003  0.01   0.03   0.1    0.3    1
==================  =====  =====  =====  =====  =====  =====
spambase, naive     94.59  94.58  94.56  94.56  94.69  94.36
spambase, Chow-Liu  94.58  94.48  94.58  94.45  94.78  94.37
usps, naive         94.48  94.58  94.67  94.63  94.21  93.86
usps, Chow-Liu      94.50  94.48  94.96  94.95  94.14  93.77
==================  =====  =====  =====  =====  =====  =====

The best was reached within 41 iterations on spambase, and within 21 on usps.
"""

from dataclasses import dataclass

from bncc.train.options import OPTIONS
from bncc.train.settings import TrainSettings

LAMBDAS = (0.01, 0.03, 0.1, 0.3)
"""Scales for cross-validation to choose from: margins of 100 to 3.3 nats are enough."""
MOST_ITERATIONS: int = OPTIONS["epochs"].measured
ETA: float = OPTIONS["eta"].measured
N_FOLDS = 5
"""Number of folds, as in S1's other choices."""


@dataclass(frozen=True)
class MarginSettings:
    """Settings of maximum-margin parameters."""

    lambdas: tuple[float, ...] = LAMBDAS  # Candidate scales of the margin
    eta: float = ETA  # Sharpness of the soft maximum over the wrong classes
    most_iterations: int = MOST_ITERATIONS  # Limit of L-BFGS, from which cross-validation chooses
    n_folds: int = N_FOLDS  # Number of folds of the training rows
    seed: int = 0  # Random seed of the folds


def margin_settings_of(settings: TrainSettings) -> MarginSettings:
    """Fill in the defaults of maximum-margin parameters."""
    if settings.descends:
        return MarginSettings(seed=settings.seed)
    return MarginSettings(
        lambdas=LAMBDAS if settings.lambda_ is None else (settings.lambda_,),
        eta=ETA if settings.eta is None else settings.eta,
        most_iterations=MOST_ITERATIONS if settings.epochs is None else settings.epochs,
        seed=settings.seed,
    )
