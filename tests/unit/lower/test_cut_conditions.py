"""Conditions that compare a reading with a cut: the same truth as its state, for every reading."""

import ctypes
import subprocess

import numpy as np
import pytest
from jinja2 import Environment, FileSystemLoader

from bncc.discretize.feature import Feature
from bncc.discretize.float_order import float_key
from bncc.discretize.readings import probe_values, raw_dtypes, states_of_raw
from bncc.lower.cut_conditions import FLOAT_BITS, cut_condition
from tests.conftest import ROOT

WARNINGS = ("-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Wsign-conversion", "-Werror")
FLOAT_MAX = float(np.finfo(np.float32).max)
SMALLEST = float(np.float32(1e-45))
THRESHOLDS = {
    "int8": (-128, -127, -1, 0, 63, 126, 127),
    "uint8": (0, 1, 127, 200, 254),
    "int16": (-32768, -32767, -32513, -257, -1, 0, 5, 255, 1023, 32511, 32766, 32767),
    "int32": (-(2**31), 1 - 2**31, -70000, -1, 0, 255, 2**20, 2**31 - 2, 2**31 - 1),
    "float32": (-FLOAT_MAX, -1.5, -SMALLEST, 0.0, SMALLEST, 0.75, 2.0**100, FLOAT_MAX),
}
C_TYPES = {"float32": "float"}
KNOWN = (1, 2, 5, 255, 256, 300)


def numbers_of(kind):
    thresholds = THRESHOLDS[kind]
    n_bins = len(thresholds) + 1
    missing = range(n_bins) if kind != "uint8" else (0, n_bins - 1)
    some = [Feature("x", kind, n_bins, thresholds, missing_state=k) for k in missing]
    return [*some, Feature("x", kind, n_bins + 1, thresholds, missing_state=n_bins)]


def codes():
    for known in KNOWN:
        for missing in sorted({0, known // 2, known - 1}):
            yield Feature("x", "state", known, missing_state=missing)
        labels = tuple(f"c{k}" for k in range(known))
        yield Feature("x", "category", known + 1, categories=labels, missing_state=known)


def readings_of(feature):
    """Return every reading of up to 16 bits, else those worth trying and random ones."""
    dtype = raw_dtypes((feature,))[0]
    if dtype.itemsize <= 2:
        low = np.iinfo(dtype).min
        return np.arange(low, np.iinfo(dtype).max + 1).astype(dtype)
    bits = np.random.default_rng(5).integers(0, 2**32, 20_000, dtype=np.uint32)
    if dtype.kind == "f":
        specials = np.array(
            [0x7F800000, 0xFF800000, 0x7F800001, 0xFF800001, 0x7FFFFFFF, 0xFFFFFFFF, 0, 1 << 31],
            dtype=np.uint32,
        )
        near = np.array(feature.thresholds, dtype=np.float32).view(np.int32)
        around = np.concatenate([near + k for k in range(-2, 3)]).view(np.uint32)
        bits = np.concatenate([bits, specials, around])
    known = probe_values(feature).astype(dtype)
    return np.concatenate([known, bits.view(dtype)])


def helpers(functions):
    """Print the functions that conditions call, and those of a float's bits."""
    environment = Environment(
        loader=FileSystemLoader(ROOT / "templates"), trim_blocks=True, lstrip_blocks=True
    )
    text = '{% from "lower/cut_functions.c.j2" import cut_functions with context %}'
    if FLOAT_BITS in functions:
        text += '{% include "lower/discretizers/float_bits.c.j2" %}\n'
    names = {"name": "m", "float_inf_key": float_key(float("inf")), "functions": functions}
    return environment.from_string(text + "{{ cut_functions(functions) }}").render(names)


def compiled(folder, c_type, conditions):
    """Compile conditions as functions ``c0``, ``c1`` of an array, which store a byte for each."""
    functions = frozenset().union(*(each.functions for each in conditions))
    lines = ["#include <stdint.h>", "#include <stddef.h>", helpers(functions)]
    for k, each in enumerate(conditions):
        lines += [
            f"void c{k}(const {c_type} *x, uint8_t *out, size_t n);",
            f"void c{k}(const {c_type} *x, uint8_t *out, size_t n)",
            "{ size_t i; for (i = 0U; i < n; i++) {",
            f"    out[i] = 0U; if ({each.text}) {{ out[i] = 1U; }}",
            "} }",
        ]
    (folder / "c.c").write_text("\n".join(lines), encoding="utf-8")
    command = ("gcc", *WARNINGS, "-shared", "-fPIC", "-O1", "-o", "c.so", "c.c")
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert not done.returncode, done.stderr
    return ctypes.CDLL(str(folder / "c.so"))


def check(folder, features, *, high_byte):
    """Compare all conditions of features that share a C type with their states."""
    readings = readings_of(features[0])
    with np.errstate(invalid="ignore"):  # signaling NaN
        R = readings.astype(np.float64)[:, None]
    states = [states_of_raw((f,), R)[:, 0] for f in features]
    found = []
    for feature, some in zip(features, states, strict=True):
        for least in range(1, feature.n_states):
            each = cut_condition(feature, least, "x[i]", "m", high_byte=high_byte)
            if each.constant is None:
                found.append((each, some >= least))
            else:
                assert not each.text
                assert ((some >= least) == each.constant).all()
    c_type = "float" if readings.dtype.kind == "f" else f"{readings.dtype}_t"
    library = compiled(folder, c_type, [each for each, _ in found])
    out = np.empty(len(readings), dtype=np.uint8)
    for k, (each, expected) in enumerate(found):
        arguments = (readings.ctypes.data, out.ctypes.data, len(readings))
        getattr(library, f"c{k}")(*(ctypes.c_void_p(each) for each in arguments))
        wrong = np.flatnonzero(out != expected)
        assert not len(wrong), (each.text, readings[wrong[:4]])
    return [each for each, _ in found]


@pytest.mark.cc
@pytest.mark.parametrize("high_byte", [False, True])
@pytest.mark.parametrize("kind", ["int16", "int32", "float32"])
def test_a_reading_reaches_a_cut_as_its_state_does(require_tool, tmp_path, kind, high_byte):
    require_tool("gcc")
    found = check(tmp_path, numbers_of(kind), high_byte=high_byte)
    assert all(each.n_subtractions <= 1 for each in found)
    assert any("high_byte" in each.text for each in found) == (high_byte and kind == "int16")


@pytest.mark.cc
@pytest.mark.parametrize("n_bytes", [1, 2])
def test_a_code_reaches_a_cut_as_its_state_does(require_tool, tmp_path, n_bytes):
    require_tool("gcc")
    some = [each for each in codes() if raw_dtypes((each,))[0].itemsize == n_bytes]
    if n_bytes == 1:
        some = [each for each in some if each.n_states < 20 or each.n_states == 255]
    check(tmp_path, some, high_byte=False)


def test_a_comparison_that_every_reading_passes_or_none_is_a_constant():
    largest = Feature("x", "int16", 2, (2**15 - 1,))
    assert cut_condition(largest, 1, "x", "m").constant is False
    lowest = Feature("x", "int16", 2, (-(2**15),), missing_state=1)
    assert cut_condition(lowest, 1, "x", "m").constant is True


def test_a_byte_costs_less_than_a_number_beyond_it():
    feature = Feature("x", "int16", 3, (200, 1023))
    terms = [cut_condition(feature, k, "x", "m", high_byte=False).terms for k in (1, 2)]
    assert terms == [(1, 0, 0, 0), (1, 1, 0, 0)]
