"""
Measured layouts of models that find states from readings, the data of their cost model.

Models of ten data sets with readings as integers and floats, by counting and by boosting: for every
family of kernels, target and level of the compiler one layout with one plan of discretizers,
half of them those that bncc would choose, half drawn at random. Random models are those of
`benchmarks.fit.drawn_models`, with three layouts for every target and level, all at random.
Measured are instructions of `predict_raw` (cycles on AVR) and its bytes of flash.
"""

import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from unittest.mock import patch
from zlib import crc32

import numpy as np

from benchmarks.fit.drawn_models import Drawn, drawn_models
from benchmarks.fit.reading_samples import MACHINES
from benchmarks.shared.trained_models import Trained, rows_of
from bncc.device.cross import find_toolchain
from bncc.device.measure import bench_inputs
from bncc.device.meter import Inputs, Meter
from bncc.emit.emitter import Emission, EmitOptions, emit_candidate
from bncc.errors import BnccError
from bncc.lower.choose import families_for, layouts_for
from bncc.lower.cost_model import (
    FAMILY,
    OF_READINGS,
    Candidate,
    Level,
    TextbookCost,
    textbook_cost,
)
from bncc.lower.cut_conditions import Compared
from bncc.lower.discretizers.choice import Discretizers, in_lines, searched, ways
from bncc.lower.discretizers.rates import Search, rates_of
from bncc.lower.entry_price import EntryPrices
from bncc.lower.kernels.families import FOR_TREES
from bncc.lower.request import Request
from bncc.lower.state_cost import StateTerms, state_terms
from bncc.lower.surroundings import discretizers_of, unread_features
from bncc.model.marginal import state_frequencies
from bncc.model.model import Model
from bncc.on_device import measure_textbook, sources_of
from bncc.program.ir import Program
from bncc.program.pipeline import optimize_each
from bncc.resources import Optimize
from bncc.targets import TARGETS

MODELS = (
    Trained("wifi_localization", "naive", 4),
    Trained("wifi_localization", "chow-liu", 2),
    Trained("occupancy", "chow-liu", 8),
    Trained("robot_wall_following_24", "naive", 2),
    Trained("robot_wall_following_24", "chow-liu", 4),
    Trained("letter", "naive", 4),
    Trained("letter", "chow-liu", 2),
    Trained("optdigits", "naive", 2),
    Trained("optdigits", "chow-liu", 4),
    Trained("dry_bean", "naive", 8),
    Trained("dry_bean", "chow-liu", 2),
    Trained("wdbc", "naive", 2),
    Trained("wdbc", "chow-liu", 8),
    Trained("phoneme", "naive", 8),
    Trained("yeast", "chow-liu", 4),
    Trained("magic04", "naive", 4),
    Trained("wifi_localization", "boosted"),
    Trained("dry_bean", "boosted"),
    Trained("phoneme", "boosted"),
    Trained("optdigits", "boosted"),
)
N_ROWS = 12
"""Training rows over which a decision is measured."""
DRAWN_MACHINES: tuple[tuple[str, Level], ...] = (*MACHINES, ("rv32", "-O2"), ("x86", "-O2"))
"""Machines of random models."""
N_DRAWN = 3
"""Layouts of a random model on a machine."""
SHARE_CHOSEN = 0.5
"""Share of them whose discretizers are those that bncc would choose."""
GOALS: Mapping[Level, tuple[Optimize, ...]] = {"-Os": ("size",), "-O2": ("balanced", "speed")}
RARE = ("bit-slice", "bytes", "columns", "cuts", "cut-lanes", "cut-loop", "cut-packed")
"""Families without layouts for many models, of which two layouts of each are measured."""
PLANS = ("linear", "binary", "tree", "called linear", "called binary", "own")
"""Plans of discretizers: loops, a line of one way for each feature, and of ways drawn at random."""


@dataclass(frozen=True)
class Figures:
    """Measured footprint and time of a `predict_raw`."""

    key: str  # Digest of its C, target and level
    flash: int | None = None  # Bytes; None if the program does not fit
    time: float | None = None  # Mean instructions; cycles on AVR


