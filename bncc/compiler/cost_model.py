"""What a kernel costs on a machine: weighted counts of what it does, fitted to measurements."""

from collections.abc import Mapping
from dataclasses import dataclass

from bncc.compiler.kernels.base import Kernel

GENERIC = "cortex-m0"
"""The machine that stands for all where none is named."""


@dataclass(frozen=True)
class Weights:
    """Weights of a family's terms on one machine.

    Parameters
    ----------
    work : tuple of float
        Executed instructions, on AVR cycles, per term of ``Kernel.work``.
    code : tuple of float
        Bytes of code per term of ``Kernel.code``.
    """

    work: tuple[float, ...]
    code: tuple[float, ...]


WEIGHTS: Mapping[str, Mapping[str, Weights]] = {
    "plain": {
        "cortex-m0": Weights((-35, 24, 23, 9), (156, 85)),
    },
    "lanes": {
        "cortex-m0": Weights((20, 2.5, 2.2, 2.6, 4.2), (60, 6, 4, 6, 8)),
    },
    "packed": {
        "cortex-m0": Weights((20, 20, 60, 6, 10), (110, 60, 12, 6, 16, 12, 10)),
    },
}
"""By family and machine."""


def decision_cost(kernel: Kernel, target: str | None = None) -> int:
    """Return what one decision from trusted states executes.

    Parameters
    ----------
    kernel : Kernel
        A laid-out program.
    target : str or None
        The machine; None for generic C.

    Returns
    -------
    int
        Instructions, on AVR cycles.
    """
    return max(1, round(_weighted(_weights(kernel, target).work, kernel.work)))


def code_bytes(kernel: Kernel, target: str | None = None) -> int:
    """Return the bytes of code that a kernel needs.

    Parameters
    ----------
    kernel : Kernel
        A laid-out program.
    target : str or None
        The machine; None for generic C.

    Returns
    -------
    int
        Bytes beside its constants.
    """
    return max(0, round(_weighted(_weights(kernel, target).code, kernel.code)))


def _weights(kernel: Kernel, target: str | None) -> Weights:
    machines = WEIGHTS[kernel.family]
    return machines.get(target or GENERIC, machines[GENERIC])


def _weighted(weights: tuple[float, ...], terms: tuple[float, ...]) -> float:
    return sum(weight * term for weight, term in zip(weights, terms, strict=True))
