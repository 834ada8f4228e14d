"""Summing missing features out as C: arrays, types and numbers for the templates."""

from dataclasses import dataclass

from bncc.lower.c.c99 import ArrayText, array, counter, unsigned
from bncc.lower.missing.plan import NARROW_BITS, JointPlan, MissingPlan, MissingTables
from bncc.model.missing_form import CORRECTIONS
from bncc.program.ir import width_of


@dataclass(frozen=True)
class JointText:
    """Names for `lower/missing/joint.c.j2` alone."""

    # table_type, stride_type, arc_type: C types of a table's number, of a stride, and of an arc's
    # number
    table_type: str
    stride_type: str
    arc_type: str
    n_tables: int  # Tables
    n_summed: int  # Features that are summed over at once, at most
    n_joint: int  # Joint states, at most
    has_class_table: bool  # True if the class has parents


def joint_text(plan: JointPlan) -> tuple[list[ArrayText], JointText]:
    """Print the arrays and names that the template needs."""
    arcs = [arc for some in plan.arcs for arc in some]
    meaning = "All features, children before their parents."
    upward = array("upward", width_of(len(plan.arcs)), plan.upward, meaning)
    meaning = "First arc of each feature, then the number of arcs: a feature has one for each\n"
    meaning += " * table that reads it."
    arcs_at = array("arcs_at", width_of(len(arcs)), plan.arcs_at, meaning)
    meaning = "Table of each arc."
    table = array("arc_table", width_of(len(plan.starts)), [arc.table for arc in arcs], meaning)
    bits = plan.place_bits
    meaning = "Entries between the rows of neighboring states of the feature."
    strides = array("arc_stride", bits, [arc.stride for arc in arcs], meaning)
    meaning = "Entries between the rows of its first and its last state."
    spans = array("arc_span", bits, [arc.span for arc in arcs], meaning)
    text = JointText(
        table_type=table.type,
        stride_type=strides.type,
        arc_type=arcs_at.type,
        n_tables=len(plan.starts),
        n_summed=plan.n_summed,
        n_joint=plan.n_joint,
        has_class_table=plan.has_class_table,
    )
    return [upward, arcs_at, table, strides, spans], text


_OF_KIND = {
    "naive": "lower/missing/rows.c.j2",
    "forest": "lower/missing/forest.c.j2",
    "joint": "lower/missing/joint.c.j2",
}


@dataclass(frozen=True)
class MissingText:
    """The entry points for missing features, ready for the templates."""

    template: str  # What sums and decides
    arrays: tuple[ArrayText, ...]  # Tables, addresses and corrections
    # number_type and bits_type: C type of the signed numbers, and the unsigned one of its width
    number_type: str
    bits_type: str
    # place_type, entry_type, node_type, stride_type, sum_type, prior_type: C types of an entry's
    # number, of an entry, of a node, of a stride, of a sum's place, and of the prior's costs
    place_type: str
    entry_type: str
    node_type: str
    stride_type: str
    sum_type: str
    prior_type: str
    none: str  # none and absent: No entry's number, and no feature's state
    absent: str
    is_narrow: bool  # True if two costs share a byte
    extra: int  # By how many bits costs are shifted
    half: int  # half, index_shift, value_shift, reach: See `bncc.model.missing_form.LogAdd`
    index_shift: int
    value_shift: int
    reach: int
    n_sums: int  # Length of the array of sums; 0 without
    n_bits: int  # Bytes of a bit for each feature
    scratch_bytes: int  # Bytes of its arrays on the stack
    joint: JointText | None  # More of a network that is summed over joint states

    @property
    def has_arcs(self) -> bool:
        """True if probabilities are added at all."""
        return self.template != _OF_KIND["naive"]


