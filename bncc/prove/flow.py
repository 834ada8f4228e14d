"""
Order of a function's instructions in which paths meet: loops within loops.

It is Bourdoncle's weak topological order ("Efficient chaotic iteration strategies with widenings",
1993).

A place is a tuple of positions, one for each loop around it and the last for the instruction. With
the number of iterations of each loop, places order all steps of a run: those of one iteration come
before the next, and a loop before what follows it. A run that always takes the earliest step next
never misses that two paths meet.

Where a jump leads whose address is read from a table, a run finds out: it gives such targets.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from bncc.prove.instructions import Instruction, Jump, UnknownInstruction

Decode = Callable[[int], Instruction]
Place = tuple[int, ...]
Targets = Mapping[int, Collection[int]]
"""Targets of jumps to addresses that are not constants, by the address of the jump."""
NO_TARGETS: Targets = MappingProxyType({})


@dataclass(frozen=True)
class Flow:
    """The instructions that a function reaches without its callees."""

    places: Mapping[int, Place]  # By address
    heads: Mapping[Place, int]  # Address of the first instruction of each loop


def flow_of(decode: Decode, entry: int, targets: Targets = NO_TARGETS) -> Flow:
    """Return the order of a function's instructions."""
    next_of: dict[int, tuple[int, ...]] = {}
    waiting = [entry]
    while waiting:
        address = waiting.pop()
        if address not in next_of:
            next_of[address] = _successors(decode, address, targets.get(address, ()))
            waiting += next_of[address]
    places: dict[int, Place] = {}
    heads: dict[Place, int] = {}
    # Nested sets of addresses to order: prefix, entry, members.
    parts: list[tuple[Place, int, frozenset[int]]] = [((), entry, frozenset(next_of))]
    while parts:
        prefix, start, members = parts.pop()
        for k, component in enumerate(_components(next_of, start, members)):
            place = (*prefix, k)
            head = component[0]
            if len(component) == 1 and head not in next_of[head]:
                places[head] = place
                continue
            heads[place] = head
            places[head] = (*place, 0)
            rest = frozenset(component) - {head}
            for j, (first, inside) in enumerate(_roots(next_of, head, rest)):
                parts.append(((*place, 1 + j), first, inside))
    return Flow(places, heads)


def _successors(decode: Decode, address: int, targets: Collection[int]) -> tuple[int, ...]:
    """Return what may follow; nothing follows an unknown instruction, to which no run may get."""
    try:
        instruction = decode(address)
    except UnknownInstruction:
        return ()
    if targets and instruction.is_call:
        return tuple(targets)  # What is behind the call of a routine for a `switch` is its table
    return (*successors(instruction), *targets)


def successors(instruction: Instruction) -> tuple[int, ...]:
    """Return the addresses that may follow within a function; a call returns after it."""
    after = instruction.address + instruction.size
    jumps = [effect for effect in instruction.effects if isinstance(effect, Jump)]
    if not jumps or instruction.is_call:
        return (after,)
    found = [after] if jumps[-1].condition is not None or instruction.condition is not None else []
    if isinstance(jumps[-1].target, int):
        found.append(jumps[-1].target)
    return tuple(dict.fromkeys(found))


def _roots(
    next_of: Mapping[int, tuple[int, ...]], head: int, rest: frozenset[int]
) -> list[tuple[int, frozenset[int]]]:
    """Return the body of a loop without its head, as one set with an entry."""
    if not rest:
        return []
    first = next((n for n in next_of[head] if n in rest), min(rest))
    return [(first, rest)]


def _components(
    next_of: Mapping[int, tuple[int, ...]], start: int, members: frozenset[int]
) -> list[tuple[int, ...]]:
    """
    Return strongly connected components in topological order, each with its head first.

    Tarjan's algorithm without recursion; the head is where the search enters a component.
    """
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    on_stack: set[int] = set()
    found: list[tuple[int, ...]] = []
    for root in (start, *sorted(members)):
        if root in index or root not in members:
            continue
        work = [(root, iter(next_of[root]))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            node, following = work[-1]
            for other in following:
                if other not in members:
                    continue
                if other not in index:
                    index[other] = low[other] = len(index)
                    stack.append(other)
                    on_stack.add(other)
                    work.append((other, iter(next_of[other])))
                    break
                if other in on_stack:
                    low[node] = min(low[node], index[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    members_found = stack[stack.index(node) :]
                    del stack[stack.index(node) :]
                    on_stack.difference_update(members_found)
                    found.append(tuple(members_found))
    return found[::-1]
