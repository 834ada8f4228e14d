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
        (126, 2.18, 62.3, 21.3),
        (85.7, 72.1, 104, 93.8),
    ),
    ("plain of found states", "avr", "-Os"): (
        (61.8, 32.3, 62.6, 25),
        (171, 69.6, 64.7, 61),
    ),
    ("plain of found states", "cortex-m0", "-O2"): (
        (6.64, 8.44, 11.7, 9.32),
        (38.4, 34.1, 84.5, 37.2),
    ),
    ("plain of found states", "cortex-m0", "-Os"): (
        (5.99, 3.44, 13.9, 11.1),
        (2.84, 29.5, 89.3, 72.5),
    ),
    ("plain of found states", "cortex-m4", "-O2"): (
        (12.5, 0, 16.7, 7.13),
        (66, 45.7, 57.7, 51.9),
    ),
    ("plain of found states", "cortex-m4", "-Os"): (
        (13.1, 0.858, 16.2, 10.4),
        (35.3, 32.3, 65.1, 80.5),
    ),
    ("plain of found states", "rv32", "-O2"): (
        (42.8, 0.888, 24.4, 8.53),
        (79.8, 97.2, 105, 30.2),
    ),
    ("plain of found states", "x86", "-O2"): (
        (4.23, 0, 13.1, 5.57),
        (119, 16.1, 127, 0),
    ),
}
# fmt: on
