"""Bit-exact agreement of the emitted C with Python, and the strength of the check."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from itertools import chain
from typing import Any

import numpy as np

from bncc._types import BoolArray, FloatArray, IntArray
from bncc.data.dataset import Table
from bncc.device.cross import CrossHarness, find_toolchain
from bncc.device.host import build_harness, build_library
from bncc.device.inputs.adaptation import adaptation_cases, adaptation_words
from bncc.device.inputs.cases import Case, Effort, cases, strength
from bncc.device.inputs.checked import checked_cases, checked_words
from bncc.device.inputs.confidence import confidence_cases, confidence_words
from bncc.device.inputs.counters import counter_cases, counter_words
from bncc.device.inputs.filter import filter_cases, filter_words
from bncc.device.inputs.missing import missing_cases, missing_words
from bncc.device.inputs.unknown import unknown_cases, unknown_words
from bncc.device.machine import HarnessError, Machine
from bncc.device.sources import Sources
from bncc.errors import OptionError
from bncc.model.model import Model
from bncc.targets import find_target
from bncc.toolchain.tools import host_compilers

SAMPLED = 64
"""Rows of each block of inputs, and random states with missing features, for a second build."""
SAMPLED_ENTRIES = frozenset({"stream", "stream_raw", "missing", "raw_missing"})


@dataclass(frozen=True)
class Agreement:
    """
    The outcome of an agreement check.

    Parameters
    ----------
    agree : bool
        True if there was no mismatch.
    target : str
        Target that ran the C.
    checked : int
        Number of inputs compared, over all builds; each at all entry points that accept it.
    mismatches : int
        Number of inputs with any different result.
    strength : str
        Description of the inputs.
    toolchain : str
        Compilers and options.
    first_mismatch : str or None
        Description of the first mismatch.
    n_builds : int
        Number of programs compared, one per compiler and simulator.
    """

    agree: bool
    target: str
    checked: int
    mismatches: int
    strength: str
    toolchain: str
    first_mismatch: str | None = None
    n_builds: int = 1


def compare(machine: Machine, inputs: Iterable[Case]) -> Agreement:
    """Compute all results on a target and compare them with those of the reference."""
    checked = mismatches = 0
    first: str | None = None
    for case in inputs:
        checked += len(case.x)
        try:
            wrong, story = _differences(machine, case)
        except HarnessError as error:
            return Agreement(
                False, "host", checked, mismatches + 1, "", machine.toolchain, first or str(error)
            )
        mismatches += int(wrong.sum())
        first = first or story
    return Agreement(mismatches == 0, "host", checked, mismatches, "", machine.toolchain, first)


def _differences(machine: Machine, case: Case) -> tuple[BoolArray, str | None]:
    """Return the mismatches in a block of inputs, and a description of the first one."""
    wrong = np.zeros(len(case.x), dtype=np.bool_)
    story: str | None = None
    for entry, answer, truth in _answers(machine, case):
        differs = answer != truth
        if differs.ndim == 2:
            differs = differs.any(axis=1)
        if differs.any() and story is None:
            k = int(np.flatnonzero(differs)[0])
            what = "readings" if case.kind.startswith("raw") else "states"
            what = f"step {k}, begun and scores" if case.kind == "filter" else what
            what = "confidence or 0, and scores" if case.kind == "confidence" else what
            what = "class, scores and readings" if case.kind == "unknown" else what
            what = f"operation {k}, value and scores" if case.kind == "counters" else what
            what = f"step {k}, class, scores and states" if case.kind == "adaptation" else what
            without = ""
            if case.is_missing is not None:
                without = f" without {_short(np.flatnonzero(case.is_missing[k]))}"
            said = f"the C says {_short(answer[k])}, Python says {_short(truth[k])}"
            story = f"{entry} of {what} {_short(case.x[k])}{without}: {said}"
        wrong |= differs
    return wrong, story


def _answers(machine: Machine, case: Case) -> Iterable[tuple[str, IntArray, IntArray]]:
    if case.is_missing is not None:
        ask = machine.missing if case.kind == "missing" else machine.raw_missing
        yield case.kind, ask(case.x, case.is_missing), case.y
        return
    if case.kind == "filter":
        yield "filter_next", machine.filter(case.x), case.y
        return
    if case.kind == "confidence":
        yield "sure_class or confidence", machine.confidence(case.x), case.y
        return
    if case.kind == "unknown":
        yield "outside or known_class", machine.unknown(case.x), case.y
        return
    if case.kind == "counters":
        yield "counters", machine.counters(case.x), case.y
        return
    if case.kind == "adaptation":
        yield "learn or adapted_class", machine.adaptation(case.x), case.y
        return
    if case.kind == "raw_checked":
        yield case.kind, machine.raw_checked(case.x), case.y
        return
    if case.kind == "raw":
        if "raw" in machine.entries:
            yield "raw", machine.raw(case.x), case.y
        if "scores_raw" in machine.entries:
            y, scores = machine.scores_raw(case.x)
            yield "scores_raw", y, case.y
            if case.scores is not None:
                yield "scores_raw", scores, case.scores
        if "stream_raw" in machine.entries:
            yield "feed_raw", machine.stream_raw(case.x), case.y
        return
    yield "predict", machine.predict(case.x), case.y
    if "trusted" in machine.entries and case.kind == "states":
        yield "trusted", machine.trusted(case.x), case.y
    if "stream" in machine.entries:
        yield "feed", machine.stream(case.x), case.y
    if "scores" in machine.entries:
        y, scores = machine.scores(case.x)
        yield "scores", y, case.y
        if case.scores is not None:
            yield "scores", scores, case.scores


def _short(values: IntArray | FloatArray) -> str:
    words = [f"{value:.9g}" for value in np.atleast_1d(values)[:24]]
    return ", ".join(words) + (", ..." if np.size(values) > 24 else "")


def verify_sources(
    model: Model,
    built: Sources,
    target: str = "host",
    *,
    table: Table | None = None,
    compiler: str | None = None,
    simulator: str | None = None,
    opt_level: str = "-O2",
    sanitize: bool = False,
    effort: Effort,
    also: Sources | None = None,
) -> Agreement:
    """Build emitted C for a target, run it there, and compare it with the integer model."""
    if sanitize and target != "host":
        raise OptionError(f"--sanitize supports the host only, not {target}; use --target host")

    def builds(some: Sources) -> Sequence[Callable[[], Machine]]:
        if target == "host":
            return _on_host(some, compiler, opt_level, sanitize)
        benches = find_toolchain(find_target(target), compiler=compiler, simulator=simulator)
        return [partial(CrossHarness, some, bench, opt_level) for bench in benches]

    own = builds(built)
    others = builds(also) if also is not None else [None] * len(own)
    outcomes = []
    for build, other in zip(own, others, strict=True):
        kept: list[Case] = []
        with build() as machine:
            has_raw = "raw" in machine.entries
            words = strength(model, table, effort, has_raw=has_raw)
            inputs = cases(model, table, effort, has_raw=has_raw)
            if "missing" in machine.entries:
                words = f"{words}, {missing_words(model, effort)}"
                inputs = chain(inputs, missing_cases(model, table, effort, has_raw=has_raw))
            if "raw_checked" in machine.entries:
                words = f"{words}, {checked_words(effort)}"
                inputs = chain(inputs, checked_cases(model, built.limits, table, effort))
            if "filter" in machine.entries and built.largest_score is not None:
                words = f"{words}, {filter_words(effort)}"
                inputs = chain(inputs, filter_cases(model, built.largest_score, effort))
            if "confidence" in machine.entries and built.largest_score is not None:
                words = f"{words}, {confidence_words(effort)}"
                inputs = chain(inputs, confidence_cases(model, built.largest_score, effort))
            if "unknown" in machine.entries and built.largest_score is not None:
                words = f"{words}, {unknown_words(effort)}"
                inputs = chain(inputs, unknown_cases(model, built.largest_score, table, effort))
            if "counters" in machine.entries and built.largest_score is not None:
                words = f"{words}, {counter_words()}"
                has_unknown = "unknown" in machine.entries
                drawn = counter_cases(model, built.largest_score, effort, has_unknown=has_unknown)
                inputs = chain(inputs, drawn)
            if "adaptation" in machine.entries and built.largest_score is not None:
                words = f"{words}, {adaptation_words(model, effort)}"
                has_scores = "adapted_scores" in machine.entries
                steps = adaptation_cases(model, built.largest_score, effort, has_scores=has_scores)
                inputs = chain(inputs, steps)
            outcome = compare(machine, _sampled(inputs, kept) if other is not None else inputs)
        outcome = replace(outcome, target=target, strength=words)
        outcomes.append(outcome if other is None else _joined(model, outcome, other, kept, effort))
    return combine(outcomes)


def _sampled(inputs: Iterable[Case], kept: list[Case]) -> Iterator[Case]:
    """Pass inputs through and keep some rows of each block."""
    for case in inputs:
        if case.kind in ("states", "invalid", "raw"):
            rows = np.unique(np.linspace(0, len(case.x) - 1, SAMPLED).astype(np.intp))
            kept.append(replace(case, x=case.x[rows], y=case.y[rows], scores=None))
        yield case


def _joined(
    model: Model,
    outcome: Agreement,
    build: Callable[[], Machine],
    kept: Sequence[Case],
    effort: Effort,
) -> Agreement:
    """Add to an outcome that of streams and missing features, on a sample of its inputs."""
    few = replace(effort, n_random=min(effort.n_random, SAMPLED))
    words = f"{sum(len(case.x) for case in kept):,} of them also fed feature by feature"
    inputs: Iterable[Case] = kept
    with build() as machine:
        machine.entries &= SAMPLED_ENTRIES
        if "missing" in machine.entries:
            words = f"{words}, {missing_words(model, few)}"
            has_raw = "raw_missing" in machine.entries
            inputs = chain(inputs, missing_cases(model, None, few, has_raw=has_raw))
        found = compare(machine, inputs)
    return replace(
        outcome,
        agree=outcome.agree and found.agree,
        mismatches=outcome.mismatches + found.mismatches,
        strength=f"{outcome.strength}, {words}",
        first_mismatch=outcome.first_mismatch or found.first_mismatch,
    )


def _on_host(
    built: Sources, compiler: str | None, opt_level: str, sanitize: bool
) -> list[Callable[[], Machine]]:
    """Return functions that build for this computer, one per compiler."""
    build = build_harness if sanitize else build_library
    tools = host_compilers(compiler)
    return [partial(build, built, compiler=tool, opt_level=opt_level) for tool in tools]


def combine(outcomes: Sequence[Agreement]) -> Agreement:
    """Join the outcomes of several builds for one target."""
    return replace(
        outcomes[0],
        agree=all(outcome.agree for outcome in outcomes),
        checked=sum(outcome.checked for outcome in outcomes),
        mismatches=sum(outcome.mismatches for outcome in outcomes),
        toolchain="; ".join(outcome.toolchain for outcome in outcomes),
        n_builds=sum(outcome.n_builds for outcome in outcomes),
        first_mismatch=next((o.first_mismatch for o in outcomes if o.first_mismatch), None),
    )


def __getattr__(name: str) -> Any:
    """Find ``verify`` where it was documented, although it emits and so is in `bncc.on_device`."""
    if name != "verify":
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    return import_module("bncc.on_device").verify
