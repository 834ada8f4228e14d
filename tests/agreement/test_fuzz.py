"""Random bytes to any entry point but `trusted`: an answer, and nothing read out of bounds."""

import ctypes
import mmap

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bncc.device.host import build_harness, build_library
from bncc.device.machine import row_dtype
from bncc.device.sources import sources
from bncc.discretize.feature import states_of
from bncc.discretize.readings import far_table, raw_of_table, state_dtype
from bncc.emit.emitter import EmitOptions, emit_c
from bncc.model.reference import predict, scores
from bncc.model.used import used_features
from bncc.toolchain.tools import host_compilers
from tests import models as hand
from tests.agreement.large import LARGE
from tests.strategies import models
from tests.tiers import examples

pytestmark = pytest.mark.cc
BY_NAME = {**hand.NAMED, **LARGE}
EVERY_NAME = pytest.mark.parametrize("name", BY_NAME)


def emitted(model):
    return emit_c(model, EmitOptions("m", frozenset({"raw", "scores", "trusted"}))).files


def check_states(model, machine, X) -> None:
    """Compare predict and scores with the reference, errors included."""
    machine.predict(X)
    machine.scores(X)  # states of unused features may be of any value, checked or not
    unused = [f for f in range(model.n_features) if f not in used_features(model)]
    X = X.copy()
    X[:, unused] = 0
    valid = np.less(X, model.n_states).all(axis=1)
    y = np.full(len(X), -1)
    y[valid] = predict(model, X[valid])
    assert np.array_equal(machine.predict(X), y)
    answers, s = machine.scores(X)
    assert np.array_equal(answers, y)
    assert np.array_equal(s[valid], scores(model, X[valid]))


def check_raw(model, machine, rows) -> None:
    """Any bytes are readings, and readings always have a class."""
    y = machine.raw_rows(rows)
    assert ((y >= 0) & (y < model.n_classes)).all()


def check_far(model, machine, seed: int) -> None:
    """Compare readings beyond their types, and unseen categories, with `predict`."""
    table = far_table(model.features, 200, np.random.default_rng(seed))
    y = predict(model, states_of(model.features, table))
    assert np.array_equal(machine.raw(raw_of_table(model.features, table)), y)


def random_bytes(n_rows: int, dtype, shape: tuple[int, ...], seed: int):
    """Return rows of random bytes, a third of them all ones or all zeros in places."""
    rng = np.random.default_rng(seed)
    size = n_rows * int(np.prod(shape)) * dtype.itemsize
    noise = rng.integers(0, 256, size, dtype=np.uint8)
    edge = rng.choice([0, 255], size).astype(np.uint8)
    small = rng.integers(0, 4, size, dtype=np.uint8)
    kind = np.repeat(rng.integers(0, 3, n_rows), size // n_rows)
    return np.choose(kind, [noise, edge, small]).astype(np.uint8).view(dtype).reshape(-1, *shape)


@EVERY_NAME
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_random_bytes_are_safe_under_sanitizers(require_tool, compiler, name):
    """Inputs are in objects of exactly their size; an access out of bounds stops the program."""
    require_tool(compiler)
    model = BY_NAME[name]()
    (tool,) = host_compilers(compiler)
    states, row = state_dtype(model.n_states), row_dtype(model.features)
    with build_harness(sources(model, emitted(model)), compiler=tool, opt_level="-O1") as program:
        check_states(model, program, random_bytes(2000, states, (model.n_features,), 0))
        check_raw(model, program, random_bytes(2000, row, (), 1))
        check_far(model, program, 1)


class Guarded:
    """Memory between two guard pages."""

    def __init__(self, size: int) -> None:
        page = mmap.PAGESIZE
        self.n_pages = -(-size // page)
        self.memory = mmap.mmap(-1, (self.n_pages + 2) * page)
        whole = np.frombuffer(self.memory, dtype=np.uint8)
        protect = ctypes.CDLL(None, use_errno=True).mprotect
        for start in (0, (self.n_pages + 1) * page):
            address = ctypes.c_void_p(whole.ctypes.data + start)
            assert protect(address, ctypes.c_size_t(page), 0) == 0
        self.inside = whole[page : (self.n_pages + 1) * page]

    def at_end(self, values):
        """Copy values so that their last byte is the last one allowed."""
        place = self.inside[len(self.inside) - values.nbytes :].view(values.dtype)
        place[:] = values.ravel()
        return place.reshape(values.shape)

    def at_start(self, values):
        """Copy values so that their first byte is the first one allowed."""
        place = self.inside[: values.nbytes].view(values.dtype)
        place[:] = values.ravel()
        return place.reshape(values.shape)


@EVERY_NAME
def test_nothing_is_read_beside_the_input_through_cffi(require_tool, name):
    """At -O3 without sanitizers: guard pages on both sides would crash this process."""
    require_tool("gcc")
    model = BY_NAME[name]()
    states, row = state_dtype(model.n_states), row_dtype(model.features)
    X = random_bytes(500, states, (model.n_features,), 2)
    R = random_bytes(500, row, (), 3)
    with build_library(sources(model, emitted(model)), opt_level="-O3") as library:
        for values, check in ((X, check_states), (R, check_raw)):
            guarded = Guarded(values.nbytes)
            for place in (guarded.at_end, guarded.at_start):
                check(model, library, place(values))


@settings(
    max_examples=examples(15),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(models(), st.integers(0, 2**32 - 1))
def test_random_bytes_are_safe_in_any_model(require_tool, model, seed):
    """Any structure and features."""
    require_tool("gcc")
    states, row = state_dtype(model.n_states), row_dtype(model.features)
    with build_harness(sources(model, emitted(model)), opt_level="-O1") as program:
        check_states(model, program, random_bytes(300, states, (model.n_features,), seed))
        check_raw(model, program, random_bytes(300, row, (), seed))
        check_far(model, program, seed)
