"""The best classifier within a budget, by its error on validation rows."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter

from bncc.boosting.settings import SETTINGS
from bncc.data.dataset import Dataset
from bncc.errors import BudgetError, CheckpointError, ConstantColumnsError, DataError, OptionError
from bncc.interrupts import StopRequest
from bncc.pricing import price_of, toolchain_of
from bncc.progress import Progress, silence
from bncc.resources import Budget, Resources
from bncc.search.ensemble_configs import BITS, ROWS, EnsembleConfig
from bncc.search.ensemble_race import judged_sums
from bncc.search.evaluation import Evaluation, Evaluator, SearchInput, with_errors
from bncc.search.fingerprint import search_difference, search_head
from bncc.search.log import Log
from bncc.search.network_configs import judged_network, least_network
from bncc.search.pool import Execution
from bncc.structure.catalog import SUM
from bncc.train.options import OPTIONS
from bncc.train.settings import TrainSettings
from bncc.train.train_model import TrainResult, train_model
from bncc.train.weights import counting_rows

NETWORKS = ("naive", "chow-liu")
"""Network structures in the search, each with the most bits that fit."""
FAMILIES = (SUM, *NETWORKS)
HELD = 0.2
"""Smallest fraction of validation rows: the candidates' errors are close together."""
LEAST_CONFIG = EnsembleConfig(rows=ROWS[0], bits=BITS[0])
LESS = 0.97
"""Shrink factor of the tables, if the ensemble of all rows is larger than that of some rows."""


@dataclass(frozen=True)
class Found:
    """Result of a search."""

    result: TrainResult  # The model, learned from all rows
    settings: TrainSettings  # Settings that reproduce its training
    price: Resources  # Its resources
    tried: tuple[Evaluation, ...] = ()  # Candidates that fit, in the order of evaluation
    seconds: float = 0.0  # Total wall time
    is_short: bool = False  # True if the search was ended early on request


def refuse_searched(settings: TrainSettings) -> None:
    """Raise an OptionError if an option is set for which a search tries several values."""
    given = [
        option.flag
        for option in OPTIONS.values()
        if option.is_searched and getattr(settings, option.name) != option.default
    ]
    if settings.is_boosted:
        keys = [each.key for each in SETTINGS.values() if each.is_searched]
        given += [f"--structure-option {key}" for key in keys if key in settings.structure_options]
    if given:
        raise OptionError(f"{given[0]} does not apply to a budget search; leave it out")


def families_of(
    settings: TrainSettings, named: str | None, extras: frozenset[str] = frozenset()
) -> tuple[tuple[str, ...], str | None]:
    """
    Return the structures to try, only the named one if any, and a note on others.

    `extras` are the emitted entry points, as in ``--with``. Boosted tables are left out if they
    do not support an option; the note reports this.
    """
    if named is not None:
        return (named,), None
    of_networks = {
        f"--parameters {settings.parameters}": settings.parameters != "hybrid",
        f"--engine {settings.engine}": settings.engine == "torch",
        "--with missing": "missing" in extras,
    }
    for option, is_given in of_networks.items():
        if is_given:
            return NETWORKS, f"boosted tables are not tried, as they do not support {option}"
    return FAMILIES, None


def search_input(
    dataset: Dataset,
    base: TrainSettings,
    budget: Budget,
    *,
    test: Dataset | None = None,
    choose_by: str | None = None,
) -> SearchInput:
    """Return the common inputs of all evaluations of a search."""
    base = replace(base, validation=max(base.validation, HELD))
    return SearchInput(counting_rows(dataset), base, budget, test, choose_by, toolchain_of(budget))


def open_log(path: Path | None, given: SearchInput, families: tuple[str, ...]) -> Log:
    """Return the log of a search; reject the file of another search."""
    head = {} if path is None else search_head(given, families)
    return Log(
        path,
        head,
        lambda theirs: CheckpointError(
            f"'{path}' belongs to another search: {search_difference(head, theirs)}; repeat the "
            "original options, or use another --checkpoint"
        ),
    )


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
    """Try families and sizes, and train the best that fits; see `searched`."""
    given = search_input(dataset, base, budget, test=test, choose_by=choose_by)
    return searched(given, families, open_log(None, given, families), tell=tell, stop=stop)


