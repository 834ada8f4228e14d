"""Learning a graph stage by stage, each begun where the last one ended."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from bncc._types import BoolArray, IntArray
from bncc.structure.dags.climbing import climb
from bncc.structure.dags.columns import Columns, Dag
from bncc.structure.dags.curriculum import pair_information, stages_of, unfixing_order
from bncc.structure.dags.dag_score import DagScore, Limits, ScoreKind
from bncc.structure.learner import Tell, silence

STEPS = (0, 1, 2, 3)
"""Step sizes to choose among; 0 is hill climbing with the price of arcs alone."""
HELD_SHARE = 0.2
"""Of the training rows, those that judge step sizes."""
PRICE_OF_SAMPLES = 1000.0
PRICE_OF_VARIABLES = 100.0
"""a and b of S4's penalty, (a / N + V / b) per arc, from its authors' code."""


@dataclass(frozen=True)
class CurriculumSettings:
    """How stages are searched."""

    alpha: float = 10.0  # Equivalent sample size, > 0, divided by the number of segments
    limits: Limits = field(default_factory=Limits)  # What families may have


def arc_price(columns: Columns) -> float:
    """
    Return S4's price of an arc, in nats.

    References
    ----------
    S4, "Over-fitting".
    """
    per_sample = PRICE_OF_SAMPLES / max(columns.n_samples, 1)
    return per_sample + columns.n_variables / PRICE_OF_VARIABLES


def order_of(columns: Columns) -> tuple[int, ...]:
    """Return the order in which the rows say that variables are unfixed."""
    return unfixing_order(pair_information(columns))


def learn_by_curriculum(
    columns: Columns,
    allowed: BoolArray,
    step: int,
    settings: CurriculumSettings | None = None,
    tell: Tell = silence,
    order: tuple[int, ...] | None = None,
) -> Dag:
    """
    Learn a graph by a curriculum of one step size.

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
    tell: Tell = silence,
) -> int:
    """
    Return the step size whose graph, learned of some rows, scores best on the others.

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
    Draw the rows that judge step sizes.

    Shapes: `origin` (n_samples,) int; returns (n_samples,) bool, a fifth of the rows, rounded down.
    """
    rows = np.arange(n_samples) if origin is None else origin
    distinct = np.unique(rows)
    held = np.random.default_rng(seed).permutation(distinct)[: int(HELD_SHARE * len(distinct))]
    return np.isin(rows, held)
