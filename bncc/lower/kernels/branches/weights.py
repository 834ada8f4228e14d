"""
Cost-model weights, fitted by benchmarks/fit/fit_branch_costs.py; first values may be estimates.

By family, machine and the compiler's level: executed instructions (cycles on AVR) per term of
``Kernel.work``, and bytes per term of ``Kernel.code``.
"""

from bncc.lower.kernels.base import Weights

WEIGHTS: Weights = {
    ("branches", "avr", "-O2"): (
        (20.1, 13.6, 3.25, 3.29, 17.5, 0, 42.7, 27.9, 11.3, 1.51, 0),
        (22.3, 18.6, 8.37, 0.151, 26, 0, 29.2, 42.1, 53.5, 1.13, 0, 0, 3.97, 0.906),
    ),
    ("branches", "avr", "-Os"): (
        (20.9, 10.2, 3.43, 4.98, 28.4, 0, 45.5, 24, 16.7, 2.25, 0),
        (17.1, 12.9, 8.75, 0.602, 25.6, 0, 29.7, 40.8, 49.1, 2.32, 0, 0, 4.27, 0.758),
    ),
    ("branches", "cortex-m0", "-O2"): (
        (7.69, 4.47, 3.63, 0.821, 2.7, 0.0855, 3.36, 4.35, 4.71, 0, 0.691),
        (34.2, 6.68, 9.21, 0, 12.6, 0, 6.05, 17.9, 13.6, 0, 13.4, 0, 4.93, 0),
    ),
    ("branches", "cortex-m0", "-Os"): (
        (8.34, 4.12, 3.62, 1.02, 3.17, 2.33, 2.77, 4.45, 4.68, 0, 0.379),
        (31.7, 0, 5.94, 0, 17, 0, 4.2, 18.6, 11, 0, 21.4, 2.26, 7.35, 0),
    ),
    ("branches", "cortex-m4", "-O2"): (
        (5.73, 3.9, 3.15, 0.124, 2.79, 1.6, 1.54, 4.72, 5.38, 0, 0.32),
        (28.5, 7.78, 9.08, 0.707, 11.5, 0, 4.27, 16.2, 14.1, 0, 10, 0, 4.78, 0),
    ),
}
