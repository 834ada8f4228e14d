"""Networks as large as a budget of bits or of operations allows (S3, sections V-C and V-D)."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from math import floor, isqrt

from scipy.optimize import brentq

from bncc.baselines.plan import POOL, Activation, Layer, NetworkPlan
from bncc.errors import OptionError

Budget = Callable[[NetworkPlan], int]
"""What of a plan is limited: `NetworkPlan.parameter_bits` or `NetworkPlan.operations`."""

MOST_UNITS = 4096
"""Hidden units, or channels, beyond which no budget is followed."""


@dataclass(frozen=True)
class Task:
    """What a network is to decide."""

    n_states: tuple[int, ...]  # Cardinality of each feature
    n_classes: int  # Number of classes

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.n_states)

    @property
    def side(self) -> int:
        """Rows and columns, where the features may be the pixels of a square image; else 0."""
        side = isqrt(self.n_features)
        return side if side**2 == self.n_features else 0


@dataclass(frozen=True)
class Form:
    """All of a plan but its size."""

    depth: int  # Fully connected: L, 2 to 5 layers. Convolutional: 1 or 2 convolutions.
    bits: int  # Bits of a weight, 1 to 8
    activation: Activation  # Of hidden layers
    has_norm: bool  # Whether hidden layers are batch-normalized
    # is_convolutional and is_one_hot: Whether images are convolved; whether states are given as
    # bits. Not both.
    is_convolutional: bool = False
    is_one_hot: bool = False


def plan_of(task: Task, form: Form, width: float) -> NetworkPlan:
    """Return the network of a form with so many hidden units per layer, or channels."""
    layers = (
        _convolutions(task, form, width) if form.is_convolutional else _dense(task, form, width)
    )
    return NetworkPlan(
        layers, task.n_features, form.bits, form.activation, form.has_norm, form.is_one_hot
    )


def plan_within(task: Task, form: Form, budget: Budget, limit: int) -> NetworkPlan:
    """
    Return the network of a form that comes nearest to a budget.

    The real number of units that would meet the budget exactly is rounded, as in S3, so that the
    budget may be exceeded by half a unit's share.
    """

    def beyond(width: float) -> float:
        # Linear between whole widths, so that the exact one can be found.
        low = floor(width)
        at = [budget(plan_of(task, form, w)) for w in (max(1, low), low + 1)]
        return at[0] + (width - low) * (at[1] - at[0]) - limit

    if beyond(1) >= 0:
        return plan_of(task, form, 1)
    if beyond(MOST_UNITS) <= 0:
        return plan_of(task, form, MOST_UNITS)
    return plan_of(task, form, brentq(beyond, 1, MOST_UNITS))


def _units(width: float) -> int:
    return max(1, floor(width + 0.5))


def _dense(task: Task, form: Form, width: float) -> tuple[Layer, ...]:
    n_inputs = sum(task.n_states) if form.is_one_hot else task.n_features
    sizes = [n_inputs, *[_units(width)] * (form.depth - 1), task.n_classes]
    return tuple(Layer(n, m) for n, m in pairwise(sizes))


def _convolutions(task: Task, form: Form, width: float) -> tuple[Layer, ...]:
    side = task.side
    if side < POOL**form.depth:
        raise OptionError(
            f"{task.n_features} features are no square image that {form.depth} convolutions and "
            "poolings leave something of; use a fully connected network"
        )
    layers, n_in = [], 1
    for k in range(form.depth):
        layers.append(Layer(n_in, _units(width * 2**k), side))
        n_in = layers[-1].n_out
        side //= POOL
    return (*layers, Layer(n_in * side**2, task.n_classes))
