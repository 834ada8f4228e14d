"""The best classifier within a budget, by its error on validation rows."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter

from bncc.data.dataset import Dataset, check_trainable
from bncc.errors import (
    BudgetError,
    CheckpointError,
    ConstantColumnsError,
    DataError,
    MeasurementError,
)
from bncc.interrupts import StopRequest
from bncc.model.front import front_of as front_of_model
from bncc.model.training_record import CANDIDATES_TRIED, OPTIONS_RECORD
from bncc.pricing import TOO_LARGE, layout_price_of, memory_price_of, toolchain_of, with_resources
from bncc.progress import Progress, silence
from bncc.resources import Budget, Preference, Resources
from bncc.search.capacity import Capacity
from bncc.search.choice import (
    CLEAR,
    best_of,
    chosen_of,
    close_to_best,
    finalists,
    front_of,
)
from bncc.search.config import setting_words
from bncc.search.confirmation import Confirmation, with_layouts
from bncc.search.ensemble_configs import (
    BITS,
    GATE_KEY,
    OF_FRONT,
    OF_GATE,
    ROWS,
    EnsembleConfig,
    gate_of,
)
from bncc.search.ensemble_race import JudgedSum, judged_sums, resized
from bncc.search.evaluation import Evaluation, Evaluator, SearchInput, with_errors, words_of
from bncc.search.families import FAMILIES
from bncc.search.fewer_tables import is_as_good, with_fewer_leaves, with_fewer_tables
from bncc.search.fingerprint import search_difference, search_head
from bncc.search.fronts import may_have_fronts, with_fronts, worth_layouts
from bncc.search.log import Log
from bncc.search.network_configs import judged_network, least_network
from bncc.search.pool import Execution
from bncc.structure.catalog import SUM
from bncc.train.decision_rules import DecisionRules
from bncc.train.settings import TrainSettings
from bncc.train.train_model import TrainResult, train_model
from bncc.train.unseen_classes import is_of_unseen, unseen_classes, unseen_notes, with_unseen
from bncc.train.weights import counting_rows

HELD = 0.2
"""Smallest fraction of validation rows: the candidates' errors are close together."""
LEAST_CONFIG = EnsembleConfig(rows=ROWS[0], bits=BITS[0])
HALF, TWICE = 0.5, 2.0
"""Fractions of the budget that are reported."""
SMALLER = (HALF, 0.25)
"""Fractions of the budget in which the best forms are tried as well."""
SLOWER = 1.1
"""Ratio of times from which on fewer tables in a faster layout are tried."""
MOST_RETRIES = 4
"""Number of trainings with fewer tables for the layout of the candidate."""
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
    prefer: Preference = "balanced"
    chosen: Evaluation | None = None  # The candidate in `tried` that was trained on all rows
    front: tuple[Evaluation, ...] = ()  # Candidates that no other one dominates, the best first
    # half, twice: What would be chosen among the known candidates in half and twice the budget;
    # None if none is known
    half: Evaluation | None = None
    twice: Evaluation | None = None


def with_held_rows(base: TrainSettings) -> TrainSettings:
    """Return settings that hold enough rows for the validation of many candidates."""
    return replace(base, validation=max(base.validation, HELD))


