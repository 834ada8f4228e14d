"""A model as languages other than C print it: tables, the rows that states read, and stages."""

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from bncc._types import IntArray
from bncc.discretize.feature import Feature
from bncc.discretize.readings import raw_dtypes, state_dtype
from bncc.emit.card import feature_lines, model_lines, record_lines
from bncc.emit.options import EmitOptions
from bncc.errors import OptionError
from bncc.lower.c.c99 import counted
from bncc.lower.lowering import with_room
from bncc.lower.request import Request
from bncc.lower.surroundings import unread_features
from bncc.model.checked import Limits
from bncc.model.front import UNSURE
from bncc.model.model import Model
from bncc.model.ranges import reading_ranges
from bncc.program.front import Front
from bncc.program.ir import Program, Table, expanded, n_levels, width_of
from bncc.program.pipeline import PassReport, optimize
from bncc.structure.decision_tables import BranchingTable

FLOW = "default"
"""Passes that these languages get: no table is larger than the model's."""
NO_CLASS = 255
"""A leaf of a front that leaves the decision to the tables behind it; no class has this index."""


@dataclass(frozen=True)
class Term:
    """Rows by which the state of one feature moves the row that is read of a table."""

    feature: int
    stride: int
    # The level of a state is the number of cuts below it; None where states are the levels.
    cuts: tuple[int, ...] | None = None


@dataclass(frozen=True, eq=False)
class Summand:
    """One table, and what finds its row."""

    name: str
    costs: IntArray  # (n_rows, n_classes) int64
    terms: tuple[Term, ...]  # Their sum is the row; empty where a decision tree finds it
    tree: BranchingTable | None = None

    @property
    def entry_bits(self) -> int:
        """Storage width of one entry."""
        return width_of(int(self.costs.max()))

    @property
    def n_bytes(self) -> int:
        """Bytes of its entries."""
        return self.costs.size * self.entry_bits // 8


@dataclass(frozen=True, eq=False)
class Summation:
    """The classifier of a request, ready for a printer that decides nothing."""

    request: Request
    program: Program  # The tables behind the front, after the passes
    passes: tuple[PassReport, ...]
    summands: tuple[Summand, ...]

    @property
    def model(self) -> Model:
        """The model."""
        return self.request.model

    @property
    def features(self) -> tuple[Feature, ...]:
        """All features, differences last."""
        return self.model.features

    @property
    def front(self) -> Front | None:
        """The front, if the model has one."""
        return self.request.front

    @cached_property
    def limits(self) -> tuple[Limits, ...] | None:
        """Limits within which readings are decided on; None where they are not checked."""
        return self.request.limits

    @cached_property
    def unread(self) -> frozenset[int]:
        """Features that decide nothing: their states are neither found nor checked."""
        return unread_features(self.request, self.program)

    @property
    def state_bits(self) -> int:
        """Width of a state."""
        return state_dtype(self.model.n_states).itemsize * 8

    @property
    def reading_types(self) -> tuple[str, ...]:
        """Type of each reading, as numpy names it."""
        return tuple(dtype.name for dtype in raw_dtypes(self.features))

    @property
    def sure_classes(self) -> tuple[int, ...]:
        """Class that each leaf of the front decides for, or `NO_CLASS`."""
        classes = self.front.classes if self.front is not None else ()
        return tuple(NO_CLASS if c == UNSURE else c for c in classes)

    @property
    def front_tree(self) -> BranchingTable | None:
        """Decision tree of the front."""
        return None if self.front is None else self.front.table.tree

    @property
    def last_states(self) -> tuple[int, ...]:
        """Largest state of each feature that is no error; of one that is unread, every state."""
        every = 2**self.state_bits - 1
        return tuple(
            every if i in self.unread else n - 1 for i, n in enumerate(self.model.n_states)
        )

    @property
    def table_bytes(self) -> int:
        """Bytes of all tables, of the prior and of the front's leaves."""
        prior = self.program.prior.size * self.program.cost_bits // 8
        return prior + len(self.sure_classes) + sum(each.n_bytes for each in self.summands)

    @property
    def card(self) -> list[str]:
        """Lines of the model card."""
        options = self.request.options
        assert isinstance(options, EmitOptions)
        fired = [report.name for report in self.passes if report.fired]
        n = len(self.summands)
        return [
            *model_lines(self.model, options.name),
            f"memory      {self.table_bytes} B in {counted(n, 'table')}; sums in "
            f"{self.program.cost_bits} bits",
            *record_lines(self.model, fired, options.command),
        ]

    @property
    def inputs(self) -> list[str]:
        """One line or more for each feature: its states, thresholds or categories."""
        ranges = reading_ranges(self.features, self.model.training)
        return feature_lines(self.features, ranges, self.unread)


def summation_of(model: Model, options: EmitOptions) -> Summation:
    """Optimize the tables of a model and find how their rows are read."""
    request = Request(model, options)
    request.check()
    program, passes = optimize(request.program, FLOW)
    program = with_room(program, request)
    summands = tuple(_summand(program, table) for table in program.tables)
    return Summation(request, program, passes, summands)


def refuse_samples(model: Model, package: str) -> None:
    """Refuse a model that reads samples: its front end exists in C alone."""
    if model.front_end is not None:
        raise OptionError(
            f"package '{package}' has no front end for samples, which the model reads; use "
            "another package"
        )


def _summand(program: Program, table: Table) -> Summand:
    if table.tree is not None:
        return Summand(table.name, table.costs, (), table.tree)
    if not all(map(_is_ascending, table.maps.values())):
        table = expanded(table, program.n_states)
    terms, stride = [], 1
    for f, n in reversed(list(zip(table.features, n_levels(table, program.n_states), strict=True))):
        cuts = _cuts(table.maps[f]) if f in table.maps else None
        terms.append(Term(f, stride, cuts))
        stride *= n
    return Summand(table.name, table.costs, tuple(reversed(terms)))


def _is_ascending(levels: tuple[int, ...]) -> bool:
    """Return whether levels begin at 0 and grow by at most 1 from state to state."""
    return levels[0] == 0 and all(b - a in (0, 1) for a, b in pairwise(levels))


def _cuts(levels: tuple[int, ...]) -> tuple[int, ...]:
    """Return the states above which the level grows."""
    return tuple(np.flatnonzero(np.diff(levels)).tolist())