@dataclass(frozen=True, eq=False)
class Case:
    """A layout of a trained model, on a target at a level of the compiler."""

    source: str  # Its model, by name
    model: Model
    inputs: Inputs  # Rows of the training data, the same for all layouts
    target: str
    level: Level
    goal: Optimize
    plan: Discretizers
    chosen: Candidate | None  # None for the textbook classifier

    @property
    def family(self) -> str:
        """Its kernel, and what this compares where it compares readings."""
        if self.chosen is None:
            return FAMILY
        return self.chosen.kernel.family + (OF_READINGS if self.is_of_readings else "")

    @property
    def is_of_readings(self) -> bool:
        """True if its kernel compares readings itself."""
        return self.chosen is not None and self.chosen.compare in ("readings", "keys")

    @property
    def name(self) -> str:
        """Its name in a report."""
        layout = FAMILY if self.chosen is None else self.chosen.kernel.summary
        return f"{self.source} {self.target} {self.level} {self.goal}: {self.family}, {layout}"

    @property
    def options(self) -> EmitOptions:
        """Options of the emitter."""
        return EmitOptions("m", target=self.target, optimize=self.goal)

    @cached_property
    def emission(self) -> Emission:
        """Its C."""
        assert self.chosen is not None
        with patch("bncc.lower.surroundings.choose_discretizers", return_value=self.plan):
            return emit_candidate(self.model, self.chosen, self.options)

    @property
    def terms(self) -> StateTerms:
        """Terms of its price."""
        assert self.chosen is not None
        program, kernel = self.chosen.program, self.chosen.kernel
        return state_terms(program, kernel, self.plan, may_copy=self.goal == "speed")

    @cached_property
    def key(self) -> str:
        """Digest of what is measured."""
        text = f"{self.source} textbook" if self.chosen is None else self.emission.files["m.c"]
        return f"{sha256(text.encode()).hexdigest()[:16]} {self.target} {self.level}"

    @cached_property
    def estimate(self) -> tuple[float, float]:
        """Estimated bytes of flash and instructions of `predict_raw`."""
        prices = EntryPrices(Request(self.model, self.options))
        with patch("bncc.lower.surroundings.choose_discretizers", return_value=self.plan):
            found: Candidate | TextbookCost
            if self.chosen is None:
                imported = prices.request.program
                found = prices.textbook(imported, textbook_cost(imported, self.target))
            else:
                way = self.chosen.compare
                found = prices.priced(self.chosen.program, self.chosen.kernel, way)
        return found.flash, found.instructions


def cases(data: Path | None, models: Sequence[Trained] = MODELS) -> Iterator[Case]:
    """Yield the layouts of trained models."""
    for k, trained in enumerate(models):
        model = trained.model(data)
        inputs = bench_inputs(model, rows_of(trained.data_set, data).table, n_rows=N_ROWS)
        for n, (target, level) in enumerate(MACHINES):
            goals = GOALS[level]
            goal = goals[(k + n) % len(goals)]
            yield from _cases_of(str(trained), model, inputs, target, level, goal)


def drawn_cases() -> Iterator[Case]:
    """Yield the layouts of random models."""
    for k, drawn in enumerate(drawn_models()):
        for n, (target, level) in enumerate(DRAWN_MACHINES):
            goals = GOALS[level]
            yield from _drawn_cases_of(drawn, target, level, goals[(k + n) % len(goals)])


def _drawn_cases_of(drawn: Drawn, target: str, level: Level, goal: Optimize) -> Iterator[Case]:
    options = EmitOptions("m", target=target, optimize=goal)
    prices, model = EntryPrices(Request(drawn.model, options)), drawn.model
    programs = [drawn.program] if drawn.program else _programs(prices.request)
    rng = np.random.default_rng(crc32(f"{drawn.name} {target} {level}".encode()))
    families = [name for name in families_for(target) if name not in FOR_TREES]
    if level == "-O2" and drawn.has_textbook:
        plan = searched(model.features, "linear", rates_of(target))
        yield Case(drawn.name, model, drawn.inputs, target, level, goal, plan, None)
    n_left = N_DRAWN
    for k in rng.permutation(len(families)).tolist():
        if not n_left:
            break
        found = [(p, each) for p in programs for each in layouts_for(p, families[k], target)]
        if not found:
            continue
        n_left -= 1
        program, kernel = found[int(rng.integers(len(found)))]
        name = PLANS[int(rng.integers(len(PLANS)))]
        unread = unread_features(prices.request, program)
        plan = _plan(model, program, target, name, rng, unread)
        if rng.random() < SHARE_CHOSEN:
            plan = discretizers_of(prices.request, program, kernel.rom_bytes, goal)
        chosen = prices.priced(program, kernel, "states")
        yield Case(drawn.name, model, drawn.inputs, target, level, goal, plan, chosen)


