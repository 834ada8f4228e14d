"""S0's check of its search: likelihood alone must find the Chow-Liu tree again."""

from dataclasses import replace

import numpy as np

from bncc._types import FloatArray
from bncc.papers.folds import AUTHORS, Fold, check_files, read_folds
from bncc.papers.request import Advance, Cell, Request, part_of
from bncc.structure.candidates import all_earlier
from bncc.structure.graph import Structure, topological_order
from bncc.structure.learners.trees import chow_liu_tree
from bncc.structure.options import DEFAULT_STEP
from bncc.structure.scores import conditional_mutual_information
from bncc.train.checkpoint.callbacks import Course, News, Progress
from bncc.train.gradient.engine import Passed, StructureProblem
from bncc.train.hyperparameters import hyperparameters_of
from bncc.train.joint.descent import descend_structure
from bncc.train.settings import TrainSettings

NO_MNIST = "the authors' discretized mnist could not be obtained"
COLUMN = "Chow-Liu recovered"
EPOCHS = 120
"""After 60, one parent or two among satimage's 175 were still others that tell nearly as much."""
EQUAL_NATS = 1e-9
"""Conditional mutual information that differs by less is equal but for rounding."""


def s0_recover_chow_liu(request: Request, advance: Advance | None = None) -> tuple[Cell, ...]:
    """
    Repeat section 4.6 of S0: learn structures by likelihood alone, that is with lambda 0.

    All earlier features are candidates. The order is a topological one of the Chow-Liu tree, so
    that the tree may be chosen. A parent counts as recovered if it is the tree's, or tells as much.
    """
    rows = AUTHORS[:2] if request.quick else AUTHORS
    check_files(request.data_dir, AUTHORS)
    todo = [(row, fold) for row in rows for fold in read_folds(request.data_dir, row)]
    found: dict[str, list[tuple[int, int]]] = {row: [] for row in rows}
    for done, (row, fold) in enumerate(todo):
        title = f"{row}, fold {len(found[row]) + 1},"
        found[row].append(_recovered(fold, _told(part_of(advance, done, len(todo), title))))
    if not request.quick:
        found["mnist"] = []
    return tuple(_cell(row, counts) for row, counts in found.items())


def _cell(row: str, counts: list[tuple[int, int]]) -> Cell:
    n = sum(arcs for _, arcs in counts)
    recovered = sum(same for same, _ in counts)
    return {
        "row": row,
        "column": COLUMN,
        "paper": 100.0,
        "ours": 100 * recovered / n if n else None,
        "n": n or None,
        "note": f"over {len(counts)} folds" if len(counts) > 1 else None if counts else NO_MNIST,
    }


def _told(tell: Advance) -> Progress:
    """Return what tells of epochs."""

    def report(epoch: int, epochs: int, news: News) -> None:
        tell(epoch / epochs, f"loss {news.loss:.3f}" if isinstance(news, Passed) else "")

    return report


def _recovered(fold: Fold, progress: Progress) -> tuple[int, int]:
    """Return how many parents of the Chow-Liu tree are found again, and how many there are."""
    data = (fold.X, fold.y, fold.n_states, fold.n_classes)
    tree = chow_liu_tree(*data)
    candidates = all_earlier(np.array(topological_order(tree))).among(np.array(fold.n_states) > 1)
    hyper = hyperparameters_of(TrainSettings(lambda_=0.0, epochs=EPOCHS), len(fold.y))
    problem = StructureProblem(*data, candidates, DEFAULT_STEP)
    likelihood = replace(hyper, dropout=0.0)
    rng, course = np.random.default_rng(0), Course(progress)
    structure, _ = descend_structure(problem, likelihood, rng, None, course)
    information = conditional_mutual_information(*data)
    ours, best = _told_by_parents(information, structure), _told_by_parents(information, tree)
    has_parent = np.array([len(parents) > 0 for parents in tree.parents])
    return int((np.abs(ours - best) < EQUAL_NATS)[has_parent].sum()), tree.n_edges


def _told_by_parents(information: FloatArray, structure: Structure) -> FloatArray:
    """Return what each feature's parent tells about it beside the class, in nats."""
    return np.array(
        [sum(information[i, j] for j in parents) for i, parents in enumerate(structure.parents)]
    )
