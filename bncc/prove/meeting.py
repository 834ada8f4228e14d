"""States of one place that wait, and those of them which another one may be merged with."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import count

from bncc.prove.regions import Region
from bncc.prove.state import DEFERRED, SHIFTED, Content, State
from bncc.prove.values import Value

Contents = frozenset[tuple[object, int]]
"""Places with the digests of the values there."""


@dataclass(frozen=True)
class Looks:
    """Contents of a state that distinguish it from others, at the places that both have."""

    inputs: tuple[Region, int]  # Region and guard
    registers: Contents
    places: frozenset[object]  # Cells of the stack, and flags
    contents: Contents


def looks_of(state: State) -> Looks:
    """Return the inputs and the contents of a state."""
    stack = state.stack.items()
    flags = [(part, *of) for part, of in state.flags.items() if of[0] not in (DEFERRED, SHIFTED)]
    places = [(at, cell.size) for at, cell in stack] + [(part, kind) for part, kind, _ in flags]
    contents: list[tuple[object, Content]] = [(at, cell.content) for at, cell in stack]
    contents += [((part, k), x) for part, _, of in flags for k, x in enumerate(of)]
    return Looks(
        (state.region, state.guard),
        _digests(state.registers.items()),
        frozenset(places),
        _digests(contents),
    )


def _digests(contents: Iterable[tuple[object, Content]]) -> Contents:
    return frozenset([(at, x.digest) for at, x in contents if isinstance(x, Value)])


class Meeting:
    """
    States of one place, by numbers in the order in which they came.

    Two states of the same inputs merge only if they have equal registers, and so are the stack and
    the flags that both have. Digests show this without a comparison of each pair: such states are
    many where sums have been compared, as they differ in the class that costs least so far.
    """

    def __init__(self) -> None:
        self._numbers = count()
        self._states: dict[int, tuple[State, Looks]] = {}
        self._known: dict[tuple[Region, int], dict[Contents, dict[int, Looks]]] = {}

    def states(self) -> list[State]:
        """Return all states."""
        return [state for state, _ in self._states.values()]

    def candidates(self, looks: Looks) -> list[tuple[int, State]]:
        """Return the states that one of such looks may be merged with, each with its number."""
        own = self._known.get(looks.inputs, {}).get(looks.registers, {})
        places, contents = looks.places, looks.contents
        found = [k for k, of in own.items() if of.contents == contents or of.places != places]
        for inputs, by_registers in self._known.items():
            if inputs != looks.inputs:
                found += [k for numbers in by_registers.values() for k in numbers]
        return [(k, self._states[k][0]) for k in sorted(found)]

    def add(self, state: State, looks: Looks) -> None:
        """Add a state behind all others."""
        number = next(self._numbers)
        by_registers = self._known.setdefault(looks.inputs, {})
        by_registers.setdefault(looks.registers, {})[number] = looks
        self._states[number] = state, looks

    def remove(self, number: int) -> None:
        """Remove a state."""
        _, looks = self._states.pop(number)
        by_registers = self._known[looks.inputs]
        del by_registers[looks.registers][number]
        if not by_registers[looks.registers]:
            del by_registers[looks.registers]
        if not by_registers:
            del self._known[looks.inputs]
