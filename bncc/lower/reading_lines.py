"""Comparisons of readings with cuts in straight-line code, and what any direct layout prints."""

from dataclasses import dataclass, replace

from bncc.discretize.feature import Feature
from bncc.lower.c.c99 import ArrayText
from bncc.lower.cut_conditions import Compared, CutCondition, cut_condition
from bncc.lower.kernels.branches.layout import BranchKernel
from bncc.lower.kernels.branches.text import TreeText, reading_trees, sum_steps
from bncc.lower.kernels.cuts.layout import CutKernel
from bncc.lower.kernels.cuts.text import cut_steps
from bncc.lower.raw import RawPlan
from bncc.lower.reading_keys import ComparedIntegers, compared_integers, key_of
from bncc.program.ir import Program


@dataclass(frozen=True)
class DirectReadings:
    """Parts of a ``predict_raw`` that compares readings or keys, instead of states, with cuts."""

    template: str  # File under ``templates/`` that prints the sums
    input: str  # Parameter of the function that sums
    functions: frozenset[str]  # Those of `bncc.lower.cut_conditions` that are called
    arrays: tuple[ArrayText, ...] = ()  # Lists that a loop reads
    keys: tuple[str, ...] = ()  # Integers that a loop compares, one per feature that is read
    each_key: str = ""  # The INDEX-th of them, if one loop forms all
    key_type: str = ""  # Their C type
    reading: str = ""  # What a loop compares, by the ENTRY of its list
    reaches: str = ""  # The comparison with the LIMIT of its list
    comment: str = ""  # Comment on the function that sums
    entry_type: str = ""  # C type of an entry of the list of features
    limit_type: str = ""  # C type of a threshold
    steps: tuple[list[str], ...] = ()  # Statements of straight-line code
    kinds: tuple[str, ...] = ()  # Kinds of the functions that extend a row number by a cut
    trees: tuple[TreeText, ...] = ()  # Nested comparisons
    first_kinds: tuple[str, ...] = ()  # Kinds of the functions that return 0 or 1
    # True if straight-line code counts cuts that are not reached, from the last row of a table
    counts_down: bool = False
    # True if it subtracts their number from the address of that row
    goes_back: bool = False
    # True if a loop widens the index of a reading, lest it be multiplied by the reading's size
    widens: bool = False

    @property
    def compared(self) -> Compared:
        """Operands that are compared with cuts."""
        return "keys" if self.keys else "readings"

    @property
    def sums(self) -> bool:
        """True if a loop leaves the cost of every class in an array."""
        return bool(self.arrays)


def readings_of(raw: RawPlan) -> tuple[str, ...]:
    """Return the C expression of each reading."""
    return tuple(field.reading for field in raw.fields)


SHORT = ("int8", "int16")
"""Kinds whose differences fit a register: on Thumb, the sign of a difference is the outcome of the
comparison, whether a reading is at most a limit."""


@dataclass(frozen=True)
class ReadingReach:
    """Cuts that readings reach."""

    features: tuple[Feature, ...]
    readings: tuple[str, ...]  # The C expression of each
    name: str  # Prefix of every symbol
    counts_down: bool = False

    @property
    def compared(self) -> str:
        """Part of the names of functions that count cuts: those reached, or those not reached."""
        return "up_to" if self.counts_down else "above"

    def condition(self, feature: int, least: int) -> CutCondition:
        """Return the comparison of a reading."""
        return cut_condition(self.features[feature], least, self.readings[feature], self.name)

    def above(self, at: str, feature: int, least: int) -> str:
        """Return twice a row number, plus 1 if a reading reaches a cut, or does not."""
        condition = self.condition(feature, least)
        if condition.sides is not None:
            kind, left, right = condition.sides
            if at != "0U":
                return f"{self.name}_{self.compared}_{kind}({at}, {left}, {right})"
        bit = self.bit(feature, least)
        return f"(uint_fast16_t)((uint_fast16_t)({at} << 1) + {bit})" if at != "0U" else bit

    def further(self, feature: int, least: int) -> str:
        """Return a statement that adds 1 to the row number if a reading reaches a cut, or not."""
        return f"at += {self.bit(feature, least)};"

    def bit(self, feature: int, least: int) -> str:
        """Return 1 if a reading reaches a cut, or does not, else 0."""
        condition = self.condition(feature, least)
        if condition.constant is not None:
            return f"{int(condition.constant)}U"
        if condition.sides is not None:
            kind, left, right = condition.sides
            return f"{self.name}_is_{self.compared}_{kind}({left}, {right})"
        return f"(({condition.text}) ? (uint_fast16_t)1U : (uint_fast16_t)0U)"