def searched(
    given: SearchInput,
    families: tuple[str, ...],
    log: Log,
    workers: Callable[[SearchInput], AbstractContextManager[Execution | None]] = (
        lambda given: nullcontext()
    ),
    *,
    tell: Progress = silence,
    stop: StopRequest | None = None,
) -> Found:
    """
    Try families and sizes, and train the best that fits.

    Every candidate is trained without the validation rows, and evaluated on them. Boosted tables
    are tried in several forms, each with as many tables as fit, from the best form to its
    neighbors; with few rows, they are evaluated on several folds. Networks are tried with the most
    bits that fit, and evaluated on the same folds.

    The result does not depend on the log or on the workers: evaluations in the log are not
    repeated.
    """
    begin = perf_counter()
    stop = stop or StopRequest()
    if not given.folds:
        raise DataError(
            "too few rows for a validation set, which a budget search needs; train without a budget"
        )
    tried: list[Evaluation] = []
    is_short = False
    with workers(given) as execution:
        evaluator = Evaluator(given, log, execution)
        for one in _candidates(evaluator, families):
            tried.append(one)
            best = _best(tried)
            tell(len(tried) / (len(tried) + 4), f"{100 * best.error:.2f} % with {best.words}")
            stop.is_armed = True
            if is_short := stop.is_wanted:
                break
        if not tried:
            raise BudgetError(
                f"no candidate fits in {_limits(given.budget)}, where the smallest takes "
                f"{_least(given, families)}; raise the budget, or drop columns"
            )
        best = _best(tried)
        found = _final(evaluator, best)
    result = with_errors(found.result, best.errors, given.folds[0].choose_by)
    tell(1.0, "")
    seconds = perf_counter() - begin
    return replace(found, result=result, tried=tuple(tried), seconds=seconds, is_short=is_short)


def _best(tried: Sequence[Evaluation]) -> Evaluation:
    """Return the candidate with the lowest error among those evaluated on all folds."""
    return min(tried, key=lambda one: one.order)


def _candidates(evaluator: Evaluator, families: tuple[str, ...]) -> Iterator[Evaluation]:
    networks = [name for name in families if name != SUM]
    if SUM in families:
        try:
            yield from judged_sums(evaluator)
        except ConstantColumnsError:
            if not networks:
                raise
    for name in networks:
        network = judged_network(name, evaluator)
        if network is not None:
            yield network


def _final(evaluator: Evaluator, best: Evaluation) -> Found:
    """Train on all rows, reducing the number of tables until they fit."""
    if best.result is not None:
        return Found(best.result, best.settings, best.price)
    settings, budget = best.settings, evaluator.given.budget
    while True:
        result, price = evaluator.trained(settings)
        if budget.admits(price):
            return Found(result, settings, price)
        n_tables = int(LESS * len(result.model.tables) / max(1.0, budget.utilization(price) ** 0.5))
        if n_tables < 1:
            raise BudgetError(
                f"no table learned from all rows fits in {_limits(budget)}; raise the budget"
            )
        options = {**settings.structure_options, "tables": str(n_tables)}
        settings = replace(settings, structure_options=options)


def _least(given: SearchInput, families: tuple[str, ...]) -> str:
    """Return the limited resources of the smallest classifier of all families."""
    prices = []
    for name in families:
        least = LEAST_CONFIG.settings(given.base, 1) if name == SUM else None
        settings = least or least_network(name, given.base)
        with suppress(ConstantColumnsError):
            model = train_model(given.dataset, replace(settings, validation=0)).model
            prices.append(price_of(model, given.budget, given.dataset.table))
    smallest = min(prices, key=given.budget.utilization)
    return _taken(given.budget, smallest.flash, smallest.slowest)


def _limits(budget: Budget) -> str:
    return f"{_taken(budget, budget.flash, budget.instructions)} on {budget.target}"


def _taken(budget: Budget, flash: int | None, instructions: int | None) -> str:
    """Return flash and instructions, if they are limited, as text."""
    parts = [f"{flash} bytes of flash"] if budget.flash is not None else []
    parts += [f"{instructions} instructions"] if budget.instructions is not None else []
    return " and ".join(parts)
