"""Parameters of an estimator that are of the device: a budget, the target, the emitted C."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, get_args

from bncc.data.dataset import Dataset
from bncc.errors import OptionError
from bncc.lower import request
from bncc.resources import DEFAULT_TARGET, Budget, Optimize, size_of
from bncc.targets import TARGETS, target_of
from bncc.train.settings import TrainSettings
from bncc.train.train_model import TrainResult, train_model

ENTRIES = ("scores", "trusted")
"""Emitted besides ``predict`` where nothing else is asked for."""


def trained(
    estimator: Any, dataset: Dataset, settings: TrainSettings
) -> tuple[TrainResult, Optimize]:
    """Train on rows, within the estimator's budget if it has one."""
    goal, machine = goal_of(estimator.optimize), machine_of(estimator.target)
    extras = entries_of(estimator, () if estimator.entries is None else None)
    flash, instructions = _bytes(estimator.max_flash), _count(estimator.max_instructions)
    if flash is None and instructions is None:
        return train_model(dataset, settings), goal
    from bncc.pricing import with_resources  # only here: it builds and measures
    from bncc.search.budget_search import families_of, refuse_searched, search

    refuse_searched(settings)
    families, note = families_of(settings, estimator.structure, extras)
    budget = Budget(machine or DEFAULT_TARGET, flash, instructions, extras=extras)
    found = search(dataset, settings, budget, families=families)
    notes = (*found.result.notes, *([note] if note else []))
    model = with_resources(found.result.model, found.price)
    result = replace(found.result, model=model, notes=notes)
    return result, goal if estimator.optimize else goal_of(found.price.optimize)


def goal_of(optimize: str | None) -> Optimize:
    """Return a goal, ``balanced`` for None; raise an OptionError where it is none."""
    goals: tuple[Optimize, ...] = get_args(Optimize)
    for goal in goals:
        if goal == (optimize or "balanced"):
            return goal
    raise OptionError(f"optimize is {optimize!r}; it must be one of {', '.join(goals)}")


def machine_of(target: str | None) -> str | None:
    """Return the target of a name or a part, None for generic C; refuse unknown ones."""
    if target is None or target == "host":
        return None
    machine = target_of(str(target))
    if machine not in TARGETS:
        known = ", ".join(TARGETS)
        raise OptionError(
            f"target is {target!r}; it must be host, {known}, or a part such as nrf52832"
        )
    return machine


def entries_of(estimator: Any, entries: Sequence[str] | None) -> frozenset[str]:
    """Return the entry points to emit: those asked for, else the estimator's, else the default."""
    if entries is None:
        entries = getattr(estimator, "entries", None)
    chosen = ENTRIES if entries is None else entries
    if isinstance(chosen, str):
        raise OptionError(f"entries is {chosen!r}; give a list such as ['scores']")
    unknown = sorted(set(chosen) - request.ENTRIES)
    if unknown:
        known = ", ".join(sorted(request.ENTRIES))
        raise OptionError(f"entries has {unknown[0]!r}; it may have {known}")
    return frozenset(chosen)


def _bytes(size: int | str | None) -> int | None:
    if size is None:
        return None
    found = size_of(str(size))
    if found is None or isinstance(size, bool):
        raise OptionError(f"max_flash is {size!r}; give bytes such as 2048, '2k' or '1.5k'")
    return found


def _count(number: Any) -> int | None:
    if number is not None and (type(number) is not int or number < 1):
        raise OptionError(f"max_instructions is {number!r}; it must be a whole number above 0")
    return None if number is None else int(number)
