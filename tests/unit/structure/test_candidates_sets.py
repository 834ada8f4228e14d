"""The differentiable searches by name."""

import numpy as np
import pytest

from bncc.errors import OptionError
from bncc.structure import candidates as candidate_sets
from bncc.structure.candidates import ABSENT, CANDIDATE_SETS, find_candidates
from bncc.structure.options import ORDERS
from bncc.structure.orders import image_order


def found(name, n_features=16, seed=0, **options):
    return find_candidates(name, n_features, options, np.random.default_rng(seed)).parent


def test_a_subset_has_8_candidates_of_a_random_order_unless_told_otherwise():
    assert found("tan-subset").shape == (16, 8)
    assert found("tan-subset", parents="3").shape == (16, 3)
    assert not np.array_equal(found("tan-subset"), found("tan-subset", seed=1))
    assert (found("tan-subset", order="identity")[0] == ABSENT).all()


def test_all_has_every_pair_once():
    assert (found("tan-all") != ABSENT).sum() == 16 * 15 / 2
    assert np.array_equal(found("tan-all", order="A"), found("tan-all", order="identity", seed=5))


def test_the_heuristic_walks_outwards_and_needs_an_image():
    parent = found("tan-heuristic", parents="5")
    assert parent.shape == (16, 5)
    assert (parent[image_order("C", 4, 4)[0]] == ABSENT).all()
    assert found("tan-heuristic", n_features=15, width="5", order="A").shape == (15, 8)
    for order in ("C", "random"):
        with pytest.raises(OptionError, match="do not form a square image"):
            found("tan-heuristic", n_features=15, order=order)


@pytest.mark.parametrize("name", CANDIDATE_SETS)
def test_without_an_order_every_feature_has_as_many_candidates(name):
    options = {} if name == "tan-all" else {"parents": "5"}
    parent = found(name, order="none", **options)
    assert ((parent != ABSENT).sum(axis=1) == (5 if options else 15)).all()
    if name != "tan-subset":
        assert np.array_equal(parent, found(name, order="none", seed=1, **options))


@pytest.mark.parametrize("name", CANDIDATE_SETS)
def test_with_an_order_no_choice_has_a_cycle(name):
    for order in ORDERS:
        rng = np.random.default_rng(0)
        assert find_candidates(name, 16, {"order": order}, rng).graph().is_bayesian_network


def test_what_each_search_reads_is_listed():
    for known in CANDIDATE_SETS.values():
        assert {"order", "step", "width"} <= set(known.option_keys)
    assert "parents" not in CANDIDATE_SETS["tan-all"].option_keys


@pytest.mark.parametrize("most", [1, 3, 15, 99])
@pytest.mark.parametrize("order", ["random", "none"])
def test_too_many_candidates_are_refused_before_they_are_listed(monkeypatch, most, order):
    options = {"parents": str(most), "order": order}
    n_candidates = int((found("tan-subset", **options) != ABSENT).sum())
    monkeypatch.setattr(candidate_sets, "MAX_CANDIDATES", n_candidates)
    found("tan-subset", **options)
    monkeypatch.setattr(candidate_sets, "MAX_CANDIDATES", n_candidates - 1)
    with pytest.raises(OptionError, match=f"{n_candidates} candidate parents, .* fewer parents="):
        found("tan-subset", **options)
    monkeypatch.undo()
    with pytest.raises(OptionError, match="candidate parents"):
        found("tan-all", n_features=10**6)
