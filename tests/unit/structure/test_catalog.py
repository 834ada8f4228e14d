"""The learners by name: what they find, and what they refuse."""

import numpy as np
import pytest

from bncc.errors import OptionError
from bncc.structure.catalog import (
    CONTRACT,
    LEARNERS,
    STRUCTURES,
    check_structure_options,
    learn_structure,
)

GENERATOR = np.random.default_rng(0)
Y = GENERATOR.integers(0, 2, 400)
NOISE = GENERATOR.integers(0, 3, (400, 4))
# Feature 1 copies feature 3; feature 2 has one state; 0 is independent given the class.
X = np.stack([NOISE[:, 0], NOISE[:, 1], np.zeros(400, int), NOISE[:, 1]], axis=1)
N_STATES = (3, 3, 1, 3)


def parents(name, **options):
    structure = learn_structure(name, X, Y, N_STATES, 2, options)
    assert all(structure.class_is_parent)
    return structure.parents


def test_naive_bayes_has_no_arcs():
    assert parents("naive") == ((), (), (), ())


def test_chow_liu_of_bdeu_spans_all_features_too():
    assert [len(p) for p in parents("chow-liu", score="bdeu", alpha="0.1")] == [0, 1, 1, 1]
    with pytest.raises(OptionError, match="score=bic is unknown; choose cmi or bdeu"):
        parents("chow-liu", score="bic")


def test_chow_liu_spans_all_features_from_feature_0():
    found = parents("chow-liu")
    assert found[0] == ()
    assert all(len(found[i]) == 1 for i in (1, 2, 3))
    assert found[1] == (3,) or found[3] == (1,)


def test_forest_keeps_only_arcs_that_gain():
    assert parents("forest") == ((), (), (), (1,))


def test_a_larger_alpha_keeps_arcs_that_a_smaller_one_drops():
    weak = (X[:, [1, 3]] + (GENERATOR.random((400, 2)) < 0.62)) % 3
    counts = [
        learn_structure("forest", weak, Y, (3, 3), 2, {"alpha": alpha}).n_edges
        for alpha in ("0.01", "50")
    ]
    assert counts == [0, 1]


def test_a_random_tree_follows_the_seed_and_the_order():
    trees = [learn_structure("random", X, Y, N_STATES, 2, {}, seed).parents for seed in range(9)]
    assert trees[0] == learn_structure("random", X, Y, N_STATES, 2).parents
    assert len(set(trees)) > 3
    found = parents("random", order="identity")
    assert found[0] == ()
    assert [len(found[i]) for i in (1, 2, 3)] == [1, 1, 1]
    assert parents("random", order="A", width="2")[0] == ()


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("seed", range(3))
def test_structures_learned_alone_are_bayesian_networks(name, seed):
    structure = learn_structure(name, X, Y, N_STATES, 2, {}, seed)
    assert structure.is_bayesian_network


def test_a_random_tree_needs_an_order():
    with pytest.raises(OptionError, match="order=none allows cycles"):
        parents("random", order="none")


def test_a_structure_learned_with_its_tables_is_not_learned_alone():
    with pytest.raises(OptionError, match="'tan-all' is learned jointly with the tables"):
        learn_structure("tan-all", X, Y, N_STATES, 2)


def test_every_name_of_the_contract_is_offered():
    assert STRUCTURES[: len(CONTRACT)] == CONTRACT
    for name in CONTRACT:
        check_structure_options(name, {})


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(
        OptionError, match=r"unknown structure 'tree'; choose chow-liu, .* or tables"
    ):
        learn_structure("tree", X, Y, N_STATES, 2)


def test_an_unknown_option_lists_the_known_ones():
    with pytest.raises(OptionError, match=r"unknown option 'beta' of structure 'forest'; .*alpha"):
        parents("forest", beta="1")
    with pytest.raises(OptionError, match="it has no options"):
        parents("naive", alpha="1")
    check_structure_options("naive", {"alpha": "1"}, ("alpha",))


def test_values_are_read_before_any_work():
    for name, options in (("forest", {"alpha": "0"}), ("tan-subset", {"parents": "none"})):
        with pytest.raises(OptionError, match="is not a"):
            check_structure_options(name, options)
    check_structure_options("curriculum", {"step": "0"})  # no step of a descent
