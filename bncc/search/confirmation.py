"""
Confirmation of candidates on more rows, before a budget search chooses one of them.

With many rows, all candidates are evaluated on some folds, and those that may be chosen on the
others too. The ones that are too much worse on all of them make room for the next.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from bncc.interrupts import StopRequest
from bncc.resources import Preference
from bncc.search.choice import best_alone, chosen_of, eligible, far_faster, to_confirm
from bncc.search.evaluation import Evaluation, Evaluator, Judgement, losses_of

MOST_ROUNDS = 3
"""Number of times that candidates make room for others."""


class Confirmation:
    """The candidates that were evaluated on all folds."""

    def __init__(self, evaluator: Evaluator, prefer: Preference, stop: StopRequest) -> None:
        self._evaluator, self._prefer, self._stop = evaluator, prefer, stop
        self._whole: dict[str, Evaluation] = {}  # By settings
        self._is_cut_short = False

    def of(self, tried: Sequence[Evaluation]) -> list[Evaluation]:
        """Return the candidates without those that do not compete on all folds."""
        kept = list(tried)
        if not self._evaluator.given.more_folds:
            return kept
        for _ in range(MOST_ROUNDS):
            if self._is_over():
                return kept
            asked = to_confirm(kept, self._prefer)
            kept = with_layouts(kept, self._evaluator, asked)
            new = [one for one in to_confirm(kept, self._prefer) if not self._is_known(one)]
            if not new:
                break
            judged = self._evaluator.more_judgements([one.settings for one in new])
            for one, more in zip(new, judged, strict=True):
                self._add(one, more)
                if self._is_over():
                    return kept
            if self._prefer == "error":
                break
            kept = self._competing(kept)
        return kept

    def chosen_of(self, kept: Sequence[Evaluation]) -> Evaluation:
        """Return the choice, with its errors on all folds where these were evaluated."""
        whole = [] if self._is_cut_short else self._on_all_folds(kept)
        return chosen_of(whole or kept, self._prefer)

    def _is_over(self) -> bool:
        self._is_cut_short |= self._stop.is_wanted
        return self._is_cut_short

    def _is_known(self, one: Evaluation) -> bool:
        return _key(one) in self._whole

    def _add(self, one: Evaluation, judged: tuple[Judgement, ...]) -> None:
        losses = one.losses
        self._whole[_key(one)] = replace(
            one,
            errors=(*one.errors, *(each.error for each in judged)),
            choice=(*one.choice, *(each.choice for each in judged)),
            losses=None if losses is None else np.concatenate([losses, losses_of(judged)]),
        )

    def _on_all_folds(self, kept: Sequence[Evaluation]) -> list[Evaluation]:
        known = [one for one in kept if self._is_known(one)]
        return [replace(self._whole[_key(one)], layout=one.layout) for one in known]

    def _competing(self, kept: Sequence[Evaluation]) -> list[Evaluation]:
        """Return the candidates that may be chosen, or whose errors on all folds are unknown."""
        whole = self._on_all_folds(kept)
        some = {_key(one) for one in (best_alone(whole), *eligible(whole), *far_faster(whole))}
        return [one for one in kept if not self._is_known(one) or _key(one) in some]


def with_layouts(
    tried: Sequence[Evaluation], evaluator: Evaluator, some: Sequence[Evaluation]
) -> list[Evaluation]:
    """Return the candidates, some of which have their best layouts."""
    lacking = [one for one in some if one.result is None and one.layout is None]
    prices = evaluator.layouts([one.settings for one in lacking])
    layouts = {id(one): price for one, price in zip(lacking, prices, strict=True)}
    return [replace(one, layout=layouts[id(one)]) if id(one) in layouts else one for one in tried]


def _key(one: Evaluation) -> str:
    return repr(one.settings)
