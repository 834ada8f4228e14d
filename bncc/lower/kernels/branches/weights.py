"""
Cost-model weights, fitted by benchmarks/fit/fit_branch_costs.py; first values may be estimates.

By family, machine and the compiler's level: executed instructions (cycles on AVR) per term of
``Kernel.work``, and bytes per term of ``Kernel.code``.
"""

from bncc.lower.kernels.base import Weights

WEIGHTS: Weights = {
    ("branches", "avr", "-O2"): (
        (20, 10, 5, 1, 30, 16, 30, 50, 28),
        (30, 8, 8, 1, 40, 16, 30, 40, 60, 4, 2),
    ),
    ("branches", "avr", "-Os"): (
        (20, 10, 5, 1, 30, 16, 30, 50, 28),
        (30, 8, 8, 1, 40, 16, 30, 40, 60, 4, 2),
    ),
    ("branches", "cortex-m0", "-O2"): (
        (10, 5, 3, 1, 2, 1, 3, 4, 4),
        (40, 10, 6, 1, 4, 4, 6, 9, 14, 4, 4),
    ),
    ("branches", "cortex-m0", "-Os"): (
        (10, 5, 3, 1, 2, 1, 3, 4, 4),
        (40, 10, 6, 1, 4, 4, 6, 9, 14, 4, 4),
    ),
    ("branches", "cortex-m4", "-O2"): (
        (10, 5, 3, 1, 2, 1, 3, 4, 4),
        (40, 10, 6, 1, 4, 4, 6, 9, 14, 4, 4),
    ),
}
