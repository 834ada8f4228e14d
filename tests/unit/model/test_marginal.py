"""Marginalization of missing features, compared with the sum over all their states."""

from itertools import product

import numpy as np
import pytest

from bncc.model import marginal
from bncc.model.marginal import log_joint
from bncc.structure.counts import family_rows
from bncc.structure.graph import Structure, table_entries

CLASSES = 3


def drawn(parents, class_is_parent, n_states, generator, with_zeros=False):
    """Return a structure and tables that are distributions."""
    structure = Structure(tuple(parents), tuple(class_is_parent))
    tables = []
    for i, r in enumerate(n_states):
        q = int(np.prod([n_states[j] for j in structure.parents[i]], dtype=int))
        chances = generator.random((q, r, CLASSES)) + 0.01
        if with_zeros:
            chances[:, 0] = 0.0
            chances[:, -1] += 1.0
        if not structure.class_is_parent[i]:
            chances[:] = chances[:, :, :1]
        chances /= chances.sum(axis=1, keepdims=True)
        with np.errstate(divide="ignore"):
            tables.append(np.log(chances).reshape(q * r, CLASSES))
    return structure, (np.log(generator.dirichlet(np.ones(CLASSES))), tuple(tables))


def summed_out(structure, n_states, log_tables, x, is_missing):
    """Return ln p(c, known features) by adding up the joint distribution."""
    total = np.zeros(CLASSES)
    ranges = [range(r) if gap else [s] for r, gap, s in zip(n_states, is_missing, x, strict=True)]
    for states in product(*ranges):
        row = np.array([states])
        log_p = log_tables[0].copy()
        for i, table in enumerate(log_tables[1]):
            log_p += table[family_rows(row, structure, n_states, i)[0]]
        total += np.exp(log_p)
    with np.errstate(divide="ignore"):
        return np.log(total)


FORESTS = {
    "naive": ([()] * 4, [True] * 4),
    "chain upward": ([(1,), (2,), (3,), ()], [True] * 4),
    "star": ([(2,), (2,), (), (2,)], [True] * 4),
    "two trees, some arcs of the class": ([(), (0,), (), (2,)], [False, True, True, False]),
    "all isolated": ([()] * 4, [False] * 4),
}


@pytest.mark.parametrize("form", FORESTS)
@pytest.mark.parametrize("with_zeros", [False, True])
def test_messages_give_what_the_sum_over_all_states_gives(form, with_zeros):
    generator = np.random.default_rng(len(form))
    n_states = [2, 3, 4, 2]
    structure, tables = drawn(*FORESTS[form], n_states, generator, with_zeros)
    X = np.column_stack([generator.integers(0, r, 40) for r in n_states])
    is_missing = generator.random(X.shape) < 0.4
    is_missing[0], is_missing[1] = True, False
    found = log_joint(structure, n_states, tables, X, is_missing)
    for row, x, gaps in zip(found, X, is_missing, strict=True):
        expected = summed_out(structure, n_states, tables, x, gaps)
        np.testing.assert_allclose(np.exp(row), np.exp(expected), rtol=0, atol=1e-12)
        if not with_zeros:
            np.testing.assert_allclose(row, expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found[0], tables[0], atol=1e-12)


def test_with_all_known_it_is_the_plain_sum_to_the_bit():
    generator = np.random.default_rng(1)
    n_states = [2, 3, 4, 2]
    structure, tables = drawn(*FORESTS["star"], n_states, generator)
    X = np.column_stack([generator.integers(0, r, 9) for r in n_states])
    plain = np.tile(tables[0], (9, 1))
    for i, table in enumerate(tables[1]):
        plain += table[family_rows(X, structure, n_states, i)]
    assert (log_joint(structure, n_states, tables, X) == plain).all()
    assert (log_joint(structure, n_states, tables, X, np.zeros(X.shape, bool)) == plain).all()
    gap = np.zeros(X.shape, bool)
    gap[4, 1] = True
    mixed = log_joint(structure, n_states, tables, X, gap)
    np.testing.assert_allclose(np.delete(mixed, 4, 0), np.delete(plain, 4, 0), atol=1e-12)
    assert (mixed[4] > plain[4]).all(), "a sum of chances is more than one of them"


def test_rows_in_parts_are_the_same(monkeypatch):
    generator = np.random.default_rng(2)
    n_states = [2, 3, 4, 2]
    structure, tables = drawn(*FORESTS["star"], n_states, generator)
    X = np.column_stack([generator.integers(0, r, 30) for r in n_states])
    gaps = generator.random(X.shape) < 0.3
    whole = log_joint(structure, n_states, tables, X, gaps)
    monkeypatch.setattr(marginal, "PART", 7 * table_entries(structure, n_states, CLASSES))
    assert (log_joint(structure, n_states, tables, X, gaps) == whole).all()
    assert log_joint(structure, n_states, tables, X[:0], gaps[:0]).shape == (0, CLASSES)


def test_states_under_missing_cells_do_not_matter():
    generator = np.random.default_rng(3)
    n_states = [2, 2, 2, 2]
    structure, tables = drawn(*FORESTS["chain upward"], n_states, generator)
    X = generator.integers(0, 2, (20, 4))
    gaps = generator.random(X.shape) < 0.5
    other = np.where(gaps, 1 - X, X)
    found = [log_joint(structure, n_states, tables, states, gaps) for states in (X, other)]
    assert (found[0] == found[1]).all()


def test_what_is_no_forest_is_refused():
    twice = Structure(((), (), (0, 1)), (True,) * 3)
    with pytest.raises(ValueError, match="two feature parents"):
        log_joint(twice, [2] * 3, (np.zeros(2), ()), np.zeros((1, 3), int))
    ring = Structure(((1,), (0,)), (True,) * 2)
    with pytest.raises(ValueError, match="cycle"):
        log_joint(ring, [2] * 2, (np.zeros(2), ()), np.zeros((1, 2), int))


@pytest.mark.parametrize("options", [{"class_parents": (0,)}, {"given": (0,)}])
def test_what_is_no_forest_below_the_class_is_refused(options):
    structure = Structure(((), ()), (False, True), **options)
    with pytest.raises(ValueError, match="the class has a parent, or a feature is given"):
        log_joint(structure, (2, 2), (np.zeros(2), [np.zeros((2, 2))] * 2), np.zeros((1, 2), int))
