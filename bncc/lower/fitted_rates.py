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
        "bit-slice": Rate(1.384, 1.438, 0.0),
        "branches": Rate(1.635, 1.65, 0.0),
        "cut-lanes": Rate(1.49, 1.522, 0.0),
        "cut-loop": Rate(1.504, 1.537, 0.0),
        "cut-packed": Rate(1.417, 1.464, 0.0),
        "cuts": Rate(1.329, 1.36, 0.0),
        "lanes": Rate(1.404, 1.461, 0.0),
        "looped": Rate(1.454, 1.539, 0.0),
        "packed": Rate(1.434, 1.507, 0.0),
        "plain": Rate(1.45, 1.527, 0.0),
        "planes": Rate(1.45, 1.535, 0.0),
        "others": Rate(1.42, 1.476, 0.0),
    },
    "picorv32": {
        "bit-slice": Rate(3.859, 4.122, 0.0),
        "branches": Rate(3.746, 3.707, 0.0),
        "cut-lanes": Rate(4.553, 5.187, 0.0),
        "cut-loop": Rate(4.24, 4.7, 0.0),
        "cut-packed": Rate(4.195, 4.726, 0.0),
        "cuts": Rate(4.257, 4.706, 0.0),
        "lanes": Rate(4.043, 4.392, 0.0),
        "looped": Rate(4.161, 4.558, 0.0),
        "packed": Rate(4.998, 6.208, 0.0),
        "plain": Rate(4.049, 4.378, 0.0),
        "planes": Rate(4.184, 4.599, 0.0),
        "others": Rate(4.175, 4.605, 0.0),
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
