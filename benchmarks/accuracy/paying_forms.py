"""
Forms of models that pay: time and error of a budget search's choice with and without each form.

They are those of validation folds, from the candidates of the searches on twenty data sets.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from benchmarks.shared.markdown import table
from bncc.search.choice import chosen_of
from bncc.search.evaluation import Evaluation
from bncc.train.settings import TrainSettings


def _has(key: str) -> Callable[[TrainSettings], bool]:
    return lambda settings: settings.structure_options.get(key, "0") != "0"


def _is_single(settings: TrainSettings) -> bool:
    return _has("leaves")(settings) and settings.structure_options.get("tables") == "1"


FORMS: Mapping[str, Callable[[TrainSettings], bool]] = {
    "front": _has("front"),
    "gate": _has("gate"),
    "branching tables": lambda settings: _has("leaves")(settings) and not _is_single(settings),
    "one tree": _is_single,
    "product tables": lambda settings: settings.is_boosted and not _has("leaves")(settings),
    "cuts of the highest bits": _has("cut-bits"),
    "few columns": _has("inputs"),
    "differences": _has("differences"),
    "dictionary of rows": _has("dictionary"),
    "Bayesian network": lambda settings: not settings.is_boosted,
}
"""By name, whether settings are of the form."""
KB = 1024
SLOWER = 1.1
"""Ratio of times from which on a form that is left out is missed."""


def without_each(tried: Sequence[Evaluation], chosen: Evaluation) -> dict[str, Any]:
    """Return for each form of the choice the time and error of it and of that without the form."""
    found: dict[str, Any] = {}
    for name, is_of in FORMS.items():
        if not is_of(chosen.settings):
            continue
        others = [one for one in tried if not is_of(one.settings)]
        n_folds = max((len(one.errors) for one in others), default=0)
        other = chosen_of(others, "balanced") if n_folds == len(chosen.errors) else None
        found[name] = [_figures(chosen), _figures(other) if other else None]
    return found


def _figures(one: Evaluation) -> list[float]:
    return [one.expected_time, one.error]


def form_rows(results: Mapping[tuple[str, int], Mapping[str, Any]]) -> str:
    """Return for each form how many choices, by set and budget, have it, and where it pays."""
    lines = []
    for name in FORMS:
        used = {key: each[name] for key, each in results.items() if name in each}
        paid: dict[str, list[str]] = {}
        for (key, budget), figures in used.items():
            if _pays(*figures):
                paid.setdefault(key, []).append(str(budget // KB))
        where = (f"{key} ({', '.join(sizes)})" for key, sizes in paid.items())
        lines.append((name, str(len(used)), str(len(paid)), ", ".join(where)))
    return table(("form", "choices", "sets where it pays", "where (KB)"), lines)


def _pays(chosen: Sequence[float], other: Sequence[float] | None) -> bool:
    """Return whether the choice without a form is slower, or as fast and less accurate."""
    if other is None:
        return True
    (time, error), (time_without, error_without) = chosen, other
    return time_without > SLOWER * time or (time_without >= time and error_without > error)
