"""The torch quantizer and the frozen integers are the same numbers, bit for bit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bncc.fixed_point import dequantize, quantize
from bncc.model.model import Model
from bncc.model.reference import costs
from bncc.structure.graph import Structure
from bncc.train.fit_network import freeze
from bncc.train.gradient.layout import layout_of
from tests.models import feature
from tests.strategies import q_formats, structures

torch = pytest.importorskip("torch")
network = pytest.importorskip("bncc.train.gradient.network")
quantizer = pytest.importorskip("bncc.train.gradient.network")

log_probabilities = st.one_of(
    st.floats(-300, 0, width=32), st.integers(-600, 0).map(lambda k: k / 16)
)


@given(st.lists(log_probabilities, min_size=1, max_size=20), q_formats())
def test_torch_rounds_and_saturates_as_the_integers_do(values, fmt):
    theta = np.array(values, dtype=np.float32)
    ours = quantizer.quantize(torch.from_numpy(theta), fmt).double().numpy()
    assert np.array_equal(ours, dequantize(quantize(theta.astype(np.float64), fmt), fmt))


@given(st.integers(0, 2**32), q_formats(), st.data())
def test_the_frozen_model_scores_as_the_quantized_network_does(seed, fmt, data):
    """Costs times 2**-B_F are minus the network's log joint: exact in float32."""
    generator = np.random.default_rng(seed)
    n, n_classes = int(generator.integers(1, 5)), int(generator.integers(2, 5))
    n_states = [int(r) for r in generator.integers(1, 4, n)]
    structure = Structure(data.draw(structures(n)).parents, (True,) * n)
    layout = layout_of(structure, n_states)
    logs = [
        np.log(generator.dirichlet(np.ones(rows), n_classes).T + 1e-9)
        for rows in layout.n_table_rows
    ]
    net = network.Network(layout, np.log(np.ones(n_classes)), tuple(logs), torch.device("cpu"))
    net.fmt = fmt
    X = np.stack([generator.integers(0, r, 30) for r in n_states], axis=1)
    with torch.no_grad():
        log_joint = net(network.states_tensor(X, torch.device("cpu"))).double().numpy()
    model = freeze(
        [feature(f"x{i}", r) for i, r in enumerate(n_states)],
        [f"c{c}" for c in range(n_classes)],
        structure,
        *net.log_tables(),
        fmt,
        {},
    )
    assert isinstance(model, Model)
    assert np.array_equal(-costs(model, X) * 2.0**-fmt.frac_bits, log_joint)
