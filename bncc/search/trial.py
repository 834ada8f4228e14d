"""One trial: trained with some seeds, its first model measured on the targets."""

from collections.abc import Mapping
from time import perf_counter

from bncc.device.cross import find_bench
from bncc.device.measure import resources_of
from bncc.device.meter import Inputs
from bncc.device.on_target import bench_inputs
from bncc.device.targets import find_target
from bncc.emit.emitter import emit_c
from bncc.errors import DataError, MisfitError
from bncc.lower.cost_model import LEVELS
from bncc.model.card import cost_format, model_facts, parent_names
from bncc.model.model import Model
from bncc.pricing import machine_of, options_of
from bncc.resources import Budget, Optimize
from bncc.search.baseline_space import is_baseline
from bncc.search.baseline_trial import run_rival
from bncc.search.config import command_of, optimize_of, settings_of
from bncc.search.trial_result import Choice, Footprint, Point, Rate
from bncc.search.workload import TOO_FEW, Costs, Workload
from bncc.train.repeats import Repeats, train_repeats
from bncc.train.train_model import train_model


def run_trial(work: Workload, number: int, params: Mapping[str, Choice]) -> Point:
    """Train, judge and measure one trial."""
    if is_baseline(params):
        return run_rival(work, number, params)
    begin = perf_counter()
    settings = settings_of(params, work.seed)
    repeats = train_repeats(work.train, settings, work.repeats, test=work.test)
    validation, test = _rates(repeats)
    model = repeats.first.model
    facts, fmt = model_facts(model), cost_format(model)
    costs = measure_model(work, model, params)
    return Point(
        number=number,
        family=settings.structure,
        params=dict(params),
        validation=validation,
        test=test,
        entries=facts["table_entries"],
        bits=facts["table_bits"],
        operations=model.n_classes * (len(model.tables) + 1),
        q_format=facts["q_format"] and (fmt.int_bits, fmt.frac_bits),
        costs=costs,
        parents=tuple(map(tuple, parent_names(model))),
        seconds=perf_counter() - begin,
        command=command_of(
            number,
            params,
            source=work.source,
            bench_source=work.bench_source,
            seed=work.seed,
            repeats=work.repeats,
            # One machine too small ends all of `bncc bench`.
            targets=[name for name in work.targets if isinstance(costs[name], Footprint)],
            entries=work.entries,
        ),
    )


def train_again(work: Workload, params: Mapping[str, Choice]) -> Model:
    """Return the model of a trial's first seed."""
    return train_model(work.train, settings_of(params, work.seed), test=work.test).model


def measure_model(work: Workload, model: Model, params: Mapping[str, Choice]) -> Costs:
    """Measure a model on all targets."""
    if not work.targets:
        return {}
    inputs = bench_inputs(model, work.readings, with_gaps="missing" in work.entries)
    machines = {target: machine_of(target) for target in work.targets}
    found = {
        name: _cost(model, Budget(name, entries=work.entries), inputs, optimize_of(params))
        for name in dict.fromkeys(machines.values())
    }
    return {target: found[name] for target, name in machines.items()}


def _rates(repeats: Repeats) -> tuple[Rate, Rate | None]:
    errors, test_errors = repeats.errors("validation"), repeats.errors("test")
    if errors is None:
        raise DataError(TOO_FEW)
    trained = [result.model.training for result in repeats.results]
    validation = Rate(errors, sum(training["n_validation"] for training in trained))
    if test_errors is None:
        return validation, None
    return validation, Rate(test_errors, trained[0]["n_test"])


def _cost(model: Model, budget: Budget, inputs: Inputs, optimize: Optimize) -> Footprint | str:
    """Measure as ``bncc bench --optimize`` does."""
    options = options_of(model, budget, optimize)
    (bench,) = find_bench(find_target(machine_of(budget.target)))
    emission = emit_c(model, options)
    entries = emission.resources.entries
    try:
        return Footprint.of(
            resources_of(
                model, bench, inputs, emission, entries,
                optimize=optimize, opt_level=LEVELS[optimize],
            )
        )  # fmt: skip
    except MisfitError as error:
        return str(error)