def search_input(
    dataset: Dataset,
    base: TrainSettings,
    budget: Budget,
    *,
    test: Dataset | None = None,
    choose_by: str | None = None,
) -> SearchInput:
    """Return the common inputs of all evaluations of a search."""
    base = with_held_rows(base)
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
    prefer: Preference = "balanced",
) -> Found:
    """Try families and sizes, and train the best that fits; see `searched`."""
    given = search_input(dataset, base, budget, test=test, choose_by=choose_by)
    log = open_log(None, given, families)
    return searched(given, families, log, tell=tell, stop=stop, prefer=prefer)


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
    prefer: Preference = "balanced",
) -> Found:
    """
    Try families and sizes, and train the best that fits.

    Every candidate is trained without the validation rows, and evaluated on them. Boosted tables
    are tried in several forms, each with as many tables as fit, from the best form to its
    neighbors; with few rows, they are evaluated on several folds. Networks are tried with the most
    bits that fit, and evaluated on the same folds. The best forms are tried in parts of the budget
    as well, and in twice the budget for the report. Close forms are tried with fewer tables, which
    leave flash for a faster layout, and single trees with fewer leaves.

    A candidate fits if its smallest layout does. Unless `prefer` is ``error``, the fastest is
    chosen of those that are not clearly worse than the best, in the fastest layout that fits; the
    fast ones of these are tried with a front and a gate as well. With many rows, all candidates are
    evaluated on some folds, and those that may be chosen on the others too.

    The result does not depend on the log or on the workers: evaluations in the log are not
    repeated.
    """
    begin = perf_counter()
    stop = stop or StopRequest()
    check_trainable(given.dataset)
    if not given.folds:
        raise DataError(
            "too few rows for a validation set, which a budget search needs; train without a budget"
        )
    tried: list[Evaluation] = []
    with workers(given) as execution:
        evaluator = Evaluator(given, log, execution)
        room = Capacity(evaluator)
        for one in _candidates(evaluator, room, families):
            tried.append(one)
            best = best_of(tried)
            tell(len(tried) / (len(tried) + 4), f"{100 * best.error:.2f} % with {best.words}")
            stop.is_armed = True
            if stop.is_wanted:
                break
        if not tried and evaluator.unmeasured.is_any:
            raise evaluator.unmeasured.error("no candidate can be measured")
        if not tried:
            raise BudgetError(
                f"no candidate fits in {_limits(given.budget)}, where the smallest takes "
                f"{_least(given, families)}; raise the budget, or drop columns"
            )
        larger = _tried_in_parts(tried, room, evaluator, prefer, stop)
        if not stop.is_wanted:
            tried = _timed(tried, evaluator, prefer)
            if prefer == "balanced":
                tried += with_fewer_tables(tried, evaluator, stop)
                tried += with_fewer_leaves(tried, evaluator, stop)
        if not stop.is_wanted:
            tried = _timed(tried, evaluator, prefer)
            tried = with_layouts(tried, evaluator, finalists(tried, prefer))
        confirmation = Confirmation(evaluator, prefer, stop)
        kept = whole = confirmation.of(tried)
        if may_have_fronts(given.budget, prefer, given.folds[0].choose_by):
            whole = _with_fronts(kept, evaluator, stop)
            kept = confirmation.of(whole)
        is_short = stop.is_wanted
        latest = {repr(one.settings): one for one in (*tried, *whole, *kept)}
        tried = [*latest.values()]
        while True:
            best = confirmation.chosen_of(kept)
            chosen = latest[repr(best.settings)]
            try:
                found = _final(evaluator, chosen, stop)
                break
            except MeasurementError:
                kept = [one for one in kept if one.settings != best.settings]
                if not kept:
                    raise
        # The chosen one may have more errors on the first folds than one that is as fast.
        front = front_of(kept)
        front = front if chosen in front else (*front, chosen)
    errors = best.errors
    reduced = found.settings != chosen.settings and not stop.is_wanted
    if reduced:
        errors = _errors_of(evaluator, found.settings, len(errors))
    result = with_errors(found.result, errors, given.folds[0].choose_by)
    folds = [given.fold(k) for k in range(len(errors))]
    unseen = unseen_classes(given.dataset, [(fold.rest.y, fold.held.y) for fold in folds])
    options = {OPTIONS_RECORD: list(setting_words(found.settings))}
    early = {CANDIDATES_TRIED: len(tried)} if is_short else {}
    record = {**result.model.training, **options, **early}
    training = with_unseen(record, "validation", unseen.labels)
    notes = [note for note in result.notes if not is_of_unseen(note)]
    notes += [_REDUCED] if reduced else []
    notes += evaluator.unmeasured.notes
    notes += unseen_notes(given.dataset, "validation", unseen)
    result = replace(result, model=replace(result.model, training=training), notes=tuple(notes))
    tell(1.0, "")
    return replace(
        found,
        result=result,
        tried=tuple(tried),
        seconds=perf_counter() - begin,
        is_short=is_short,
        prefer=prefer,
        chosen=chosen,
        front=front,
        half=chosen_in(scaled(given.budget, HALF), tried, prefer),
        twice=chosen_in(scaled(given.budget, TWICE), [*tried, *larger], prefer) if larger else None,
    )


