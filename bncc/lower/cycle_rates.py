"""
Cycles per instruction of each kernel on each core, for estimates of cycles.

A kernel is priced in instructions; its mix of loads and jumps, and with it its cycles for each of
them, is about the same in all its layouts. The rates are in `bncc.lower.fitted_rates`, which
``benchmarks/fit/fit_cycle_rates.py`` writes with their errors.
"""

from math import ceil, floor

from bncc.lower.fitted_rates import RATES, Rate
from bncc.resources import Span
from bncc.targets.timing import CountedCore

OTHERS = "others"
"""Name for the rate of kernels that were not measured, and of the textbook classifier."""
HIDDEN = 0.5
"""Fraction of wait states in the middle of the range that a buffer or a cache leaves open."""


def rate_of(core: CountedCore, family: str) -> tuple[float, float]:
    """Return a kernel's cycles per instruction with wait states: the middle, and the most."""
    rates = RATES[core.core]
    rate: Rate = rates.get(family, rates[OTHERS])
    waits = core.states * rate.waits
    middle = rate.mean + waits * (HIDDEN if core.has_prefetch else 1.0)
    return middle, max(middle, rate.most + waits)


def in_cycles(instructions: float, family: str, core: CountedCore | None) -> float:
    """Return estimated cycles of a kernel's instructions; these themselves without a core."""
    return instructions if core is None else instructions * rate_of(core, family)[0]


def span_in_cycles(span: Span, family: str, core: CountedCore) -> Span:
    """Return estimated cycles of a kernel's instructions over some inputs."""
    mean, most = rate_of(core, family)
    return Span(floor(mean * span.min), mean * span.mean, ceil(most * span.max))
