"""A trial that is a baseline: trained with some seeds, the C of the first measured on targets."""

from collections.abc import Mapping
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from bncc._types import IntArray
from bncc.device.cross import find_bench
from bncc.device.targets import find_target
from bncc.discretize.feature import states_of
from bncc.errors import ToolchainError
from bncc.search.baseline_space import NAME, rival_settings
from bncc.search.config import rival_command
from bncc.search.trial_result import Choice, Footprint, Point, Rate
from bncc.search.workload import Costs, Workload

if TYPE_CHECKING:
    from bncc.baselines.learn import Learned


def run_rival(work: Workload, number: int, params: Mapping[str, Choice]) -> Point:
    """Train, judge and measure one baseline."""
    from bncc.baselines.learn import learn_rival

    begin = perf_counter()
    settings = rival_settings(params, work.seed)
    found = [
        learn_rival(work.train, replace(settings, seed=work.seed + k), test=work.test)
        for k in range(work.repeats)
    ]
    first = found[0]
    validation = Rate(
        tuple(one.error_validation for one in found), sum(one.n_validation for one in found)
    )
    errors = [one.error_test for one in found if one.error_test is not None]
    test = Rate(tuple(errors), first.n_test) if errors else None
    costs = measure_rivals(work, first)
    return Point(
        number=number,
        family=str(params[NAME]),
        params=dict(params),
        validation=validation,
        test=test,
        entries=0,
        bits=first.rival.bits,
        operations=round(first.rival.operations),
        q_format=None,
        costs=costs,
        parents=(),
        seconds=perf_counter() - begin,
        command=rival_command(
            params,
            source=work.source,
            seed=work.seed,
            repeats=work.repeats,
            targets=[name for name in work.targets if isinstance(costs[name], Footprint)],
        ),
    )


def measure_rivals(work: Workload, learned: "Learned") -> Costs:
    """Measure the C of a baseline on all targets."""
    states = states_to_measure(work, learned)
    return {
        target: _cost(target, learned, len(work.train.classes), states) for target in work.targets
    }


def states_to_measure(work: Workload, learned: "Learned") -> IntArray:
    """Return the states of the readings that decisions are measured on, else drawn ones."""
    from bncc.device.on_target import N_ROWS

    if work.readings is not None:
        return np.asarray(states_of(learned.features, work.readings), dtype=np.int64)
    n_states = [feature.n_states for feature in learned.features]
    return np.random.default_rng(0).integers(0, n_states, (N_ROWS, len(n_states)))


def _cost(target: str, learned: "Learned", n_classes: int, X: IntArray) -> Footprint | str:
    from bncc.baselines.measure import measure_rival

    if learned.rival.code is None:
        return f"there is no C: {learned.rival.lack}"
    machine = find_target("x86" if target == "host" else target)
    (bench,) = find_bench(machine)
    try:
        cost = measure_rival(learned, n_classes, bench, X)
    except ToolchainError as error:  # it does not fit, or does not build
        return str(error)
    if cost.differing:
        by = learned.rival.code.by
        return f"the C of {by} decides {cost.differing} of {len(X)} rows otherwise than Python"
    return Footprint(cost.flash, cost.ram, cost.stack, machine.unit, cost.mean, cost.most)
