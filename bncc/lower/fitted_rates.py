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
        "bit-slice": Rate(1.609, 1.606, 1.036),
        "branches": Rate(1.878, 1.693, 1.727),
        "cut-lanes": Rate(1.554, 1.533, 1.054),
        "cut-loop": Rate(1.605, 1.588, 1.105),
        "cut-packed": Rate(1.371, 1.371, 0.879),
        "cuts": Rate(1.316, 1.31, 0.862),
        "lanes": Rate(1.619, 1.603, 1.18),
        "looped": Rate(1.603, 1.6, 1.103),
        "packed": Rate(1.527, 1.529, 1.057),
        "plain": Rate(1.665, 1.66, 1.119),
        "planes": Rate(1.635, 1.628, 1.132),
        "others": Rate(1.537, 1.522, 1.065),
    },
    "cortex-m0plus": {
        "bit-slice": Rate(1.529, 1.52, 1.036),
        "branches": Rate(1.644, 1.499, 1.727),
        "cut-lanes": Rate(1.475, 1.447, 1.054),
        "cut-loop": Rate(1.516, 1.509, 1.105),
        "cut-packed": Rate(1.297, 1.294, 0.879),
        "cuts": Rate(1.28, 1.274, 0.862),
        "lanes": Rate(1.516, 1.496, 1.18),
        "looped": Rate(1.502, 1.484, 1.103),
        "packed": Rate(1.402, 1.397, 1.057),
        "plain": Rate(1.561, 1.546, 1.119),
        "planes": Rate(1.526, 1.504, 1.132),
        "others": Rate(1.45, 1.432, 1.065),
    },
    "cortex-m4": {
        "bit-slice": Rate(1.678, 2.061, 1.329),
        "branches": Rate(1.781, 2.117, 1.898),
        "cut-lanes": Rate(1.496, 1.89, 1.231),
        "cut-loop": Rate(1.535, 1.962, 1.207),
        "cut-packed": Rate(1.273, 1.518, 1.035),
        "cuts": Rate(1.441, 1.694, 1.056),
        "lanes": Rate(1.745, 2.274, 1.432),
        "looped": Rate(1.689, 2.131, 1.375),
        "packed": Rate(1.506, 1.829, 1.182),
        "plain": Rate(1.747, 2.163, 1.271),
        "planes": Rate(1.697, 2.148, 1.383),
        "others": Rate(1.603, 1.996, 1.283),
    },
    "ibex": {
        "bit-slice": Rate(1.38, 1.439, 0.0),
        "branches": Rate(1.635, 1.65, 0.0),
        "cut-lanes": Rate(1.551, 1.583, 0.0),
        "cut-loop": Rate(1.558, 1.577, 0.0),
        "cut-packed": Rate(1.431, 1.479, 0.0),
        "cuts": Rate(1.356, 1.393, 0.0),
        "lanes": Rate(1.403, 1.472, 0.0),
        "looped": Rate(1.466, 1.569, 0.0),
        "packed": Rate(1.448, 1.532, 0.0),
        "plain": Rate(1.451, 1.531, 0.0),
        "planes": Rate(1.463, 1.567, 0.0),
        "others": Rate(1.437, 1.5, 0.0),
    },
    "picorv32": {
        "bit-slice": Rate(3.857, 4.132, 0.0),
        "branches": Rate(3.746, 3.707, 0.0),
        "cut-lanes": Rate(4.576, 5.129, 0.0),
        "cut-loop": Rate(4.237, 4.614, 0.0),
        "cut-packed": Rate(4.224, 4.766, 0.0),
        "cuts": Rate(4.441, 4.93, 0.0),
        "lanes": Rate(4.062, 4.439, 0.0),
        "looped": Rate(4.16, 4.53, 0.0),
        "packed": Rate(5.071, 6.356, 0.0),
        "plain": Rate(4.062, 4.398, 0.0),
        "planes": Rate(4.141, 4.503, 0.0),
        "others": Rate(4.204, 4.629, 0.0),
    },
    "cortex-m3": {
        "bit-slice": Rate(1.678, 2.061, 1.329),
        "branches": Rate(1.781, 2.117, 1.898),
        "cut-lanes": Rate(1.496, 1.89, 1.231),
        "cut-loop": Rate(1.535, 1.962, 1.207),
        "cut-packed": Rate(1.273, 1.518, 1.035),
        "cuts": Rate(1.441, 1.694, 1.056),
        "lanes": Rate(1.745, 2.274, 1.432),
        "looped": Rate(1.689, 2.131, 1.375),
        "packed": Rate(1.506, 1.829, 1.182),
        "plain": Rate(1.747, 2.163, 1.271),
        "planes": Rate(1.697, 2.148, 1.383),
        "others": Rate(1.603, 1.996, 1.283),
    },
}
"""Rates by core and kernel."""
