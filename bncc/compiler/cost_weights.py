"""Weights of the cost model, written by benchmarks/fit_cost_model.py; do not edit.

By family, machine and the compiler's level: executed instructions (cycles on AVR) per term of
``Kernel.work``, and bytes per term of ``Kernel.code``.
"""

WEIGHTS: dict[tuple[str, str, str], tuple[tuple[float, ...], tuple[float, ...]]] = {
    ("lanes", "avr", "-O2"): (
        (0, 10.5, 0, 4.8, 1.4, 4.8, 0.4, 1.3, 23),
        (60, 20, 0, 4, 8, 5, 1, 2, 8),
    ),
    ("lanes", "avr", "-Os"): (
        (0, 10.5, 0, 4.8, 1.4, 4.8, 0.4, 1.3, 23),
        (60, 20, 0, 4, 8, 5, 1, 2, 8),
    ),
    ("lanes", "cortex-m0", "-O2"): (
        (20, 2.5, 2.2, 2.6, 4.2, 0, 0, 0, 0),
        (60, 6, 4, 6, 8, 0, 0, 0, 0),
    ),
    ("lanes", "cortex-m0", "-Os"): (
        (20, 2.5, 2.2, 2.6, 4.2, 0, 0, 0, 0),
        (60, 6, 4, 6, 8, 0, 0, 0, 0),
    ),
    ("packed", "cortex-m0", "-O2"): ((20, 20, 60, 6, 10), (110, 60, 12, 6, 16, 12, 10)),
    ("packed", "cortex-m0", "-Os"): ((20, 20, 60, 6, 10), (110, 60, 12, 6, 16, 12, 10)),
    ("plain", "cortex-m0", "-O2"): ((-35, 24, 23, 9), (156, 85)),
    ("plain", "cortex-m0", "-Os"): ((-35, 24, 23, 9), (156, 85)),
    ("textbook", "cortex-m0", "-O2"): ((50, 20, 10, 6, 8), (112, 0, 0, 0)),
    ("textbook", "cortex-m0", "-Os"): ((50, 20, 10, 6, 8), (112, 0, 0, 0)),
}
