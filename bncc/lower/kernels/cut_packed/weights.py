"""
Cost-model weights, fitted by benchmarks/fit/fit_cut_costs.py; first values may be estimates.

By family, machine and the compiler's level: executed instructions (cycles on AVR) per term of
``Kernel.work``, and bytes per term of ``Kernel.code``. Those of kernels that compare readings
are fitted by benchmarks/fit/fit_reading_costs.py, to the terms of
`bncc.lower.reading_cost.reading_terms`.
"""

from bncc.lower.kernels.base import Weights

WEIGHTS: Weights = {
    ("cut-packed", "avr", "-O2"): (
        (176, 0, 32.2, 0, 30.2, 18.7, 3.46),
        (0, 0, 13.5, 102, 111, 19.4),
    ),
    ("cut-packed", "avr", "-Os"): (
        (88.6, 0, 22.9, 0, 90.7, 9.96, 3.29),
        (0, 0, 12.6, 58.1, 136, 10.8),
    ),
    ("cut-packed", "cortex-m0", "-O2"): (
        (184, 0, 21.5, 0, 3.02, 13.8, 0),
        (0, 0, 8.79, 34, 120, 0),
    ),
    ("cut-packed", "cortex-m0", "-Os"): (
        (106, 0, 26.2, 0, 2.75, 13.3, 0),
        (0, 0, 4.97, 29.1, 91.7, 2.52),
    ),
    ("cut-packed", "cortex-m4", "-O2"): (
        (112, 0, 15, 0, 3.92, 11.3, 0),
        (0, 0, 8.97, 37.1, 96.1, 0),
    ),
    ("cut-packed", "rv32", "-O2"): ((104, 0, 15.7, 0, 4.35, 10, 0), (0, 0, 14.3, 44.3, 98.2, 0)),
    ("cut-packed", "x86", "-O2"): ((104, 0, 15.7, 0, 6.17, 11.3, 0), (0, 0, 23.8, 87.4, 130, 0)),
    ("cut-packed of readings", "avr", "-O2"): (
        (0, 0, 29.4, 0, 45.1, 12.7, 4.2, 17, 3.48, 0, 57.4, 128),
        (0, 0, 2.08, 111, 99.4, 11.2, 71.9, 39.1, 28.5, 0, 0),
    ),
    ("cut-packed of readings", "avr", "-Os"): (
        (0, 0, 22.8, 0, 97.6, 3.21, 2.42, 14.5, 3.18, 0, 45.2, 100),
        (0, 0, 17, 99.1, 108, 0, 57.9, 37.6, 24.8, 0, 0),
    ),
    ("cut-packed of readings", "cortex-m0", "-O2"): (
        (28.7, 0, 20.4, 0, 13.3, 13.1, 0, 1.58, 0.669, 0, 13.4, 13.6),
        (0, 0, 14.8, 56.2, 96.3, 0, 13.2, 13.7, 14.9, 0, 0),
    ),
    ("cut-packed of readings", "cortex-m0", "-Os"): (
        (0, 0, 23.9, 0, 11.4, 15.4, 0, 2.51, 0.0303, 0, 13.8, 6.55),
        (0, 0, 2.41, 38.7, 78.1, 0, 0, 8.22, 3.25, 11.9, 2.8),
    ),
    ("cut-packed of readings", "cortex-m4", "-O2"): (
        (5.76, 0, 13.9, 0, 9.37, 11, 0, 5.55, 0, 0, 8.4, 6.75),
        (0, 0, 8.37, 68.9, 69.2, 0, 19.4, 6.23, 20.9, 12.5, 0),
    ),
    ("cut-packed of readings", "cortex-m4", "-Os"): (
        (0, 0, 12.3, 0, 9.6, 15.9, 0, 4.77, 0, 0, 9.27, 20.5),
        (0, 0, 4.49, 66.3, 69.7, 0, 1.65, 5.55, 7.54, 17.2, 4.19),
    ),
}
