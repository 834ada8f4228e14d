"""Decisions of emitted C on samples, compared with those of the reference sample by sample."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from bncc._types import AnyArray, IntArray
from bncc.device.cross import find_toolchain
from bncc.device.inputs.samples import Part
from bncc.device.samples import (
    StreamProgram,
    StreamSources,
    cross_stream,
    host_stream,
    rated_answer,
)
from bncc.model.adapted import AdaptedModel
from bncc.model.confidence import margins_of, required
from bncc.model.counters import added, hits_of
from bncc.model.counters import required as counting
from bncc.model.filter import NO_DECISION, answered
from bncc.model.filter import required as required_filter
from bncc.model.model import Model
from bncc.model.reference import (
    predict_filtered_samples,
    predict_samples,
    sample_scores,
    states_of_samples,
)
from bncc.model.unknown import required as knowing
from bncc.targets import find_target
from bncc.toolchain.tools import SANITIZERS, host_compilers

RUN_SAMPLES = 2**18
"""Samples of one run of a program, if not of one segment."""


@dataclass(frozen=True)
class SampleMismatch:
    """A sample for which the C returns something else than the reference."""

    recording: str
    sample: int  # Number in its recording, from 0
    expected: str | None  # Class of the window that ends with it; None without a decision
    found: str | None  # Likewise; a number that is no class, such as ``-1``, as text

    def __str__(self) -> str:
        """Return the sample and both results in words."""
        said = [each if each is None else repr(each) for each in (self.found, self.expected)]
        found, expected = ("no decision" if each is None else each for each in said)
        return (
            f"sample {self.sample:,} of recording {self.recording!r}: the C says {found}, Python "
            f"says {expected}"
        )


@dataclass(frozen=True)
class SampleAgreement:
    """The outcome of a comparison on samples."""

    samples: int  # samples and windows: Numbers compared, over all builds
    windows: int
    mismatches: int  # Samples with a different result
    toolchain: str  # Compilers and options
    first_mismatch: SampleMismatch | None = None
    n_builds: int = 1

    @property
    def agree(self) -> bool:
        """True if there was no mismatch."""
        return self.mismatches == 0


Build = Callable[[], AbstractContextManager[StreamProgram]]


def verify_samples(
    model: Model,
    built: StreamSources,
    target: str,
    parts: Sequence[Part],
    *,
    compiler: str | None = None,
    simulator: str | None = None,
    opt_level: str = "-O2",
    sanitize: bool = False,
) -> SampleAgreement:
    """Build the C of a model with a front end for a target, run it there, and compare it."""
    decide = predict_filtered_samples if built.is_filtered else predict_samples
    if built.ratings:
        decide = partial(_rated, built, decide)
    expected = [_expected(model, part.samples, decide) for part in parts]
    outcomes = []
    for name, build in _builds(built, target, compiler, simulator, opt_level, sanitize=sanitize):
        with build() as program:
            outcomes.append(replace(_compared(model, program, parts, expected), toolchain=name))
    return SampleAgreement(
        sum(outcome.samples for outcome in outcomes),
        sum(outcome.windows for outcome in outcomes),
        sum(outcome.mismatches for outcome in outcomes),
        "; ".join(outcome.toolchain for outcome in outcomes),
        next((each.first_mismatch for each in outcomes if each.first_mismatch), None),
        len(outcomes),
    )


def _builds(
    built: StreamSources,
    target: str,
    compiler: str | None,
    simulator: str | None,
    opt_level: str,
    *,
    sanitize: bool,
) -> Iterator[tuple[str, Build]]:
    """Yield each toolchain in words, and a function that builds with it."""
    if target == "host":
        flags = (opt_level, *(SANITIZERS if sanitize else ()))
        for tool in host_compilers(compiler):
            yield " ".join((str(tool), *flags)), partial(host_stream, built, flags, tool)
        return
    for bench in find_toolchain(find_target(target), compiler=compiler, simulator=simulator):
        words = f"{bench.compiler} {opt_level}, {bench.place}"
        yield words, partial(cross_stream, built, bench, opt_level)


def _expected(
    model: Model, samples: IntArray, decide: Callable[[Model, IntArray], IntArray]
) -> IntArray:
    """Return what the C shall return for each sample of a segment, (n,) int64."""
    assert model.front_end is not None
    windows, answers = model.front_end.windows, np.full(len(samples), NO_DECISION, dtype=np.int64)
    answers[windows.length - 1 :: windows.hop] = decide(model, samples)
    return answers


def _rated(
    built: StreamSources,
    decide: Callable[[Model, IntArray], IntArray],
    model: Model,
    samples: IntArray,
) -> IntArray:
    """Return the answers to the windows of a segment with their ratings, (n_windows,) int64."""
    found = sample_scores(model, samples)
    ratings: list[AnyArray] = []
    if built.is_rated:
        confidence, margins = required(model.confidence), margins_of(found)
        ratings += [confidence.percent_of(margins), confidence.accepts(margins)]
    is_known = None
    if built.knows:
        assert model.front_end is not None
        table = model.front_end.table(model.front_end.values(samples))
        is_known = knowing(model.unknown).knows(model.features, table, found)
        ratings.append(is_known)
    if built.counters is not None:
        counters = counting(model.counters)
        hits = hits_of(
            found.argmin(axis=1), margins_of(found), counters.margins, built.counters, is_known
        )
        ratings.append(_sums(hits, len(built.counters.names)))
    if built.adapts:
        classes, moved = _learned(model, samples, is_filtered=built.is_filtered)
        return rated_answer(classes, [*ratings, moved])
    return rated_answer(decide(model, samples), ratings)


def _learned(model: Model, samples: IntArray, *, is_filtered: bool) -> tuple[IntArray, AnyArray]:
    """Return classes of windows learned in turn, and whether offsets moved, as ``samples.c``."""
    adapted, X = AdaptedModel(model), states_of_samples(model, samples)
    found = np.zeros((len(X), model.n_classes), dtype=np.int64)
    moved = np.zeros(len(X), dtype=np.int64)
    lag = required_filter(model.filter).lag if is_filtered else 0
    for k in range(len(X)):
        found[k] = adapted.scores(X[k : k + 1])[0]
        if k >= lag:  # With the first decision
            labels = np.array([(k - lag) % (model.n_classes + 1)])
            moved[k] = adapted.learn(X[k : k + 1], labels)
    if not is_filtered:
        return found.argmin(axis=1), moved
    one = np.zeros(len(X), dtype=np.int64)
    return answered(found, one, required_filter(model.filter)), moved


def _sums(hits: IntArray, n_counters: int) -> IntArray:
    """Return the counters after each decision, each times its number from 1 on, modulo 256."""
    counts: IntArray = np.zeros(n_counters, dtype=np.int64)
    found = np.zeros(len(hits), dtype=np.int64)
    for k in range(len(hits)):
        counts = added(counts, hits[k : k + 1])
        found[k] = (counts * np.arange(1, n_counters + 1)).sum() % 256
    return found


def _compared(
    model: Model, program: StreamProgram, parts: Sequence[Part], expected: Sequence[IntArray]
) -> SampleAgreement:
    """Compare a program with the reference, a few segments in each run."""
    n_samples = n_windows = mismatches = 0
    first: SampleMismatch | None = None
    rated = program.sources.ratings
    for batch in _batches(parts):
        segments = [parts[k].samples for k in batch]
        truth = np.concatenate([expected[k] for k in batch])
        found = program.results(segments)
        wrong = found != truth
        if wrong.any() and first is None:
            at = int(wrong.argmax())
            starts = np.cumsum([0, *map(len, segments)])
            k = int(np.searchsorted(starts, at, side="right")) - 1
            part, (says, shall) = parts[batch[k]], (int(found[at]), int(truth[at]))
            sample = part.start + at - int(starts[k])
            words = (_word(model, rated, each) for each in (shall, says))
            first = SampleMismatch(part.recording, sample, *words)
        mismatches += int(wrong.sum())
        n_samples += len(truth)
        n_windows += int((truth != NO_DECISION).sum())
    return SampleAgreement(n_samples, n_windows, mismatches, "", first)


def _batches(parts: Sequence[Part]) -> Iterator[list[int]]:
    """Yield the indices of the segments of each run."""
    batch: list[int] = []
    n_samples = 0
    for k, part in enumerate(parts):
        if batch and n_samples + len(part.samples) > RUN_SAMPLES:
            yield batch
            batch, n_samples = [], 0
        batch.append(k)
        n_samples += len(part.samples)
    if batch:
        yield batch


def _word(model: Model, rated: Sequence[str], answer: int) -> str | None:
    """Return a result in words: the label of a class, None without a decision."""
    if answer == NO_DECISION:
        return None
    number, rest = (answer + 2**15) % 2**16 - 2**15, (answer + 2**15) >> 16
    word = model.classes[number] if 0 <= number < model.n_classes else str(number)
    ratings = zip(rated, rest.to_bytes(max(1, len(rated)), "little"), strict=False)
    return ", ".join([word, *(f"{name} {rating}" for name, rating in ratings)])
