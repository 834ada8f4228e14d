"""Request: the C to emit, its target and limits, and the kernels that qualify."""

from dataclasses import dataclass, field
from functools import cached_property

from bncc._types import FloatArray
from bncc.errors import OptionError
from bncc.lower.adaptation import OffsetTables
from bncc.lower.cut_conditions import Compared
from bncc.lower.discretizers.choice import OwnWays, every_own_way
from bncc.lower.kernels.families import (
    FAMILIES,
    FOR_GATES,
    FOR_TREES,
    FREE_OF_BRANCHES,
    PROVABLE,
    STREAMS,
)
from bncc.lower.missing.plan import JointPlan, MissingPlan, plan_missing
from bncc.model import confidence as rated
from bncc.model import counters as counting
from bncc.model import unknown as novelty
from bncc.model.adaptation import offset_tables
from bncc.model.adaptation import required as required_adaptation
from bncc.model.checked import DEFAULT_MARGIN, Limits, limits_of
from bncc.model.confidence import Confidence
from bncc.model.counters import Counters
from bncc.model.filter import Filter, required
from bncc.model.front import front_of
from bncc.model.marginal import state_frequencies
from bncc.model.missing_form import missing_form_of
from bncc.model.model import Model
from bncc.model.rules import EXTRAS
from bncc.model.unknown import Unknown
from bncc.model.used import used_features
from bncc.program.front import Front, split_front
from bncc.program.ir import Program, has_trees
from bncc.program.pipeline import FLOWS_FOR, program_of
from bncc.resources import Budget, Optimize, default_entries
from bncc.targets.timing import CountedCore


@dataclass(frozen=True)
class Demands:
    """Requirements that not every kernel meets."""

    stream: bool = False  # True if features arrive individually, in any order
    constant_time: bool = False  # True if no branch may depend on a reading or on a state in range
    provable: bool = False  # True if `bncc prove` has to decide the machine code

    @property
    def is_special(self) -> bool:
        """True if the C has a special form."""
        return self.stream or self.constant_time

    def allows(self, family: str) -> bool:
        """Return whether a family of kernels meets all requirements."""
        if self.constant_time and family not in FREE_OF_BRANCHES:
            return False
        if self.provable and family not in PROVABLE:
            return False
        return not self.stream or family in STREAMS

    def check(self, family: str) -> None:
        """Reject a kernel that does not meet the requirements."""
        if self.constant_time and family not in FREE_OF_BRANCHES:
            raise OptionError(
                f"the execution time of kernel '{family}' depends on states; name another with "
                "--kernel, or leave out --kernel"
            )
        if self.provable and family not in PROVABLE:
            raise OptionError(
                f"proofs do not cover the kernel '{family}'; name another with --kernel, or leave "
                "out --kernel or --provable"
            )
        if not self.allows(family):
            raise OptionError(
                f"the kernel '{family}' does not support feature-by-feature input; use --kernel "
                f"{' or '.join(sorted(STREAMS))}, or leave out --kernel"
            )

    def flows(self, optimize: Optimize) -> tuple[str, ...]:
        """Return the flows whose programs are laid out and compared."""
        return FLOWS_FOR["balanced" if self.stream and optimize == "speed" else optimize]


ENTRIES = frozenset(
    {
        "adapt",
        "checked",
        "confidence",
        "counters",
        "filter",
        "missing",
        "raw",
        "scores",
        "scores-raw",
        "stream",
        "trusted",
        "unknown",
    }
)
"""Entry points that can be asked for in addition to ``predict``."""


@dataclass(frozen=True)
class EntryPoints:
    """Functions of the C in addition to ``predict``."""

    raw: bool
    scores: bool
    trusted: bool
    stream: bool = False
    samples: bool = False  # ``start`` and ``push``, if the model has a front end
    filter: bool = False  # ``filter_begin`` and ``filter_next``, which need scores
    confidence: bool = False  # ``margin``, ``confidence`` and ``sure_class``, which need scores
    unknown: bool = False  # ``outside`` and ``known_class``, which need scores and readings
    counters: bool = False  # ``counters_clear`` and ``count``, which need scores
    scores_raw: bool = False  # ``scores_raw``, which needs scores and readings
    adapt: bool = False  # ``forget``, ``learn`` and ``adapted_class``, which need scores


