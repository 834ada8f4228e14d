"""What steers gradient descent, and the defaults that were measured."""

from dataclasses import dataclass
from typing import TypeVar

from bncc.train.settings import TrainSettings

EPOCHS = 60
LR = 0.03
LAMBDA = 100.0
GAMMA = 4.0
ETA = 10.0
DROPOUT = 0.1
QUANTIZE_FROM = 0.5
LARGEST_BATCH, SMALLEST_BATCH = 500, 32
STEPS_PER_EPOCH = 25
THREADS = 1
"""A step takes a millisecond or two: a second thread saves little of it, and costs tenfold where
other work keeps the cores busy."""


Number = TypeVar("Number", int, float)


@dataclass(frozen=True)
class Hyperparameters:
    """What steers the descent.

    Parameters
    ----------
    loss : {"hybrid", "cross-entropy"}
        The loss.
    epochs, batch_size : int
        Passes over the rows; rows per step.
    lr : float
        First step of Adam.
    lambda_, gamma, eta : float
        Of the hybrid loss.
    dropout : float
        Probability that a feature is left out of a sample's sum in a step.
    quantize_from : float
        Fraction of the epochs that is trained before quantization begins.
    seed : int
        Seed of shuffling and dropout.
    device : str
        A torch device.
    threads : int
        CPU threads.
    """

    loss: str
    epochs: int
    batch_size: int
    lr: float
    lambda_: float
    gamma: float
    eta: float
    dropout: float
    quantize_from: float
    seed: int
    device: str = "cpu"
    threads: int = 1


def hyperparameters_of(settings: TrainSettings, n_samples: int) -> Hyperparameters:
    """Fill in the defaults of gradient descent.

    Parameters
    ----------
    settings : TrainSettings
        The user's options.
    n_samples : int
        Training rows; small tables get small batches, so that an epoch has some 25 steps.

    Returns
    -------
    Hyperparameters
        Every value set.
    """
    batch = min(LARGEST_BATCH, max(SMALLEST_BATCH, n_samples // STEPS_PER_EPOCH))
    return Hyperparameters(
        loss=settings.parameters,
        epochs=_or(settings.epochs, EPOCHS),
        batch_size=_or(settings.batch_size, batch),
        lr=_or(settings.lr, LR),
        lambda_=_or(settings.lambda_, LAMBDA),
        gamma=_or(settings.gamma, GAMMA),
        eta=_or(settings.eta, ETA),
        dropout=DROPOUT,
        quantize_from=QUANTIZE_FROM,
        seed=settings.seed,
        device=settings.device or "cpu",
        threads=_or(settings.threads, THREADS),
    )


def _or(value: Number | None, default: Number) -> Number:
    return default if value is None else value
