"""The best classifier for a budget, by rows held out of training."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from time import perf_counter

from bncc.data.dataset import Dataset
from bncc.errors import BudgetError, ConstantColumnsError, DataError
from bncc.pricing import price_of
from bncc.progress import Progress, silence
from bncc.resources import Budget, Resources
from bncc.search.ensemble_configs import BITS, ROWS, Form
from bncc.search.ensemble_race import judged_sums, order_of
from bncc.search.evaluation import Tried, with_errors
from bncc.search.network_configs import judged_network, least_network
from bncc.search.split_folds import Fold, folds_of
from bncc.structure.catalog import SUM
from bncc.train.interrupts import StopRequest
from bncc.train.settings import TrainSettings
from bncc.train.train_model import TrainResult, train_model
from bncc.train.weights import counting_rows

NETWORKS = ("naive", "chow-liu")
"""Networks that are tried, each in the most bits that fit."""
FAMILIES = (SUM, *NETWORKS)
HELD = 0.2
"""Least fraction of rows held out: what is chosen among is close together."""
LEAST_FORM = Form(rows=ROWS[0], bits=BITS[0])
LESS = 0.97
"""Of the tables, where the sum of all rows takes more than that of some did."""


@dataclass(frozen=True)
class Found:
    """What a search ends with."""

    result: TrainResult  # The model, learned from all rows
    settings: TrainSettings  # What trains it again
    price: Resources  # What it takes
    tried: tuple[Tried, ...] = ()  # Those that fit, in the order in which they were tried
    seconds: float = 0.0  # Wall time of all
    is_short: bool = False  # Whether the search was ended early, as it was asked to


def search(
    dataset: Dataset,
    base: TrainSettings,
    budget: Budget,
    *,
    families: tuple[str, ...] = FAMILIES,
    test: Dataset | None = None,
    tell: Progress = silence,
    stop: StopRequest | None = None,
    choose_by: str | None = None,
) -> Found:
    """
    Try families and sizes, and train the best that fits.

    Every candidate learns without the rows held out, which then judge it. Sums of tables are tried
    in several forms, each with as many tables as fit, and going on from the best form to those
    beside it; where rows are few, several folds of them judge. Networks are tried in the most bits
    that fit, and judged by the same folds.
    """
    begin = perf_counter()
    stop = stop or StopRequest()
    base = replace(base, validation=max(base.validation, HELD))
    dataset = counting_rows(dataset)
    folds = tuple(folds_of(dataset, base, choose_by))
    if not folds:
        raise DataError("too few rows to hold any out to choose by; train without a budget")
    tried: list[Tried] = []
    is_short = False
    candidates = _candidates(dataset, folds, base, budget, families, test)
    for one in candidates:
        tried.append(one)
        best = _best(tried)
        tell(len(tried) / (len(tried) + 4), f"{100 * best.error:.2f} % with {best.words}")
        stop.is_armed = True
        if is_short := stop.is_wanted:
            break
    if not tried:
        raise BudgetError(
            f"nothing that was tried fits in {_limits(budget)}, where the least takes "
            f"{_least(dataset, base, budget, families)}; allow more, or leave out columns"
        )
    best = _best(tried)
    found = _final(dataset, best, budget, test)
    result = with_errors(found.result, best.errors, folds[0].choose_by)
    tell(1.0, "")
    seconds = perf_counter() - begin
    return replace(found, result=result, tried=tuple(tried), seconds=seconds, is_short=is_short)


def _best(tried: Sequence[Tried]) -> Tried:
    """Return what errs least of those that all folds have judged."""
    return min(tried, key=lambda one: order_of(one.choice, one.price))


def _candidates(
    dataset: Dataset,
    folds: Sequence[Fold],
    base: TrainSettings,
    budget: Budget,
    families: tuple[str, ...],
    test: Dataset | None,
) -> Iterator[Tried]:
    networks = [name for name in families if name != SUM]
    if SUM in families:
        try:
            for one in judged_sums(folds, base, budget):
                losses = () if folds[0].chooses_by_error else one.choice
                yield Tried(one.settings, one.errors, one.price, losses=losses)
        except ConstantColumnsError:
            if not networks:
                raise
    for name in networks:
        network = judged_network(name, dataset, folds, base, budget, test)
        if network is not None:
            yield network


def _final(dataset: Dataset, best: Tried, budget: Budget, test: Dataset | None) -> Found:
    """Train on all rows, with fewer tables while they do not fit."""
    if best.result is not None:
        return Found(best.result, best.settings, best.price)
    settings = best.settings
    while True:
        result = train_model(dataset, settings, test=test)
        price = price_of(result.model, budget, dataset.table)
        if budget.admits(price):
            return Found(result, settings, price)
        n_tables = int(LESS * len(result.model.tables) / max(1.0, budget.utilization(price) ** 0.5))
        if n_tables < 1:
            raise BudgetError(
                f"no table learned from all rows fits in {_limits(budget)}; allow more"
            )
        options = {**settings.structure_options, "tables": str(n_tables)}
        settings = replace(settings, structure_options=options)


def _least(dataset: Dataset, base: TrainSettings, budget: Budget, families: tuple[str, ...]) -> str:
    """Return what the smallest classifier of all families takes of what is limited."""
    prices = []
    for name in families:
        settings = LEAST_FORM.settings(base, 1) if name == SUM else least_network(name, base)
        with suppress(ConstantColumnsError):
            model = train_model(dataset, replace(settings, validation=0)).model
            prices.append(price_of(model, budget, dataset.table))
    least = min(prices, key=budget.utilization)
    return _taken(budget, least.flash, least.slowest)


def _limits(budget: Budget) -> str:
    return f"{_taken(budget, budget.flash, budget.instructions)} on {budget.target}"


def _taken(budget: Budget, flash: int | None, instructions: int | None) -> str:
    """Return bytes and instructions, where they are limited, for people."""
    parts = [f"{flash} bytes of flash"] if budget.flash is not None else []
    parts += [f"{instructions} instructions"] if budget.instructions is not None else []
    return " and ".join(parts)
