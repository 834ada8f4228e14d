"""The schedule of a refit."""

import pytest

from bncc.boosting.descent import Epochs
from bncc.boosting.settings import BoostSettings
from bncc.progress import Watch


class Listener:
    """An engine that records its arguments."""

    def __init__(self):
        self.lrs, self.orders = [], []

    def epoch(self, order, noise, lr):
        assert noise.shape == (7, 3)
        assert sorted(order.tolist()) == list(range(7))
        self.lrs.append(lr)
        self.orders.append(order.tolist())


def test_steps_fall_along_half_a_cosine_whoever_computes_them():
    settings = BoostSettings(lr=0.3, last_lr=0.1)
    epochs = Epochs(settings, 5, (7, 3), Watch())
    first, second = Listener(), Listener()
    epochs.run(first, 2)
    epochs.run(second, 3)
    steps = [0.3, 0.2 + 0.1 / 2**0.5, 0.2, 0.2 - 0.1 / 2**0.5, 0.1]
    assert first.lrs + second.lrs == pytest.approx(steps)
    assert len({tuple(order) for order in first.orders + second.orders}) == 5
