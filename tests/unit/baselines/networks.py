"""Small networks of every form, trained briefly."""

from functools import cache

import numpy as np

from bncc._types import IntArray
from bncc.baselines.plan import Form, Task, plan_of
from bncc.baselines.trainer import NetworkSettings, TrainedNetwork, train_network

N_STATES = (4, 2, 3, 4) * 16
FORMS = {
    "two layers": Form(2, 3, "relu", True),
    "one bit, no norm": Form(3, 1, "relu", False),
    "signs": Form(3, 5, "sign", True),
    "one-bit signs": Form(4, 1, "sign", False),
    "eight bits": Form(5, 8, "relu", True),
    "linear": Form(1, 8, "relu", False),
    "one-hot": Form(2, 4, "relu", True, is_one_hot=True),
    "one-hot signs": Form(3, 1, "sign", True, is_one_hot=True),
    "convolution": Form(1, 3, "relu", True, is_convolutional=True),
    "two convolutions": Form(2, 7, "relu", True, is_convolutional=True),
    "convolved signs": Form(2, 1, "sign", True, is_convolutional=True),
}


@cache
def rows() -> tuple[IntArray, IntArray]:
    """Return 400 rows of 64 features that determine three classes."""
    random = np.random.default_rng(0)
    y = random.integers(0, 3, 400)
    noise = random.integers(0, N_STATES, (400, 64))
    X = np.where(
        random.random((400, 64)) < 0.4, np.minimum(y[:, None], np.array(N_STATES) - 1), noise
    )
    return X.astype(np.int64), y.astype(np.int64)


@cache
def trained(form: str, seed: int = 0) -> TrainedNetwork:
    """Return a network of a form."""
    X, y = rows()
    plan = plan_of(Task(N_STATES, 3), FORMS[form], 5)
    return train_network(plan, X, y, N_STATES, NetworkSettings(4, 40, 0.02, seed))
