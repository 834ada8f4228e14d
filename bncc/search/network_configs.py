"""Networks for a budget: with the most bits that fit, or with fewer cuts if none do."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from bncc.resources import Budget
from bncc.search.evaluation import Evaluation, Evaluator, losses_of
from bncc.train.options import DEFAULT_BITS
from bncc.train.settings import TrainSettings

FEWER_CUTS: tuple[Mapping[str, Any], ...] = (
    {"discretize": "quantile", "n_bins": 8},
    {"discretize": "quantile", "n_bins": 4},
    {"discretize": "median"},
)
"""Replacements for MDL discretization."""


def judged_network(
    name: str, evaluator: Evaluator, budget: Budget | None = None
) -> Evaluation | None:
    """Train a network with the most bits that fit, in the search's budget or in another one."""
    budget = budget or evaluator.given.budget
    for settings in _sizes(name, evaluator.given.base):
        counted = evaluator.counted(replace(counting(settings), validation=0))
        if counted is None or not budget.admits(counted):
            continue
        result, price = evaluator.trained(settings)
        least = evaluator.least(settings)
        if budget.admits(least):
            judged = tuple(evaluator.judgements(settings))
            return Evaluation(
                settings,
                tuple(one.error for one in judged),
                tuple(one.choice for one in judged),
                least,
                result,
                losses_of(judged),
                price,
            )
    return None


def least_network(name: str, base: TrainSettings) -> TrainSettings:
    """Return the settings of the smallest network of a structure, as far as counts determine it."""
    *_, least = _sizes(name, base)
    return counting(least)


def _sizes(name: str, base: TrainSettings) -> Iterator[TrainSettings]:
    """Yield candidates that may fit, from the lowest to the highest expected error."""
    options = base.structure_options if base.structure == name else {}
    named = replace(base, structure=name, structure_options=options)
    fewer = FEWER_CUTS if base.discretize is None else ()
    for given in (named, *(replace(named, **cuts) for cuts in fewer)):
        yield from (replace(given, bits=bits) for bits in range(DEFAULT_BITS, 0, -1))


def counting(settings: TrainSettings) -> TrainSettings:
    """Return the settings of a network of equal size without descent, if possible."""
    if settings.is_joint or settings.is_counted:
        return settings
    return replace(settings, parameters="ml")
