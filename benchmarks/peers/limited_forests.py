"""
The best tree and forest of emlearn within limits of flash and of instructions.

All are nested comparisons printed inline, with repaired thresholds. Rows of training decide: the
validation error selects, and instructions are counted on training rows. What was trained and
measured is kept in a file, so that other limits take little time.
"""

from collections.abc import Iterator, Mapping
from dataclasses import astuple, dataclass
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np

from benchmarks.peers.encoded_readings import Encoding, encodings
from benchmarks.peers.tree_peers import (
    MORE_LEAVES,
    MORE_TREES,
    Candidate,
    Form,
    Grown,
    candidates,
    cost_on,
    error_of,
    finalists,
    flash_on,
    forms,
    grow,
)
from benchmarks.shared.decisions import Figures, packed
from benchmarks.shared.memory import Memory
from bncc.baselines.exporters import Style
from bncc.data.dataset import Dataset
from bncc.device.cross import Toolchain
from bncc.device.measure import bench_rows
from bncc.search.budget_search import HELD
from bncc.search.split_folds import Fold, folds_of
from bncc.train.settings import TrainSettings

KINDS: Mapping[str, tuple[str, ...]] = {"tree": ("tree",), "forest": ("forest", "soft forest")}
"""Baselines, and the kinds of candidates that each is the best of."""
FINALISTS = 10
"""Number of candidates per kind, the best of the first fold within the limits, of which all folds
select one."""
LEAST_INSTRUCTIONS = 2
"""Smallest number of instructions of a comparison: it and the branch."""
N_TIMED = 1000
"""Number of random rows over which instructions are counted."""


@dataclass(frozen=True)
class Limits:
    """Largest flash and mean instructions of a baseline."""

    flash: int
    instructions: float


class LimitedForests:
    """Trees and forests of one data set."""

    def __init__(
        self, name: str, parts: tuple[Dataset, Dataset], seed: int, bench: Toolchain, memory: Memory
    ) -> None:
        self._name, self._seed, self._bench, self._memory = name, seed, bench, memory
        self._train, self._test = parts
        self._last: Grown | None = None

    def best(self, kind: str, limits: Limits) -> Figures | None:
        """Return the baseline of lowest validation error within limits, or None if none fits."""
        found = [
            (self._held(one), flash, one)
            for each in KINDS[kind]
            for one, flash in islice(self._fitting(each, limits), FINALISTS)
        ]
        if not found:
            return None
        held, flash, one = min(found, key=lambda each: each[:2])
        tested = self._memory.get(self._key(one, "test"), lambda: self._tested(one))
        return Figures(
            words=self._words(one), flash=flash, learned=self._learned(one), held=held, **tested
        )

    def _fitting(self, kind: str, limits: Limits) -> Iterator[tuple[Candidate, int]]:
        ones = [
            one
            for one in self._candidates
            if one.kind == kind and one.passed * LEAST_INSTRUCTIONS <= limits.instructions
        ]
        fitting = finalists(ones, lambda one: one, self._flash, limits.flash)
        return (each for each in fitting if self._learned(each[0]) <= limits.instructions)

    @cached_property
    def _folds(self) -> tuple[Fold, ...]:
        return tuple(folds_of(self._train, TrainSettings(seed=self._seed, validation=HELD)))

    @cached_property
    def _encodings(self) -> tuple[Encoding, ...]:
        return encodings(self._train.table)

    @cached_property
    def _candidates(self) -> list[Candidate]:
        """All candidates, with their errors on the first fold."""
        lines = self._memory.get(f"{self._name} candidates", self._evaluated)
        return [
            Candidate(Form(*form), self._encodings[index], Style(*style), error, nodes, passed)
            for form, index, style, error, nodes, passed in lines
        ]

    def _evaluated(self) -> list[Any]:
        fold = self._folds[0]
        some = list(forms(MORE_TREES, MORE_LEAVES, 4 * max(MORE_LEAVES)))
        ones = candidates(self._train, fold.rest, fold.held, self._seed, some)
        # At most two encodings: one of floats and one of whole numbers.
        types = [each.is_float for each in self._encodings]
        return [
            [
                astuple(one.form), types.index(one.encoding.is_float), astuple(one.style),
                one.error, one.nodes, one.passed,
            ]
            for one in ones
            if one.style.method == "inline"
        ]  # fmt: skip

    def _grown(self, one: Candidate) -> Grown:
        """Train on all training rows; the last one is kept."""
        if self._last is None or self._last.candidate is not one:
            self._last = grow(one, self._train, self._seed)
        return self._last

    def _flash(self, one: Candidate) -> int:
        key = self._key(one, "flash")
        return int(self._memory.get(key, lambda: flash_on(self._bench, self._grown(one))))

    def _learned(self, one: Candidate) -> float:
        """Return the mean instructions over random training rows."""
        return float(self._memory.get(self._key(one, "mean"), lambda: self._timed(one)))

    def _timed(self, one: Candidate) -> float:
        timed = one.encoding.numbers(bench_rows(self._train.table, n_rows=N_TIMED))
        return cost_on(self._bench, self._grown(one), timed).mean

    def _held(self, one: Candidate) -> float:
        """Return the mean validation error of all folds."""
        return float(self._memory.get(self._key(one, "held"), lambda: self._judged(one)))

    def _judged(self, one: Candidate) -> float:
        others = self._folds[1:]
        errors = [error_of(one, fold.rest, fold.held, self._seed) for fold in others]
        return float(np.mean([one.error, *errors]))

    def _tested(self, one: Candidate) -> dict[str, Any]:
        """Return the figures that need test rows."""
        grown, table = self._grown(one), self._test.table
        missed = grown.decide(one.encoding.numbers(table)) != self._test.y
        timed = one.encoding.numbers(bench_rows(table, n_rows=N_TIMED))
        cost = cost_on(self._bench, grown, timed)
        return {
            "misses": packed(missed),
            "n_test": len(missed),
            "mean": cost.mean,
            "worst": cost.max,
        }

    def _words(self, one: Candidate) -> str:
        votes = ", soft votes" if one.style.leaf_bits else ""
        return f"{one.form.words}; {one.style.c_type.removesuffix('_t')}{votes}"

    def _key(self, one: Candidate, what: str) -> str:
        return f"{self._name} {self._words(one)} {what}"
