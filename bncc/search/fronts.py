"""Variants of the best boosted tables with a front, which lowers the mean time of a decision."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from bncc.interrupts import StopRequest
from bncc.resources import Budget, Preference
from bncc.search.choice import best_of, close_to_best
from bncc.search.ensemble_race import JudgedSum, judged_form
from bncc.search.evaluation import Evaluation, Evaluator
from bncc.train.settings import TrainSettings

LEAVES = (128, 32, 8)
"""Limits on leaves of a front that are tried."""
BY_TIME = 3
"""Number of candidates that get a front: the fastest close ones, and the most accurate one."""
MOST_TRIES = 4
"""Number of builds to find tables that fit behind a front."""
WITHOUT_EXIT = frozenset({"scores", "missing", "stream"})
"""Entry points that need all sums, or features one by one, so that no leaf ends them early."""


def may_have_fronts(budget: Budget, prefer: Preference, choose_by: str) -> bool:
    """
    Return whether a search tries fronts.

    They lower the time alone, and make the classes of easy rows certain, which a log-loss punishes.
    """
    is_whole = WITHOUT_EXIT & {*budget.entries, *budget.extras}
    return prefer == "balanced" and choose_by != "log-loss" and not is_whole


def with_fronts(
    tried: Sequence[Evaluation], evaluator: Evaluator, stop: StopRequest
) -> Iterator[JudgedSum]:
    """Yield variants of the best candidates with fronts, with as many tables as fit behind them."""
    for one in _to_front(tried):
        seen: set[str] = set()
        for leaves in LEAVES:
            if stop.is_wanted:
                return
            settings = _fitted(one, leaves, evaluator)
            if settings is None:
                continue
            code = evaluator.priced(settings).price.code
            # A smaller limit that changes nothing is no other candidate.
            if code is None or code not in seen:
                seen.add(code or "")
                yield judged_form(replace(one.form, front=leaves), settings, evaluator)


def _to_front(tried: Sequence[Evaluation]) -> list[JudgedSum]:
    """Return the fastest close candidates with several tables, and the most accurate one."""
    close = close_to_best(tried)
    sums = [one for one in close if isinstance(one, JudgedSum) and not one.form.is_single]
    if not sums:
        return []
    fastest = sorted(sums, key=lambda one: one.expected_time)[:BY_TIME]
    chosen = {id(one): one for one in (*fastest, best_of(sums))}
    return [one for one in chosen.values() if isinstance(one, JudgedSum)]


def _fitted(one: JudgedSum, leaves: int, evaluator: Evaluator) -> TrainSettings | None:
    """Return settings with a front and as many tables as fit; None if none do, or it is unsure."""
    form, budget = replace(one.form, front=leaves), evaluator.given.budget
    n_tables = int(one.settings.structure_options["tables"])
    for _ in range(MOST_TRIES):
        settings = form.settings(evaluator.given.base, n_tables)
        found = evaluator.priced(settings)
        if found.n_tables == len(evaluator.grown(settings)):
            return None  # no leaf is sure
        used = budget.utilization(found.price)
        if used <= 1:
            return settings
        n_tables = min(n_tables - 1, int(n_tables / used))
        if n_tables < 2:
            break
    return None
