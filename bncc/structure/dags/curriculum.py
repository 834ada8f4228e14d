"""Curriculum learning: the order in which variables are unfixed, and the segments of the rows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import ceil

import numpy as np

from bncc._types import BoolArray, FloatArray, IntArray
from bncc.progress import Progress, silence
from bncc.structure.dags.climbing import climb
from bncc.structure.dags.dag_score import (
    Columns,
    Dag,
    DagScore,
    Joint,
    Limits,
    ScoreKind,
    one_joint,
)
from bncc.structure.scores import conditional_mutual_information

FIRST_VARIABLES = 3
"""Variables of the first stage, as in the code of S4's authors."""
LEAST_CHANGE = 0.02
"""Relative change in the number of segments that makes a stage worth a search."""


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
        # Division by the number of predecessors changes no order.
        sums = between[chosen].copy() if not order else sums + between[chosen]
        order.append(chosen)
    return tuple(order)


@dataclass(frozen=True, eq=False)
class Stage:
    """One search of the curriculum."""

    variables: tuple[int, ...]  # Unfixed variables; arcs may join them
    # Segment of each row, by the states of all other variables; None in the last stage, where all
    # rows form one segment
    segments: Joint | None
    n_segments: int  # Number of nonempty segments


def stages_of(columns: Columns, order: tuple[int, ...], step: int) -> tuple[Stage, ...]:
    """
    Return the stages of a curriculum.

    References
    ----------
    S4, algorithm 1 and question 3; the rule that skips stages is from its authors' code.
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
    """Return the sizes of the segmented stages, and the joint states of their fixed variables."""
    sizes = range(FIRST_VARIABLES, len(order), step) if step else range(0)
    found: dict[int, Joint] = {}
    fixed = one_joint(columns.n_samples)
    for size in reversed(range(FIRST_VARIABLES, len(order))):
        fixed = fixed.with_column(columns.states[order[size]], columns.n_states[order[size]])
        if size in sizes:
            found[size] = fixed
    return ((size, found[size]) for size in sizes)


STEPS = (0, 1, 2, 3)
"""Candidate step sizes; 0 is hill climbing with the arc penalty alone."""
HELD_SHARE = 0.2
"""Fraction of the training rows on which step sizes are evaluated."""
PRICE_OF_SAMPLES = 1000.0
PRICE_OF_VARIABLES = 100.0
"""a and b of S4's penalty, (a / N + V / b) per arc, from its authors' code."""


@dataclass(frozen=True)
class CurriculumSettings:
    """Settings of the search within stages."""

    alpha: float = 10.0  # Equivalent sample size, > 0, divided by the number of segments
    limits: Limits = field(default_factory=Limits)  # Limits of a family


def arc_price(columns: Columns) -> float:
    """
    Return S4's penalty of an arc, in nats.

    References
    ----------
    S4, "Over-fitting".
    """
    per_sample = PRICE_OF_SAMPLES / max(columns.n_samples, 1)
    return per_sample + columns.n_variables / PRICE_OF_VARIABLES


def order_of(columns: Columns) -> tuple[int, ...]:
    """Return the order in which the rows suggest that variables are unfixed."""
    return unfixing_order(pair_information(columns))


def learn_by_curriculum(
    columns: Columns,
    allowed: BoolArray,
    step: int,
    settings: CurriculumSettings | None = None,
    tell: Progress = silence,
    order: tuple[int, ...] | None = None,
) -> Dag:
    """
    Learn a graph by curriculum learning with one step size.

    Shapes: `allowed` (n_variables, n_variables) bool.

    References
    ----------
    S4, algorithm 1.
    """
    settings = settings or CurriculumSettings()
    kind = ScoreKind("bdeu", settings.alpha, arc_price(columns))
    stages = stages_of(columns, order or order_of(columns), step)
    dag: Dag | None = None
    for done, stage in enumerate(stages, start=1):
        inside = np.zeros(columns.n_variables, dtype=bool)
        inside[list(stage.variables)] = True
        score = DagScore(columns, kind, settings.limits, stage.segments)
        dag = climb(score, allowed & np.outer(inside, inside), dag)
        n_arcs = sum(map(len, dag))
        words = f"{len(stage.variables)} variables, {stage.n_segments} segments, {n_arcs} arcs"
        tell(done / len(stages), words)
    assert dag is not None
    return dag


def choose_step(
    columns: Columns,
    is_held: BoolArray,
    allowed: BoolArray,
    settings: CurriculumSettings,
    steps: Sequence[int] = STEPS,
    tell: Progress = silence,
) -> int:
    """
    Return the step size whose graph, learned from some rows, scores best on the others.

    Shapes: `is_held` (n_samples,) bool; `allowed` (n_variables, n_variables) bool.
    """
    kept, held = columns.rows(~is_held), columns.rows(is_held)
    judge = DagScore(held, ScoreKind("bdeu", settings.alpha), settings.limits)
    order = order_of(kept)
    scores: list[float] = []
    for step in steps:
        dag = learn_by_curriculum(kept, allowed, step, settings, order=order)
        scores.append(judge.total(dag))
        tell(len(scores) / len(steps), f"step {step}: {scores[-1]:.4f} nats of held-out rows")
    return steps[int(np.argmax(scores))]


def held_rows(n_samples: int, seed: int, origin: IntArray | None = None) -> BoolArray:
    """
    Sample the rows on which step sizes are evaluated.

    Shapes: `origin` (n_samples,) int; returns (n_samples,) bool, a fifth of the rows, rounded down.
    """
    rows = np.arange(n_samples) if origin is None else origin
    distinct = np.unique(rows)
    held = np.random.default_rng(seed).permutation(distinct)[: int(HELD_SHARE * len(distinct))]
    return np.isin(rows, held)
