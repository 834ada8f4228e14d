"""Places of control-flow graphs: an order in which paths meet as soon as they can."""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bncc.prove.flow import flow_of, successors
from bncc.prove.instructions import Instruction, Jump, Set
from tests.tiers import examples


def instruction(address, *effects, condition=None):
    return Instruction(address, 1, f"i{address}", effects, condition)


def program(edges):
    """Return a decoder for a graph: address to one or two addresses that follow, or none."""

    def decode(address):
        following = edges[address]
        if not following:
            return instruction(address, Jump("lr"))
        if following == (address + 1,):
            return instruction(address)
        if len(following) == 1:
            return instruction(address, Jump(following[0]))
        assert following[0] == address + 1
        return instruction(address, Jump(following[1], condition=("flag", "eq")))

    return decode


def places_of(edges, entry=0):
    flow = flow_of(program(edges), entry)
    return flow.places, flow.heads


DIAMOND = {0: (1, 3), 1: (2,), 2: (4,), 3: (4,), 4: ()}
LOOP = {0: (1,), 1: (2,), 2: (3, 1), 3: ()}
SELF = {0: (1,), 1: (2, 1), 2: ()}
# An outer loop from 1 to 4, an inner one from 2 to 3
NESTED = {0: (1,), 1: (2,), 2: (3,), 3: (4, 2), 4: (5, 1), 5: ()}
# A loop from 1 to 4 that is left at 2 and at 4
TWO_EXITS = {0: (1,), 1: (2,), 2: (3, 6), 3: (4,), 4: (5, 1), 5: (7,), 6: (7,), 7: ()}
# A diamond in a loop
INNER = {0: (1,), 1: (2, 4), 2: (5,), 4: (5,), 5: (6, 1), 6: ()}


def test_what_follows_an_instruction():
    assert successors(instruction(8)) == (9,)
    assert successors(instruction(8, Set("r0", 1))) == (9,)
    assert successors(instruction(8, Jump(3))) == (3,)
    assert successors(instruction(8, Jump(3, condition=("flag", "eq")))) == (9, 3)
    assert successors(instruction(8, Jump(9, condition=("flag", "eq")))) == (9,)
    assert successors(instruction(8, Jump("lr"))) == ()
    assert successors(instruction(8, Jump("lr"), condition=("flag", "eq"))) == (9,)
    assert successors(instruction(8, Jump(3), condition=("flag", "eq"))) == (9, 3)
    assert successors(instruction(8, Set("lr", 9), Jump(100, is_call=True))) == (9,)


def test_both_sides_of_a_diamond_come_before_where_they_meet():
    places, heads = places_of(DIAMOND)
    assert not heads
    assert places[0] < min(places[1], places[3])
    assert places[1] < places[2]
    assert places[4] > max(places[2], places[3])


@pytest.mark.parametrize("edges", [LOOP, SELF])
def test_a_loop_comes_before_what_follows_it(edges):
    places, heads = places_of(edges)
    (loop,) = heads
    assert heads[loop] == 1
    last = max(edges)
    for address in edges:
        assert (places[address][: len(loop)] == loop) == (address not in (0, last))
    assert places[0] < loop < places[last]


def test_a_loop_in_a_loop():
    places, heads = places_of(NESTED)
    outer, inner = sorted(heads, key=len)
    assert heads[outer] == 1
    assert heads[inner] == 2
    assert inner[: len(outer)] == outer
    assert {a for a in NESTED if places[a][: len(inner)] == inner} == {2, 3}
    assert {a for a in NESTED if places[a][: len(outer)] == outer} == {1, 2, 3, 4}
    assert places[5] > max(places[a] for a in range(5))


def test_a_loop_with_two_exits_comes_before_both():
    places, heads = places_of(TWO_EXITS)
    (loop,) = heads
    inside = {a for a in TWO_EXITS if places[a][: len(loop)] == loop}
    assert inside == {1, 2, 3, 4}
    assert places[7] > max(places[5], places[6])
    assert min(places[5], places[6]) > max(places[a] for a in inside)


def test_a_diamond_in_a_loop():
    places, _ = places_of(INNER)
    assert places[5] > max(places[2], places[4])
    assert places[1] < min(places[2], places[4])


def random_edges(rng):
    n = rng.randint(2, 12)
    edges = {}
    for a in range(n):
        kind = rng.choice(["next", "next", "branch", "branch", "jump", "end"])
        target = rng.randrange(n)
        if a == n - 1 or kind == "end":
            edges[a] = () if a == n - 1 or rng.random() < 0.5 else (a + 1,)
        elif kind == "next":
            edges[a] = (a + 1,)
        elif kind == "jump":
            edges[a] = (target,)
        else:
            edges[a] = tuple(dict.fromkeys((a + 1, target)))
    return edges


@settings(max_examples=examples(300))
@given(st.integers(0, 2**32 - 1))
def test_places_increase_but_to_heads_of_loops_around(seed):
    """So a step is never taken before another that it should wait for; no place is taken twice."""
    edges = random_edges(Random(seed))
    places, heads = places_of(edges)
    reached, waiting = set(), [0]
    while waiting:
        a = waiting.pop()
        if a not in reached:
            reached.add(a)
            waiting += edges[a]
    assert set(places) == reached
    assert len(set(places.values())) == len(places)
    for loop, head in heads.items():
        assert places[head] == (*loop, 0)
        # Every loop can be walked: what is inside gets back to the head.
        inside = {a for a in places if places[a][: len(loop)] == loop}
        assert head in inside
        for a in inside:
            seen, waiting = set(), list(edges[a])
            while waiting:
                b = waiting.pop()
                if b in inside and b not in seen:
                    seen.add(b)
                    waiting += edges[b]
            assert head in seen
    for a in places:
        for b in edges[a]:
            around = [
                loop for loop, head in heads.items() if head == b and places[a][: len(loop)] == loop
            ]
            assert around or places[a] < places[b], (a, b, places)
