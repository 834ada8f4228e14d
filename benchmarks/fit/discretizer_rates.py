"""
Measure every method to find a state on every target, and fit the rates of the selection.

Sensors of one kind with the same number of thresholds, all with one method: instructions (cycles
on AVR) of `raw` less those of `trusted` at -O2, and bytes of flash at -Os less those without
`raw`, each as a weighted sum of the terms of `Rates`. Prints the rates in the form of
bncc/lower/discretizers/rates.py, and the error of the estimates.

    .venv/bin/python -m benchmarks.fit.discretizer_rates --machine cortex-m0

Takes some minutes per target.
"""

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from unittest.mock import patch

import numpy as np
from scipy.optimize import nnls

from bncc.device.cross import find_toolchain
from bncc.device.meter import Inputs, Meter
from bncc.device.sources import sources
from bncc.discretize.feature import Feature
from bncc.discretize.readings import representatives
from bncc.emit.emitter import EmitOptions, emit_c
from bncc.fixed_point import QFormat
from bncc.lower.discretizers.choice import Discretizers, in_lines, searched, ways
from bncc.lower.discretizers.rates import Rates, Search
from bncc.model.model import Model
from bncc.structure.graph import forest
from bncc.targets import TARGETS

MACHINES = ("cortex-m0", "cortex-m4", "rv32", "x86", "avr")
TERMS = tuple(field.name for field in fields(Rates))
FREE = Rates(*((0.0, 0.0),) * len(TERMS))
"""Rates with which a plan costs only its constants."""
SEARCHES: tuple[Search, ...] = ("linear", "binary")
KINDS: Mapping[str, tuple[str, float, float]] = {
    "byte": ("int16", 5, 240),
    "int16": ("int16", -200, 9000),
    "int32": ("int32", -50_000, 900_000),
    "float32": ("float32", -3.7, 98.3),
}
"""Kind, smallest and largest threshold."""
N_CUTS = (2, 6, 14)
"""Numbers of cuts, each also plus and minus one."""
N_FEATURES = (4, 12)
"""Few and many, to separate shared code from code per feature."""


@dataclass(frozen=True)
class Trial:
    """One plan on some features."""

    name: str
    features: tuple[Feature, ...]
    method: str

    def plan(self, rates: Rates) -> Discretizers:
        """Return the plan with its cost at some rates."""
        way, _, place = self.method.partition(" ")
        search: Search | None = way if way in ("linear", "binary") else None
        if search and place == "loop":
            return searched(self.features, search, rates)
        chosen = {
            i: next(w for w in ways(f, search, rates) if w.method == way)
            for i, f in enumerate(self.features)
        }
        return in_lines(self.features, search, rates, chosen)


def trials() -> Iterator[Trial]:
    """Yield all plans."""
    for label, (kind, low, high) in KINDS.items():
        for n_cuts in N_CUTS:
            for n in N_FEATURES:
                some = tuple(sensor(i, kind, n_cuts + i % 3 - 1, low, high) for i in range(n))
                methods = ["linear loop", "binary loop", "linear", "binary", "tree"]
                for method in [*methods, "bytes", "nibbles", "guided"]:
                    if all(method.split()[0] in _methods(feature) for feature in some):
                        yield Trial(f"{label} {n_cuts} cuts x {n} {method}", some, method)


def _methods(feature: Feature) -> set[str]:
    return {way.method for search in SEARCHES for way in ways(feature, search, FREE)}


def sensor(i: int, kind: str, n_cuts: int, low: float, high: float) -> Feature:
    """Return feature i, different from all others because compilers merge equal code."""
    places = np.sort(np.random.default_rng(i).choice(200, n_cuts, replace=False))
    cuts = low + (high - low) * places / 199
    exact = [float(np.float32(t)) if kind == "float32" else int(t) for t in cuts]
    return Feature(f"x{i}", kind, n_cuts + 1, thresholds=tuple(exact))