@dataclass(frozen=True)
class LowerOptions:
    """Options that decide the C; fields as in `bncc.emit.options.EmitOptions`."""

    name: str = "model"
    entries: frozenset[str] = field(default_factory=frozenset)
    kernel: str | None = None
    optimize: Optimize = "balanced"
    target: str | None = None
    max_flash: int | None = None
    max_ram: int | None = None
    reserve: int = 0
    priced: tuple[str, ...] = ()
    constant_time: bool = False
    range_margin: float = DEFAULT_MARGIN
    compare: Compared | None = None
    provable: bool = False
    core: CountedCore | None = None

    @property
    def demands(self) -> Demands:
        """Requirements of a kernel."""
        return Demands("stream" in self.entries, self.constant_time, self.provable)

    @property
    def budget(self) -> Budget:
        """Limits of the classifier."""
        return Budget(
            self.target,
            self.max_flash,
            ram=self.max_ram,
            reserve=self.reserve,
            entries=self.priced,
            extras=self.entries,
            core=self.core,
            provable=self.provable,
        )


@dataclass(frozen=True, eq=False)
class Request:
    """A model and the options to lower its program with."""

    model: Model
    options: LowerOptions

    @property
    def front(self) -> Front | None:
        """The front of the model's program, if it has one."""
        return self._split[0]

    @property
    def program(self) -> Program:
        """The program that kernels sum, before any pass: all tables but the front."""
        return self._split[1]

    @cached_property
    def _split(self) -> tuple[Front | None, Program]:
        program, front = program_of(self.model), front_of(self.model)
        return (None, program) if front is None else split_front(program, front)

    @cached_property
    def used(self) -> tuple[int, ...]:
        """Features on which a decision of the model may depend."""
        return used_features(self.model)

    @cached_property
    def frequencies(self) -> tuple[FloatArray, ...]:
        """Expected frequencies of the states of each feature."""
        return state_frequencies(self.model)

    @cached_property
    def own_ways(self) -> OwnWays:
        """Ways of its own in which each feature's state can be found."""
        return every_own_way(self.model.features, self.options.target, self.frequencies)

    @property
    def flows(self) -> tuple[str, ...]:
        """Flows of passes whose programs are laid out and compared."""
        return self.options.demands.flows(self.options.optimize)

    @property
    def entries(self) -> EntryPoints:
        """Functions of the C in addition to ``predict``; unknown names are rejected."""
        asked = self.options.entries
        unknown = sorted(asked - ENTRIES)
        if unknown:
            raise OptionError(
                f"unknown entry point '{unknown[0]}'; choose from {', '.join(sorted(ENTRIES))}"
            )
        has_thresholds = any(feature.thresholds for feature in self.model.features)
        return EntryPoints(
            raw=bool({"raw", "checked", "scores-raw", "unknown"} & asked)
            or has_thresholds
            or self.model.front_end is not None,
            scores=bool({"scores", "scores-raw", *EXTRAS} & asked),
            stream="stream" in asked,
            trusted="trusted" in asked,
            samples=self.model.front_end is not None,
            filter="filter" in asked,
            confidence="confidence" in asked,
            unknown="unknown" in asked,
            counters="counters" in asked,
            scores_raw="scores-raw" in asked,
            adapt="adapt" in asked,
        )

    @property
    def priced(self) -> tuple[str, ...]:
        """Entry points that the budget covers, all of which are emitted."""
        options, entries = self.options, self.entries
        emitted = options.entries | {"predict"} | ({"predict-raw"} if entries.raw else frozenset())
        for entry in options.priced:
            if entry not in emitted:
                raise OptionError(f"a budget for '{entry}' needs that entry point; emit it, too")
        return options.priced or default_entries(has_thresholds=entries.raw, extras=options.entries)

    @property
    def limits(self) -> tuple[Limits, ...] | None:
        """Limits within which readings are decided on; None where they are not checked."""
        if "checked" not in self.options.entries:
            return None
        if self.options.constant_time:
            raise OptionError(
                "entry point 'checked' returns at the first invalid reading, so its execution "
                "time depends on the readings; leave it out, or do not request constant time"
            )
        return limits_of(self.model, self.options.range_margin)

    @property
    def over_time(self) -> Filter | None:
        """Filter of decisions; None without one in the C."""
        return required(self.model.filter) if "filter" in self.options.entries else None

    @property
    def confidence(self) -> Confidence | None:
        """Confidence of decisions; None without one in the C."""
        if "confidence" not in self.options.entries:
            return None
        return rated.required(self.model.confidence)

    @property
    def unknown(self) -> Unknown | None:
        """Rule for unknown readings; None without one in the C."""
        if "unknown" not in self.options.entries:
            return None
        return novelty.required(self.model.unknown)

    @property
    def counters(self) -> Counters | None:
        """Counters of decisions; None without any in the C."""
        if "counters" not in self.options.entries:
            return None
        return counting.required(self.model.counters)

    @property
    def adaptation(self) -> OffsetTables | None:
        """Adaptation to labeled inputs with its tables; None without one in the C."""
        if "adapt" not in self.options.entries:
            return None
        rule = required_adaptation(self.model.adaptation)
        tables = offset_tables(self.model.structure, rule.tables)
        return OffsetTables(rule, tables, self.model.n_classes)

    @property
    def added(self) -> int | None:
        """Most that is added to sums: the row of a front, and offsets where they are filtered."""
        if not self.entries.scores:
            return None
        front = None if self.front is None else self.front.most
        adaptation = self.adaptation if self.entries.filter else None
        if adaptation is None:
            return front
        return (front or 0) + adaptation.most

    @property
    def missing(self) -> MissingPlan | JointPlan | None:
        """Marginalization plan for missing features; None without it."""
        return plan_missing(self.model) if "missing" in self.options.entries else None

    def check(self) -> None:
        """Refuse what no program can be lowered to, before any pass runs."""
        if "missing" in self.options.entries:
            missing_form_of(self.model)
        self._check_rules()
        self._check_gate()
        are_trees = has_trees(self.program)
        if self.front is not None:
            without = ("leaves=0", "front=0") if are_trees else ("front=0",)
            self._check_trees("a front, a decision tree before its tables", without)
        elif are_trees:
            self._check_trees("tables that are found by decision trees", ("leaves=0",))
        if are_trees:
            self._check_family()
        if self.options.provable and self.options.constant_time:
            raise OptionError(
                "proofs do not cover constant-time code; leave out --provable or --constant-time"
            )
        _ = self.limits

    def _check_rules(self) -> None:
        """Refuse extras that the model does not have, or whose time may not vary."""
        for name in sorted(EXTRAS.keys() & self.options.entries):
            extra = EXTRAS[name]
            extra.required(getattr(self.model, extra.field))
            if self.options.constant_time:
                raise OptionError(
                    f"entry point '{name}' compares {extra.compares} by branches, so its execution "
                    f"time depends on {extra.on}; leave it out, or do not request constant time"
                )

    def _check_gate(self) -> None:
        """Refuse what a decision by the first tables alone cannot be part of."""
        if self.model.gate is None:
            return
        gate = "the model has a gate, behind which tables are summed for some inputs alone"
        if self.options.constant_time:
            raise OptionError(
                f"{gate}, so that the execution time depends on states; train with "
                "--structure-option gate=0, or do not request constant time"
            )
        if "stream" in self.options.entries:
            raise OptionError(
                f"{gate}, so that all features are needed at once; train with --structure-option "
                "gate=0, or leave out the entry point 'stream'"
            )
        family = self.options.kernel
        if family is not None and family in FAMILIES and not FAMILIES[family].has_gates:
            raise OptionError(
                f"the kernel '{family}' has no layout for a model with a gate; use --kernel "
                f"{' or '.join(sorted(FOR_GATES))}, or leave out --kernel"
            )

    def _check_trees(self, trees: str, options: tuple[str, ...]) -> None:
        """Refuse what decision trees, of which some comparisons are left out, cannot do."""
        without = " ".join(f"--structure-option {option}" for option in options)
        if self.options.constant_time:
            raise OptionError(
                f"the model has {trees}, so that the execution time depends on states; train with "
                f"{without}, or do not request constant time"
            )
        if "stream" in self.options.entries:
            raise OptionError(
                f"the model has {trees}, so that all features are needed at once; train with "
                f"{without}, or leave out the entry point 'stream'"
            )

    def _check_family(self) -> None:
        family = self.options.kernel
        if family is not None and family in FAMILIES and not FAMILIES[family].is_for_trees:
            raise OptionError(
                f"the kernel '{family}' has no layout for tables that are found by decision trees; "
                f"use --kernel {' or '.join(sorted(FOR_TREES))}, or leave out --kernel"
            )
