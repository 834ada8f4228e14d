"""States for a certificate: one for each part of a value that is no function of few inputs."""

from collections.abc import Iterator, Sequence
from math import prod
from typing import Any

from bncc.prove.regions import Region
from bncc.prove.state import Cell, Content, Merged, State, read, same
from bncc.prove.values import UndecidedError
from bncc.prove.words import Words

MOST_GRID = 1 << 18
"""Largest number of values of one function of several inputs in a certificate."""
MOST_STATES = 64
"""Largest number of states in place of one."""


class Apart:
    """Takes states apart, the last ones of a run first."""

    def __init__(self, algebra: Words) -> None:
        self._algebra = algebra
        self._known: set[Merged] = set()  # Values whose parts are apart in a later state

    def states(self, state: State) -> list[State]:
        """Return the states in place of one, in each of which such a value is one of its parts."""
        found = [state]
        self._algebra.region = state.region
        every = dict.fromkeys(_merged(state))
        known = [one for one in every if one.is_apart or one in self._known]
        for merged in [*known, *(x for x in every if x not in known and self._is_too_large(x))]:
            parts = _distinct(merged, state.region)
            if len(found) * len(parts) <= MOST_STATES:
                self._note(merged)
                found = [
                    _replaced(one.but(region=region), merged, part)
                    for one in found
                    for region, part in _distinct(merged, one.region)
                ]
        return found

    def _note(self, merged: Merged) -> None:
        """Note that values whose parts another has are taken apart where their paths met."""
        waiting = [merged]
        while waiting:
            new = [one for one in waiting.pop().sources if one not in self._known]
            self._known.update(new)
            waiting += new

    def _is_too_large(self, merged: Merged) -> bool:
        if not merged.is_read:
            return False
        try:
            value = read(merged, self._algebra)
        except UndecidedError:
            return True
        return any(
            prod(len({0, *p.edges(axis)}) for axis in p.scope) > MOST_GRID for p in value.terms
        )


def _merged(state: State) -> Iterator[Merged]:
    """Yield the values of a state that differ between paths that met."""
    cells = (cell.content for part in (state.stack, state.output) for cell in part.values())
    flags = (content for _, contents in state.flags.values() for content in contents)
    for content in (*state.registers.values(), *flags, *cells):
        if isinstance(content, Merged):
            yield content


def _distinct(merged: Merged, region: Region) -> Sequence[tuple[Region, Content]]:
    """Return different parts of a value, each with its inputs in a region."""
    found: list[tuple[Region, Content]] = []
    for own, part in _parts(merged, region):
        for k, (other, known) in enumerate(found):
            if same(known, part):
                found[k] = (*other, *own), known
                break
        else:
            found.append((own, part))
    return found


def _parts(content: Content, region: Region) -> Iterator[tuple[Region, Content]]:
    if not isinstance(content, Merged):
        yield region, content
        return
    for own, part in content.inside(region):
        yield from _parts(part, own)


def _replaced(state: State, merged: Merged, part: Content) -> State:
    """Return a state with a part of a value in its place."""

    def of(content: Content) -> Content:
        return part if content is merged else content

    def cells(memory: Any) -> dict[int, Cell]:
        return {at: Cell(cell.size, of(cell.content)) for at, cell in memory.items()}

    return state.but(
        registers={name: of(content) for name, content in state.registers.items()},
        flags={k: (kind, tuple(map(of, own))) for k, (kind, own) in state.flags.items()},
        stack=cells(state.stack),
        output=cells(state.output),
    )