def with_rules(
    found: Found,
    rules: DecisionRules,
    dataset: Dataset,
    budget: Budget,
    *,
    test: Dataset | None = None,
    tell: Progress = silence,
    stop: StopRequest | None = None,
) -> Found:
    """Return a search whose model has rules for decisions, with the resources of both."""
    result = rules.applied(found.result, dataset, found.settings, test=test, tell=tell, stop=stop)
    if not rules.any or not rules.are_those_of(result.model):
        return replace(found, result=result)
    # A front end has a price of its own.
    price = layout_price_of(replace(result.model, front_end=None), budget, dataset.table)
    result = replace(result, model=with_resources(result.model, price))
    return replace(found, result=result, price=price)


def scaled(budget: Budget, factor: float) -> Budget:
    """Return a budget of some times the flash and instructions, with the same reserve."""
    flash, instructions = (
        None if limit is None else int(factor * limit)
        for limit in (budget.flash, budget.instructions)
    )
    return replace(budget, flash=flash, instructions=instructions)


def _tried_in_parts(
    tried: list[Evaluation],
    room: Capacity,
    evaluator: Evaluator,
    prefer: Preference,
    stop: StopRequest,
) -> list[Evaluation]:
    """
    Try the best forms in parts of the budget, adding them to those tried.

    Returns the best form and the best network in twice the budget, as far as known.
    """
    budget = evaluator.given.budget
    sums = [one for one in tried if isinstance(one, JudgedSum)]
    kinds = {one.form.is_branching for one in sums}
    leaders = [best_of([one for one in sums if one.form.is_branching == k]) for k in sorted(kinds)]
    larger: list[Evaluation] = []
    known = {repr(one.settings) for one in tried}
    best = best_of(tried)
    for one in leaders:
        assert isinstance(one, JudgedSum)
        is_first = one is best_of(leaders)
        factors = SMALLER if prefer == "balanced" else (HALF,) if is_first else ()
        for factor in (*factors, *((TWICE,) if is_first else ())):
            if stop.is_wanted:
                return []
            other = resized(one, room, evaluator, scaled(budget, factor))
            if other is None or repr(other.settings) in known:
                continue
            known.add(repr(other.settings))
            if budget.admits(other.price):
                tried.append(other)
            else:
                larger.append(other)
    if best.result is not None and not stop.is_wanted:
        for factor in (HALF, TWICE):
            name = best.settings.structure
            network = judged_network(name, evaluator, scaled(budget, factor))
            if network is None or repr(network.settings) in known:
                continue
            known.add(repr(network.settings))
            (tried if budget.admits(network.price) else larger).append(network)
    return larger


def _timed(tried: list[Evaluation], evaluator: Evaluator, prefer: Preference) -> list[Evaluation]:
    """Return the candidates, those with close errors with estimates of their fastest layouts."""
    is_limited = evaluator.given.budget.room is not None
    close = [one for one in close_to_best(tried, CLEAR) if one.result is None]
    if prefer == "error" or not is_limited or len(close) < 2:
        return tried
    times = evaluator.fast_times([one.settings for one in close])
    fast = {id(one): time for one, time in zip(close, times, strict=True)}
    return [replace(one, fast=fast.get(id(one))) for one in tried]


def _with_fronts(
    tried: list[Evaluation], evaluator: Evaluator, stop: StopRequest
) -> list[Evaluation]:
    """Return the candidates and some with fronts, those that may be chosen with their layouts."""
    fronts = [*with_fronts(tried, evaluator, stop)]
    if stop.is_wanted:
        return [*tried, *fronts]
    compared = worth_layouts(fronts, tried)
    prices = evaluator.layouts([one.settings for one in compared])
    layouts = {id(one): price for one, price in zip(compared, prices, strict=True)}
    return [*tried, *(replace(one, layout=layouts.get(id(one))) for one in fronts)]


def chosen_in(budget: Budget, tried: Sequence[Evaluation], prefer: Preference) -> Evaluation | None:
    """Return the candidate that the rules of the choice take in a budget, None if none fits."""
    fitting = [
        one if one.layout and budget.admits(one.layout) else replace(one, layout=None)
        for one in tried
        if budget.admits(one.price)
    ]
    return chosen_of(fitting, prefer) if fitting else None


def _candidates(
    evaluator: Evaluator, room: Capacity, families: tuple[str, ...]
) -> Iterator[Evaluation]:
    networks = [name for name in families if name != SUM]
    if SUM in families:
        try:
            yield from judged_sums(evaluator, room)
        except ConstantColumnsError:
            if not networks:
                raise
    for name in networks:
        network = judged_network(name, evaluator)
        if network is not None:
            yield network


