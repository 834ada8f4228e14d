"""The learners that S4's study compares, on one sample of rows."""

from collections.abc import Mapping
from dataclasses import dataclass

from bncc.structure.dags.climbing import climb, tabu_search
from bncc.structure.dags.curriculum import (
    CurriculumSettings,
    choose_step,
    held_rows,
    learn_by_curriculum,
    order_of,
)
from bncc.structure.dags.dag_score import Columns, Dag, DagScore, ScoreKind, arcs_of
from bncc.structure.dags.measures import measure, structural_distance
from bncc.structure.dags.neighbors import parents_and_children, varying_pairs

ALPHA = 10.0
"""Equivalent sample size of all learners and of the judging BDeu."""
CL, MMHC, TABU, PRICED, HC = "CL", "MMHC", "Tabu", "Priced HC", "HC"
LEARNERS = (CL, MMHC, TABU, PRICED, HC)
"""CL has the curriculum; MMHC is hill climbing within the same sets, Tabu likewise with a list of
100 graphs; Priced HC is CL without stages, its step 0; HC may join any two variables."""


@dataclass(frozen=True)
class Reached:
    """What a learner reaches on one sample."""

    bdeu: float  # bdeu, bic, kl: Of the test rows, see `bncc.structure.dags.measures.Measures`
    bic: float
    kl: float
    # shd and shd_of_patterns: Distance to the true graph, see
    # `bncc.structure.dags.measures.Distance`
    shd: int
    shd_of_patterns: int
    n_arcs: int  # Arcs


def learn_graphs(train: Columns, seed: int) -> dict[str, Dag]:
    """Learn a graph by each learner."""
    sets, settings = parents_and_children(train), CurriculumSettings(ALPHA)
    score = DagScore(train, ScoreKind("bdeu", ALPHA))
    step = choose_step(train, held_rows(train.n_samples, seed), sets, settings)
    order = order_of(train)
    return {
        CL: learn_by_curriculum(train, sets, step, settings, order=order),
        MMHC: climb(score, sets),
        TABU: tabu_search(score, sets),
        PRICED: learn_by_curriculum(train, sets, 0, settings, order=order),
        HC: climb(score, varying_pairs(train)),
    }


def judge(dag: Dag, true: Dag, test: Columns) -> Reached:
    """Measure a graph."""
    found, distance = measure(test, dag, ALPHA), structural_distance(dag, true)
    return Reached(
        bdeu=found.bdeu,
        bic=found.bic,
        kl=found.information,
        shd=distance.total,
        shd_of_patterns=distance.of_patterns,
        n_arcs=len(arcs_of(dag)),
    )


def judge_all(train: Columns, test: Columns, true: Dag, seed: int) -> Mapping[str, Reached]:
    """Learn by each learner, and measure what was learned."""
    dags = learn_graphs(train, seed)
    return {name: judge(dag, true, test) for name, dag in dags.items()}
