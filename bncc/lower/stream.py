"""
One feature at a time: the state that the C keeps between calls, and the tables of each feature.

Where every table reads one feature, a row is added as soon as its feature arrives, and the sums are
all there is to hold. A row of several features is known when the last of them arrives. Any of
them can be the last, so the states of all are held until then.
"""

from dataclasses import dataclass
from itertools import accumulate

from bncc.lower.c.c99 import ArrayText, array, counter, unsigned
from bncc.lower.raw import RawPlan
from bncc.program.ir import Program, Table, width_of


@dataclass(frozen=True)
class Member:
    """A member of the struct between two features."""

    bits: int  # Width of an element
    name: str  # name and comment: Its name, and what it is
    comment: str
    length: int  # Elements; 0 where it is no array
    c_type: str  # Type of an element
    extent: str  # How many elements it has, in C; empty where it is no array

    @property
    def n_bytes(self) -> int:
        """Bytes that it takes."""
        return max(self.length, 1) * self.bits // 8


@dataclass(frozen=True)
class StreamPlan:
    """Template data for the entry points that take one feature at a time."""

    # True if a table reads several features, so that states are held with the sums
    holds_states: bool
    is_own: bool  # True if table i reads feature i and nothing else, for all features
    is_once: bool  # True if no feature is read by several tables
    reads_all: bool  # True if each feature is read by exactly one
    takes_raw: bool  # True if readings have one type, and none are subtracted: can be fed as well
    # The struct, widest members first, so that there is no padding between them
    members: tuple[Member, ...]
    # What stands for the state of a feature that has not been fed; no feature has that state
    unfed: int
    last: str  # The largest state of every feature in C, where it is the same; else empty
    # Which tables read each feature and, for readings found in a loop, where thresholds begin
    arrays: tuple[ArrayText, ...]
    # reader_type, place_type, cut_type: Types of a table's number, a place among `arrays`, and a
    # threshold's place
    reader_type: str
    place_type: str
    cut_type: str

    @property
    def n_bytes(self) -> int:
        """Bytes of the struct on targets without alignment."""
        return sum(member.n_bytes for member in self.members)

    @property
    def aligned_bytes(self) -> int:
        """Bytes of the struct on targets that align each number to its size."""
        step = self.members[0].bits // 8
        return -(-self.n_bytes // step) * step


def plan_stream(
    program: Program,
    tables: tuple[Table, ...],
    sum_bits: int,
    state_bits: int,
    raw: RawPlan | None,
    name: str,
) -> StreamPlan:
    """Lay out what is held between two features."""
    n_features = len(program.features)
    holds_states = any(len(table.features) > 1 for table in tables)
    is_own = [table.features for table in tables] == [(i,) for i in range(n_features)]
    arrays = [] if is_own else _reader_arrays(tables, n_features)
    read = [i for table in tables for i in table.features]
    cut_type = ""
    if raw is not None and raw.is_loop and program.features[0].is_numeric:
        arrays.append(_first_cuts(program))
        cut_type = arrays[-1].type
    n_states = set(program.n_states)
    return StreamPlan(
        holds_states=holds_states,
        is_own=is_own,
        is_once=len(set(read)) == len(read),
        reads_all=sorted(read) == list(range(len(program.features))),
        takes_raw=raw is not None and raw.is_array and not raw.has_differences,
        members=_members(program, sum_bits, state_bits, holds_states, name),
        unfed=(1 << state_bits) - 1,
        last=f"{n_states.pop() - 1}U" if len(n_states) == 1 else "",
        arrays=tuple(arrays),
        reader_type="" if is_own else arrays[1].type,
        place_type="" if is_own else arrays[0].type,
        cut_type=cut_type,
    )


def _members(
    program: Program, sum_bits: int, state_bits: int, holds_states: bool, name: str
) -> tuple[Member, ...]:
    """Return the struct's members, the widest first."""
    n = len(program.features)
    n_classes, n_features = f"{name.upper()}_N_CLASSES", f"{name.upper()}_N_FEATURES"
    left = 8 if counter(n) == "uint8_t" else 16
    costs = "cost of each class so far"
    members = [
        Member(sum_bits, "cost", costs, program.n_classes, f"{name}_cost_t", n_classes),
        Member(left, "left", "number of features not yet fed", 0, unsigned(left), ""),
    ]
    if holds_states:
        held = "state of each feature fed so far"
        members.append(Member(state_bits, "x", held, n, unsigned(state_bits), n_features))
    else:
        fed = "a bit for each feature fed so far"
        members.append(Member(8, "fed", fed, (n + 7) // 8, "uint8_t", f"{(n + 7) // 8}"))
    return tuple(sorted(members, key=lambda member: -member.bits))


def _reader_arrays(tables: tuple[Table, ...], n_features: int) -> list[ArrayText]:
    """Return where the tables of each feature begin in a list, and that list."""
    readers: list[list[int]] = [[] for _ in range(n_features)]
    for t, table in enumerate(tables):
        for i in table.features:
            readers[i].append(t)
    places = list(accumulate((len(some) for some in readers), initial=0))
    listed = [t for some in readers for t in some]
    begin = "Index of the first entry of each feature in the list of tables."
    meaning = "Tables that read each feature, feature by feature."
    return [
        array("first_reader", width_of(places[-1]), places, begin),
        array("reader", width_of(max(listed)), listed, meaning),
    ]


def _first_cuts(program: Program) -> ArrayText:
    """
    Return where each feature's thresholds begin among those of all.

    In 16 bits at least: AVR compilers multiply to index wide thresholds by a number of 8 bits.
    """
    counts = [len(feature.thresholds) for feature in program.features]
    places = list(accumulate(counts[:-1], initial=0))
    bits = max(16, width_of(places[-1]))
    return array("first_cut", bits, places, "Index of each feature's first threshold.")
