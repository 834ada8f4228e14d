"""Family scores against the scores of single tables."""

import json
from pathlib import Path

import numpy as np
import pytest

from bncc.structure.counts import family_counts
from bncc.structure.graph import Structure, forest
from bncc.structure.scores import (
    bdeu,
    bdeu_families,
    bdeu_families_of_sums,
    bdeu_gains,
    bic_families,
    log_gamma_term,
    score_of,
    table_sums,
)

PGMPY = Path(__file__).parents[2] / "fixtures" / "families_pgmpy.json"
N_STATES, N_CLASSES = (3, 2, 4, 1), 3
GENERATOR = np.random.default_rng(3)
X = np.stack([GENERATOR.integers(0, r, 200) for r in N_STATES], axis=1)
X[:, 1] = (X[:, 0] + GENERATOR.integers(0, 2, 200)) % 2
Y = GENERATOR.integers(0, N_CLASSES, 200)
DATA = (X, Y, N_STATES, N_CLASSES)


def bic(counts):
    q, r = counts.shape
    likelihood = sum(n * np.log(n / row.sum()) for row in counts for n in row if n > 0)
    return likelihood - 0.5 * np.log(counts.sum()) * q * (r - 1)


def local_scores(score, families):
    """Pair every family's score with that of its table of (parent states, states)."""
    for i in range(4):
        for j in (None, *(set(range(4)) - {i})):
            parents = tuple(() if k != i or j is None else (j,) for k in range(4))
            cells = family_counts(X, Y, Structure(parents, (True,) * 4), N_STATES, N_CLASSES, i)
            with_class = score(np.moveaxis(cells, 1, 2).reshape(-1, N_STATES[i]))
            without = score(cells.sum(axis=2))
            if j is None:
                yield families.given_class[i], with_class
                yield families.alone[i], without
            else:
                yield families.given_both[i, j], with_class
                yield families.given_feature[i, j], without
    yield families.of_class, score(np.bincount(Y)[None, :])


@pytest.mark.parametrize("alpha", [0.5, 2.0, 10.0])
def test_bdeu_families_are_local_scores(alpha):
    _, families = bdeu_families(*DATA, (1.0, alpha))
    for ours, expected in local_scores(lambda counts: bdeu(counts, alpha), families):
        assert ours == pytest.approx(expected, abs=1e-9)
    assert np.all(np.diagonal(families.given_both) == -np.inf)
    assert np.all(np.diagonal(families.given_feature) == -np.inf)


def test_bic_families_are_local_scores():
    for ours, expected in local_scores(bic, bic_families(*DATA)):
        assert ours == pytest.approx(expected, abs=1e-9)


def test_gains_of_arcs_are_differences_of_families():
    (families,) = bdeu_families(*DATA, (2.0,))
    gains = families.given_both - families.given_class[:, None]
    assert bdeu_gains(*DATA, 2.0) == pytest.approx(gains, abs=1e-9)


def test_the_score_of_a_structure_is_that_of_its_families():
    (families,) = bdeu_families(*DATA, (2.0,))
    structure = Structure(((), (0,), (0,), ()), (True, True, False, False))
    expected = families.of_class + families.given_class[0] + families.given_both[1, 0]
    expected += families.given_feature[2, 0] + families.alone[3]
    assert score_of(structure, families) == pytest.approx(expected)
    assert score_of(forest([]), bdeu_families(X[:, :0], Y, (), 3, (2.0,))[0]) == families.of_class
    with pytest.raises(ValueError, match="feature 2 has more than one"):
        score_of(Structure(((), (), (0, 1), ()), (True,) * 4), families)


def test_equivalent_structures_score_alike():
    """BDeu scores 0 -> 1 and 1 -> 0 alike, with the class and without."""
    (families,) = bdeu_families(*DATA, (2.0,))
    for flags in ((True,) * 4, (False,) * 4):
        scores = [
            score_of(Structure(parents, flags), families)
            for parents in (((), (0,), (), ()), ((1,), (), (), ()))
        ]
        assert scores[0] == pytest.approx(scores[1])


def test_without_rows_every_bdeu_score_is_zero():
    (families,) = bdeu_families(X[:0], Y[:0], N_STATES, N_CLASSES, (2.0,))
    assert not families.alone.any()
    assert not families.given_class.any()
    assert families.of_class == 0.0
    assert np.isfinite(bic_families(X[:0], Y[:0], N_STATES, N_CLASSES).alone).all()


def test_families_need_the_pairs_without_the_class():
    (sums,) = table_sums(*DATA, (log_gamma_term(2.0),), with_marginal=False)
    with pytest.raises(ValueError, match="pairs without the class were not counted"):
        bdeu_families_of_sums(sums)


@pytest.mark.parametrize("score", ["bdeu 1", "bdeu 2", "bdeu 10", "bic"])
def test_families_score_as_pgmpy_scores_them(score):
    theirs = json.loads(PGMPY.read_text(encoding="utf-8"))
    rows = np.array([[int(state) for state in row] for row in theirs["rows"]])
    y = np.array([int(label) for label in theirs["classes"]])
    data = (rows, y, theirs["n_states"], theirs["n_classes"])
    name, _, alpha = score.partition(" ")
    ours = bic_families(*data) if name == "bic" else bdeu_families(*data, (float(alpha),))[0]
    for family, values in theirs["scores"][score].items():
        expected = np.array(values, dtype=float)
        expected[np.isnan(expected)] = -np.inf
        assert getattr(ours, family) == pytest.approx(expected, abs=1e-6)
