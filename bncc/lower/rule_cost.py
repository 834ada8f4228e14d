"""
Estimated bytes and time of the rules for decisions in emitted C.

The weights are fitted to 12 models with all rules that were trained on four data sets, compiled at
both levels, before ranges for unknown readings were limited to a share of the flash. With this
limit the code of one or all rules is off by -40 % .. +61 %, and within 15 % for 27 and 33 of 48
figures on Cortex-M0 at -O2 and -Os, for 32 and 36 on AVR; ``python -m benchmarks.fit.fit_rules``
prints it.
"""

from collections.abc import Collection, Mapping

from bncc.lower.cost_model import Level
from bncc.lower.layout import Layout
from bncc.model.rules import RULES
from bncc.targets import fitted_as

Weights = tuple[int, ...]

CODE: Mapping[tuple[str, Level], Weights] = {
    ("cortex-m0", "-O2"): (89, -23, 59, 12, 254, 4, 51),
    ("cortex-m0", "-Os"): (100, 16, 23, 12, 192, 15, 16),
    ("avr", "-O2"): (160, -35, 91, 12, 328, 53, 39),
    ("avr", "-Os"): (134, 18, 40, 12, 262, 108, 24),
}
"""Bytes of code per entry of `code_terms`."""
WORK: Mapping[tuple[str, str], Weights] = {
    ("cortex-m0", "confidence"): (3, 10, 7),
    ("cortex-m0", "filter"): (-19, 29, 0),
    ("cortex-m0", "unknown"): (-8, 23, 28),
    ("avr", "confidence"): (12, 11, 14),
    ("avr", "filter"): (-15, 55, 0),
    ("avr", "unknown"): (100, 0, 70),
}
"""Instructions, on AVR cycles, per entry of `work_terms`."""


def rules_in(layout: Layout) -> tuple[str, ...]:
    """Return the names of the rules that are emitted."""
    return tuple(name for name in RULES if getattr(layout, name) is not None)


def code_of_rules(layout: Layout, target: str | None, level: Level) -> int:
    """Estimate the bytes of code of the rules that are emitted, without arrays."""
    weights = next(CODE[each, level] for each in fitted_as(target) if (each, level) in CODE)
    return max(0, _weighted(weights, code_terms(layout, rules_in(layout))))


def work_of_rules(layout: Layout, target: str | None) -> Mapping[str, int]:
    """Estimate the time of a call of the functions of each rule that is emitted, at most."""
    found = {}
    for rule in rules_in(layout):
        weights = next(WORK[each, rule] for each in fitted_as(target) if (each, rule) in WORK)
        found[rule] = max(1, _weighted(weights, work_terms(layout, rule)))
    return found


def code_terms(layout: Layout, rules: Collection[str]) -> tuple[int, ...]:
    """Return the terms of the code of some rules, without arrays."""
    rated = layout.confidence if "confidence" in rules else None
    novelty = layout.unknown if "unknown" in rules else None
    return (
        int("filter" in rules),
        int(rated is not None or novelty is not None),
        int(rated is not None),
        0 if rated is None else len(rated.others),
        int(novelty is not None),
        int(novelty is not None and novelty.has_floats),
        0 if novelty is None or novelty.is_loop else novelty.n_rated,
    )


def work_terms(layout: Layout, rule: str) -> tuple[int, ...]:
    """Return the terms of the time of a rule: of a call, by classes, and by what it compares."""
    n_classes = layout.program.n_classes
    if layout.unknown is not None and rule == "unknown":
        return (1, n_classes, layout.unknown.n_rated)
    if layout.confidence is not None and rule == "confidence":
        rated = layout.confidence
        n_margins = bool(rated.others) + bool(rated.least_margin)
        return (1, n_margins * n_classes, (rated.least_margin is not None) * n_classes)
    return (1, n_classes, 0)


def _weighted(weights: Weights, terms: Weights) -> int:
    return sum(weight * term for weight, term in zip(weights, terms, strict=True))
