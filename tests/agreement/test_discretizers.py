"""Every discretizer form in C: equal to the state in Python for every reading."""

import re

import numpy as np
import pytest

from bncc.device.agreement import compare
from bncc.device.host import build_library
from bncc.device.inputs.cases import Effort, cases
from bncc.device.machine import row_dtype
from bncc.device.sources import sources
from bncc.discretize.readings import states_of_raw
from bncc.model.reference import predict
from tests.agreement.discretizer_ways import FEATURES, METHODS, emitted, model_of
from tests.agreement.mistakes import bumped, verify_files, without_comments

pytestmark = pytest.mark.cc


def random_rows(features):
    """Return raw rows of random bytes: every other NaN, every denormal."""
    row = row_dtype(features)
    bits = np.random.default_rng(0).integers(0, 256, 2000 * row.itemsize, dtype=np.uint8)
    return bits.view(row)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", FEATURES)
def test_every_way_finds_the_state(require_tool, name, method):
    """Readings at and next to every threshold, at the ends of the type, NaN, and any bytes."""
    require_tool("gcc")
    features = FEATURES[name]
    model = model_of(features)
    rows = random_rows(features)
    with np.errstate(invalid="ignore"):  # of signaling NaN
        R = np.stack([rows[field].astype(np.float64) for field in rows.dtype.names], axis=1)
    expected = predict(model, states_of_raw(features, R))
    with build_library(sources(model, emitted(features, method)), opt_level="-O1") as library:
        outcome = compare(library, cases(model, effort=Effort(n_random=300)))
        assert outcome.agree, outcome.first_mismatch
        assert np.array_equal(library.raw_rows(rows), expected)


INFINITIES = (2139095040, -8388608)
"""The bits next to them are those of one NaN of many."""


@pytest.mark.parametrize(
    ("name", "method"),
    [
        ("int16 bytes", "tree"),
        ("int16 bytes", "nibbles"),
        ("uint8", "tree"),
        ("int8", "nibbles"),
        ("float32", "tree"),
    ],
)
def test_a_wrong_number_is_seen(require_tool, name, method):
    """Errors of one unit: bounds of comparisons and the states themselves."""
    require_tool("gcc")
    files = emitted(FEATURES[name], method)
    text = files["m.c"]
    start, end = text.index("/* Discretizer */"), text.index("/* Entry points */")
    code = without_comments(text[start:end])
    found = [
        number
        for number in re.finditer(r"(?<=<= )-?\d+(?=U?\))|(?<=return )\d+(?=U;)", code)
        if int(number.group()) not in INFINITIES
    ]
    for number in (found[0], found[len(found) // 2], found[-1]):
        before, after = text[: start + number.start()], text[start + number.end() :]
        assert not agree(name, files | {"m.c": f"{before}{int(number.group()) + 1}{after}"})


@pytest.mark.parametrize(
    ("method", "name", "array"),
    [
        ("bytes", "int16 bytes", "states_b"),
        ("nibbles", "int16 bytes", "states_b"),
        ("guided", "wide", "guide_a"),
        ("guided", "mixed", "guide_b"),
    ],
)
def test_a_wrong_entry_is_seen(require_tool, method, name, array):
    """Errors of one unit, at both ends of a look-up table."""
    require_tool("gcc")
    files = emitted(FEATURES[name], method)
    for k in (0, -1):
        assert not agree(name, files | {"m.c": bumped(files["m.c"], array, k)})


def agree(name, files):
    """Return whether some C decides as the model of some features."""
    model = model_of(FEATURES[name])
    return verify_files(model, files, opt_level="-O0", n_random=300).agree
