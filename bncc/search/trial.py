"""One trial: trained with some seeds, its first model or baseline measured on the targets."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from bncc._types import IntArray
from bncc.data.dataset import Dataset, Table, check_trainable
from bncc.device.cross import Toolchain, find_toolchain
from bncc.device.measure import N_ROWS, bench_inputs, bench_rows
from bncc.device.meter import Inputs
from bncc.discretize.feature import states_of
from bncc.emit.emitter import emit_c
from bncc.errors import DataError, MisfitError, ToolchainError, TrialError
from bncc.lower.cost_model import LEVELS
from bncc.model.card import cost_format, model_facts, parent_names
from bncc.model.model import Model
from bncc.model.table_levels import table_levels
from bncc.on_device import resources_of
from bncc.pricing import machine_of, options_of
from bncc.progress import Progress, nth_part, part_of, silence
from bncc.resources import Budget, Optimize
from bncc.search.baseline_space import baseline_settings, is_baseline
from bncc.search.config import command_of, optimize_of, settings_of
from bncc.search.trial_result import Choice, Figures, Footprint, Point, Rate
from bncc.targets import find_target
from bncc.targets.base import Target
from bncc.targets.timing import CountedCore
from bncc.train.repeats import Repeats, train_repeats
from bncc.train.settings import TrainSettings
from bncc.train.train_model import train_model

if TYPE_CHECKING:
    from bncc.baselines.learn import Learned
    from bncc.timing.timebase import Timebase

Costs = Mapping[str, Footprint | str]
"""By target; a text says why there is no figure."""
UNKNOWN = "it has an instruction whose cycles are not known"
TOO_FEW = "too few rows for a validation set, which a sweep needs; add rows of each class"


@dataclass(frozen=True, eq=False)
class Workload:
    """Common inputs of all trials of a study; can be pickled."""

    train: Dataset  # Training rows, as ``bncc train`` reads them
    test: Dataset | None  # Test rows, which affect no choice
    # Rows of the measurements, from `measured_rows`; None without targets, or if `bench_source`
    # names no data
    readings: Table | None
    # source and bench_source: Arguments of ``bncc train`` and ``bncc bench`` that read the same
    # rows, from `bncc.search.config.source_words`
    source: tuple[str, ...]
    bench_source: tuple[str, ...]
    seed: int  # Random seed of the first training of each trial
    repeats: int  # Trainings of a trial, with seeds `seed`, `seed` + 1, ..
    # Targets as in ``--target``, except ``all``; empty for no measurements
    targets: tuple[str, ...]
    # Measured entry points; empty for `bncc.resources.default_entries`
    entries: tuple[str, ...] = ()
    base: "Timebase | None" = None  # Core and clock of cycles, time and energy

    @property
    def core(self) -> CountedCore | None:
        """Core whose cycles are counted; None for the unit of the target."""
        return None if self.base is None else self.base.counted


def measured_rows(table: Table) -> Table:
    """Return the rows that ``bncc bench --data`` measures over."""
    return bench_rows(table)


def check_rows(train: Dataset) -> None:
    """Reject rows with which every trial would fail."""
    check_trainable(train)
    _, held = train.split.holdout(train.y, TrainSettings().validation, seed=0)
    if len(held) == 0:
        raise DataError(TOO_FEW)


def run_trial(
    work: Workload, number: int, params: Mapping[str, Choice], tell: Progress = silence
) -> Point:
    """Train, evaluate and measure one trial; a baseline tells its progress."""
    begin = perf_counter()
    found = _baseline(work, params, tell) if is_baseline(params) else _network(work, params)
    return Point(
        **vars(found),
        number=number,
        params=dict(params),
        seconds=perf_counter() - begin,
        command=command_of(
            number,
            params,
            source=work.source,
            bench_source=work.bench_source,
            seed=work.seed,
            repeats=work.repeats,
            # One target that is too small ends all of `bncc bench`.
            targets=[name for name in work.targets if isinstance(found.costs[name], Footprint)],
            entries=work.entries,
            base=work.base,
        ),
    )


def _network(work: Workload, params: Mapping[str, Choice]) -> Figures:
    settings = settings_of(params, work.seed)
    repeats = train_repeats(work.train, settings, work.repeats, test=work.test)
    validation, test = _rates(repeats)
    model = repeats.first.model
    facts, fmt = model_facts(model), cost_format(model)
    return Figures(
        family=settings.structure,
        validation=validation,
        test=test,
        entries=facts["table_entries"],
        bits=facts["table_bits"],
        operations=model.n_classes * (len(model.tables) + 1),
        q_format=facts["q_format"] and (fmt.int_bits, fmt.frac_bits),
        costs=measure_model(work, model, params),
        parents=tuple(map(tuple, parent_names(model))),
        tables=table_levels(model),
    )


def _baseline(work: Workload, params: Mapping[str, Choice], tell: Progress) -> Figures:
    from bncc.baselines.learn import learn_baseline

    settings = baseline_settings(params, work.seed)
    n_parts = work.repeats + len(work.targets)
    learned = [
        learn_baseline(
            work.train,
            replace(settings, seed=work.seed + k),
            test=work.test,
            tell=nth_part(tell, k, n_parts, f"training {k + 1} of {work.repeats}:"),
        )
        for k in range(work.repeats)
    ]
    first = learned[0]
    validation = tuple(one.error_validation for one in learned)
    test = tuple(one.error_test for one in learned if one.error_test is not None)
    return Figures(
        family=settings.family,
        validation=Rate(validation, sum(one.n_validation for one in learned)),
        test=Rate(test, first.n_test) if test else None,
        entries=0,
        bits=first.baseline.bits,
        operations=round(first.baseline.operations),
        q_format=None,
        costs=measure_baselines(work, first, part_of(tell, work.repeats / n_parts, 1.0)),
        parents=(),
    )


def train_again(work: Workload, params: Mapping[str, Choice]) -> Model:
    """Return the model of a trial's first seed."""
    return train_model(work.train, settings_of(params, work.seed), test=work.test).model


