"""
Estimated bytes and time of rules for decisions, counters and adaptations in emitted C.

The weights of rules are fitted to 12 models with all rules that were trained on four data sets,
compiled at both levels, before ranges for unknown readings were limited to a share of the flash.
With this limit the code of one or all rules is off by -40 % .. +61 %, and within 15 % for 27 and 33
of 48 figures on Cortex-M0 at -O2 and -Os, for 32 and 36 on AVR. The code of counters is within 15 %
for 36 and 45, and 33 and 44, of 48 figures, that of adaptations for 26 and 44, and 31 and 47; the
time of counters for 43 and 47, and 40 and 42, and that of adaptations for 40 and 45, and 35 and 48.
Weights of transitions and of a lag are read off the same models.
``python -m benchmarks.fit.fit_rules`` prints all errors.
"""

from collections.abc import Collection, Mapping

from bncc.lower.cost_model import Level
from bncc.lower.layout import Layout
from bncc.model.rules import EXTRAS
from bncc.targets import fitted_as

Weights = tuple[int, ...]

CODE: Mapping[tuple[str, Level], Weights] = {
    ("cortex-m0", "-O2"): (89, -23, 59, 12, 254, 4, 51, 100, 125),
    ("cortex-m0", "-Os"): (100, 16, 23, 12, 192, 15, 16, 60, 95),
    ("avr", "-O2"): (160, -35, 91, 12, 328, 53, 39, 150, 170),
    ("avr", "-Os"): (134, 18, 40, 12, 262, 108, 24, 160, 155),
}
"""Bytes of code per entry of `code_terms`."""
COUNTERS: Mapping[tuple[str, Level], Weights] = {
    ("cortex-m0", "-O2"): (155, 5, 77, 107),
    ("cortex-m0", "-Os"): (89, 12, 56, 102),
    ("avr", "-O2"): (254, 11, 58, 128),
    ("avr", "-Os"): (251, 5, 59, 91),
}
"""Bytes of code per entry of `counter_terms`."""
OFFSETS: Mapping[tuple[str, Level], Weights] = {
    ("cortex-m0", "-O2"): (184, 231, 9, 64, 117),
    ("cortex-m0", "-Os"): (178, 155, 8, 72, 86),
    ("avr", "-O2"): (250, 157, 23, 25, 181),
    ("avr", "-Os"): (390, 93, 13, 22, 193),
}
"""Bytes of code per entry of `offset_terms`."""
WORK: Mapping[tuple[str, str], Weights] = {
    ("cortex-m0", "confidence"): (3, 10, 7),
    ("cortex-m0", "filter"): (-19, 29, 10, 35, 12, 3),
    ("cortex-m0", "unknown"): (-8, 23, 28),
    ("avr", "confidence"): (12, 11, 14),
    ("avr", "filter"): (-15, 55, 24, 80, 16, 8),
    ("avr", "unknown"): (100, 0, 70),
}
"""Instructions, on AVR cycles, per entry of `work_terms`, for both levels."""
COUNT_WORK: Mapping[tuple[str, Level], Weights] = {
    ("cortex-m0", "-O2"): (-34, 26, 10, 25, 18, 34),
    ("cortex-m0", "-Os"): (-4, 27, 7, 32, 18, 22),
    ("avr", "-O2"): (64, 39, 12, 82, 17, 32),
    ("avr", "-Os"): (249, 37, -8, 96, 22, -54),
}
"""The same of a call of ``count`` that halves all counters."""
ADAPT_WORK: Mapping[tuple[str, Level], Weights] = {
    ("cortex-m0", "-O2"): (-31, 56, 44, 30, 6, 3, 3),
    ("cortex-m0", "-Os"): (-7, 47, 32, 71, 10, 4, 25),
    ("avr", "-O2"): (19, 62, 56, 5, 22, 8, -11),
    ("avr", "-Os"): (184, 87, 51, 19, 17, 6, 0),
}
"""The same of a call of ``learn`` that moves offsets and one of ``adapted_class``."""
_OF_LEVELS = {"counters": COUNT_WORK, "adapt": ADAPT_WORK}


def extras_in(layout: Layout) -> tuple[str, ...]:
    """Return the names of all that is emitted of `EXTRAS`."""
    return tuple(name for name, each in EXTRAS.items() if getattr(layout, each.field) is not None)


