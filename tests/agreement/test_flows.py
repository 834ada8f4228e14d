"""The C of every flow: fused tables, and rows that states share through state maps."""

import numpy as np
import pytest

from bncc.emit.emitter import EmitOptions, emit_c
from bncc.fixed_point import QFormat
from bncc.lower import request as demands
from bncc.lower.kernels.families import FAMILIES, FOR_CUTS, FOR_TREES
from bncc.on_device import verify
from bncc.program.pipeline import (
    FLOWS,
    MERGE_STATES,
    NORMALIZE_ROWS,
    SHRINK_WIDTH,
    optimize,
    program_of,
)
from bncc.structure.graph import Structure, one_parent_each
from tests import models as hand

pytestmark = pytest.mark.cc
N_STATES = (12, 10, 9)


def with_equal_rows():
    """Return a network of three features whose tables distinguish few of their states."""
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


def small_graph():
    """Return eight features of few states in a tree, whose tables fuse; roots, a pair, a ring."""
    rng = np.random.default_rng(0)
    parents: list[int | None] = [None, 0, 0, 1, 1, 2, 2, 5, None, None, 11, 10, 14, 12, 13]
    n_states = [3, 2, 3, 2, 2, 4, 2, 3, 5, 2, 3, 2, 9, 8, 9]
    rows = [n * (1 if p is None else n_states[p]) for n, p in zip(n_states, parents, strict=True)]
    features = [hand.feature(f"x{i}", n) for i, n in enumerate(n_states)]
    tables = [rng.integers(0, 16, (n, 5)) for n in rows]
    return hand.model_of(features, one_parent_each(parents), QFormat(4, 0), [3, 0, 9, 1, 2], tables)


def agrees(model, family, flow, monkeypatch):
    """Return whether the C of a flow and kernel equals the model; None where it has no layout."""
    monkeypatch.setattr(demands, "FLOWS_FOR", {"size": (flow,)})
    program, _ = optimize(program_of(model), flow)
    if next(iter(FAMILIES[family](program)), None) is None:
        return None
    options = EmitOptions("m", frozenset({"scores", "trusted"}), kernel=family, optimize="size")
    emission = emit_c(model, options)
    assert emission.kernel == family
    return verify(model, emission=emission, opt_level="-O1", n_random=300).agree


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("flow", FLOWS)
def test_every_kernel_agrees_after_every_flow(monkeypatch, require_tool, family, flow):
    require_tool("gcc")
    assert agrees(small_graph(), family, flow, monkeypatch) is not False


@pytest.mark.parametrize("family", sorted(set(FAMILIES) - FOR_CUTS - FOR_TREES))
def test_every_kernel_finds_the_rows_that_states_share(monkeypatch, require_tool, family):
    require_tool("gcc")
    steps = (NORMALIZE_ROWS, MERGE_STATES, SHRINK_WIDTH)
    monkeypatch.setitem(FLOWS, "merging", steps)
    model = with_equal_rows()
    program, _ = optimize(program_of(model), "merging")
    assert [set(table.maps) for table in program.tables] == [{0}, {0, 1}, {1}]
    assert agrees(model, family, "merging", monkeypatch)
