"""
Estimated cost of the textbook classifier from readings: it searches thresholds from the first on.

It compares floats as floats, by functions of a library on targets without a unit for them. The
weights are fitted by ``benchmarks/fit/fit_state_costs.py``.
"""

from collections.abc import Sequence

from bncc._types import FloatArray
from bncc.discretize.readings import is_array
from bncc.lower.cost_model import (
    FAMILY,
    OF_READINGS,
    TextbookCost,
    code_terms,
    table_bytes,
    weighted,
    work_terms,
)
from bncc.lower.discretizers.counts import mean_looks
from bncc.lower.discretizers.steps import KIND_BITS
from bncc.lower.kernels.base import FEW
from bncc.program.ir import Program


def textbook_of_readings(
    program: Program, frequencies: Sequence[FloatArray], target: str | None
) -> TextbookCost:
    """
    Estimate the textbook classifier from readings.

    Shapes: `frequencies` one (n_states,) float64 per feature.
    """
    looks = expected_looks(program, frequencies)
    work, code = work_of_readings(program, looks), code_of_readings(program)
    family = FAMILY + OF_READINGS
    return TextbookCost(
        weighted(family, target, "-O2", work, which=0),
        bytes_of_readings(program) + weighted(family, target, "-O2", code, which=1),
    )


def expected_looks(program: Program, frequencies: Sequence[FloatArray]) -> list[float]:
    """Return the number of thresholds that each search is expected to compare."""
    pairs = zip(program.features, frequencies, strict=True)
    return [mean_looks(feature, "linear", known) for feature, known in pairs]


def work_of_readings(program: Program, looks: Sequence[float]) -> tuple[float, ...]:
    """
    Return what it does, by the thresholds that the search for each feature compares.

    Terms: those from states; then turns of a loop, calls, codes, floats; thresholds, those of 32
    bits, those that are floats. Last features whose rows a loop adds.
    """
    features = program.features
    searched = [(each, n) for each, n in zip(features, looks, strict=True) if each.is_numeric]
    n_codes, n, is_loop = len(features) - len(searched), len(features), is_array(features)
    return (
        *work_terms(program),
        n * is_loop,
        n * (not is_loop),
        n_codes,
        sum(each.kind == "float32" for each in features),
        sum(n for _, n in searched),
        sum(n for each, n in searched if KIND_BITS[each.kind] == 32),
        sum(n for each, n in searched if each.kind == "float32"),
        n * (n > FEW),
    )


def code_of_readings(program: Program) -> tuple[float, ...]:
    """
    Return what its code grows with.

    Terms: those from states; then a loop, calls, calls with a marker; functions for whole numbers,
    those of 32 bits, for floats, for codes. Last loops over classes and over features, parents, and
    these where classes are in a loop.
    """
    features = program.features
    kinds, is_loop = {each.kind for each in features}, is_array(features)
    numbers = {kind for kind in kinds if kind in KIND_BITS and kind != "float32"}
    n_marked = sum(each.has_marker for each in features)
    has_parents = int(any(len(table.features) > 1 for table in program.tables))
    return (
        *code_terms(program),
        int(is_loop),
        len(features) * (not is_loop),
        n_marked * (not is_loop),
        len(numbers),
        int("int32" in numbers),
        int("float32" in kinds),
        int(not kinds <= set(KIND_BITS)),
        int(program.n_classes > FEW),
        int(len(features) > FEW),
        has_parents,
        has_parents * (program.n_classes > FEW),
    )


def bytes_of_readings(program: Program) -> int:
    """Return the bytes of its constants: tables, thresholds, and what finds a feature's own."""
    features = program.features
    thresholds = sum(len(f.thresholds) * KIND_BITS[f.kind] // 8 for f in features if f.is_numeric)
    of_loop = 0
    if is_array(features):
        of_loop = 2 * (len(features) + 1) + len(features) * features[0].has_marker
    return table_bytes(program) + thresholds + of_loop
