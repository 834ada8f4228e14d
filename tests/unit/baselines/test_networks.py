"""Networks learn, freeze to integers that fit 32 bits, and decide alike in C."""

import subprocess

import numpy as np
import pytest
import torch

from bncc.baselines.freeze import freeze_network
from bncc.baselines.integer import IntegerNetwork, pooled, sums_of
from bncc.baselines.networks import network_c, packed
from bncc.baselines.trainer import NetworkSettings, train_network
from bncc.toolchain.tools import STRICT_FLAGS
from tests.unit.baselines.networks import FORMS, N_STATES, rows, trained

HELD = np.random.default_rng(1).integers(0, N_STATES, (300, 64))


@pytest.mark.parametrize("form", ["two layers", "signs", "one-hot", "convolution"])
def test_a_network_learns(form):
    X, y = rows()
    assert (trained(form).predict(X) == y).mean() > 0.6


def test_the_same_seed_gives_the_same_network():
    """Another seed gives another network; the random signs of training depend on it too."""
    X, y = rows()
    plan = trained("signs").network.plan
    again = train_network(plan, X, y, N_STATES, NetworkSettings(4, 40, 0.02, 0))
    other = train_network(plan, X, y, N_STATES, NetworkSettings(4, 40, 0.02, 1))
    weights = trained("signs").network.weights[0]
    assert torch.equal(weights, again.network.weights[0])
    assert not torch.equal(weights, other.network.weights[0])


def test_training_leaves_the_global_generator_alone():
    before = torch.random.get_rng_state()
    X, y = rows()
    train_network(trained("signs").network.plan, X, y, N_STATES, NetworkSettings(1, 40, 0.02))
    assert torch.equal(before, torch.random.get_rng_state())


@pytest.mark.parametrize("form", FORMS)
def test_integers_decide_nearly_as_floats(form):
    """Activations of eight bits turn few decisions, none where they are signs of normed sums."""
    frozen = freeze_network(trained(form), rows()[0])
    differ = (frozen.predict(HELD) != trained(form).predict(HELD)).mean()
    assert differ <= (0 if form in ("signs", "one-hot signs", "linear") else 0.08)


def test_a_negative_scale_turns_weights_around():
    """Batch normalization may learn one; the integers have no negative factor, and agree."""
    network = trained("two layers", seed=3)
    with torch.no_grad():
        network.network.norms[0].weight[::2] *= -1
    frozen = freeze_network(network, rows()[0])
    assert (frozen.layers[0].rescaling.factors >= 0).all()
    assert (frozen.predict(HELD) != network.predict(HELD)).mean() < 0.05


@pytest.mark.parametrize("form", FORMS)
def test_no_sum_leaves_32_bits(form):
    """Bounds over all inputs, not only over the given rows."""
    frozen = freeze_network(trained(form), rows()[0])
    bits, largest = frozen.plan.bits, 1 if frozen.inputs is None else 127
    for layer in frozen.layers:
        n = layer.codes[0].size
        bound = n * (2**bits - 1) * largest
        assert 2 * bound < 2**31
        if layer.rescaling is not None:
            scale = layer.rescaling
            top = ((bound >> scale.drop) + 1) * scale.factors.max() + np.abs(scale.offsets).max()
            assert (bound >> scale.drop) < 2**15
            assert top < 2**31
            largest = 255
        else:
            largest = 1
    assert (bound << frozen.bias_shift) + np.abs(frozen.bias).max() < 2**31


@pytest.mark.cc
@pytest.mark.parametrize("form", FORMS)
def test_the_c_decides_as_the_integers(form, require_tool, tmp_path):
    """Bit for bit, under sanitizers, without a warning."""
    require_tool("gcc")
    frozen = freeze_network(trained(form), rows()[0])
    assert np.array_equal(answers(frozen, tmp_path), frozen.predict(HELD))


def test_codes_are_packed_from_the_lowest_bit():
    """Rows begin words: ten codes of three bits to a word."""
    codes = np.arange(12).reshape(1, 12) % 8
    low = sum(int(code) << (3 * k) for k, code in enumerate(codes[0, :10]))
    assert packed(codes, 3) == [low, 0 | 3 << 3 | 2]


def test_pooling_drops_what_is_left_over():
    values = np.arange(9).reshape(1, 3, 3, 1)
    assert pooled(values).tolist() == [[[[4]]]]


def test_a_convolution_sees_zeros_beyond_the_image():
    """Against torch."""
    frozen = freeze_network(trained("two convolutions"), rows()[0])
    layer, values = frozen.layers[1], frozen.hidden(HELD[:5], 1)
    weights = torch.from_numpy(2 * layer.codes - 127).double()
    image = torch.from_numpy(np.moveaxis(values, -1, 1)).double()
    expected = torch.nn.functional.conv2d(image, weights, padding=1)
    assert np.array_equal(np.moveaxis(sums_of(layer, values, 7), -1, 1), expected.numpy())


MAIN = """#include "m.h"
#include <stdio.h>
int main(void)
{
    uint8_t x[M_N_FEATURES];

    while (fread(x, 1, sizeof x, stdin) == sizeof x) {
        putchar(m_predict(x));
    }
    return 0;
}
"""


def answers(network: IntegerNetwork, folder) -> np.ndarray:
    for name, text in {**network_c(network, "m"), "main.c": MAIN}.items():
        (folder / name).write_text(text)
    command = ("gcc", "-std=c99", *STRICT_FLAGS, "-O1", "-fsanitize=undefined,address",
               "-fno-sanitize-recover", "m.c", "main.c", "-o", "program")  # fmt: skip
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:2000]
    data = HELD.astype(np.uint8).tobytes()
    program = subprocess.run((folder / "program",), input=data, capture_output=True, check=True)
    return np.frombuffer(program.stdout, np.uint8).astype(np.int64)