def model_of(features: Sequence[Feature]) -> Model:
    """Return naive Bayes of two classes over some features."""
    rng = np.random.default_rng(0)
    return Model(
        tuple(features),
        ("no", "yes"),
        forest([None] * len(features)),
        QFormat(4, 0),
        np.array([1, 2]),
        tuple(rng.integers(0, 15, (f.n_states, 2)) for f in features),
        {},
    )


def measured(trial: Trial, machine: str) -> tuple[float, float]:
    """Return instructions and bytes of all features of a trial."""
    model = model_of(trial.features)
    with patch("bncc.lower.surroundings.choose_discretizers", return_value=trial.plan(FREE)):
        files = emit_c(model, EmitOptions("m", frozenset({"trusted"}), kernel="plain")).files
    X = np.random.default_rng(1).integers(0, model.n_states, (60, model.n_features))
    readings = [representatives(f)[X[:, i]] for i, f in enumerate(model.features)]
    inputs = Inputs(X, np.stack(readings, axis=1))
    (bench,) = find_toolchain(TARGETS[machine])
    with Meter(sources(model, files), bench, "-O2") as meter:
        costs = meter.costs(inputs)
    with Meter(sources(model, files), bench, "-Os") as meter:
        size = meter.footprint(("trusted", "raw")).flash - meter.footprint(("trusted",)).flash
    return costs["raw"].mean - costs["trusted"].mean, size


def terms(trial: Trial) -> tuple[list[float], list[float]]:
    """Return the multiplicity of each rate in a plan's instructions, and in its bytes."""
    work, size, constant = [], [], trial.plan(FREE).flash
    for k in range(len(TERMS)):
        unit = Rates(*((float(k == j),) * 2 for j in range(len(TERMS))))
        work.append(trial.plan(unit).instructions)
        size.append(trial.plan(unit).flash - constant)
    return work, size


def fit(rows: Sequence[Sequence[float]], found: Sequence[float]) -> tuple[np.ndarray, np.ndarray]:
    """
    Return the nonnegative rates of least relative squares, and estimated over measured.

    The last rate is a constant, the part of `raw` that is independent of the method.
    """
    weights = 1 / np.asarray(found)
    every = np.array([[*row, 1.0] for row in rows])
    rates, _ = nnls(every * weights[:, None], found * weights)
    return rates, every @ rates * weights


def report(machine: str, *, shows_all: bool) -> None:
    """Measure one target, and print its rates."""
    every = list(trials())
    found = [measured(trial, machine) for trial in every]
    rows = [terms(trial) for trial in every]
    works, flashes = zip(*found, strict=True)
    constants = [trial.plan(FREE).flash for trial in every]
    work, work_ratio = fit([row[0] for row in rows], np.array(works))
    size, size_ratio = fit([row[1] for row in rows], np.subtract(flashes, constants))
    if shows_all:
        for trial, one, w, s in zip(every, found, work_ratio, size_ratio, strict=True):
            per = one[0] / len(trial.features)
            print(f"{trial.name:34s} {per:7.1f} each, x{w:.2f}; {one[1]:6.0f} B, code x{s:.2f}")
    for name, ratios in (("work", work_ratio), ("code", size_ratio)):
        near = np.mean(np.abs(ratios - 1) <= 0.15)
        print(
            f"{machine} {name}: x{ratios.min():.2f} .. x{ratios.max():.2f}, {near:.0%} within 15 %"
        )
    pairs = ", ".join(f"({w:.3g}, {s:.3g})" for w, s in zip(work[:-1], size[:-1], strict=True))
    print(f"    # and {work[-1]:.3g}, {size[-1]:.3g} however states are found")
    print(f'    "{machine}": Rates({pairs}),', flush=True)


def main(words: Sequence[str] | None = None) -> int:
    """Measure the named targets, or all."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--machine", action="append", choices=MACHINES, help="repeatable")
    parser.add_argument("--all", action="store_true", help="print every trial")
    options = parser.parse_args(words)
    for machine in options.machine or MACHINES:
        report(machine, shows_all=options.all)
    return 0


if __name__ == "__main__":
    sys.exit(main())
