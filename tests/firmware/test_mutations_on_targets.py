"""A wrong table entry, index, tie rule and sum width are each caught on every target."""

from collections.abc import Callable
from functools import cache

import pytest

from bncc.emit.emitter import EmitOptions, emit_c
from bncc.model.model import Model
from bncc.targets import TARGETS
from tests import models as hand
from tests.agreement.mistakes import bumped, replaced
from tests.firmware.fleet import Member, answers, comparing, disagreeing

pytestmark = pytest.mark.firmware

ENTRIES = frozenset({"raw", "scores", "trusted"})
Files = dict[str, str]


def in_source(spoil: Callable[[str], str]) -> Callable[[Files], Files]:
    return lambda files: files | {"m.c": spoil(files["m.c"])}


def narrowed(wide: str, narrow: str) -> Callable[[Files], Files]:
    old, new = (f"typedef {type_} m_cost_t;" for type_ in (wide, narrow))
    return lambda files: files | {"m.h": replaced(files["m.h"], old, new)}


# Mistakes: a model in which each matters, and the change of the C.
MISTAKES: dict[str, tuple[Callable[[], Model], Callable[[Files], Files]]] = {
    "first entry": (hand.general_network, in_source(lambda c: bumped(c, "costs", 0))),
    "last entry": (hand.general_network, in_source(lambda c: bumped(c, "costs", -1))),
    "wide entry": (hand.wide_states, in_source(lambda c: bumped(c, "costs", 500))),
    "start of a table": (hand.tan_float, in_source(lambda c: bumped(c, "start", 1, -2))),
    "stride of a parent": (hand.general_network, in_source(lambda c: bumped(c, "multiples", 4))),
    "feature of a table": (
        hand.tan_float,
        in_source(lambda c: bumped(bumped(c, "feature", 0, 1), "feature", 1, -1)),
    ),
    "tie rule": (
        hand.ties,
        in_source(lambda c: replaced(c, "cost[c] < lowest", "cost[c] <= lowest")),
    ),
    "8-bit sum": (lambda: hand.summing_to(256), narrowed("uint16_t", "uint8_t")),
    "16-bit sum": (lambda: hand.summing_to(65536), narrowed("uint32_t", "uint16_t")),
}


@cache
def fleet() -> dict[str, Member]:
    """Return the C of a model without each mistake and with it."""
    members: dict[str, Member] = {}
    for mistake, (make, spoil) in MISTAKES.items():
        model = make()
        files = dict(emit_c(model, EmitOptions("m", ENTRIES, kernel="plain")).files)
        wrong = spoil(files)
        assert wrong != files
        members[f"without {mistake}"] = comparing(model, files, 50)
        members[mistake] = comparing(model, wrong, 50)
    return members


@pytest.mark.parametrize("target", TARGETS)
def test_mistakes_are_caught(require_bench, target):
    """The C as emitted agrees; with one mistake it does not, and the message names the place."""
    outcomes = answers(require_bench(target), "-O2", fleet())
    found = disagreeing(outcomes)
    assert sorted(found) == sorted(MISTAKES)
    assert all(outcomes[mistake].mismatches > 0 for mistake in MISTAKES)
    assert all("the C says" in story for story in found.values())
    assert found["tie rule"].endswith("the C says 2, Python says 0")