def each_key(first: str, compared: ComparedIntegers) -> str:
    """Return the key at INDEX by that of the first feature; empty unless one loop forms all."""
    return first.replace("x[0]", "x[INDEX]") if compared.is_looped else ""


def in_trees(
    program: Program, kernel: BranchKernel, raw: RawPlan, name: str, compare: Compared | None
) -> DirectReadings:
    """Lay out nested comparisons of readings, or of their keys."""
    if compare == "keys":
        return _trees_of_keys(program, kernel, raw, name)
    reach = ReadingReach(program.features, readings_of(raw), name)
    trees, functions = reading_trees(program, kernel, reach.condition)
    return DirectReadings(
        "lower/direct/branches.c.j2",
        f"const {name}_raw_t *x",
        functions,
        steps=tuple(sum_steps(kernel, name, "raw_tree")),
        trees=trees,
    )


def _trees_of_keys(
    program: Program, kernel: BranchKernel, raw: RawPlan, name: str
) -> DirectReadings:
    compared = compared_integers(program, "keys")
    place = {f: k for k, f in enumerate(compared.features)}

    def condition(f: int, least: int) -> CutCondition:
        limit = compared.limit(program.features[f], least)
        return CutCondition(f"x[{place[f]}] > {limit}", n_numbers=1)

    trees, _ = reading_trees(program, kernel, condition)
    readings = readings_of(raw)
    keys = [key_of(program.features[f], readings[f], name, compared) for f in place]
    key_type = f"int{compared.bits}_t"
    return DirectReadings(
        "lower/direct/branches.c.j2",
        f"const {key_type} x[{len(place)}]",
        frozenset().union(*(functions for _, functions in keys)),
        keys=tuple(text for text, _ in keys),
        each_key=each_key(keys[0][0], compared),
        key_type=key_type,
        steps=tuple(sum_steps(kernel, name, "raw_tree")),
        trees=trees,
    )


def in_lines(program: Program, kernel: CutKernel, raw: RawPlan, name: str) -> DirectReadings:
    """Lay out straight-line comparisons."""
    plain = ReadingReach(program.features, readings_of(raw), name)
    read = [each for cuts in kernel.cuts for each in cuts]
    conditions = [plain.condition(each.feature, least) for each in read for least in each.least]
    counts_down = all(each.sides is not None and each.sides[0] in SHORT for each in conditions)
    reach = replace(plain, counts_down=counts_down)
    steps = tuple(cut_steps(program, kernel, reach, name))
    lines = "".join(line for step in steps for line in step)
    kinds = {each.sides[0] for each in conditions if each.sides}

    def is_doubled(kind: str) -> bool:
        return any(f"_{reach.compared}_{kind}({at}," in lines for at in ("at", "before"))

    return DirectReadings(
        "lower/direct/cuts.c.j2",
        f"const {name}_raw_t *x",
        frozenset[str]().union(*(each.functions for each in conditions)),
        steps=steps,
        kinds=tuple(sorted(kind for kind in kinds if is_doubled(kind))),
        first_kinds=tuple(sorted(k for k in kinds if f"_is_{reach.compared}_{k}(" in lines)),
        counts_down=counts_down,
        goes_back=f"{name}_back(" in lines,
    )
