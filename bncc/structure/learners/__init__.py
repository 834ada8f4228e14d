"""One file a learner, or a family of them: whatever lies here is offered by its name."""

from collections.abc import Iterable, Mapping
from importlib import import_module
from pkgutil import iter_modules

from bncc.structure.learner import Learner


def learners_in(folders: Iterable[str]) -> dict[str, Learner]:
    """Return the learners that files define."""
    modules = (import_module(f"{__name__}.{found.name}") for found in iter_modules(folders))
    return {learner.name: learner for module in modules for learner in module.LEARNERS}


LEARNERS: Mapping[str, Learner] = learners_in(__path__)
"""Structures that are learned before the tables, by name."""
