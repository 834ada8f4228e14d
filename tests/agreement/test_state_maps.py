"""State maps in C: every kernel finds the rows that states share."""

import numpy as np
import pytest

from bncc.build.host import build_library
from bncc.compiler import pipeline
from bncc.compiler.choose import FAMILIES
from bncc.emit import emitter
from bncc.emit.emitter import EmitOptions, emit_c
from bncc.fixed_point import QFormat
from bncc.model.reference import predict, scores
from bncc.structure.graph import Structure
from tests import models as hand
from tests.unit.compiler.by_hand import inputs

pytestmark = pytest.mark.cc
N_STATES = (12, 10, 9)


def with_equal_rows():
    """Return a network of three features whose tables tell few of their states apart."""
    rng = np.random.default_rng(0)
    own, child, other = (rng.integers(0, 4, (n, 20)) for n in (2, 6, 18))
    tables = [
        [own[x % 2] for x in range(12)],
        [child[3 * (p // 6) + x % 3] for p in range(12) for x in range(10)],
        [other[9 * (p // 5) + x] for p in range(10) for x in range(9)],
    ]
    features = [hand.feature(f"x{i}", n) for i, n in enumerate(N_STATES)]
    structure = Structure(((), (0,), (1,)), (True,) * 3)
    return hand.model_of(features, structure, QFormat(2, 0), [1, 2] * 10, tables)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_kernel_agrees_with_the_reference(monkeypatch, require_tool, family):
    require_tool("gcc")
    steps = (pipeline.NORMALIZE_ROWS, pipeline.MERGE_STATES, pipeline.SHRINK_WIDTH)
    monkeypatch.setitem(pipeline.FLOWS, "merging", steps)
    monkeypatch.setattr(emitter, "FLOWS_FOR", {"size": ("merging",)})
    model = with_equal_rows()
    options = EmitOptions("m", frozenset({"scores", "trusted"}), kernel=family, optimize="size")
    emission = emit_c(model, options)
    assert emission.kernel == family
    assert [set(table.maps) for table in emission.program.tables] == [{0}, {0, 1}, {1}]
    X = inputs(N_STATES, most=2000)
    with build_library(model, emission.files) as library:
        assert np.array_equal(library.predict(X), predict(model, X))
        answers, costs = library.scores(X)
    assert np.array_equal(answers, predict(model, X))
    assert np.array_equal(costs, scores(model, X))