def code_of_extras(layout: Layout, target: str | None, level: Level) -> int:
    """Estimate the bytes of code of all that is emitted of `EXTRAS`, without arrays."""
    names, parts = extras_in(layout), []
    for terms, known in ((code_terms, CODE), (counter_terms, COUNTERS), (offset_terms, OFFSETS)):
        weights = next(known[each, level] for each in fitted_as(target) if (each, level) in known)
        parts.append(max(0, _weighted(weights, terms(layout, names))))
    return sum(parts)


def work_of_extras(layout: Layout, target: str | None, level: Level) -> Mapping[str, int]:
    """Estimate the time of a call of the functions of each that is emitted, at most."""
    found = {}
    for name in extras_in(layout):
        of_both = {(each, level): weights for (each, rule), weights in WORK.items() if rule == name}
        known = _OF_LEVELS.get(name, of_both)
        weights = next(known[each, level] for each in fitted_as(target) if (each, level) in known)
        found[name] = max(1, _weighted(weights, work_terms(layout, name)))
    return found


def code_terms(layout: Layout, rules: Collection[str]) -> tuple[int, ...]:
    """Return the terms of the code of some rules, without arrays, and of margins for counters."""
    rated = layout.confidence if "confidence" in rules else None
    novelty = layout.unknown if "unknown" in rules else None
    return (
        int("filter" in rules),
        int(rated is not None or novelty is not None or "counters" in rules),
        int(rated is not None),
        0 if rated is None else len(rated.others),
        int(novelty is not None),
        int(novelty is not None and novelty.has_floats),
        0 if novelty is None or novelty.is_loop else novelty.n_rated,
        int("filter" in rules and _has_transitions(layout)),
        int("filter" in rules and _lag(layout) > 0),
    )


def counter_terms(layout: Layout, names: Collection[str]) -> tuple[int, ...]:
    """Return the terms of the code of counters, without margins."""
    plan = layout.counters
    if plan is None or "counters" not in names:
        return (0, 0, 0, 0)
    counted = plan.layout
    return (1, len(plan.limits), int(counted.has_unknown), int(counted.is_in_time))


def offset_terms(layout: Layout, names: Collection[str]) -> tuple[int, ...]:
    """Return the terms of the code of an adaptation."""
    plan = layout.adaptation
    if plan is None or "adapt" not in names:
        return (0, 0, 0, 0, 0)
    has_rows, has_units = int(len(plan.rows) > 1), int(plan.shift > 0)
    return (1, has_rows, plan.n_cuts, has_units, int(layout.filter is not None))


def work_terms(layout: Layout, rule: str) -> tuple[int, ...]:
    """Return the terms of the time of a call: a constant, by classes, and by what it compares."""
    n_classes = layout.program.n_classes
    if layout.counters is not None and rule == "counters":
        counted = layout.counters.layout
        n_rated = 0 if layout.unknown is None else layout.unknown.n_rated
        of_unknown = (n_rated, n_classes * counted.has_unknown)
        return (1, n_classes, counted.n_bins, *of_unknown, int(counted.is_in_time))
    if layout.adaptation is not None and rule == "adapt":
        plan, n_more = layout.adaptation, len(layout.adaptation.rows) - 1
        doubled = (n_classes * plan.shift, n_classes * (plan.shift > 0))
        return (1, n_classes, n_classes * n_more, int(n_more > 0), plan.n_cuts, *doubled)
    if layout.unknown is not None and rule == "unknown":
        return (1, n_classes, layout.unknown.n_rated)
    if layout.confidence is not None and rule == "confidence":
        rated = layout.confidence
        n_margins = bool(rated.others) + bool(rated.least_margin)
        return (1, n_margins * n_classes, (rated.least_margin is not None) * n_classes)
    n_paths, lag = n_classes**2 * _has_transitions(layout), _lag(layout)
    return (1, n_classes, n_paths, int(lag > 0), lag, n_paths * (lag > 0))


def _has_transitions(layout: Layout) -> bool:
    return layout.filter is not None and layout.filter.transitions is not None


def _lag(layout: Layout) -> int:
    return 0 if layout.filter is None else layout.filter.lag


def _weighted(weights: Weights, terms: Weights) -> int:
    return sum(weight * term for weight, term in zip(weights, terms, strict=True))
