"""
Cost-model weights, fitted by benchmarks/fit/fit_cost_model.py; first values may be estimates.

By family, machine and the compiler's level: executed instructions (cycles on AVR) per term of
``Kernel.work``, and bytes per term of ``Kernel.code``.
"""

from bncc.lower.kernels.base import Weights

WEIGHTS: Weights = {
    ("textbook", "avr", "-O2"): ((451, 0, 0, 11, 0, 12.3), (287, 2.99, 0, 0.286)),
    ("textbook", "avr", "-Os"): ((451, 0, 0, 11, 0, 12.3), (287, 2.99, 0, 0.286)),
    ("textbook", "cortex-m0", "-O2"): ((58.1, 0, 9.88, 5.55, 17, 0), (149, 3.01, 2.13, 0.82)),
    ("textbook", "cortex-m0", "-Os"): ((58.1, 0, 9.88, 5.55, 17, 0), (149, 3.01, 2.13, 0.82)),
    ("textbook", "cortex-m4", "-O2"): ((6.36, 0, 9.24, 4.25, 0, 1.06), (162, 2.98, 2.17, 0.943)),
    ("textbook", "rv32", "-O2"): ((41.3, 0, 9.51, 4.85, 25.1, 0), (192, 2.96, 2.22, 1.27)),
    ("textbook", "x86", "-O2"): ((41.5, 0, 4.12, 2.81, 22.7, 0), (193, 3.01, 2.05, 0)),
}
