"""States of one place that wait, and those of them which another one may be merged with."""

from collections.abc import Iterable
from itertools import chain, count

from bncc.prove.regions import Region
from bncc.prove.state import DEFERRED, SHIFTED, Content, State
from bncc.prove.values import Value

Inputs = tuple[Region, int]
"""Region and guard of a state."""
Contents = frozenset[tuple[object, int]]
"""Places with the digests of the values there."""
Rest = tuple[frozenset[object], Contents]
"""Cells of the stack and flags, and their contents."""


class Meeting:
    """
    States of one place, by numbers in the order in which they came.

    Two states of the same inputs merge only if their registers are equal, and so are the stack and
    the flags that both have. Digests show this without a comparison of each pair: such states are
    many where sums have been compared, as they differ in the class that costs least so far.
    """

    def __init__(self) -> None:
        self._numbers = count()
        self._states: dict[int, State] = {}
        self._known: dict[Inputs, dict[Contents, dict[int, Rest]]] = {}

    def states(self) -> list[State]:
        """Return all states."""
        return list(self._states.values())

    def candidates(self, state: State) -> list[tuple[int, State]]:
        """Return the states that a state may be merged with, each with its number."""
        inputs = _inputs(state)
        places, contents = _rest(state)
        own = self._known.get(inputs, {}).get(_registers(state), {})
        found = [k for k, (others, known) in own.items() if others != places or known == contents]
        for others, by_contents in self._known.items():
            if others != inputs:
                found += [k for numbers in by_contents.values() for k in numbers]
        return [(k, self._states[k]) for k in sorted(found)]

    def add(self, state: State) -> None:
        """Add a state behind all others."""
        by_contents = self._known.setdefault(_inputs(state), {})
        number = next(self._numbers)
        by_contents.setdefault(_registers(state), {})[number] = _rest(state)
        self._states[number] = state

    def remove(self, number: int) -> None:
        """Remove a state."""
        state = self._states.pop(number)
        del self._known[_inputs(state)][_registers(state)][number]


def _inputs(state: State) -> Inputs:
    return state.region, state.guard


def _registers(state: State) -> Contents:
    return _contents(state.registers.items())


def _rest(state: State) -> Rest:
    """Describe the stack and the flags: what only one of two states has is not compared."""
    stack = state.stack.items()
    flags = [(part, *of) for part, of in state.flags.items() if of[0] not in (DEFERRED, SHIFTED)]
    places = [*((at, cell.size) for at, cell in stack), *((part, kind) for part, kind, _ in flags)]
    contents = (((part, k), x) for part, _, of in flags for k, x in enumerate(of))
    return frozenset(places), _contents(chain(((at, of.content) for at, of in stack), contents))


def _contents(places: Iterable[tuple[object, Content]]) -> Contents:
    return frozenset((at, content.digest) for at, content in places if isinstance(content, Value))
