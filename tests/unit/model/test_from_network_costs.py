"""Costs of a network's probabilities: a veto for 0, and a binary point that decides alike."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from bncc.errors import NetworkError
from bncc.fixed_point import QFormat
from bncc.model import from_network
from bncc.model import missing as marginal
from bncc.model.explanation import contributions, impossible
from bncc.model.from_network import DEFAULT_BITS, ENOUGH, _widest, model_of, possible_rows
from bncc.model.missing_form import deepest_fold
from bncc.model.reference import costs, predict
from bncc.model.to_network import network_of_model
from bncc.network.inference import log_joint
from bncc.network.network import Network, Variable
from bncc.program.pipeline import program_of
from bncc.program.ranges import cost_bounds
from tests import models as hand
from tests.unit.network.networks import drawn

SHAPES = {
    "naive": ([(), (0,), (0,)], [3, 2, 4]),
    "tree": ([(), (0,), (0, 1), (0, 2)], [3, 2, 3, 2]),
    "class with parents": ([(), (), (0, 1), (2,), (2, 1)], [2, 3, 3, 2, 2]),
    "large table": ([(1, 2), (), (1,), (0, 2)], [2, 3, 2, 3]),
}
CASES = [
    (name, target, seed) for name, (parents, _) in SHAPES.items()
    for target in range(len(parents)) for seed in (1, 2)
]  # fmt: skip


def network_of(name, seed):
    """Return a network of which half of the probabilities that may be 0 are."""
    return drawn(*SHAPES[name], seed, zeros=0.5)


def table_of(*rows):
    """Return a table of probabilities."""
    return np.array(rows, dtype=np.float64)


def two(prior, table, states=("a", "b")):
    """Return a network of a class of two states, y and n, and a feature below it."""
    variables = (Variable("c", ("y", "n")), Variable("x", states))
    return Network(variables, ((), (0,)), (table_of(prior), table))


@pytest.mark.parametrize(("name", "target", "seed"), CASES)
def test_no_sum_of_other_costs_reaches_a_veto(name, target, seed):
    """By the compiler's range analysis, for all inputs, and for all gaps."""
    model = model_of(network_of(name, seed), target, keep_all=True).model
    if model.veto is None:
        assert all(cost.max() < 1 << DEFAULT_BITS for cost in (model.prior, *model.tables))
        return
    parts = [np.where(part == model.veto, 0, part) for part in (model.prior, *model.tables)]
    assert all(part.max() < model.veto for part in parts)
    finite = replace(model, prior=parts[0], tables=tuple(parts[1:]), training={})
    assert cost_bounds(program_of(finite))[1].max() + deepest_fold(finite) < model.veto
    assert marginal.why_not(model) is None


@pytest.mark.parametrize(("name", "target", "seed"), CASES)
def test_an_impossible_class_is_decided_for_only_where_all_are(name, target, seed):
    """For all states, whichever of them are missing."""
    network = network_of(name, seed)
    model = model_of(network, target, keep_all=True).model
    at = [i for i in range(network.n_variables) if i != target]
    cells = list(product(*([-1, *range(network.n_states[i])] for i in at)))
    X = np.zeros((len(cells), network.n_variables), dtype=np.int64)
    X[:, at] = cells
    gaps = X < 0
    joint = log_joint(network, target, np.maximum(X, 0), gaps)
    possible = np.isfinite(joint)
    decided = marginal.predict(model, np.maximum(X, 0)[:, at], gaps[:, at])
    some = possible.any(axis=1)
    assert possible[np.arange(len(X)), decided][some].all()
    whole = ~gaps.any(axis=1)
    assert (predict(model, X[whole][:, at]) == decided[whole]).all()
    assert 0 < some.sum() <= len(some)


def test_of_impossible_classes_that_of_the_fewest_zeros_is_decided_for():
    """Then that of the least sum of the others, and of these the first."""
    zero, all_zero = table_of([1, 0], [0.5, 0.5]), table_of([1, 0], [1, 0])
    variables = tuple(Variable(name, ("0", "1")) for name in ("c", "x", "y", "z"))
    parents = ((), (0,), (0,), (0,))
    prior = table_of([0.4, 0.6])
    network = Network(variables, parents, (prior, zero, zero, zero[::-1]))
    model = model_of(network, 0).model
    # zeros by class: x = 1 for the first, y = 1 for the first, z = 1 for the second
    assert predict(model, np.array([[1, 1, 1]])).tolist() == [1]
    # one zero each, and 0.4 * 0.5 is more than 0.6 * 0.5 * 0.5
    assert predict(model, np.array([[1, 0, 1]])).tolist() == [0]
    network = Network(variables, parents, (prior, all_zero, zero, zero[::-1]))
    model = model_of(network, 0).model
    assert predict(model, np.array([[1, 0, 0]])).tolist() == [1]
    assert predict(model, np.array([[1, 0, 1]])).tolist() == [0]


def test_an_impossible_class_in_the_prior_is_never_decided_for():
    model = model_of(two([0, 1], table_of([1, 0], [0.001, 0.999])), 0).model
    assert model.prior.tolist() == [model.veto, 0]
    assert predict(model, np.array([[0], [1]])).tolist() == [1, 1]


def test_a_veto_is_one_above_the_largest_sum():
    model = model_of(two([0.5, 0.5], table_of([0.75, 0.25], [1, 0])), 0, 8).model
    largest = int(model.prior.max() + model.tables[0][[0, 1], [0, 0]].max())
    assert model.tables[0][1, 1] == model.veto == largest + 1
    assert model.training["veto"] == model.veto
    assert model.q_format.bits == model.veto.bit_length()


