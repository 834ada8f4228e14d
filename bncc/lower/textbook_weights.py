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
        (20, 0, 33.7, 10.7, 20.2, 12.7, 63.7, 0, 57.8, 21.5, 15.5, 11.3, 50.9),
        (180, 1.17, 4.63, 8.34, 100, 13.8, 10.8, 44.1, 127, 253, 0),
    ),
    ("textbook of readings", "cortex-m0", "-O2"): (
        (0, 0.295, 7.77, 5.54, 0, 2.08, 27, 0, 6.63, 9.05, 2.45, 0, 46.3),
        (28.8, 1.61, 4.5, 4.31, 77.8, 10.4, 7.84, 48.3, 27.3, 605, 62.6),
    ),
    ("textbook of readings", "cortex-m4", "-O2"): (
        (0, 1.78, 3.49, 4.09, 0, 1.76, 15.9, 0, 3.66, 0, 3.66, 0.264, 2.54),
        (32.7, 1.28, 4.37, 4.08, 76.6, 0, 20.3, 60.7, 25.2, 83.4, 60.6),
    ),
    ("textbook of readings", "rv32", "-O2"): (
        (0, 3.13, 5.29, 5.3, 0, 1.82, 16.4, 0, 0.951, 5.33, 2.43, 0.37, 27.6),
        (87.1, 2.2, 6.88, 5.35, 66.5, 16.1, 0.0523, 39.5, 33.2, 455, 81.8),
    ),
    ("textbook of readings", "x86", "-O2"): (
        (0, 1.58, 3.44, 2.91, 0, 1.61, 15.3, 0, 8.19, 0, 3.26, 0.357, 1.49),
        (43.6, 2.76, 1.29, 3.36, 95.3, 22.5, 0, 62.8, 26, 86.2, 67.5),
    ),
}
# fmt: on
