"""Structures that are learned before the tables: one file per family, listed here."""

from collections.abc import Mapping
from importlib import import_module

from bncc.structure.learner import Learner

MODULES = (
    "trees",
    "margin",
    "etan",
    "networks",
)
"""Modules with a tuple ``LEARNERS``."""

LEARNERS: Mapping[str, Learner] = {
    learner.name: learner
    for module in MODULES
    for learner in import_module(f"bncc.structure.learners.{module}").LEARNERS
}
"""Learners by the name of their structure."""
