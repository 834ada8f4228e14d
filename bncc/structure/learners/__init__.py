"""The structures that are learned before the tables: a file for each family, listed here."""

from collections.abc import Mapping

from bncc.structure.learner import Learner
from bncc.structure.learners import etan, margin, networks, trees

FAMILIES = (trees, margin, etan, networks)
"""Modules with a tuple ``LEARNERS``; a new one is offered once it stands here."""

LEARNERS: Mapping[str, Learner] = {
    learner.name: learner for family in FAMILIES for learner in family.LEARNERS
}
"""Learners by the name of their structure."""
