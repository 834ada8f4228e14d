"""The curriculum: in which order variables are unfixed, and how rows then fall into segments."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil

import numpy as np

from bncc._types import FloatArray
from bncc.structure.dags.columns import Columns, Joint, one_joint
from bncc.structure.scores import conditional_mutual_information

FIRST_VARIABLES = 3
"""Variables of the first stage, as in the code of S4's authors."""
LEAST_CHANGE = 0.02
"""Share by which the number of segments has to change for a stage to be worth a search."""


def pair_information(columns: Columns) -> FloatArray:
    """
    Return I(X_i; X_j) of all pairs.

    Shapes: returns (n_variables, n_variables) float64, symmetric, in nats, >= 0; the diagonal holds
    the entropies.
    """
    one_class = np.zeros(columns.n_samples, dtype=np.int64)
    return conditional_mutual_information(columns.states.T, one_class, columns.n_states, 1)


def unfixing_order(information: FloatArray) -> tuple[int, ...]:
    """
    Return the variables in the order in which they are unfixed.

    Shapes: `information` (n_variables, n_variables) float64.

    References
    ----------
    S4, "Make a Curriculum", questions 1 and 2.
    """
    n = len(information)
    between = np.where(np.eye(n, dtype=bool), 0.0, information)
    sums = between.sum(axis=1)
    order: list[int] = []
    for _ in range(n):
        sums[order] = -np.inf
        chosen = int(sums.argmax())
        # Dividing by the number of those before changes no order.
        sums = between[chosen].copy() if not order else sums + between[chosen]
        order.append(chosen)
    return tuple(order)


@dataclass(frozen=True, eq=False)
class Stage:
    """One search of the curriculum."""

    variables: tuple[int, ...]  # Those that are unfixed; arcs may join them
    # By the states of all other variables, the segment of each row; None in the last stage, where
    # all rows are one
    segments: Joint | None
    n_segments: int  # Segments that hold a row


def stages_of(columns: Columns, order: tuple[int, ...], step: int) -> tuple[Stage, ...]:
    """
    Return the stages of a curriculum.

    References
    ----------
    S4, algorithm 1 and question 3; the rule that leaves stages out is that of its authors' code.
    """
    stages: list[Stage] = []
    for size, fixed in _fixed_joints(columns, order, step):
        n_segments = len(fixed.counts())
        if stages:
            before = stages[-1].n_segments
            if abs(n_segments - before) < ceil(LEAST_CHANGE * before):
                continue
        stages.append(Stage(tuple(order[:size]), fixed, n_segments))
    return (*stages, Stage(order, None, min(columns.n_samples, 1)))


def _fixed_joints(
    columns: Columns, order: tuple[int, ...], step: int
) -> Iterator[tuple[int, Joint]]:
    """Return the sizes of the segmented stages, and the joint states of what each leaves fixed."""
    sizes = range(FIRST_VARIABLES, len(order), step) if step else range(0)
    found: dict[int, Joint] = {}
    fixed = one_joint(columns.n_samples)
    for size in reversed(range(FIRST_VARIABLES, len(order))):
        fixed = fixed.with_column(columns.states[order[size]], columns.n_states[order[size]])
        if size in sizes:
            found[size] = fixed
    return ((size, found[size]) for size in sizes)
