"""Differences on samples are counted, and the first one is found in its recording."""

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import numpy as np
import pytest

from bncc._types import IntArray
from bncc.device import sample_agreement
from bncc.device.inputs.samples import Part
from bncc.device.sample_agreement import SampleAgreement, SampleMismatch
from bncc.device.samples import StreamProgram, StreamSources
from bncc.model.filter import NO_DECISION
from bncc.model.model import Model
from bncc.model.reference import predict_samples
from tests.front_ends import front_end
from tests.unit.emit.test_emitter_samples import trained

SIZES = ((50, 0), (7, 900), (30, 40), (0, 0), (120, 7))
"""Length and start of each part."""


@pytest.fixture(scope="module")
def model() -> Model:
    tested = front_end("int16", 8, 4, "sum,range", "x")
    return replace(trained(tested, 30, structure="naive"), front_end=tested)


class Stub:
    """A program that returns given results, in any number of runs."""

    def __init__(self, answers: IntArray) -> None:
        self.left, self.n_runs = answers, 0
        self.sources = StreamSources("m", {}, 3, "int16", ("int16",), decides=True)

    def results(self, segments: Sequence[IntArray]) -> IntArray:
        """Return the next results."""
        n = sum(map(len, segments))
        answers, self.left = self.left[:n], self.left[n:]
        self.n_runs += 1
        return answers


def compared(model: Model, changes: dict[int, int]) -> tuple[SampleAgreement, IntArray, int]:
    """Compare results of which some are changed; return them and the number of runs."""
    rng = np.random.default_rng(0)
    parts = [Part(f"r{k}", rng.integers(-60, 60, (n, 3)), at) for k, (n, at) in enumerate(SIZES)]
    expected = [sample_agreement._expected(model, part.samples, predict_samples) for part in parts]
    answers = np.concatenate(expected)
    for at, answer in changes.items():
        answers[at] = answer
    stub = Stub(answers.copy())
    found = sample_agreement._compared(model, cast(StreamProgram, stub), parts, expected)
    return found, np.concatenate(expected), stub.n_runs


def test_only_last_samples_of_windows_have_a_class(model: Model) -> None:
    samples = np.random.default_rng(1).integers(-60, 60, (30, 3))
    found = sample_agreement._expected(model, samples, predict_samples)
    assert np.flatnonzero(found != NO_DECISION).tolist() == [7, 11, 15, 19, 23, 27]
    assert found[7::4].tolist() == predict_samples(model, samples).tolist()
    assert (sample_agreement._expected(model, samples[:7], predict_samples) == NO_DECISION).all()


@pytest.mark.parametrize("most", [1, 60, 10**6])
def test_the_first_difference_is_that_of_its_recording(
    model: Model, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sample_agreement, "RUN_SAMPLES", most)
    n_runs = {1: 5, 60: 3, 10**6: 1}[most]
    n_windows = sum(max(0, n // 4 - 1) for n, _ in SIZES)
    found, expected, runs = compared(model, {})
    assert (found.agree, found.samples, found.windows) == (True, 207, n_windows)
    assert (found.first_mismatch, runs) == (None, n_runs)
    # Sample 11 of the third part is the last of a window, the one before it is not.
    label = model.classes[expected[68]]
    found, _, _ = compared(model, {67: 1, 68: NO_DECISION, 206: -1})
    assert (found.agree, found.mismatches) == (False, 3)
    assert found.first_mismatch == SampleMismatch("r2", 50, None, model.classes[1])
    found, _, _ = compared(model, {68: NO_DECISION})
    assert found.first_mismatch == SampleMismatch("r2", 51, label, None)
    found, _, _ = compared(model, {206: -1})
    assert found.first_mismatch == SampleMismatch("r4", 126, model.classes[expected[206]], "-1")


def test_a_difference_is_told_in_words() -> None:
    said = str(SampleMismatch("walk1", 1234, "run", None))
    assert said == ("sample 1,234 of recording 'walk1': the C says no decision, Python says 'run'")