def test_no_bits_are_added_without_a_zero():
    made = model_of(two([0.5, 0.5], table_of([0.75, 0.25], [0.9, 0.1])), 0, 8)
    assert (made.model.veto, made.model.q_format.bits, made.bits, made.n_zeros) == (None, 8, 8, 0)


def test_a_veto_that_31_bits_do_not_hold_is_refused():
    network = two([0.5, 0.5], table_of([0.75, 0.25], [1, 0]))
    with pytest.raises(
        NetworkError, match=r"with 31 bits .* takes 32 bits, more than 31; give few"
    ):
        model_of(network, 0, 31)
    assert model_of(network, 0, 29).model.veto > 1 << 28


def test_the_finest_format_that_holds_all_costs_is_left_only_for_agreement():
    """Classes that 6 bits of the whole range do not separate get the bits of the rare one."""
    near = table_of([0.305, 0.694, 0.001], [0.295, 0.704, 0.001])
    network = two([0.5, 0.5], near, ("a", "b", "rare"))
    made = model_of(network, 0, 6)
    assert made.model.q_format == QFormat(1, 5)
    assert (made.agreement, made.n_clipped) == (1.0, 2)
    whole = model_of(
        two([0.5, 0.5], table_of([0.9, 0.099, 0.001], [0.1, 0.899, 0.001]), "abr"), 0, 6
    )
    assert (whole.model.q_format, whole.n_clipped) == (QFormat(3, 3), 0)


@pytest.mark.parametrize(("zeros", "most"), [(0.0, 30), (0.5, 29)])
def test_bits_that_the_sums_of_the_c_do_not_hold_are_refused(zeros, most):
    """Imported models compile: sums or a veto of one more bit are refused."""
    network = drawn(*SHAPES["tree"], 1, zeros=zeros)
    assert program_of(model_of(network, 0, most).model).cost_bits == 32
    with pytest.raises(NetworkError, match=r"sums .* can take 33 bits, more than 32; give fewer"):
        model_of(network, 0, most + 1)


def test_the_widest_range_is_that_of_the_least_probability_above_0():
    table = table_of([0.999, 0.001], [1, 0])
    assert [_widest([table], bits) for bits in (6, 1)] == [3, 4]
    assert _widest([table, table_of([0.5, 0.5], [1, 1e-300])], 8) == 8


def test_bits_are_added_until_sampled_rows_are_decided_alike():
    """One class is likelier by less than a thousandth of a nat, in the presence of a rare state."""
    near = table_of([0.5001, 0.4998, 0.0001], [0.4999, 0.5, 0.0001])
    network = two([0.5, 0.5], near, ("a", "b", "rare"))
    made = model_of(network, 0)
    assert made.bits > DEFAULT_BITS
    assert made.agreement > ENOUGH
    assert model_of(network, 0, 3).agreement < ENOUGH


def test_many_classes_have_fewer_rows(monkeypatch):
    network = two([0.5, 0.5], table_of([0.75, 0.25], [0.3, 0.7]))
    monkeypatch.setattr(from_network, "MOST_READ", 28)  # 7 rows of 2 classes in prior and table
    assert 7 * model_of(network, 0).agreement % 1 == 0
    monkeypatch.setattr(from_network, "MOST_READ", 1)
    assert model_of(network, 0, 1).agreement in (0, 1)


def test_rows_that_are_all_impossible_say_nothing():
    assert possible_rows([np.full((3, 2), -np.inf)]).agreement(QFormat(4, 4)) == 1


def test_exact_ties_take_no_bits():
    made = model_of(two([0.5, 0.5], table_of([0.3, 0.7], [0.3, 0.7])), 0)
    assert (made.bits, made.agreement) == (8, 1.0)


def test_zeros_of_a_model_are_those_of_the_network_that_it_becomes():
    for name in SHAPES:
        network = network_of(name, 3)
        model = model_of(network, 0, keep_all=True).model
        again = network_of_model(model).network
        for i, table in enumerate(network.tables):
            k = again.names.index(network.names[i])
            same = [again.names[j] for j in again.parents[k]]
            order = [network.names.index(each) for each in same]
            axes = [network.parents[i].index(j) for j in order]
            shape = [network.n_states[j] for j in network.parents[i]]
            cells = table.reshape(*shape, -1).transpose(*axes, -1).reshape(table.shape)
            np.testing.assert_array_equal(cells == 0, again.tables[k] == 0)
        other = model_of(again, again.names.index(network.names[0]), keep_all=True).model
        X = hand.all_states(model)
        assert (predict(model, X) == predict(other, X)).mean() > 0.95
        assert other.veto is not None


def test_a_forged_veto_makes_no_row_without_a_probability():
    model = replace(hand.general_network(), training={"veto": 1})
    for table in network_of_model(model).network.tables:
        np.testing.assert_allclose(table.sum(axis=1), 1)


@pytest.mark.parametrize("veto", [True, 0, -3, 1 << 40, "9", None, 2.0])
def test_what_is_no_cost_is_no_veto(veto):
    assert replace(hand.general_network(), training={"veto": veto}).veto is None


def test_impossible_classes_are_no_part_of_what_tables_say_in_the_mean():
    model = model_of(network_of("tree", 2), 0).model
    X = hand.all_states(model)
    said, never = contributions(model, X), impossible(model, X)
    assert never.any()
    assert not impossible(hand.general_network(), hand.all_states(hand.general_network())).any()
    some = never.any(axis=2) & ~never.all(axis=2)
    means = np.where(never, 0, said).sum(axis=2)[some]
    np.testing.assert_allclose(means, 0, atol=1e-9)
    total, wanted = said.sum(axis=1), -costs(model, X) * 2.0**-model.q_format.frac_bits
    np.testing.assert_allclose(total - total[:, :1], wanted - wanted[:, :1], atol=1e-6)
