"""
Facts about a gate: the costs by its first tables, and what follows from their order.

In facts, a class stands for its cost by all tables, and `first` names its cost by the tables before
the gate, maybe with the gate's margin added.
"""

from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations

from bncc.prove.state import Fact

OPEN: Fact = ("gate", "open", True)
"""The first tables do not decide."""
CLOSED: Fact = ("gate", "closed", True)
"""The first tables decide, for a class that paths which met need not have in common."""


def first(c: int, more: int = 0) -> object:
    """Return the name of a class's cost by the first tables, plus a number."""
    return "first", c, more


def decided(c: int) -> Fact:
    """Return the fact that the first tables decide, for a class."""
    return "gate", c, True


def answered(c: int) -> Fact:
    """Return the fact that the model answers with a class."""
    return "answer", c, True


@dataclass(frozen=True)
class GateFacts:
    """Facts about the costs of classes that imply what a gate does."""

    n_classes: int
    margin: int  # At least 1

    def always(self) -> Iterator[Fact]:
        """Yield the facts that hold for every input: each cost is less than with the margin."""
        for c in range(self.n_classes):
            yield first(c), first(c, self.margin), True
            yield first(c), first(c, self.margin), False

    @cached_property
    def _within(self) -> dict[Fact, int]:
        """Facts that another class costs less than one plus the margin, with the latter."""
        pairs = permutations(range(self.n_classes), 2)
        return {self._nearer(other, c): c for c, other in pairs}

    def _nearer(self, other: int, c: int) -> Fact:
        """Return the fact that a class costs less than another one plus the margin."""
        return first(other), first(c, self.margin), True

    def is_within(self, facts: Set[Fact], other: int, c: int) -> bool:
        """Return whether a class costs less than another one plus the margin."""
        return self._nearer(other, c) in facts

    def is_beyond(self, facts: Set[Fact], other: int, c: int) -> bool:
        """Return whether a class costs at least as much as another one plus the margin."""
        if (first(c, self.margin), first(other), False) in facts:
            return True
        return self.margin == 1 and (first(c), first(other), True) in facts

    def implied(self, facts: frozenset[Fact]) -> frozenset[Fact]:
        """
        Return facts with what follows about the gate and the answer.

        A gate is open if no class can be the one of least cost with all others beyond the margin:
        each has another one within it.
        """
        classes = range(self.n_classes)
        found: set[Fact] = set()
        for c in classes:
            others = [other for other in classes if other != c]
            is_least = all((first(c), first(other), False) in facts for other in others)
            # The least cost is that of one class alone where the first tables decide.
            if (CLOSED in facts and is_least) or all(
                self.is_beyond(facts, other, c) for other in others
            ):
                found |= {CLOSED, decided(c), answered(c)}
        near = {self._within[fact] for fact in facts.intersection(self._within)}
        if OPEN in facts or len(near) == self.n_classes:
            found.add(OPEN)
            found |= {answered(c) for c in classes if costs_least(facts, c, classes)}
        return facts | found


def costs_least(facts: Set[Fact], c: int, classes: Iterable[int]) -> bool:
    """Return whether a class costs least by all tables, and least of all before it."""
    return all(
        (c, other, True) in facts or (c < other and (c, other, False) in facts)
        for other in classes
        if other != c
    )
