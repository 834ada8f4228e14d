"""Networks for a budget: with the most bits that fit, or with fewer cuts if none do."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from bncc.search.evaluation import Evaluation, Evaluator
from bncc.train.options import DEFAULT_BITS
from bncc.train.settings import TrainSettings

FEWER_CUTS: tuple[Mapping[str, Any], ...] = (
    {"discretize": "quantile", "n_bins": 8},
    {"discretize": "quantile", "n_bins": 4},
    {"discretize": "median"},
)
"""Replacements for MDL discretization."""


def judged_network(name: str, evaluator: Evaluator) -> Evaluation | None:
    """Train a network with the most bits that fit."""
    given = evaluator.given
    for settings in _sizes(name, given.base):
        least = evaluator.counted(replace(counting(settings), validation=0))
        if least is None or not given.budget.admits(least):
            continue
        result, price = evaluator.trained(settings)
        if given.budget.admits(price):
            # The first fold evaluated it in its training, but the choice may use another measure.
            first = result.model.training["error_validation"]
            by_error = given.folds[0].chooses_by_error
            judged = list(evaluator.judgements(settings, since=1 if by_error else 0))
            others = judged if by_error else judged[1:]
            errors = (first, *(one.error for one in others))
            choice = errors if by_error else tuple(one.choice for one in judged)
            return Evaluation(settings, errors, choice, price, result)
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
