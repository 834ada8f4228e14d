"""The estimator of recordings classifies windows as the command and its C do."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from bncc import BNClassifier, BNStreamClassifier, load_model, program_pricing, save_model
from bncc.device.samples import host_stream
from bncc.emit.emitter import EmitOptions, emit_c
from bncc.on_device import decision_sources
from bncc.search import front_end_choice
from tests.cli.conftest import no_tools
from tests.recorded import LABELS, recordings

NAIVE = BNClassifier("naive", parameters="ml")
Data = tuple[list[Any], list[list[str]], list[str]]


def data(n_persons: int = 4, n: int = 640) -> Data:
    """Return samples, labels and persons."""
    found = recordings(n_persons, n).recordings
    labels = [[LABELS[k] for k in each.labels.tolist()] for each in found]
    return [each.samples for each in found], labels, [str(each.group) for each in found]


def estimator(**options: Any) -> BNStreamClassifier:
    usual = {"classifier": NAIVE, "channels": ["x", "y"], "sample_type": "-2048..2047"}
    return BNStreamClassifier(32, 16, **{**usual, **options})


@pytest.fixture(scope="module")
def fitted() -> BNStreamClassifier:
    samples, labels, persons = data()
    return estimator().fit(samples, labels, groups=persons)


def test_windows_have_the_label_of_their_samples(fitted: BNStreamClassifier) -> None:
    samples, labels, _ = data(5)
    said = fitted.predict(samples[4])
    assert said.shape == ((len(samples[4]) - 32) // 16 + 1,)
    inside = [set(labels[4][16 * k : 16 * k + 32]) for k in range(len(said))]
    wrong = [a not in b for a, b in zip(said, inside, strict=True) if len(b) == 1]
    assert np.mean(wrong) < 0.1
    assert fitted.classes_.tolist() == list(LABELS)


def test_blocks_of_any_length_are_classified_as_the_whole(fitted: BNStreamClassifier) -> None:
    samples = data(1)[0][0]
    fitted.start()
    found: list[str] = []
    begin = 0
    for length in (1, 15, 16, 31, 200, 700, 10_000):
        found += fitted.partial(samples[begin : begin + length]).tolist()
        begin += length
    assert found == fitted.predict(samples).tolist()
    fitted.start()
    assert fitted.partial(samples[:31]).tolist() == []


@pytest.mark.cc
def test_the_c_decides_alike(fitted: BNStreamClassifier, tmp_path: Path) -> None:
    save_model(fitted.to_model(), tmp_path / "m.bncc")
    model = load_model(tmp_path / "m.bncc")
    assert model.front_end == fitted.front_end_
    samples, sources = data(2)[0], emit_c(model, EmitOptions("m"))
    with host_stream(decision_sources(fitted.front_end_, sources)) as program:
        found = program.features(samples)[:, 0]
    expected = np.concatenate([fitted.predict(each) for each in samples])
    assert fitted.classes_[found].tolist() == expected.tolist()
    files = fitted.emit_c(tmp_path / "c", "motion")
    header = next(file for file in files if file.name == "motion.h").read_text()
    assert "int16_t motion_push(" in header


@pytest.mark.parametrize("rate", [50, "50", 50.0])
def test_durations_are_samples_at_a_rate(rate: Any) -> None:
    samples, labels, persons = data(3, 320)
    fitted = estimator(rate=rate).set_params(window="640ms", hop="320ms")
    fitted.fit(samples, labels, groups=persons)
    assert (fitted.front_end_.windows.length, fitted.front_end_.windows.hop) == (32, 16)


def test_parameters_are_those_of_scikit_learn(fitted: BNStreamClassifier) -> None:
    twin = clone(fitted).set_params(hop=8, classifier__bits=4)
    assert (twin.hop, twin.classifier.bits, NAIVE.bits) == (8, 4, None)


def test_a_budget_chooses_features(monkeypatch: pytest.MonkeyPatch) -> None:
    no_tools(monkeypatch)
    monkeypatch.setattr(program_pricing, "bench_of", lambda target: None)
    monkeypatch.setattr(front_end_choice, "FINALISTS", 2)
    samples, labels, persons = data()
    budget = BNClassifier("naive", max_flash=1500, target="cortex-m0", random_state=0)
    asked = {"features": "sum,range,haar1,crossings", "max_ram": "200"}
    fitted = estimator(classifier=budget, max_instructions_per_sample=200, **asked)
    fitted.fit(samples, labels, groups=persons)
    names = [column.name for column in fitted.front_end_.columns]
    assert 0 < len(names) < 8
    assert all(name.startswith("x.") for name in names)


def without_first(labels: Sequence[list[str]]) -> list[list[str]]:
    return [labels[0][1:], *labels[1:]]


def test_unsuitable_recordings_are_refused() -> None:
    samples, labels, persons = data(3, 100)
    floats = [each.astype(float) for each in samples]
    cases: list[tuple[Any, Any, Any, dict[str, Any], str]] = [
        ([], [], None, {}, "there are no recordings"),
        (floats, labels, persons, {}, "samples are float64; pass integers"),
        ([each[:, 0] for each in samples], labels, persons, {}, "samples have the shape"),
        (samples, without_first(labels), persons, {}, "300 samples and 299 labels"),
        (samples, labels[:2], persons, {}, "3 recordings and labels of 2"),
        (samples, labels, persons[:1], {}, "3 recordings and groups of 1"),
        (samples, labels, persons, {"max_ram": 100}, "max_ram needs a limit on flash"),
        (samples, labels, persons, {"features": "mean"}, "'mean' is no feature"),
    ]
    for parts, of, groups, options, message in cases:
        with pytest.raises(ValueError, match=message):
            estimator(**options).fit(parts, of, groups=groups)
    budget = BNClassifier("naive", max_flash=1500)
    with pytest.raises(ValueError, match="max_ram is 'x'; use bytes"):
        estimator(classifier=budget, max_ram="x").fit(samples, labels, groups=persons)


def test_samples_without_a_label_are_in_no_window() -> None:
    samples, labels, persons = data()
    some = [[None if label == "walk" else label for label in of] for of in labels]
    found = estimator().fit(samples, some, groups=persons)
    assert found.classes_.tolist() == ["run", "still"]