def _final(evaluator: Evaluator, best: Evaluation, stop: StopRequest) -> Found:
    """
    Train on all rows, reducing the number of tables until they fit.

    A few tables fewer are tried where the layout of the candidate just fails to fit, as long as
    their errors are close to the candidate's, and no end is requested. The fastest of all that fit
    is returned, the one with the most tables on ties.
    """
    if best.result is not None:
        return Found(best.result, best.settings, best.resources)
    settings, budget = best.settings, evaluator.given.budget
    fitting: list[Found] = []
    while True:
        if fitting and (stop.is_wanted or not is_as_good(settings, best, evaluator)):
            return min(fitting, key=lambda found: found.price.typical or 0)
        result, price = evaluator.trained(settings)
        if price.flash == TOO_LARGE and words_of(settings) in evaluator.unmeasured and not fitting:
            raise evaluator.unmeasured.error("no candidate can be measured")
        n_tables = len(result.model.tables) - (front_of_model(result.model) is not None)
        if budget.admits(price):
            fitting.append(Found(result, settings, price))
            n_retries = len(fitting) - 1
            if n_tables == 1 or n_retries == MOST_RETRIES or not _is_slower(price, best.resources):
                return min(fitting, key=lambda found: found.price.typical or 0)
        share = LESS / max(1.0, budget.utilization(price) ** 0.5)
        options = {**settings.structure_options, "tables": str(int(share * n_tables))}
        if n_tables == 1 and "leaves" in options:
            n_leaves = int(share * int(options["leaves"]))
            options |= {"tables": str(int(n_leaves >= 2)), "leaves": str(n_leaves)}
        if options["tables"] == "1" and "leaves" in options:
            # A single tree has no front.
            options = {key: value for key, value in options.items() if key not in OF_FRONT}
        if GATE_KEY in options:
            options[GATE_KEY] = str(gate_of(int(options["tables"])))
            if options[GATE_KEY] == "0":
                options = {key: v for key, v in options.items() if key not in OF_GATE}
        if options["tables"] == "0":
            raise BudgetError(
                f"no table learned from all rows fits in {_limits(budget)}; raise the budget"
            )
        settings = replace(settings, structure_options=options)


_REDUCED = (
    "learned from all rows, the chosen candidate does not fit or is slower; the model has fewer "
    "tables or leaves, and the validation error is that of these"
)


def _errors_of(evaluator: Evaluator, settings: TrainSettings, n_folds: int) -> tuple[float, ...]:
    """Return the errors of settings on the first folds, and on more if there are as many."""
    judged = [*evaluator.judgements(settings)]
    if n_folds > len(judged):
        (more,) = evaluator.more_judgements([settings])
        judged += more
    return tuple(one.error for one in judged)


def _is_slower(price: Resources, than: Resources) -> bool:
    if price.typical is None or than.typical is None:
        return False
    return price.typical > SLOWER * than.typical


ANY_TIME = 2**31 - 1
"""Limit on time that every classifier is within."""


def _least(given: SearchInput, families: tuple[str, ...]) -> str:
    """Return the limited resources of the smallest classifier of all families."""
    prices, budget = [], given.budget
    if budget.instructions is not None:  # so that the fastest layout is priced, though it is slow
        budget = replace(budget, instructions=ANY_TIME)
    for name in families:
        least = LEAST_CONFIG.settings(given.base, 1) if name == SUM else None
        settings = least or least_network(name, given.base)
        with suppress(ConstantColumnsError):
            model = train_model(given.dataset, replace(settings, validation=0)).model
            prices.append(memory_price_of(model, budget, given.dataset.table))
    smallest = min(prices, key=given.budget.utilization)
    of_memory = smallest.flash, smallest.ram + smallest.stack
    return _taken(given.budget, *of_memory, smallest.slowest)


def _limits(budget: Budget) -> str:
    taken = _taken(budget, budget.flash, budget.ram, budget.instructions)
    return f"{taken} on {budget.target}"


def _taken(budget: Budget, flash: int | None, ram: int | None, time: int | None) -> str:
    """Return flash, RAM and time, if they are limited, as text."""
    parts = [f"{flash} bytes of flash"] if budget.flash is not None else []
    parts += [f"{ram} bytes of RAM and stack"] if budget.ram is not None else []
    parts += [f"{time} {budget.unit}"] if budget.instructions is not None else []
    return " and ".join(parts)
