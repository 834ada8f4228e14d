"""
Cost-model weights, fitted by benchmarks/fit/fit_cost_model.py; first values may be estimates.

By family, machine and the compiler's level: executed instructions (cycles on AVR) per term of
``Kernel.work``, and bytes per term of ``Kernel.code``.
"""

from bncc.lower.kernels.base import Weights

WEIGHTS: Weights = {
    ("plain", "avr", "-O2"): ((0, 30.8, 55.4, 17.6), (307, 58.2)),
    ("plain", "avr", "-Os"): ((0, 41.8, 0, 22.5), (313, 0)),
    ("plain", "cortex-m0", "-O2"): ((108, 8.78, 18.7, 8.24), (222, 79.1)),
    ("plain", "cortex-m0", "-Os"): ((54.5, 17.3, 16.3, 8.66), (197, 26.1)),
    ("plain", "cortex-m4", "-O2"): ((52.5, 1.19, 15.9, 6.96), (206, 91.1)),
    ("plain", "rv32", "-O2"): ((35.9, 6.38, 23.2, 7.79), (255, 116)),
    ("plain", "x86", "-O2"): ((134, 11.6, 4.38, 5.56), (311, 96.8)),
}
