"""
Cost-model weights, fitted by benchmarks/fit/fit_cut_costs.py; first values may be estimates.

By family, machine and the compiler's level: executed instructions (cycles on AVR) per term of
``Kernel.work``, and bytes per term of ``Kernel.code``.
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
        (176, 0, 32.2, 0, 30.2, 18.7, 3.46, 20, 0, 32.5, 22.5, 10),
        (0, 0, 13.5, 102, 111, 19.4, 50, 50, 15, 25, 5),
    ),
    ("cut-packed of readings", "avr", "-Os"): (
        (88.6, 0, 22.9, 0, 90.7, 9.96, 3.29, 20, 0, 32.5, 22.5, 10),
        (0, 0, 12.6, 58.1, 136, 10.8, 50, 50, 15, 25, 5),
    ),
    ("cut-packed of readings", "cortex-m0", "-O2"): (
        (184, 0, 21.5, 0, 3.02, 13.8, 0, 8, 0, 13, 9, 4),
        (0, 0, 8.79, 34, 120, 0, 20, 20, 6, 10, 2),
    ),
    ("cut-packed of readings", "cortex-m0", "-Os"): (
        (106, 0, 26.2, 0, 2.75, 13.3, 0, 8, 0, 13, 9, 4),
        (0, 0, 4.97, 29.1, 91.7, 2.52, 20, 20, 6, 10, 2),
    ),
    ("cut-packed of readings", "cortex-m4", "-O2"): (
        (112, 0, 15, 0, 3.92, 11.3, 0, 8, 0, 13, 9, 4),
        (0, 0, 8.97, 37.1, 96.1, 0, 20, 20, 6, 10, 2),
    ),
}
