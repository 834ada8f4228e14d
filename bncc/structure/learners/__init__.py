"""Structures that are learned before the tables: one file per family, listed here."""

from collections.abc import Mapping

from bncc.structure.learner import Learner
from bncc.structure.learners import etan, margin, networks, trees

FAMILIES = (trees, margin, etan, networks)
"""Modules with a tuple ``LEARNERS``; adding a module here registers its learners."""

LEARNERS: Mapping[str, Learner] = {
    learner.name: learner for family in FAMILIES for learner in family.LEARNERS
}
"""Learners by the name of their structure."""
