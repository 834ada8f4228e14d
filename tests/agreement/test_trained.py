"""
Trained models with every kernel, aim and entry point: the C equals Python.

Counting makes tables that random ones rarely resemble, see `benchmarks.shared.trained_models`. The
bundled data in every run, all models of twelve sets in the slow tests, and there random models as
large.
"""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st

from benchmarks.campaigns.bit_slice_rows import is_affected
from benchmarks.shared.sensor_sets import SETS
from benchmarks.shared.trained_models import Trained, of_set, rows_of
from bncc.emit.emitter import EmitOptions, emit_c
from bncc.fixed_point import QFormat
from bncc.lower.kernels.bit_slice.layout import BitSliceKernel
from bncc.lower.kernels.families import FAMILIES, FREE_OF_BRANCHES, STREAMS
from bncc.model.missing import why_not
from bncc.on_device import verify
from bncc.program.pipeline import optimize, program_of
from bncc.structure.graph import forest
from tests.agreement.large import random_model, sensor
from tests.tiers import examples

pytestmark = pytest.mark.cc
AIMS = ("balanced", "size", "speed")
ENTRIES = frozenset({"raw", "scores", "trusted"})
DAILY = (
    Trained("robot", "chow-liu", 3), Trained("wifi", "naive", 2), Trained("wifi", "chow-liu", 3),
)  # fmt: skip
"""Seeds for mixed-up pointers: the first is wrong for size, the others for speed on RV32."""
CHEAP = ("cortex-m0", "rv32")
"""Targets that are simulated without a process of their own."""


@cache
def daily(trained):
    """Return a model of the bundled data."""
    return trained.model(None)


def families(model):
    """Return the families that have a layout for a model."""
    program, _ = optimize(program_of(model))
    return [name for name, lay_out in FAMILIES.items() if next(iter(lay_out(program)), None)]


def emissions(model, kernels, aims=AIMS):
    """Return different C by request: kernels and aims, with the entry points that each can have."""
    found = {}
    for kernel in kernels:
        entries = set(ENTRIES)
        if kernel in STREAMS:
            entries.add("stream")
            if why_not(model) is None:
                entries.add("missing")
        for aim in aims:
            for is_even in (False, True)[: 1 + (kernel in FREE_OF_BRANCHES)]:
                if is_even and "missing" in entries:
                    continue
                options = EmitOptions(
                    "m", frozenset(entries), kernel=kernel, optimize=aim, constant_time=is_even
                )
                emission = emit_c(model, options)
                found.setdefault(emission.files["m.c"], (f"{kernel} {aim} {is_even}", emission))
    return dict(found.values())


def assert_agrees(model, table, found, target="host", n_random=200):
    """Compare all of some C with the model, on rows of its data and random states."""
    assert found
    for what, emission in found.items():
        outcome = verify(
            model, target, table=table, emission=emission, opt_level="-O1", n_random=n_random
        )
        assert outcome.agree, f"{what}: {outcome.first_mismatch}"


def some_rows(trained, data, n=300):
    """Return rows of a set from its beginning to its end."""
    table = rows_of(trained.data_set, data).table
    return table.take(np.unique(np.linspace(0, table.n_rows - 1, n).astype(int)))


def test_the_daily_models_are_those_that_were_wrong():
    """A layout in bit slices would be wrong by the former rule for pointers."""
    asked = (
        EmitOptions("m", optimize="size", kernel="bit-slice"),
        *[EmitOptions("m", optimize="speed", target="rv32", kernel="bit-slice")] * 2,
    )
    for trained, options in zip(DAILY, asked, strict=True):
        kernel = emit_c(daily(trained), options).choice.kernel
        assert isinstance(kernel, BitSliceKernel)
        assert is_affected(kernel)


@pytest.mark.parametrize("trained", DAILY, ids=str)
def test_a_trained_model_agrees_with_every_kernel(require_tool, trained):
    require_tool("gcc")
    model = daily(trained)
    found = {
        kernel: emit_c(model, EmitOptions("m", ENTRIES, kernel=kernel, optimize="size"))
        for kernel in families(model)
    }
    assert_agrees(model, some_rows(trained, None), found)


@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.parametrize(
    "trained", [trained for data_set in SETS for trained in of_set(data_set)], ids=str
)
def test_every_kernel_and_aim_agrees_for_a_trained_model(
    require_tool, require_bench, shared_data, trained
):
    """All entry points on the host; the layout chosen for a target on that target."""
    require_tool("gcc")
    model, table = trained.model(shared_data), some_rows(trained, shared_data)
    assert_agrees(model, table, emissions(model, families(model)))
    for target in CHEAP:
        require_bench(target)
        for aim in AIMS:
            options = EmitOptions("m", ENTRIES, optimize=aim, target=target)
            emission = emit_c(model, options)
            assert_agrees(model, table, {aim: emission}, target, n_random=50)


SEEDS = (36, 42, 47, 0)
"""Large random models that every run tries; a seed that fails is added here. In the first three,
pointers were mixed up, as in one of five such models."""


def large(seed):
    """Return a random model as large as trained ones, with tables and a prior of fewer bits."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(8, 25))
    kinds = ("int16", "int32", "float32")
    features = [
        sensor(f"x{i}", kinds[rng.integers(3)], int(rng.integers(2, 17)), seed + i)
        for i in range(n)
    ]
    has_parents = rng.random() < 0.5
    parents = [int(rng.integers(i)) if i and has_parents else None for i in range(n)]
    bits = int(rng.choice([1, 2, 2, 3, 3, 4, 6]))
    model = random_model(features, forest(parents), int(rng.integers(4, 9)), QFormat(bits, 0), seed)
    fewer = rng.integers(0, 2, len(model.tables))
    tables = tuple(table >> k for table, k in zip(model.tables, fewer, strict=True))
    return replace(model, prior=model.prior >> rng.integers(0, bits + 1), tables=tables)


@pytest.mark.parametrize("seed", SEEDS[:1])
def test_a_large_random_model_agrees_with_every_kernel(require_tool, seed):
    require_tool("gcc")
    model = large(seed)
    found = {k: emit_c(model, EmitOptions("m", ENTRIES, kernel=k)) for k in families(model)}
    assert_agrees(model, None, found, n_random=100)


def with_examples(test):
    """Return a test that tries the recorded seeds, and then new ones."""
    for seed in SEEDS:
        test = example(seed=seed)(test)
    return test


@pytest.mark.slow
@settings(
    max_examples=examples(20), deadline=None, phases=[Phase.explicit, Phase.generate], database=None
)
@given(seed=st.integers(0, 2**32 - 1))
@with_examples
def test_any_large_random_model_agrees(seed):
    """New seeds each time; examples are not shrunk, the seed is recorded instead."""
    model = large(seed)
    assert_agrees(model, None, emissions(model, families(model)), n_random=100)
