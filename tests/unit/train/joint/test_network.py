"""The distribution of structures: samples, expected size, and reads after a change."""

import numpy as np
import pytest
import torch

from bncc.fixed_point import QFormat, dequantize, quantize
from bncc.structure.candidates import all_earlier
from bncc.structure.graph import table_entries
from bncc.train.joint.candidate_layout import candidate_layout, counted_start, entries_of
from bncc.train.joint.network import StructureNetwork
from bncc.train.maximum_likelihood import ml_log_tables

GENERATOR = np.random.default_rng(4)
N_STATES = [3, 2, 4]
X = np.stack([GENERATOR.integers(0, r, 80) for r in N_STATES], axis=1)
Y = GENERATOR.integers(0, 2, 80)
CANDIDATES = all_earlier(np.arange(3))
LAYOUT = candidate_layout(CANDIDATES, N_STATES)
START = counted_start(X, Y, LAYOUT, 2)


def network():
    return StructureNetwork(LAYOUT, *START, torch.device("cpu"), torch.float64)


def test_at_first_all_present_slots_are_equally_probable():
    expected = [[1, 0, 0], [1 / 2, 1 / 2, 0], [1 / 3, 1 / 3, 1 / 3]]
    assert np.allclose(network().logits().exp().detach(), expected)


def test_structures_are_drawn_as_often_as_they_are_probable():
    net = network()
    with torch.no_grad():
        net.phi[2] = torch.log(torch.tensor([0.2, 0.7, 0.1]))
    rng = np.random.default_rng(0)
    draws = [net.draw(torch.from_numpy(rng.gumbel(size=(3, 3))), 1.0)[0] for _ in range(4000)]
    shares = np.stack([(np.array(draws) == slot).mean(axis=0) for slot in range(3)], axis=1)
    assert np.abs(shares - np.array([[1, 0, 0], [0.5, 0.5, 0], [0.2, 0.7, 0.1]])).max() < 0.03


def test_an_indicator_is_one_hot_with_the_gradient_of_the_tempered_softmax():
    net = network()
    gumbel = torch.from_numpy(np.random.default_rng(1).gumbel(size=(3, 3)))
    choice, indicator = net.draw(gumbel, 0.5)
    assert np.allclose(indicator.detach(), np.eye(3)[choice])
    weight = torch.from_numpy(GENERATOR.normal(size=(3, 3)))
    (straight,) = torch.autograd.grad((indicator * weight).sum(), net.phi)
    soft = ((net.logits() + gumbel) / 0.5).softmax(dim=1)
    (expected,) = torch.autograd.grad((soft * weight).sum(), net.phi)
    assert torch.allclose(straight, expected)
    assert expected.abs().max() > 0.01


def test_the_expected_price_is_the_mean_over_all_structures():
    net = network()
    with torch.no_grad():
        net.phi += torch.from_numpy(GENERATOR.normal(size=(3, 3)))
    p = net.logits().exp().detach().numpy()
    mean = sum(
        p[1, a] * p[2, b] * table_entries(CANDIDATES.choose(np.array([0, a, b])), N_STATES, 2)
        for a in range(2)
        for b in range(3)
    )
    of_prior = 2
    price = net.expected_price(torch.from_numpy(entries_of(LAYOUT, 2)))
    assert float(price.detach()) == pytest.approx(mean - of_prior)


def test_what_is_learned_is_the_most_probable_structure_and_its_tables():
    net = network()
    assert net.learned()[0].parents == ((), (), ())
    with torch.no_grad():
        net.phi[1, 1] = net.phi[2, 2] = 1.0
        net.rho += 1.5  # not normalized, and nevertheless the same probabilities
    structure, (log_prior, tables) = net.learned()
    assert structure.parents == ((), (0,), (1,))
    expected = ml_log_tables(X, Y, structure, N_STATES, 2)
    assert np.allclose(log_prior, expected[0])
    for ours, counted in zip(tables, expected[1], strict=True):
        assert np.allclose(ours, counted)
        assert (ours <= 0).all()


def test_in_a_format_all_tables_are_read_quantized_and_learned_in_floats():
    net, fmt = network(), QFormat(2, 1)
    floats = net.learned()[1]
    net.set_format(fmt)
    assert np.array_equal(net.theta[:-1].numpy(), dequantize(quantize(START[1], fmt), fmt))
    assert (net.theta[-1] == 0).all()
    assert all(map(np.array_equal, net.learned()[1][1], floats[1]))


def test_each_width_reads_costs_bounded_above_the_least_of_their_row():
    layout, fmt = candidate_layout(CANDIDATES, N_STATES, (1, 3)), QFormat(2, 2)
    net = StructureNetwork(layout, *START, torch.device("cpu"), torch.float64)
    floats = net.theta.numpy()[:-1].reshape(2, -1, 2)
    assert np.array_equal(floats[0], floats[1])
    net.set_format(fmt)
    costs = quantize(START[1], fmt)
    for read, width in zip(net.theta[:-1].numpy().reshape(2, -1, 2), (1, 3), strict=True):
        bound = costs.min(axis=1, keepdims=True) + 2**width - 1
        assert np.array_equal(read, dequantize(np.minimum(costs, bound), fmt))
    assert np.array_equal(net.costs(), np.minimum(costs, costs.min(axis=1, keepdims=True) + 7))


def test_tables_are_read_anew_after_a_change():
    net, drawn = network(), LAYOUT.draw(np.array([0, 1, 2]))
    before, rows = net.theta.clone(), torch.from_numpy(drawn.rows)
    net.rho[rows] += torch.from_numpy(GENERATOR.normal(size=(len(rows), 2)))
    net.refresh(drawn)
    changed = (net.theta != before).any(dim=1).nonzero().flatten()
    assert set(changed.tolist()) <= set(drawn.rows.tolist())
    assert len(changed) == len(rows)
    begin = LAYOUT.offset[1, 1]  # feature 1 under feature 0: states of one parent state add to 1
    assert np.allclose(net.theta[begin : begin + 2].exp().sum(dim=0), 1)
