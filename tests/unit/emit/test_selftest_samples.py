"""The self-test of a model with a front end draws the samples whose decisions it expects."""

import subprocess
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bncc.device.cross import Toolchain
from bncc.emit.emitter import EmitOptions, emit_c
from bncc.emit.selftest_samples import MOST_WINDOWS, drawn_samples, sample_vectors
from bncc.emit.vectors import drawn_vectors
from bncc.model.model import Model
from bncc.model.reference import predict_samples
from bncc.toolchain.tools import SANITIZERS, STRICT_C_FLAGS, STRICT_FLAGS, run
from tests.firmware.test_selftest_on_targets import n_wrong
from tests.front_ends import front_end
from tests.unit.emit.test_emitter_samples import trained

C99 = ("-std=c99", *STRICT_FLAGS, *STRICT_C_FLAGS)
CPP17 = ("-xc++", "-std=c++17", *STRICT_FLAGS)


def sampled(form: str, length: int, hop: int) -> Model:
    tested = front_end(form, length, hop, "sum,range,change", "x,jerk(x,y)")
    model = trained(tested, 3 if form.endswith("int8") else 30, structure="naive")
    return replace(model, front_end=tested)


def wrong_on_host(folder: Path, files: Mapping[str, str], flags: tuple[str, ...] = C99) -> int:
    """Return the exit status of the self-test."""
    for name in ("m.c", "m.h", "m_selftest.c", "m_vectors.h"):
        (folder / name).write_text(files[name], encoding="utf-8")
    run(("gcc", *flags, *SANITIZERS, "m.c", "m_selftest.c", "-o", "t", "-lm"), folder)
    return subprocess.run([folder / "t"], check=False).returncode


@pytest.mark.cc
@pytest.mark.parametrize(
    ("form", "length", "hop"),
    [("int16", 20, 10), ("uint8", 16, 16), ("int8", 8, 1), ("uint16", 300, 300),
     ("-2048..2047", 12, 4), ("5..60000", 1, 1), ("100..300", 15, 5)],
)  # fmt: skip
def test_the_self_test_draws_what_python_draws(
    form: str, length: int, hop: int, tmp_path: Path, require_tool: Callable[[str], str]
) -> None:
    require_tool("gcc")
    files = dict(emit_c(sampled(form, length, hop), EmitOptions("m")).files)
    assert wrong_on_host(tmp_path, files) == 0
    flags = CPP17 if form == "int16" else C99
    text = files["m.c"]
    changed = text.replace("M_NO_DECISION;", "0;", 1) if hop > 1 else text
    changed = text.replace("s->is_first = 1U;", "s->is_first = 0U;") if hop == 1 else changed
    assert changed != text
    assert wrong_on_host(tmp_path, {**files, "m.c": changed}, flags) > 0


@pytest.mark.firmware
@pytest.mark.parametrize("target", ["avr", "cortex-m0", "big-endian"])
def test_targets_draw_the_same(
    target: str, tmp_path: Path, require_bench: Callable[..., Toolchain]
) -> None:
    bench = require_bench(target)
    files = dict(emit_c(sampled("int16", 20, 10), EmitOptions("m")).files)
    assert n_wrong(tmp_path, bench, files) == 0
    files["m.c"] = files["m.c"].replace("s->position = 0U;", "s->position = 1U;", 1)
    assert n_wrong(tmp_path, bench, files) > 0


def test_samples_have_several_classes_and_are_within_the_type() -> None:
    model = sampled("int16", 20, 10)
    assert model.front_end is not None
    found = sample_vectors(model)
    assert found.n_windows == MOST_WINDOWS
    assert found.coverage == "170 samples, drawn, with 16 windows of 3 of 3 classes"
    samples = drawn_samples(model.front_end, 0, 200)
    assert samples.shape == (2000, 3)
    assert -(2**15) <= samples.min() < -(2**13)
    assert 2**13 < samples.max() < 2**15
    assert len(np.unique(samples[:10], axis=0)) in (10, 5, 3, 2)
    assert len({*predict_samples(model, samples).tolist()}) == 3


def test_long_windows_are_few_and_vectors_bound_them(monkeypatch: pytest.MonkeyPatch) -> None:
    model = sampled("int16", 20, 10)
    monkeypatch.setattr("bncc.emit.selftest_samples.FEW_SAMPLES", 49)
    assert (sample_vectors(model).n_windows, sample_vectors(model).n_panes) == (3, 4)
    monkeypatch.setattr("bncc.emit.selftest_samples.FEW_SAMPLES", 10)
    assert (sample_vectors(model).n_windows, sample_vectors(model).n_panes) == (1, 2)
    monkeypatch.undo()
    options = EmitOptions("m", vectors=drawn_vectors(model, 3), is_bounded=True)
    files = emit_c(model, options).files
    assert "m_vector_sample_classes[3]" in files["m_vectors.h"]
    assert "40 samples, drawn, with 3 windows of " in files["m_selftest.c"]


def test_other_models_draw_no_samples() -> None:
    model = replace(sampled("int16", 20, 10), front_end=None)
    files = emit_c(model, EmitOptions("m")).files
    assert "sample" not in files["m_selftest.c"] + files["m_vectors.h"]
