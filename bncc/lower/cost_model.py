"""What a kernel costs on a machine: weighted counts of what it does, fitted to measurements."""

from collections.abc import Mapping
from typing import Literal

from bncc.lower import cost_weights, cut_weights
from bncc.lower.kernels.base import Kernel
from bncc.resources import Optimize

Level = Literal["-O2", "-Os"]

LEVELS: Mapping[Optimize, Level] = {"balanced": "-O2", "size": "-Os", "speed": "-O2"}
"""The compiler's level that goes with what is asked for."""
WEIGHTS = cost_weights.WEIGHTS | cut_weights.WEIGHTS
"""By family, machine and level: for instructions and for bytes of code."""
GENERIC = "cortex-m0"
"""The machine that stands for all where none is named."""
OTHER = "avr"
"""The machine that stands for all others in families that are made for it."""
ALIKE: Mapping[str, str] = {
    "cortex-m3": "cortex-m4",
    "cortex-m7": "cortex-m4",
    "big-endian": "rv32",
}
"""Machines that are priced as another one is."""


def decision_cost(kernel: Kernel, target: str | None = None, level: Level = "-O2") -> int:
    """Return what one decision from trusted states executes."""
    return max(1, round(weighted(kernel.family, target, level, kernel.work, which=0)))


def code_bytes(kernel: Kernel, target: str | None = None, level: Level = "-O2") -> int:
    """Return the bytes of code that a classifier needs which only decides on states."""
    return max(0, round(weighted(kernel.family, target, level, kernel.code, which=1)))


def weighted(
    family: str, target: str | None, level: Level, terms: tuple[float, ...], *, which: int
) -> float:
    """Return the sum of terms by the weights of a family."""
    machine = ALIKE.get(target or GENERIC, target or GENERIC)
    keys = ((family, one, level) for one in (machine, GENERIC, OTHER))
    weights = next(WEIGHTS[key] for key in keys if key in WEIGHTS)[which]
    return sum(weight * term for weight, term in zip(weights, terms, strict=True))
