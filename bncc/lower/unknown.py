"""Unknown readings in C: ranges as arrays by class, and limits on the margin that fit its type."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from bncc.discretize.feature import LARGEST_INT, Feature, inputs_of
from bncc.discretize.float_order import float_key
from bncc.discretize.missing import MISSING_INT
from bncc.lower.c.c99 import ArrayText, array, counter, unsigned
from bncc.lower.range_check import ReadingCheck, reading_check, reading_ends
from bncc.lower.raw import RawPlan
from bncc.model.checked import Limits
from bncc.model.unknown import ERR_UNKNOWN, Range, Unknown


@dataclass(frozen=True)
class RatedKind:
    """Readings of one type, with their ranges in arrays of that type."""

    check: ReadingCheck  # How one is compared
    readings: tuple[str, ...]  # C expressions, in the order of the arrays


@dataclass(frozen=True)
class UnknownPlan:
    """
    Template data for unknown readings.

    The larger the margin of a decision, the more readings may be outside: those whose weights, less
    the limit, do not exceed it. The least margin for each number of them is a constant.
    """

    kinds: tuple[RatedKind, ...]
    arrays: tuple[ArrayText, ...]  # Ranges, indexed by input and class, and least margins
    n_rated: int  # Number of compared inputs
    rated_type: str  # C type of the positions of the inputs in the array of readings; empty for all
    is_loop: bool  # True if the readings are an array
    index_type: str  # C type of an index of the ranges
    count_type: str  # C type of the number of an input
    n_without: int  # Decisions without a margin are made if fewer readings are outside
    least_margins: tuple[int, ...]  # Each of which allows one more
    margin_type: str  # C type of a least margin
    number_type: str  # C type of a number of readings, and one more
    err_unknown: int = ERR_UNKNOWN  # What it returns

    @property
    def has_floats(self) -> bool:
        """True if any compared reading is a float."""
        return any(kind.check.kind == "float32" for kind in self.kinds)

    @property
    def has_words(self) -> bool:
        """True if any range has ends of four bytes."""
        return any(kind.check.limit_bits == 32 for kind in self.kinds)

    @property
    def n_margins(self) -> int:
        """Number of least margins."""
        return len(self.least_margins)

    @property
    def most(self) -> int:
        """With the largest margin, decisions are made if fewer readings are outside."""
        return self.n_without + self.n_margins


def plan_unknown(
    unknown: Unknown, features: Sequence[Feature], raw: RawPlan, n_classes: int, largest: int
) -> UnknownPlan:
    """Lay out the ranges, and the limits that margins of scores up to a largest one can reach."""
    inputs = inputs_of(features)
    rated = [f for f, feature in enumerate(inputs) if feature.name in unknown.ranges]
    by_kind = sorted(rated, key=lambda f: (inputs[f].kind, f))
    kinds, arrays = [], []
    for kind, group in groupby(by_kind, key=lambda f: inputs[f].kind):
        members = [*group]
        check = reading_check(kind)
        kinds.append(RatedKind(check, tuple(raw.inputs[f].reading for f in members)))
        ends = [_ends(inputs[f], of) for f in members for of in unknown.ranges[inputs[f].name]]
        is_signed, bits = check.limit_type.startswith("int"), check.limit_bits
        of_keys = ", as an integer of the same order" if kind == "float32" else ""
        for name, which, values in (
            ("low", "Lowest", [low for low, _ in ends]),
            ("high", "Highest", [high for _, high in ends]),
        ):
            words = f"{which} known reading of each input in each class{of_keys}."
            arrays.append(array(f"{name}_{kind}", bits, values, words, signed=is_signed))
    rated_type = ""
    if raw.is_array and 0 < len(rated) < len(inputs):
        bits = 8 if max(rated) < 256 else 16
        rated_type = unsigned(bits)
        arrays.append(array("rated", bits, rated, "Number of each input with known readings."))
    needed = [max(0, unknown.weight * n - unknown.limit) for n in range(len(rated) + 1)]
    margins = [margin for margin in needed if 0 < margin <= largest]
    n_without, bits = needed.count(0), next(b for b in (8, 16, 32) if largest < 1 << b)
    if margins:
        words = "Least margin for each further reading outside."
        arrays.append(array("least_margin", bits, margins, words))
    return UnknownPlan(
        kinds=tuple(kinds),
        arrays=tuple(arrays),
        n_rated=len(rated),
        rated_type=rated_type,
        is_loop=raw.is_array,
        index_type=unsigned(16 if len(rated) * n_classes < 2**16 else 32),
        count_type=counter(len(rated)),
        n_without=n_without,
        least_margins=tuple(margins),
        margin_type=unsigned(bits),
        number_type=unsigned(16 if len(needed) < 2**16 else 32),
    )


def _ends(feature: Feature, of: Range | None) -> tuple[int, int]:
    """Return the ends of a range as the C compares them; those of the type without a range."""
    if of is not None:
        return reading_ends(feature, Limits(*of))
    if feature.kind == "float32":
        return float_key(float("-inf")), float_key(float("inf"))
    return MISSING_INT.get(feature.kind, 0), LARGEST_INT[feature.kind]