def picked_model(work: Workload, point: Point) -> Model:
    """Train the model of a trial again."""
    model = train_again(work, point.params)
    facts = model_facts(model)
    error = facts["error_validation"]
    if (error, facts["table_entries"]) != (point.validation.errors[0], point.entries):
        raise TrialError(
            f"trial {point.number}, trained again, has an error rate of {100 * error:.2f} % on "
            f"validation rows, not {100 * point.validation.errors[0]:.2f} %, as libraries or the "
            "computer have changed; start another --study"
        )
    return model


def measure_model(work: Workload, model: Model, params: Mapping[str, Choice]) -> Costs:
    """Measure a model on all targets."""
    if not work.targets:
        return {}
    inputs = bench_inputs(model, work.readings, some_missing="missing" in work.entries)
    machines = {target: machine_of(target) for target in work.targets}
    budgets = {
        name: Budget(name, entries=work.entries, core=work.core)
        for name in dict.fromkeys(machines.values())
    }
    found = {
        name: _on_part(_cost(model, budget, inputs, optimize_of(params)), work.base)
        for name, budget in budgets.items()
    }
    return {target: found[name] for target, name in machines.items()}


def _on_part(found: Footprint | str, base: "Timebase | None") -> Footprint | str:
    """Return a footprint with the time and energy of its mean."""
    if base is None or isinstance(found, str):
        return found
    return replace(
        found,
        microseconds=base.microseconds(found.mean),
        microjoules=base.microjoules(found.mean),
    )


def _rates(repeats: Repeats) -> tuple[Rate, Rate | None]:
    errors, test_errors = repeats.errors("validation"), repeats.errors("test")
    if errors is None:
        raise DataError(TOO_FEW)
    trained = [result.model.training for result in repeats.results]
    validation = Rate(errors, sum(training["n_validation"] for training in trained))
    if test_errors is None:
        return validation, None
    return validation, Rate(test_errors, trained[0]["n_test"])


def _bench(target: Target, core: CountedCore | None) -> Toolchain:
    """Return the tools of a target; with a core, they count its cycles besides instructions."""
    if core is None:
        (bench,) = find_toolchain(target)
        return bench
    from bncc.timing.clock import CycleClock  # local: it reads machine code

    (bench,) = find_toolchain(target, simulator="unicorn")
    return replace(bench, clock=CycleClock.of(core))


def _cost(model: Model, budget: Budget, inputs: Inputs, optimize: Optimize) -> Footprint | str:
    """Measure as ``bncc bench --optimize`` does."""
    options = options_of(model, budget, optimize)
    bench = _bench(find_target(machine_of(budget.target)), budget.core)
    emission = emit_c(model, options)
    entries = emission.resources.entries
    try:
        found = resources_of(
            model, bench, inputs, emission, entries, optimize=optimize, opt_level=LEVELS[optimize]
        )
    except MisfitError as error:
        return str(error)
    return UNKNOWN if found.slowest is None else Footprint.of(found)


def measure_baselines(work: Workload, learned: "Learned", tell: Progress = silence) -> Costs:
    """Measure the C of a baseline on all targets."""
    states, found = states_to_measure(work, learned), dict[str, Footprint | str]()
    for k, target in enumerate(work.targets):
        tell(k / len(work.targets), f"measuring on {target}")
        cost = _baseline_cost(target, learned, len(work.train.classes), states, work.core)
        found[target] = _on_part(cost, work.base)
    return found


def states_to_measure(work: Workload, learned: "Learned") -> IntArray:
    """Return the states of the readings to measure on, else sampled ones."""
    if work.readings is not None:
        return np.asarray(states_of(learned.features, work.readings), dtype=np.int64)
    n_states = [feature.n_states for feature in learned.features]
    return np.random.default_rng(0).integers(0, n_states, (N_ROWS, len(n_states)))


def _baseline_cost(
    target: str, learned: "Learned", n_classes: int, X: IntArray, core: CountedCore | None
) -> Footprint | str:
    from bncc.baselines.learn import measure_baseline

    if learned.baseline.code is None:
        return f"there is no C ({learned.baseline.lack})"
    machine = find_target("x86" if target == "host" else target)
    bench = _bench(machine, core)
    try:
        cost = measure_baseline(learned, n_classes, bench, X)
    except ToolchainError as error:  # does not fit, or does not build
        return str(error)
    if cost.differing:
        by = learned.baseline.code.by
        return f"the C of {by} differs from Python on {cost.differing} of {len(X)} rows"
    if core is None:
        return Footprint(cost.flash, cost.ram, cost.stack, machine.unit, cost.mean, cost.most)
    if cost.cycles is None:
        return UNKNOWN
    cycles = cost.cycles
    return Footprint(cost.flash, cost.ram, cost.stack, "cycles", cycles.mean, cycles.max)
