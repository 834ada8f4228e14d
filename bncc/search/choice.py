"""
Choice among the candidates of a budget search: by error, or by time where errors are close.

The fastest within one standard error of the best is chosen, or one that is not clearly worse and
faster by a factor that grows with its standard errors, up to three, or one that is ten times as
fast and not clearly worse than the best of as many. Time is the mean over the measured rows.
Limits apply to the slowest call.

In large data sets, the candidates that may be chosen are compared again on more rows.
"""

from collections.abc import Sequence
from statistics import NormalDist

import numpy as np

from bncc._types import FloatArray
from bncc.resources import Preference
from bncc.search.evaluation import Evaluation
from bncc.search.objective import undominated

CLOSE = 1.0
"""Standard errors of the difference in loss, up to which a candidate is close to the best. Small
validation sets pick lucky candidates: on satimage the best had 7.9 % there and 13.0 % on test."""
CLEAR = 1.96
"""Standard errors from which on a candidate is clearly worse, p = 0.05 in McNemar's test."""
MUCH_FASTER = 1 / 3
"""Ratio to the time of the fastest close candidate up to which one that is almost clearly worse is
chosen, see `time_ratio`. It is small as some of these are clearly worse on other rows."""
FAR_FASTER = 1 / 10
"""Ratio of times up to which a candidate is chosen that is clearly worse alone, but not among as
many candidates, see `clear_among`: an order of magnitude, and no smaller gain, is worth that."""
CHANCE = 0.05
"""Probability of the errors that are called clear."""
NEARLY, FEW = 1.2, 50
"""Ratio and difference of times up to which the error decides: a few instructions are worth no
error."""
BY_ERROR = 4
"""Number of the most accurate candidates that are compared on more rows, if error alone counts."""
BY_TIME, BY_FLASH, BY_TIME_OF_FAR = 4, 2, 2
"""Number of candidates whose layouts are compared: the fastest and the smallest close ones, and the
fastest of those that are far faster."""


def is_worse(losses: FloatArray, than: FloatArray, errors: float) -> bool:
    """
    Return whether losses are larger by some standard errors of their mean paired difference.

    It is the standard error if both were equal, and wrong decisions are whole: with McNemar's
    correction for continuity a single row is no clear difference. Where errors of rows occur
    together, each unit of such rows is one observation, so no dependence inside it counts.

    Shapes: `losses`, `than` (n_units,) float64, of the same units.
    """
    by, error = _difference(losses, than)
    return by > errors * error


def _difference(losses: FloatArray, than: FloatArray) -> tuple[float, float]:
    """Return the sum of differences, with McNemar's correction, and its standard error."""
    more = losses - than
    by = more.sum() - np.isin(more, (-1.0, 0.0, 1.0)).all()
    return float(by), float(np.sqrt((more**2).sum()))


def time_ratio(losses: FloatArray, than: FloatArray, least: float = MUCH_FASTER) -> float:
    """
    Return the ratio to the time of the fastest close candidate up to which one is worth its losses.

    It is 1 up to `CLOSE` standard errors, falls geometrically to `least` at `CLEAR`, so that two
    candidates that are about as far from the best need about the same gain, and is 0 beyond.
    """
    by, error = _difference(losses, than)
    if by <= CLOSE * error:
        return 1.0
    if by > CLEAR * error:
        return 0.0
    return float(least ** ((by / error - CLOSE) / (CLEAR - CLOSE)))


def is_close(losses: FloatArray, best: Evaluation, errors: float = CLOSE) -> bool:
    """
    Return whether losses on all units are at most some standard errors above those of the best.

    If those of the best are unknown, they are. Shapes: `losses` (n_units,) float64.
    """
    return best.losses is None or not is_worse(losses, best.losses, errors)


def best_of(tried: Sequence[Evaluation]) -> Evaluation:
    """Return the candidate with the lowest loss among those evaluated on all folds."""
    return min(tried, key=lambda one: one.order)


def best_alone(tried: Sequence[Evaluation]) -> Evaluation:
    """
    Return the best candidate without a front or a gate, to which others are compared.

    These repeat the decisions of all tables: where they have fewer errors, it is by luck, which
    must not exclude candidates.
    """
    return best_of([one for one in tried if not one.ends_early] or tried)


def close_to_best(tried: Sequence[Evaluation], errors: float = CLOSE) -> list[Evaluation]:
    """Return the candidates within some standard errors of the best on the same units."""
    best = best_alone(tried)
    return [one for one in tried if one is best or _is_close(one, best, errors)]


def clear_among(n_candidates: int) -> float:
    """
    Return the standard errors from which on one of many candidates is clearly worse than the best.

    The best of many is so by luck too: it was selected on the rows on which it is compared. With
    Bonferroni's correction, all comparisons with the best together find a clear difference by
    chance in `CHANCE` of cases, as a single one does at `CLEAR`.
    """
    return NormalDist().inv_cdf(1 - CHANCE / 2 / max(1, n_candidates - 1))


