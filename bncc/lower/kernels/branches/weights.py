"""
Cost-model weights, fitted by benchmarks/fit/fit_cost_model.py; first values may be estimates.

By family, machine and the compiler's level: executed instructions (cycles on AVR) per term of
``Kernel.work``, and bytes per term of ``Kernel.code``.
"""

from bncc.lower.kernels.base import Weights

WEIGHTS: Weights = {
    ("branches", "avr", "-O2"): (
        (19.3, 16.7, 3.56, 2.53, 15.6, 0, 43.1, 30.2, 12),
        (30.7, 17.6, 9.47, 0.838, 25.3, 0, 28.7, 41.2, 54, 0, 7.34),
    ),
    ("branches", "avr", "-Os"): (
        (19.5, 13.3, 3.96, 3.49, 26.2, 1.81, 46.2, 27.5, 17.4),
        (24, 14, 9.66, 1.2, 24.4, 0, 29.2, 40.8, 50, 0, 7.35),
    ),
    ("branches", "cortex-m0", "-O2"): (
        (7.74, 4.67, 3.62, 1.11, 2.61, 0.103, 3.36, 4.02, 4.76),
        (32.3, 11.4, 9.43, 0.472, 8.41, 3.94, 6.84, 15.1, 14.3, 0, 3.97),
    ),
    ("branches", "cortex-m0", "-Os"): (
        (8.37, 4.23, 3.61, 1.18, 3.12, 2.35, 2.77, 4.28, 4.7),
        (22.6, 0, 1.33, 0.126, 11.8, 11.6, 5.12, 15.5, 11, 7.34, 5.54),
    ),
    ("branches", "cortex-m4", "-O2"): (
        (5.76, 3.99, 3.14, 0.254, 2.75, 1.62, 1.54, 4.57, 5.39),
        (26.8, 8.1, 9.28, 0.975, 10, 6.85, 4.57, 14.6, 13.8, 0, 3.99),
    ),
}
