"""Summing over joint states as C: arrays, types and numbers for the template."""

from dataclasses import dataclass

from bncc.lower.c.c99 import ArrayText, array
from bncc.lower.missing.joint import JointPlan
from bncc.program.ir import width_of


@dataclass(frozen=True)
class JointText:
    """What only `missing/joint.c.j2` needs."""

    # table_type, stride_type, arc_type: C types of a table's number, of a stride, and of an arc's
    # number
    table_type: str
    stride_type: str
    arc_type: str
    n_tables: int  # Tables
    n_summed: int  # Features that are summed over at once, at most
    n_joint: int  # Joint states, at most
    has_class_table: bool  # Whether the class has parents


def joint_text(plan: JointPlan) -> tuple[list[ArrayText], JointText]:
    """Print what the template needs."""
    arcs = [arc for some in plan.arcs for arc in some]
    meaning = "All features, children before their parents."
    upward = array("upward", width_of(len(plan.arcs)), plan.upward, meaning)
    meaning = "First arc of each feature, and the number of all: a feature has an arc for each\n"
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