def limits_of(tried: Sequence[Evaluation]) -> tuple[float, float, float]:
    """Return the standard errors up to which a candidate may be chosen, by its speed-up."""
    n_folds = len(best_alone(tried).errors)
    whole = [one for one in tried if not one.ends_early and len(one.errors) == n_folds]
    return CLOSE, CLEAR, max(CLEAR, clear_among(len(whole)))


def far_faster(tried: Sequence[Evaluation], ratio: float = FAR_FASTER) -> list[Evaluation]:
    """
    Return the candidates that are clearly worse alone, but not among as many, and far faster.

    These take at most `ratio` of the time that is expected of the fastest close one.
    """
    most = ratio * min(one.expected_time for one in close_to_best(tried))
    clear = {id(one) for one in close_to_best(tried, CLEAR)}
    others = [one for one in close_to_best(tried, limits_of(tried)[-1]) if id(one) not in clear]
    return [one for one in others if one.expected_time <= most]


def ratio_of(one: Evaluation, best: Evaluation, least: float = MUCH_FASTER) -> float:
    """Return `time_ratio` of a candidate on the units of the best."""
    if one is best or one.losses is None or best.losses is None:
        return 1.0
    return time_ratio(one.losses, best.losses, least)


def eligible(tried: Sequence[Evaluation], ratio: float = MUCH_FASTER) -> list[Evaluation]:
    """
    Return the close candidates, and those that may be faster and are not clearly worse.

    These are expected to be fast enough for their losses, see `time_ratio`.
    """
    best, close = best_alone(tried), close_to_best(tried)
    fastest = min(one.expected_time for one in close)
    known = {id(one) for one in close}
    others = [one for one in close_to_best(tried, CLEAR) if id(one) not in known]
    fast = [one for one in others if one.expected_time <= ratio_of(one, best, ratio) * fastest]
    return [*close, *fast]


def finalists(tried: Sequence[Evaluation], prefer: Preference) -> list[Evaluation]:
    """Return the candidates whose layouts are worth a comparison."""
    best = best_of(tried)
    if prefer == "error":
        return [best]
    close, alone = eligible(tried), best_alone(tried)
    fastest = sorted(close, key=lambda one: one.expected_time / ratio_of(one, alone))[:BY_TIME]
    smallest = sorted(close, key=lambda one: one.price.flash)[:BY_FLASH]
    far = sorted(far_faster(tried), key=lambda one: one.expected_time)[:BY_TIME_OF_FAR]
    chosen = {id(one): one for one in (best, *fastest, *smallest, *far)}
    return list(chosen.values())


def to_confirm(tried: Sequence[Evaluation], prefer: Preference) -> list[Evaluation]:
    """Return the candidates to compare on more rows, and that with which others are compared."""
    if prefer == "error":
        n_folds = len(best_of(tried).errors)
        whole = [one for one in tried if len(one.errors) == n_folds]
        return sorted(whole, key=lambda one: one.order)[:BY_ERROR]
    some = (best_alone(tried), chosen_of(tried, prefer), *finalists(tried, prefer))
    return list({id(one): one for one in some}.values())


def chosen_of(tried: Sequence[Evaluation], prefer: Preference) -> Evaluation:
    """Return the candidate to train on all rows."""
    if prefer == "error":
        return best_of(tried)
    best, fastest = best_alone(tried), min(map(_time, close_to_best(tried)))
    ratios = [(one, ratio_of(one, best)) for one in close_to_best(tried, CLEAR)]
    pairs = [(one, r) for one, r in ratios if r == 1.0 or _time(one) <= r * fastest]
    worth = [one for one, _ in pairs]
    first, _ = min(pairs, key=lambda pair: _time(pair[0]) / pair[1])
    most = FAR_FASTER * _time(first)
    far = [one for one in close_to_best(tried, limits_of(tried)[-1]) if _time(one) <= most]
    if far:
        worth, first = far, min(far, key=_time)
    most = max(NEARLY * _time(first), _time(first) + FEW)
    return best_of([one for one in worth if _time(one) <= most])


def front_of(tried: Sequence[Evaluation]) -> tuple[Evaluation, ...]:
    """Return the candidates that no other one beats in error, flash and time, the best first."""
    n_folds = max((len(one.errors) for one in tried), default=0)
    known = [one for one in tried if len(one.errors) == n_folds]
    costs = [(one.error, float(one.resources.flash), _time(one)) for one in known]
    first = {cost: k for k, cost in reversed([*enumerate(costs)])}
    return tuple(known[k] for k in undominated(costs) if first[costs[k]] == k)


def _time(one: Evaluation) -> float:
    typical = one.resources.typical
    return float("inf") if typical is None else typical


def _is_close(one: Evaluation, best: Evaluation, errors: float) -> bool:
    if one.losses is None or best.losses is None or len(one.errors) < len(best.errors):
        return False
    return is_close(one.losses, best, errors)
