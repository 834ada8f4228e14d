"""Search space of gradient descent settings, sampled at random or near good settings."""

from dataclasses import replace
from typing import Any

import numpy as np

from bncc.train.formats import MAX_INT_BITS
from bncc.train.options import OPTIONS
from bncc.train.settings import TrainSettings

LOG_LR, LOG_STEP = (-2.0, -0.7), (-2.5, -1.5)
"""Ranges of the decimal logarithms of Adam's step, and of the step for a structure that is learned
together with the tables."""
MARGINS = {"hybrid": ((1.0, 3.0), (-0.5, 1.5)), "free": ((-1.0, 2.0), (0.0, 1.3))}
"""Ranges of the decimal logarithms of lambda and gamma, by parameter learning method. For S0's
hybrid they are its setting II with smaller gamma at both ends."""
MOST_DROPOUT = 0.4
NEAR = 0.2
"""Standard deviation of a move, in decades; for dropout's root, as a fraction of its range."""


def draw_settings(base: TrainSettings, n_runs: int, seed: int = 0) -> tuple[TrainSettings, ...]:
    """Sample settings of gradient descent on the kind of tables of the base."""
    rng = np.random.default_rng(seed)
    return tuple(_drawn(base, rng) for _ in range(n_runs))


def draw_near(settings: TrainSettings, rng: np.random.Generator) -> TrainSettings:
    """Perturb settings of gradient descent slightly."""
    options = dict(settings.structure_options)
    if "step" in options:
        options["step"] = str(_moved(float(options["step"]), rng))
    root = np.sqrt((settings.dropout or 0.0) / MOST_DROPOUT) + rng.normal(0.0, NEAR)
    return replace(
        settings,
        structure_options=options,
        lr=_moved(settings.lr, rng),
        lambda_=_moved(settings.lambda_, rng),
        gamma=_moved(settings.gamma, rng),
        dropout=_dropout(float(np.clip(root, 0.0, 1.0))),
        int_bits=_neighbor(settings.int_bits, rng),
        **_chosen(rng, near=settings),
        seed=settings.seed if rng.random() < 0.5 else int(rng.integers(0, 2**31)),
    )


def _drawn(base: TrainSettings, rng: np.random.Generator) -> TrainSettings:
    log_lambda, log_gamma = MARGINS[base.parameters]
    step = {"step": str(_power(rng, LOG_STEP))}
    return replace(
        base,
        structure_options={**base.structure_options, **(step if base.is_joint else {})},
        lr=_power(rng, LOG_LR),
        lambda_=_power(rng, log_lambda),
        gamma=_power(rng, log_gamma),
        eta=10.0,
        dropout=_dropout(rng.random()),
        **_chosen(rng),
        seed=int(rng.integers(0, 2**31)),
    )


def _chosen(rng: np.random.Generator, near: TrainSettings | None = None) -> dict[str, Any]:
    """Return a sampled value for each option in the search, or usually that of a near setting."""
    return {
        name: float(rng.choice(option.search))
        if near is None or rng.random() >= 0.75
        else getattr(near, name)
        for name, option in OPTIONS.items()
        if option.search
    }


def _power(rng: np.random.Generator, log_range: tuple[float, float]) -> float:
    return float(10 ** rng.uniform(*log_range))


def _moved(value: float | None, rng: np.random.Generator) -> float | None:
    """Return a value nearby; None stays, and means the default."""
    return None if value is None else float(value * 10 ** rng.normal(0.0, NEAR))


def _neighbor(int_bits: int | None, rng: np.random.Generator) -> int | None:
    """Return B_I, every second time with 1 added or subtracted; None stays."""
    move = int(rng.choice([-1, 0, 0, 1]))
    return None if int_bits is None else min(max(int_bits + move, 1), MAX_INT_BITS)


def _dropout(root: float) -> float:
    """Return a dropout probability for features; small ones are as likely as large ones."""
    return float(MOST_DROPOUT * root**2)
