"""Calls of the rules for decisions in a self-test, and Python's results."""

from dataclasses import dataclass
from itertools import chain

import numpy as np

from bncc._types import FloatArray, IntArray
from bncc.emit.vector_text import crc16
from bncc.emit.vectors import Vectors
from bncc.lower.c.c99 import wrap
from bncc.lower.layout import Layout
from bncc.lower.rule_cost import extras_in
from bncc.model.confidence import margins_of
from bncc.model.model import Model
from bncc.model.reference import scores
from bncc.model.rules import RULES

MOST_LIMITS = 32
"""About the number of limits for readings outside that are tried: a byte counts the margins."""


@dataclass(frozen=True)
class RuleVectors:
    """Scores with which the rules are called in addition to those of the vectors."""

    # Margins next to all limits; the scores of each are 0 for one class and the margin for others
    n_margins: int
    margins: tuple[str, ...]  # Their initializer
    n_bytes: int  # Bytes of their array
    crc: str  # CRC-16 of all results


def rule_vectors(model: Model, inputs: Vectors, layout: Layout) -> RuleVectors | None:
    """Return the scores to call the rules of an emission with; None without rules."""
    if not _rules_in(layout):
        return None
    margins = _margins(layout)
    n = len(margins)
    S = np.repeat(np.array(margins, dtype=np.int64)[:, None], model.n_classes, axis=1)
    S[np.arange(n), np.arange(n) % model.n_classes] = 0
    first = np.repeat(inputs.readings[:1], n, axis=0)
    results = [
        *_results(model, layout, S, first),
        *_results(model, layout, scores(model, inputs.states), inputs.readings),
    ]
    found = b"".join((result & 0xFFFF).to_bytes(2, "little") for result in results)
    n_bytes = n * layout.kernel.sum_bits // 8
    return RuleVectors(n, tuple(wrap(margins)), n_bytes, f"0x{crc16(found):04X}U")


def _rules_in(layout: Layout) -> list[str]:
    """Return the names of the rules that are emitted."""
    return [name for name in extras_in(layout) if name in RULES]


def _margins(layout: Layout) -> list[int]:
    """Return the margins at and next to the limits of all rules, and the largest one."""
    limits = {0, layout.largest_sum}
    if layout.filter is not None:
        limits.add(layout.filter.switch)
    if layout.confidence is not None:
        limits |= {margin for margin, _ in layout.confidence.levels}
        limits.add(layout.confidence.least_margin or 0)
    if layout.unknown is not None:
        margins = layout.unknown.least_margins
        limits |= {*margins[:: max(1, len(margins) // MOST_LIMITS)]}
    near = chain.from_iterable((limit - 1, limit) for limit in limits)
    return sorted({margin for margin in near if 0 <= margin <= layout.largest_sum})


def _results(model: Model, layout: Layout, S: IntArray, R: FloatArray) -> list[int]:
    """Return what the rules say of rows, in the order of the calls; a filter begins before them."""
    columns = [RULES[rule].decide(model, S, R) for rule in _rules_in(layout)]
    if model.confidence is not None and layout.confidence is not None:
        columns.append(model.confidence.percent_of(margins_of(S)))
    if model.unknown is not None and layout.unknown is not None:
        every = (np.full(len(R), c) for c in range(model.n_classes))
        columns += [model.unknown.outside(model.features, R, each) for each in every]
    return list(np.column_stack(columns).ravel().tolist())
