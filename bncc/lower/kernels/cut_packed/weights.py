"""
Cost-model weights, fitted by benchmarks/fit/fit_cut_costs.py; first values may be estimates.

By family, machine and the compiler's level: executed instructions (cycles on AVR) per term of
``Kernel.work``, and bytes per term of ``Kernel.code``. Those of kernels that compare readings
are fitted by benchmarks/fit/fit_reading_costs.py, to the terms of
`bncc.lower.reading_cost.reading_terms`. Those behind discretizers are fitted
by benchmarks/fit/fit_state_costs.py, to the terms of `bncc.lower.state_cost`.
"""

from bncc.lower.kernels.base import Weights

# fmt: off
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
    ("cut-packed", "rv32", "-O2"): (
        (104, 0, 15.7, 0, 4.35, 10, 0),
        (0, 0, 14.3, 44.3, 98.2, 0),
    ),
    ("cut-packed", "x86", "-O2"): (
        (104, 0, 15.7, 0, 6.17, 11.3, 0),
        (0, 0, 23.8, 87.4, 130, 0),
    ),
    ("cut-packed of found states", "avr", "-O2"): (
        (136, 0, 13.8, 0, 0, 46, 3.97),
        (50, 0, 0, 122, 81, 7.96, 50, 19.9),
    ),
    ("cut-packed of found states", "avr", "-Os"): (
        (149, 0, 30.3, 18.9, 38.1, 23.7, 6.58),
        (91.9, 39.2, 3.99, 61.6, 19.5, 20.2, 91.9, 46.9),
    ),
    ("cut-packed of found states", "cortex-m0", "-O2"): (
        (87.4, 0, 22.5, 0, 4.67, 13.3, 0),
        (108, 0, 0, 0, 3.56, 0, 108, 0),
    ),
    ("cut-packed of found states", "cortex-m0", "-Os"): (
        (102, 1.53, 24.6, 0, 5.49, 12.1, 0),
        (69.3, 0, 0, 38.3, 0, 0, 69.3, 0),
    ),
    ("cut-packed of found states", "cortex-m4", "-O2"): (
        (91.5, 0, 11.9, 0, 10.1, 10.9, 0),
        (81.5, 0, 0, 20.6, 0, 0, 81.5, 24.7),
    ),
    ("cut-packed of found states", "cortex-m4", "-Os"): (
        (152, 0, 5.37, 0, 6.09, 19.2, 0),
        (62, 0, 0, 21.1, 0, 0, 62, 60),
    ),
    ("cut-packed of found states", "rv32", "-O2"): (
        (71.5, 0, 14.4, 0, 6.11, 10.2, 0.0409),
        (58, 0, 12.5, 49.6, 4.39, 14.5, 58, 5.34),
    ),
    ("cut-packed of found states", "x86", "-O2"): (
        (103, 0, 13.3, 0, 4.4, 12.7, 0.354),
        (45.8, 0, 0, 96.1, 55.8, 11.5, 45.8, 8.65),
    ),
    ("cut-packed of readings", "avr", "-O2"): (
        (78.4, 12.7, 14.7, 2.43, 9.46, 9.63, 8.05, 0, 10.5, 7.92, 24.4, 12.2, 0, 5.5, 6.26, 0, 27.8,
         12.3, 0, 40.9),
        (122, 12.6, 111, 52.5, 27.6, 85.7, 0, 0, 37.5, 31.8, 7.12, 157),
    ),
    ("cut-packed of readings", "avr", "-Os"): (
        (73.2, 0, 7.18, 2.12, 16.4, 6.23, 8.98, 0, 0, 8.31, 36.6, 20, 2, 12.3, 8.75, 0, 9.65, 13.7,
         4.23, 45.2),
        (123, 10.2, 109, 52.3, 29.3, 76, 0, 0, 35.2, 28.9, 10.9, 139),
    ),
    ("cut-packed of readings", "cortex-m0", "-O2"): (
        (22.2, 23.2, 16.8, 4.06, 2.27, 4.64, 0.0905, 0, 11.5, 0, 7.6, 1.2, 0, 11.8, 0, 0, 1.05, 9.5,
         5.85, 9.34),
        (148, 4.5, 69.3, 23, 2.27, 2.31, 6.26, 0, 11.7, 15.7, 3.41, 34),
    ),
    ("cut-packed of readings", "cortex-m0", "-Os"): (
        (0, 14.3, 17.1, 4.23, 5.12, 3.98, 0, 5.07, 9.05, 0, 3.47, 2.71, 0, 13.7, 0, 0, 0, 10.9, 0,
         6.71),
        (99.8, 4.73, 51.7, 35.8, 2.96, 10.4, 4.05, 26.3, 9.45, 0.473, 18.9, 3.6),
    ),
    ("cut-packed of readings", "cortex-m4", "-O2"): (
        (0, 9.29, 13, 0.917, 2.74, 6.42, 0, 2.82, 6.95, 0, 4, 0.907, 0, 13.8, 0, 0, 3.6, 3.24,
         0.275, 8.35),
        (99.1, 6.62, 71.2, 35.6, 0, 26.7, 0, 4.16, 10.5, 18, 9.67, 41),
    ),
    ("cut-packed of readings", "cortex-m4", "-Os"): (
        (0, 1.17, 12.2, 1.03, 3.52, 6.96, 0, 5.94, 9.97, 0, 1.38, 3.74, 0, 13, 0, 0, 1.31, 11.5, 0,
         8.34),
        (93.7, 6.07, 78.8, 34.3, 0, 30.5, 0, 38.4, 8.24, 3.14, 22.8, 5.15),
    ),
}
# fmt: on