def _programs(request: Request) -> list[Program]:
    return [program for program, _ in optimize_each(request.program, request.flows)]


def _cases_of(
    source: str, model: Model, inputs: Inputs, target: str, level: Level, goal: Optimize
) -> Iterator[Case]:
    options = EmitOptions("m", target=target, optimize=goal)
    prices = EntryPrices(Request(model, options))
    programs = _programs(prices.request)

    def case(chosen: Candidate | None, plan: Discretizers) -> Case:
        return Case(source, model, inputs, target, level, goal, plan, chosen)

    if level == "-O2":
        yield case(None, searched(model.features, "linear", rates_of(target)))
    by_family: dict[tuple[str, Compared | None], list[Candidate]] = {}
    for program in programs:
        for family in families_for(target):
            for kernel in layouts_for(program, family, target):
                for each in prices.of(program, kernel):
                    by_family.setdefault((family, each.compare), []).append(each)
    for n, ((family, compare), found) in enumerate(by_family.items()):
        rng = np.random.default_rng(crc32(f"{source} {target} {level} {family}".encode()))
        is_usual = (n + crc32(source.encode())) % 2 or compare in ("readings", "keys")
        if is_usual or family in RARE:
            chosen = min(found, key=lambda each: _order(goal, each))
            rom_bytes = chosen.kernel.rom_bytes
            plan = discretizers_of(prices.request, chosen.program, rom_bytes, goal)
            yield case(chosen, plan)
        if not is_usual or (family in RARE and compare == "states"):
            chosen = found[int(rng.integers(len(found)))]
            drawn = PLANS[int(rng.integers(len(PLANS)))]
            unread = unread_features(prices.request, chosen.program)
            yield case(chosen, _plan(model, chosen.program, target, drawn, rng, unread))


def _order(goal: Optimize, each: Candidate) -> tuple[float, float]:
    if goal == "size":
        return each.flash, each.instructions
    if goal == "speed":
        return each.instructions, each.flash
    return each.instructions * each.flash, each.flash


def _plan(
    model: Model,
    program: Program,
    target: str,
    drawn: str,
    rng: np.random.Generator,
    unread: Collection[int],
) -> Discretizers:
    """Return the plan of a name in `PLANS`."""
    rates, features = rates_of(target), program.features
    if drawn == "linear" or drawn == "binary":
        return searched(features, drawn, rates, unread)
    search: Search | None = None
    if drawn.startswith("called"):
        search = "binary" if drawn.endswith("binary") else "linear"
    frequencies, chosen = state_frequencies(model), {}
    for i, feature in enumerate(features):
        if feature.is_numeric and i not in unread:
            found = ways(feature, search, rates, frequencies[i])
            chosen[i] = found[int(rng.integers(len(found))) if drawn == "own" else 0]
    return in_lines(features, search, rates, chosen)


def measured(case: Case) -> Figures:
    """Measure a layout."""
    (bench,) = find_toolchain(TARGETS[case.target])
    try:
        if case.chosen is None:
            found, reason = measure_textbook(case.model, bench, case.inputs, ("raw",))
            if found is None:
                raise BnccError(reason or "")
            return Figures(case.key, found.flash, found.costs["raw"].mean)
        with Meter(sources_of(case.model, case.emission), bench, case.level) as meter:
            cost = meter.costs(case.inputs, ("raw",))["raw"]
            flash = meter.footprint(("raw",)).flash
    except BnccError as error:
        print(f"{case.name}: {error}", file=sys.stderr)
        return Figures(case.key)
    return Figures(case.key, flash, cost.mean)
