"""What the C of a baseline costs on a machine, counted as for bncc's own."""

from dataclasses import dataclass

import numpy as np

from bncc._types import IntArray
from bncc.baselines.learn import Learned
from bncc.device.cross import Toolchain
from bncc.device.meter import Inputs, Meter
from bncc.device.sources import sources
from bncc.discretize.feature import Feature

LEVEL = "-Os"
"""For flash; PEERS and the users of these generators compile so."""
SPEED_LEVEL = "-O2"
"""For instructions."""


@dataclass(frozen=True)
class Shape:
    """What the meter has to know of a baseline."""

    features: tuple[Feature, ...]  # Its inputs
    n_classes: int  # Number of classes

    @property
    def n_states(self) -> tuple[int, ...]:
        """Cardinality of each feature."""
        return tuple(feature.n_states for feature in self.features)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.features)


@dataclass(frozen=True)
class BaselineCost:
    """One baseline on one machine."""

    # flash and ram: Bytes of the classifier with every library routine it pulls in, at -Os
    flash: int
    ram: int
    stack: int  # Bytes of the deepest stack, at -O2
    mean: float  # Instructions or cycles per decision, at -O2
    most: int  # At most
    differing: int  # Measured inputs that the machine decides otherwise than Python


def measure_baseline(
    learned: Learned, n_classes: int, bench: Toolchain, X: IntArray
) -> BaselineCost:
    """
    Build the C of a baseline for a machine and run it there.

    Shapes: `X` (n, n_features) int.
    """
    code = learned.baseline.code
    assert code is not None
    shape = Shape(learned.features, n_classes)
    with Meter(sources(shape, code.files), bench, LEVEL, is_foreign=True) as meter:
        footprint = meter.footprint(("predict",))
    with Meter(sources(shape, code.files), bench, SPEED_LEVEL, is_foreign=True) as meter:
        cost = meter.costs(Inputs(X))["predict"]
    differing = int((np.asarray(cost.classes) != learned.baseline.decide(X)).sum())
    return BaselineCost(footprint.flash, footprint.ram, cost.stack, cost.mean, cost.max, differing)
