"""What steers the descent, drawn at random: the space that searches search."""

from dataclasses import replace

import numpy as np

from bncc.train.settings import TrainSettings

LR = (3e-3, 1e-2, 3e-2)
DROPOUT = (0.0, 0.02, 0.04, 0.1, 0.2, 0.3)
STRUCTURE_STEP = (3e-3, 1e-2, 3e-2)
"""Of Adam for a structure that is learned together with the tables."""
LOG_LAMBDA, LOG_GAMMA = (1.0, 3.0), (-0.5, 1.5)
"""Ranges of decimal logarithms. S0's setting II with less of gamma at both ends;
its lr has two values, and dropout is ours."""


def draw_settings(base: TrainSettings, n_runs: int, seed: int = 0) -> tuple[TrainSettings, ...]:
    """Draw what steers the descent.

    Parameters
    ----------
    base : TrainSettings
        All that is not drawn.
    n_runs : int
        How many.
    seed : int
        Where chance comes from; more runs begin with the same ones.

    Returns
    -------
    tuple of TrainSettings
        With lr, lambda, gamma, dropout and seed drawn, and the step of a structure that is
        learned together with the tables; the seed chooses candidate parents too.
    """
    rng = np.random.default_rng(seed)
    return tuple(_drawn(base, rng) for _ in range(n_runs))


def _drawn(base: TrainSettings, rng: np.random.Generator) -> TrainSettings:
    step = {"step": repr(float(rng.choice(STRUCTURE_STEP)))}
    return replace(
        base,
        structure_options={**base.structure_options, **(step if base.is_joint else {})},
        lr=float(rng.choice(LR)),
        lambda_=float(10 ** rng.uniform(*LOG_LAMBDA)),
        gamma=float(10 ** rng.uniform(*LOG_GAMMA)),
        eta=10.0,
        dropout=float(rng.choice(DROPOUT)),
        seed=int(rng.integers(0, 2**31)),
    )
