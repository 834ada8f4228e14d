"""A wrong table entry, index, tie rule and sum width are each caught on every target."""

from collections.abc import Callable
from functools import cache

import pytest

from bncc.device.agreement import Agreement, verify
from bncc.device.targets import TARGETS
from bncc.emit.emitter import EmitOptions, emit_c
from bncc.model.model import Model
from tests import models as hand
from tests.agreement.mistakes import Spoiled, bumped, replaced

pytestmark = pytest.mark.firmware

ENTRIES = frozenset({"raw", "scores", "trusted"})
Files = dict[str, str]


def in_source(spoil: Callable[[str], str]) -> Callable[[Files], Files]:
    return lambda files: files | {"m.c": spoil(files["m.c"])}


def narrowed(wide: str, narrow: str) -> Callable[[Files], Files]:
    old, new = (f"typedef {type_} m_cost_t;" for type_ in (wide, narrow))
    return lambda files: files | {"m.h": replaced(files["m.h"], old, new)}


# What is wrong: a model in which it matters, and how it goes wrong.
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


def check(model: Model, files: Files, target: str) -> Agreement:
    return verify(model, target, emission=Spoiled(files), n_random=50)


def emitted(mistake: str) -> tuple[Model, Files]:
    model = MISTAKES[mistake][0]()
    return model, dict(emit_c(model, EmitOptions("m", ENTRIES, kernel="plain")).files)


@cache
def without_it(model: str, target: str) -> Agreement:
    """Check the right C, once where several mistakes start from the same."""
    return check(*emitted(model), target)


@pytest.mark.parametrize("mistake", MISTAKES)
@pytest.mark.parametrize("target", TARGETS)
def test_a_mistake_is_caught(require_bench, target, mistake):
    """The C as emitted agrees; the same C with one mistake does not, and the message says where."""
    require_bench(target)
    model, files = emitted(mistake)
    wrong = MISTAKES[mistake][1](files)
    assert wrong != files
    same_model = next(name for name, (of, _) in MISTAKES.items() if of is MISTAKES[mistake][0])
    assert without_it(same_model, target).agree
    outcome = check(model, wrong, target)
    assert not outcome.agree
    assert outcome.mismatches > 0
    assert "the C says" in outcome.first_mismatch
    if mistake == "tie rule":
        assert outcome.first_mismatch.endswith("the C says 2, Python says 0")
