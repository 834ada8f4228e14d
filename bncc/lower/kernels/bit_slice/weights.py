"""
Cost-model weights, fitted by benchmarks/fit/fit_cost_model.py; first values may be estimates.

By family, machine and the compiler's level: executed instructions (cycles on AVR) per term of
``Kernel.work``, and bytes per term of ``Kernel.code``. Those behind discretizers are fitted
by benchmarks/fit/fit_state_costs.py, to the terms of `bncc.lower.state_cost`.
"""

from bncc.lower.kernels.base import Weights

# fmt: off
WEIGHTS: Weights = {
    ("bit-slice", "avr", "-O2"): (
        (111, 0, 11.7, 0, 1.83, 0, 14.9),
        (127, 3.27, 20.8, 0, 3.02, 0, 21.2),
    ),
    ("bit-slice", "avr", "-Os"): (
        (77.7, 0, 0, 0, 0, 18.7, 16.6),
        (482, 0, 0, 0, 0, 0, 17.8),
    ),
    ("bit-slice", "cortex-m0", "-O2"): (
        (0, 0, 5.26, 4.01, 4.92, 9.04, 0.324),
        (15.6, 3.47, 11.3, 8.77, 13.4, 16.9, 0.424),
    ),
    ("bit-slice", "cortex-m0", "-Os"): (
        (0, 0, 5.41, 3.89, 0.214, 18.2, 0.152),
        (80, 8.13, 9.4, 6.78, 11.1, 4.62, 0.447),
    ),
    ("bit-slice", "cortex-m4", "-O2"): (
        (0, 0, 4.37, 2.01, 4.78, 5.01, 0.0751),
        (0, 1.01, 14.3, 9.89, 15.8, 19.8, 0.457),
    ),
    ("bit-slice", "rv32", "-O2"): (
        (0, 4.36, 5.6, 4.32, 0, 9.7, 0.0381),
        (0, 10.5, 17.8, 16.6, 0, 37.3, 0.948),
    ),
    ("bit-slice", "x86", "-O2"): (
        (28.6, 1.27, 2.52, 2.1, 1.7, 5.45, 0.164),
        (296, 1.14, 21.6, 46.8, 0, 32.2, 0.0982),
    ),
    ("bit-slice of found states", "avr", "-O2"): (
        (67.8, 0, 14.6, 8.27, 0, 0, 18.1),
        (21.3, 0, 20.4, 14.9, 0, 8.39, 23.5, 0, 0),
    ),
    ("bit-slice of found states", "avr", "-Os"): (
        (0, 6.36, 17.1, 20.4, 0, 10.7, 21.3),
        (17.3, 2.4, 24.1, 11.5, 0, 3.08, 22.4, 25.1, 70.4),
    ),
    ("bit-slice of found states", "cortex-m0", "-O2"): (
        (19.2, 0, 3.85, 0.0172, 3.79, 10.1, 0.414),
        (0, 0, 16, 13.6, 12.2, 17.7, 0.044, 0, 37.7),
    ),
    ("bit-slice of found states", "cortex-m0", "-Os"): (
        (0, 1.9, 6.24, 0, 3.15, 12, 0.521),
        (15.1, 1.27, 12, 4.49, 4.97, 14.9, 0, 44.1, 45.7),
    ),
    ("bit-slice of found states", "cortex-m4", "-O2"): (
        (10.2, 0, 2.48, 0.425, 4.69, 5.33, 0),
        (0, 2.1, 19, 4.1, 10.3, 20.4, 0.344, 0, 17.5),
    ),
    ("bit-slice of found states", "cortex-m4", "-Os"): (
        (0, 0.368, 6.02, 9.09, 8.48, 3.7, 0.418),
        (43.9, 0.356, 15.4, 7.57, 9.36, 10.6, 0.839, 29.5, 25.4),
    ),
    ("bit-slice of found states", "rv32", "-O2"): (
        (6.63, 0.975, 6.69, 7.04, 4.2, 5.55, 0.377),
        (0, 16.1, 22.1, 13.3, 14.6, 9.83, 1.21, 15.3, 19.3),
    ),
    ("bit-slice of found states", "x86", "-O2"): (
        (3.28, 2.11, 3.2, 2.21, 2.75, 4.73, 0.267),
        (0, 15.8, 14.2, 29.8, 3.37, 21.2, 2.27, 0, 0),
    ),
}
# fmt: on
