"""
Cost-model weights, fitted by benchmarks/fit/fit_cost_model.py; first values may be estimates.

By family, machine and the compiler's level: executed instructions (cycles on AVR) per term of
``Kernel.work``, and bytes per term of ``Kernel.code``. Those behind discretizers are fitted
by benchmarks/fit/fit_state_costs.py, to the terms of `bncc.lower.state_cost`.
"""

from bncc.lower.kernels.base import Weights

# fmt: off
WEIGHTS: Weights = {
    ("plain", "avr", "-O2"): (
        (0, 30.8, 55.4, 17.6),
        (307, 58.2),
    ),
    ("plain", "avr", "-Os"): (
        (0, 41.8, 0, 22.5),
        (313, 0),
    ),
    ("plain", "cortex-m0", "-O2"): (
        (108, 8.78, 18.7, 8.24),
        (222, 79.1),
    ),
    ("plain", "cortex-m0", "-Os"): (
        (54.5, 17.3, 16.3, 8.66),
        (197, 26.1),
    ),
    ("plain", "cortex-m4", "-O2"): (
        (52.5, 1.19, 15.9, 6.96),
        (206, 91.1),
    ),
    ("plain", "rv32", "-O2"): (
        (35.9, 6.38, 23.2, 7.79),
        (255, 116),
    ),
    ("plain", "x86", "-O2"): (
        (134, 11.6, 4.38, 5.56),
        (311, 96.8),
    ),
    ("plain of found states", "avr", "-O2"): (
        (66, 8.65, 28.7, 13.2, 11.7, 0, 33.4, 16.1, 5.94, 0.961),
        (79.7, 38.9, 29.3, 0, 26.1, 119, 90.1),
    ),
    ("plain of found states", "avr", "-Os"): (
        (55.9, 27.9, 0, 18.9, 34.7, 11, 30.1, 18.4, 5.43, 0),
        (180, 43.9, 31.2, 0, 0, 66.6, 52.4),
    ),
    ("plain of found states", "cortex-m0", "-O2"): (
        (0, 3.78, 9.15, 8.07, 0, 10, 9.3, 5.97, 0, 0),
        (59.4, 35.2, 5.57, 24.3, 0.253, 64, 28.9),
    ),
    ("plain of found states", "cortex-m0", "-Os"): (
        (0, 2.4, 0, 9.07, 13, 1.27, 13.7, 5.34, 0, 0),
        (7.57, 15.7, 6.27, 0, 0, 101, 56.1),
    ),
    ("plain of found states", "cortex-m4", "-O2"): (
        (0, 0, 11.2, 2.71, 0, 8.38, 4.06, 7.34, 0.0471, 3.93),
        (57.1, 36.3, 6.68, 32.2, 0, 71.9, 37.7),
    ),
    ("plain of found states", "cortex-m4", "-Os"): (
        (0, 0.355, 4.21, 8.43, 10.8, 3.99, 11.2, 7.7, 0, 0),
        (37.9, 27.2, 5.89, 7.32, 0.143, 65.1, 76.8),
    ),
    ("plain of found states", "rv32", "-O2"): (
        (0, 0.897, 21.3, 7.19, 0, 7.97, 9.79, 6.55, 0.00898, 0),
        (49, 62.3, 9.65, 45.7, 2.99, 154, 15.1),
    ),
    ("plain of found states", "x86", "-O2"): (
        (0, 0, 2.97, 1.87, 4.19, 8.35, 0, 7.2, 0, 4.33),
        (69.1, 4.52, 38.6, 0, 42.2, 117, 13.9),
    ),
}
# fmt: on
