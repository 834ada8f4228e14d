"""Variants of the best boosted tables with a front or a gate, which lower the mean time."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from bncc.interrupts import StopRequest
from bncc.model.rules import EXTRAS
from bncc.resources import Budget, Preference
from bncc.search.choice import (
    CLEAR,
    FAR_FASTER,
    MUCH_FASTER,
    best_alone,
    best_of,
    close_to_best,
    eligible,
    far_faster,
    is_close,
    limits_of,
    ratio_of,
)
from bncc.search.ensemble_configs import EnsembleConfig
from bncc.search.ensemble_race import JudgedSum, judged_form
from bncc.search.evaluation import Evaluation, Evaluator, losses_of
from bncc.train.settings import TrainSettings

LEAVES = (128, 32, 8)
"""Limits on leaves of a front that are tried."""
GUARDS = (0.0, 0.002, 0.001)
"""Limits on the decisions that a front changes, 0 for the default, until it is not clearly worse:
one half percent is much where the tables have an error of less."""
BY_TIME, BY_TIME_OF_OTHERS, BY_TIME_OF_FAR = 3, 2, 2
"""Number of candidates that get a front: the fastest eligible ones, the fastest others, and the
fastest of those that are far faster."""
MOST_TRIES = 4
"""Number of builds to find tables that fit behind a front."""
LEAST_TABLES = 2
"""A single tree is as fast as a front."""
LEAST_GATED = 6
"""Number of tables from which on a gate behind a third of them is tried."""
MOST_GAIN = 4.0
"""Ratio of the times of the smallest layout and the fastest one that is expected at most."""
WITHOUT_EXIT = frozenset({"scores", "scores-raw", "missing", "stream", *EXTRAS})
"""Entry points that need all sums, or features one by one, so that no leaf ends them early."""


def may_have_fronts(budget: Budget, prefer: Preference, choose_by: str) -> bool:
    """
    Return whether a search tries fronts and gates.

    They lower the time alone, and make the classes of easy rows certain, which a log-loss punishes.
    """
    is_whole = WITHOUT_EXIT & {*budget.entries, *budget.extras}
    return prefer == "balanced" and choose_by != "log-loss" and not is_whole


def with_fronts(
    tried: Sequence[Evaluation], evaluator: Evaluator, stop: StopRequest
) -> Iterator[JudgedSum]:
    """Yield variants of the best candidates with fronts and gates, with as many tables as fit."""
    best, limits = best_alone(tried), limits_of(tried)
    wanted = [(one, [replace(one.form, front=n) for n in LEAVES]) for one in _to_front(tried)]
    if not evaluator.given.budget.provable:  # proofs do not decide some programs with gates
        wanted += [(one, [replace(one.form, has_gate=True)]) for one in _to_gate(tried)]
    for one, variants in wanted:
        seen: set[str] = set()
        for variant in variants:
            if stop.is_wanted:
                return
            form, n_tables = _close_form(one, variant, best, evaluator, limits), _n_tables(one)
            if form is None:
                continue
            settings = _fitted(form, n_tables, evaluator)
            if settings is None:
                continue
            code = evaluator.priced(settings).price.code
            # A smaller limit that changes nothing is no other candidate.
            if code is None or code not in seen:
                seen.add(code or "")
                yield judged_form(form, settings, evaluator)


def _close_form(
    one: JudgedSum,
    variant: EnsembleConfig,
    best: Evaluation,
    evaluator: Evaluator,
    limits: Sequence[float],
) -> EnsembleConfig | None:
    """
    Return a form under the loosest guard with which it is as close to the best as before.

    `limits` are ascending standard errors.
    """
    losses = one.losses
    assert losses is not None
    errors = next((limit for limit in limits if is_close(losses, best, limit)), limits[-1])
    for differing in GUARDS:
        form = replace(variant, differing=differing)
        settings = form.settings(evaluator.given.base, _n_tables(one))
        if _is_close(settings, best, evaluator, errors):
            return form
    return None


def worth_layouts(fronts: Sequence[Evaluation], tried: Sequence[Evaluation]) -> list[Evaluation]:
    """Return the candidates with fronts that may be chosen if their fastest layouts are."""
    every, best = [*tried, *fronts], best_alone(tried)
    most = MOST_GAIN * min(one.expected_time for one in close_to_best(tried))
    ratios = {id(one): FAR_FASTER for one in close_to_best(every, limits_of(every)[-1])}
    ratios |= {id(one): ratio_of(one, best) for one in close_to_best(every, CLEAR)}
    return [one for one in fronts if one.expected_time <= ratios.get(id(one), 0.0) * most]


def _is_close(
    settings: TrainSettings, best: Evaluation, evaluator: Evaluator, errors: float
) -> bool:
    """Return whether boosted tables are within some errors of the best; without a build."""
    return is_close(losses_of(tuple(evaluator.judgements(settings))), best, errors)


def _n_tables(one: JudgedSum) -> int:
    return int(one.settings.structure_options["tables"])


def _to_front(tried: Sequence[Evaluation]) -> list[JudgedSum]:
    """
    Return the fastest eligible candidates of several tables, and the most accurate one.

    A front may make one eligible that is faster than the close ones, but not fast enough.
    """
    sums = _sums(eligible(tried))
    if not sums:
        return []
    known = {id(one) for one in sums}
    others = [one for one in _sums(eligible(tried, ratio=1.0)) if id(one) not in known]
    far = _sums(far_faster(tried, ratio=FAR_FASTER / MUCH_FASTER))
    chosen = (
        *_fastest(sums, BY_TIME),
        *_fastest(others, BY_TIME_OF_OTHERS),
        *_fastest(far, BY_TIME_OF_FAR),
        best_of(sums),
    )
    return list({id(one): one for one in chosen if isinstance(one, JudgedSum)}.values())


def _sums(some: Sequence[Evaluation]) -> list[JudgedSum]:
    return [one for one in some if isinstance(one, JudgedSum) and _n_tables(one) >= LEAST_TABLES]


def _fastest(some: Sequence[JudgedSum], number: int) -> list[JudgedSum]:
    return sorted(some, key=lambda one: one.expected_time)[:number]


def _to_gate(tried: Sequence[Evaluation]) -> list[JudgedSum]:
    """
    Return the fastest close candidate over cuts with enough tables, and the most accurate one.

    Few get a gate: its margin takes three more trainings in each fold.
    """
    close = [one for one in eligible(tried) if isinstance(one, JudgedSum)]
    sums = [one for one in close if not one.form.is_branching and _n_tables(one) >= LEAST_GATED]
    if not sums:
        return []
    fastest, best = min(sums, key=lambda one: one.expected_time), best_of(sums)
    return [one for one in sums if one is fastest or one is best]


def _fitted(form: EnsembleConfig, n_tables: int, evaluator: Evaluator) -> TrainSettings | None:
    """Return settings with as many tables as fit; None if none do, or the front is unsure."""
    budget = evaluator.given.budget
    for _ in range(MOST_TRIES):
        if n_tables < LEAST_TABLES:
            break
        settings = form.settings(evaluator.given.base, n_tables)
        found = evaluator.priced(settings)
        if form.front and found.n_tables == len(evaluator.grown(settings)):
            break  # no leaf is sure
        used = budget.utilization(found.price)
        if used <= 1:
            return settings
        n_tables = min(n_tables - 1, int(n_tables / used))
    return None
