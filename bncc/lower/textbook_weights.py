"""
Cost-model weights, fitted by benchmarks/fit/fit_cost_model.py; first values may be estimates.

By family, machine and the compiler's level: executed instructions (cycles on AVR) per term of
``Kernel.work``, and bytes per term of ``Kernel.code``. Those from readings are fitted
by benchmarks/fit/fit_state_costs.py, to the terms of `bncc.lower.textbook_readings`.
"""

from bncc.lower.kernels.base import Weights

# fmt: off
WEIGHTS: Weights = {
    ("textbook", "avr", "-O2"): (
        (451, 0, 0, 11, 0, 12.3),
        (287, 2.99, 0, 0.286),
    ),
    ("textbook", "avr", "-Os"): (
        (451, 0, 0, 11, 0, 12.3),
        (287, 2.99, 0, 0.286),
    ),
    ("textbook", "cortex-m0", "-O2"): (
        (58.1, 0, 9.88, 5.55, 17, 0),
        (149, 3.01, 2.13, 0.82),
    ),
    ("textbook", "cortex-m0", "-Os"): (
        (58.1, 0, 9.88, 5.55, 17, 0),
        (149, 3.01, 2.13, 0.82),
    ),
    ("textbook", "cortex-m4", "-O2"): (
        (6.36, 0, 9.24, 4.25, 0, 1.06),
        (162, 2.98, 2.17, 0.943),
    ),
    ("textbook", "rv32", "-O2"): (
        (41.3, 0, 9.51, 4.85, 25.1, 0),
        (192, 2.96, 2.22, 1.27),
    ),
    ("textbook", "x86", "-O2"): (
        (41.5, 0, 4.12, 2.81, 22.7, 0),
        (193, 3.01, 2.05, 0),
    ),
    ("textbook of readings", "avr", "-O2"): (
        (28, 0, 35.4, 10.6, 20.4, 12.8, 65.1, 0, 57.7, 65.8, 16, 11.4, 44.3, 0),
        (109, 1.79, 3.13, 0.56, 113, 16.7, 10.2, 21.8, 64.8, 244, 0, 167, 10.3, 52, 0),
    ),
    ("textbook of readings", "cortex-m0", "-O2"): (
        (0, 0, 1.23, 4.34, 0, 2.91, 25.3, 0, 0, 13.8, 1.94, 0.346, 45.9, 17),
        (59.4, 0.809, 4.05, 1.44, 51.4, 15.5, 4.96, 18, 10.3, 552, 3.53, 46.2, 38.4, 4.7, 0),
    ),
    ("textbook of readings", "cortex-m4", "-O2"): (
        (0, 0, 2.75, 3.81, 0, 1.96, 15.5, 0, 0.367, 0, 3.57, 0.313, 2.33, 6.09),
        (74.3, 0.728, 4.13, 1.19, 32.8, 4.04, 16, 26.8, 12.4, 26.1, 0, 45.5, 47, 8.34, 0),
    ),
    ("textbook of readings", "rv32", "-O2"): (
        (0, 0, 2.73, 4.66, 0, 2.28, 15.7, 0, 0, 12, 2.65, 0.646, 26.6, 9.77),
        (102, 0.466, 4.35, 1.94, 53.9, 16.7, 5.04, 22.5, 2.71, 381, 0, 47.5, 58.9, 0, 0),
    ),
    ("textbook of readings", "x86", "-O2"): (
        (0, 0, 1.02, 2.49, 0, 1.92, 14.2, 0, 3.33, 0, 3.27, 0.741, 0.665, 7.3),
        (70.9, 1.91, 0, 1.02, 68.4, 22.3, 4.83, 38.9, 7.05, 12.2, 0, 38, 47.9, 0, 0),
    ),
}
# fmt: on