def missing_text(plan: MissingPlan | JointPlan, state_bits: int) -> MissingText:
    """Print the arrays and names that the templates need."""
    arrays = {each.name: each for each in _table_arrays(plan)}
    joint = None
    if isinstance(plan, JointPlan):
        kind, n_features, n_sums = "joint", len(plan.arcs), 0
        more, joint = joint_text(plan)
    else:
        kind, n_features, n_sums = "naive", len(plan.features), plan.n_sums
        more = []
        if plan.has_arcs:
            kind, more = "forest", _forest_arrays(plan)
    arrays |= {each.name: each for each in more}
    if kind != "naive":
        meaning = "2^8 ln(1 + exp(-k / 2^5)), rounded, for k = 0, 1, ...: subtracted in a log-sum."
        arrays["correction"] = array("correction", 8, CORRECTIONS, meaning)
    types = {name: each.type for name, each in arrays.items()}
    return MissingText(
        template=_OF_KIND[kind],
        arrays=tuple(arrays.values()),
        number_type=f"int{plan.number_bits}_t",
        bits_type=unsigned(plan.number_bits),
        place_type=unsigned(plan.place_bits),
        entry_type=types["all_costs"],
        node_type=counter(n_features),
        stride_type=types.get("row_stride", ""),
        sum_type=types.get("sums_at", ""),
        prior_type=types["all_prior"],
        none=f"{(1 << plan.place_bits) - 1}U",
        absent=f"{(1 << state_bits) - 1}U",
        is_narrow=plan.entry_bits == NARROW_BITS,
        extra=plan.log_add.extra_bits,
        half=plan.log_add.half,
        index_shift=plan.log_add.index_shift,
        value_shift=plan.log_add.value_shift,
        # Every distance is below the clamp: a number has a sign besides. Without it compilers warn.
        reach=min(plan.log_add.reach, (1 << plan.number_bits) - 1),
        n_sums=n_sums,
        n_bits=(n_features + 7) // 8,
        scratch_bytes=plan.scratch_bytes,
        joint=joint,
    )


def _table_arrays(plan: MissingTables) -> list[ArrayText]:
    """Return the constants that every form of marginalization reads."""
    bits = plan.place_bits
    found = [_costs(plan)]
    prior = plan.prior.tolist()
    meaning = "Prior cost of each class, before all passes."
    found.append(array("all_prior", width_of(max(prior)), prior, meaning))
    found.append(array("table_at", bits, plan.starts, "First cost of each table in all_costs."))
    return found


def _forest_arrays(plan: MissingPlan) -> list[ArrayText]:
    """Return the indices of a forest's nodes and of their sums."""
    found: list[ArrayText] = []
    n = len(plan.features)
    node_bits = width_of(n)
    meaning = "Feature of each node; a node comes before its parent."
    found.append(array("node_feature", node_bits, plan.features, meaning))
    parents = [n if parent is None else parent for parent in plan.parents]
    meaning = "Parent of each node; the number of nodes if it has none."
    found.append(array("node_parent", node_bits, parents, meaning))
    meaning = "Entries between the rows of neighboring states of the parent."
    found.append(array("row_stride", max(16, width_of(max(plan.strides))), plan.strides, meaning))
    meaning = "Index of each node's sums, which its children's messages are added to."
    # In 16 bits at least: AVR compilers multiply to index wide sums by a number of 8 bits.
    found.append(array("sums_at", max(16, width_of(plan.n_sums)), plan.places, meaning))
    return found


def _costs(plan: MissingTables) -> ArrayText:
    """Return all tables."""
    costs = plan.costs.tolist()
    meaning = "Costs of all tables, before all passes, class index fastest"
    if plan.entry_bits > NARROW_BITS:
        return array("all_costs", plan.entry_bits, costs, f"{meaning}.")
    pairs = [
        low | high << NARROW_BITS for low, high in zip(costs[::2], [*costs[1::2], 0], strict=False)
    ]
    return array("all_costs", 8, pairs, f"{meaning}; two per byte, the first in the low nibble.")
