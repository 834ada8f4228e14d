"""
Cost-model weights, fitted by benchmarks/fit/fit_cost_model.py; first values may be estimates.

By family, machine and the compiler's level: executed instructions (cycles on AVR) per term of
``Kernel.work``, and bytes per term of ``Kernel.code``.
"""

from bncc.lower.kernels.base import Weights

WEIGHTS: Weights = {
    ("bit-slice", "avr", "-O2"): (
        (111, 0, 11.7, 0, 1.83, 0, 14.9),
        (127, 3.27, 20.8, 0, 3.02, 0, 21.2),
    ),
    ("bit-slice", "avr", "-Os"): ((77.7, 0, 0, 0, 0, 18.7, 16.6), (482, 0, 0, 0, 0, 0, 17.8)),
    ("bit-slice", "cortex-m0", "-O2"): (
        (0, 0, 5.26, 4.01, 4.92, 9.04, 0.324),
        (15.6, 3.47, 11.3, 8.77, 13.4, 16.9, 0.424),
    ),
    ("bit-slice", "cortex-m0", "-Os"): (
        (0, 0, 5.41, 3.89, 0.214, 18.2, 0.152),
        (80, 8.13, 9.4, 6.78, 11.1, 4.62, 0.447),
    ),
    ("bit-slice", "cortex-m4", "-O2"): (
        (0, 0, 4.37, 2.01, 4.78, 5.01, 0.0751),
        (0, 1.01, 14.3, 9.89, 15.8, 19.8, 0.457),
    ),
    ("bit-slice", "rv32", "-O2"): (
        (0, 4.36, 5.6, 4.32, 0, 9.7, 0.0381),
        (0, 10.5, 17.8, 16.6, 0, 37.3, 0.948),
    ),
    ("bit-slice", "x86", "-O2"): (
        (28.6, 1.27, 2.52, 2.1, 1.7, 5.45, 0.164),
        (296, 1.14, 21.6, 46.8, 0, 32.2, 0.0982),
    ),
}
