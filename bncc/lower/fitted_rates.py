"""Cycles per instruction, fitted by benchmarks/fit/fit_cycle_rates.py."""

from collections.abc import Mapping
from typing import NamedTuple


class Rate(NamedTuple):
    """Cycles of a kernel per instruction."""

    mean: float  # Middle of the range of the mean
    most: float  # Most cycles of the slowest input per instruction of it
    waits: float  # Accesses per instruction that may wait for the flash


RATES: Mapping[str, Mapping[str, Rate]] = {
    "cortex-m0": {
        "bit-slice": Rate(1.638, 1.633, 1.054),
        "branches": Rate(1.878, 1.693, 1.727),
        "cut-lanes": Rate(1.521, 1.507, 1.017),
        "cut-loop": Rate(1.584, 1.572, 1.06),
        "cut-packed": Rate(1.355, 1.354, 0.861),
        "cuts": Rate(1.371, 1.363, 0.913),
        "lanes": Rate(1.651, 1.64, 1.198),
        "looped": Rate(1.583, 1.581, 1.086),
        "packed": Rate(1.504, 1.506, 1.013),
        "plain": Rate(1.661, 1.656, 1.111),
        "planes": Rate(1.58, 1.585, 1.096),
        "others": Rate(1.543, 1.533, 1.063),
    },
    "cortex-m0plus": {
        "bit-slice": Rate(1.553, 1.542, 1.054),
        "branches": Rate(1.644, 1.499, 1.727),
        "cut-lanes": Rate(1.449, 1.428, 1.017),
        "cut-loop": Rate(1.505, 1.499, 1.06),
        "cut-packed": Rate(1.282, 1.279, 0.861),
        "cuts": Rate(1.33, 1.322, 0.913),
        "lanes": Rate(1.544, 1.529, 1.198),
        "looped": Rate(1.485, 1.469, 1.086),
        "packed": Rate(1.395, 1.39, 1.013),
        "plain": Rate(1.558, 1.544, 1.111),
        "planes": Rate(1.475, 1.469, 1.096),
        "others": Rate(1.457, 1.443, 1.063),
    },
    "cortex-m4": {
        "bit-slice": Rate(1.689, 2.078, 1.313),
        "branches": Rate(1.781, 2.117, 1.898),
        "cut-lanes": Rate(1.49, 1.864, 1.201),
        "cut-loop": Rate(1.569, 1.976, 1.196),
        "cut-packed": Rate(1.26, 1.499, 1.017),
        "cuts": Rate(1.477, 1.755, 1.061),
        "lanes": Rate(1.742, 2.231, 1.401),
        "looped": Rate(1.668, 2.076, 1.344),
        "packed": Rate(1.513, 1.84, 1.195),
        "plain": Rate(1.731, 2.15, 1.253),
        "planes": Rate(1.672, 2.079, 1.335),
        "others": Rate(1.605, 1.987, 1.262),
    },
    "ibex": {
        "bit-slice": Rate(1.368, 1.373, 0.0),
        "branches": Rate(1.583, 1.503, 0.0),
        "cut-lanes": Rate(1.475, 1.453, 0.0),
        "cut-loop": Rate(1.487, 1.466, 0.0),
        "cut-packed": Rate(1.391, 1.385, 0.0),
        "cuts": Rate(1.315, 1.305, 0.0),
        "lanes": Rate(1.395, 1.396, 0.0),
        "looped": Rate(1.45, 1.471, 0.0),
        "packed": Rate(1.415, 1.422, 0.0),
        "plain": Rate(1.434, 1.452, 0.0),
        "planes": Rate(1.445, 1.467, 0.0),
        "others": Rate(1.407, 1.408, 0.0),
    },
    "picorv32": {
        "bit-slice": Rate(3.987, 3.986, 0.0),
        "branches": Rate(4.089, 4.053, 0.0),
        "cut-lanes": Rate(4.36, 4.287, 0.0),
        "cut-loop": Rate(4.152, 4.12, 0.0),
        "cut-packed": Rate(4.179, 4.157, 0.0),
        "cuts": Rate(4.223, 4.179, 0.0),
        "lanes": Rate(4.163, 4.128, 0.0),
        "looped": Rate(4.211, 4.195, 0.0),
        "packed": Rate(4.877, 4.841, 0.0),
        "plain": Rate(4.175, 4.172, 0.0),
        "planes": Rate(4.231, 4.217, 0.0),
        "others": Rate(4.209, 4.181, 0.0),
    },
    "cortex-m3": {
        "bit-slice": Rate(1.689, 2.078, 1.313),
        "branches": Rate(1.781, 2.117, 1.898),
        "cut-lanes": Rate(1.49, 1.864, 1.201),
        "cut-loop": Rate(1.569, 1.976, 1.196),
        "cut-packed": Rate(1.26, 1.499, 1.017),
        "cuts": Rate(1.477, 1.755, 1.061),
        "lanes": Rate(1.742, 2.231, 1.401),
        "looped": Rate(1.668, 2.076, 1.344),
        "packed": Rate(1.513, 1.84, 1.195),
        "plain": Rate(1.731, 2.15, 1.253),
        "planes": Rate(1.672, 2.079, 1.335),
        "others": Rate(1.605, 1.987, 1.262),
    },
}
"""Rates by core and kernel."""
