"""Every pass keeps its promise on every input of random models, and the IR rules hold after it."""

import numpy as np
import pytest
from hypothesis import given, settings

from bncc.model import reference
from bncc.program.ir import costs, decisions, table_bits
from bncc.program.pipeline import (
    COLUMN_OFFSETS,
    DROP_CONSTANT,
    FLOWS,
    FOLD_PRIOR,
    FUSE_PARENT,
    MERGE_STATES,
    MOVE_PARENT_TERMS,
    NORMALIZE_ROWS,
    SHRINK_WIDTH,
    optimize,
    program_of,
)
from bncc.program.tables import packed_bits
from bncc.program.verifier import verify
from tests.strategies import models
from tests.tiers import examples
from tests.unit.lower.by_hand import inputs, margins

STEPS = (
    COLUMN_OFFSETS,
    DROP_CONSTANT,
    FOLD_PRIOR,
    FUSE_PARENT,
    MERGE_STATES,
    MOVE_PARENT_TERMS,
    NORMALIZE_ROWS,
    SHRINK_WIDTH,
    *(step for step in FLOWS["speed"] if step.name == "fuse-tables"),
)
PASSES = {step.name: step for step in STEPS}
SIZES = {
    "column-offsets": packed_bits,
    "fuse-parent": packed_bits,
    "fuse-tables": lambda program: len(program.tables),
    "move-parent-terms": packed_bits,
}
"""Measures that must not grow; by default the bits of entries at their storage width."""
by_pass = pytest.mark.parametrize("name", PASSES)

KEPT = {
    "cost": lambda program, X: costs(program, X),
    "margin": lambda program, X: margins(costs(program, X)),
    "decision": decisions,
}


@by_pass
@given(model=models())
@settings(max_examples=examples(60))
def test_what_a_pass_keeps_is_equal_for_every_input(name, model):
    step = PASSES[name]
    before = program_of(model)
    after = step.rewrite(before)
    X = inputs(before.n_states)
    kept = KEPT[step.keeps]
    assert np.array_equal(kept(before, X), kept(after, X))


@by_pass
@given(model=models())
@settings(max_examples=examples(60))
def test_the_rules_hold_behind_a_pass(name, model):
    assert verify(PASSES[name].rewrite(program_of(model))) is None


@by_pass
@given(model=models())
@settings(max_examples=examples(60))
def test_running_a_pass_twice_changes_nothing(name, model):
    once = PASSES[name].rewrite(program_of(model))
    assert PASSES[name].rewrite(once) is once


@by_pass
@given(model=models())
@settings(max_examples=examples(60))
def test_no_pass_makes_a_program_larger_or_costlier(name, model):
    before = program_of(model)
    after = PASSES[name].rewrite(before)
    size = SIZES.get(name, table_bits)
    assert size(after) <= size(before)
    assert len(after.tables) <= len(before.tables)


@pytest.mark.parametrize("flow", ["default", "size", "speed"])
@given(model=models())
@settings(max_examples=examples(60))
def test_a_flow_keeps_the_model_s_scores_and_decisions(flow, model):
    program, _ = optimize(program_of(model), flow)
    X = inputs(model.n_states)
    sums = costs(program, X)
    assert np.array_equal(sums - sums.min(axis=1, keepdims=True), reference.scores(model, X))
    assert np.array_equal(decisions(program, X), reference.predict(model, X))


@given(models())
@settings(max_examples=examples(60))
def test_running_the_default_flow_again_makes_nothing_larger(model):
    """It may still fire: after the prior is folded, fusing a parent may become worthwhile."""
    once, _ = optimize(program_of(model))
    twice, _ = optimize(once)
    assert table_bits(twice) <= table_bits(once)
    assert len(twice.tables) <= len(once.tables)
