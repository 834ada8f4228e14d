"""Networks for a budget: in the most bits that fit, with fewer cuts where none do."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from bncc.data.dataset import Dataset
from bncc.model.card import model_facts
from bncc.model.model import Model
from bncc.pricing import price_of
from bncc.resources import Budget
from bncc.search.evaluation import Tried
from bncc.search.split_folds import Fold
from bncc.train.options import DEFAULT_BITS
from bncc.train.settings import TrainSettings
from bncc.train.train_model import train_model

SHRUNK = 4
"""Times that the compiler's passes and packing may make tables smaller, at most a guess."""
FEWER_CUTS: tuple[Mapping[str, Any], ...] = (
    {"discretize": "quantile", "n_bins": 8},
    {"discretize": "quantile", "n_bins": 4},
    {"discretize": "median"},
)
"""What takes the place of the cuts of MDL."""


def judged_network(
    name: str,
    dataset: Dataset,
    folds: Sequence[Fold],
    base: TrainSettings,
    budget: Budget,
    test: Dataset | None,
) -> Tried | None:
    """Train a network with the most bits that fit."""
    for settings in _sizes(name, base):
        counted = train_model(dataset, replace(counting(settings), validation=0)).model
        if _is_hopeless(counted, budget):
            continue
        if budget.admits(price_of(counted, budget, dataset.table)):
            result = train_model(dataset, settings, test=test)
            price = price_of(result.model, budget, dataset.table)
            if budget.admits(price):
                first = result.model.training["error_validation"]
                if folds[0].chooses_by_error:
                    errors = (first, *(_judged(fold, settings)[0] for fold in folds[1:]))
                    return Tried(settings, errors, price, result)
                judged = [_judged(fold, settings) for fold in folds]
                judged_errors, losses = zip(*judged, strict=True)
                errors = (first, *judged_errors[1:])
                return Tried(settings, errors, price, result, losses)
    return None


def least_network(name: str, base: TrainSettings) -> TrainSettings:
    """Return what trains the smallest network of a structure, as far as it is known from counts."""
    *_, least = _sizes(name, base)
    return counting(least)


def _sizes(name: str, base: TrainSettings) -> Iterator[TrainSettings]:
    """Yield what may fit, from what is expected to err least on."""
    options = base.structure_options if base.structure == name else {}
    named = replace(base, structure=name, structure_options=options)
    fewer = FEWER_CUTS if base.discretize is None else ()
    for given in (named, *(replace(named, **cuts) for cuts in fewer)):
        yield from (replace(given, bits=bits) for bits in range(DEFAULT_BITS, 0, -1))


def _judged(fold: Fold, settings: TrainSettings) -> tuple[float, float]:
    """Return the error and the mean loss of a network that learns without the rows of a fold."""
    model = train_model(fold.rest, replace(settings, validation=0)).model
    misses = fold.misses(model)
    return float(misses.mean()), float(fold.losses(model, misses).mean())


def counting(settings: TrainSettings) -> TrainSettings:
    """Return what trains a network as large without descent, where there is such a way."""
    if settings.is_joint or settings.is_counted:
        return settings
    return replace(settings, parameters="ml")


def _is_hopeless(model: Model, budget: Budget) -> bool:
    """Return whether tables are so large that building C would be a waste."""
    n_bytes = model_facts(model)["table_bits"] // 8
    return budget.flash is not None and n_bytes > SHRUNK * budget.flash
