"""The C of the bit-slice kernel: equal to the integer model, and any mistake is detected."""

import re
from functools import cache

import pytest

from bncc.discretize.feature import Feature
from bncc.emit.emitter import EmitOptions, emit_c
from bncc.fixed_point import QFormat
from bncc.on_device import verify
from bncc.structure.graph import forest
from tests.agreement.large import few_bits, letter_like
from tests.agreement.mistakes import replaced, verify_files
from tests.models import model_of

pytestmark = pytest.mark.cc
ENTRIES = frozenset({"raw", "scores", "trusted"})


MODELS = {
    "26 classes, 1 bit": lambda: letter_like(bits=1),
    "26 classes, 2 bits": lambda: letter_like(bits=2),
    "32 classes, 2 bits": lambda: few_bits(32),
    "10 classes, 2 bits": lambda: few_bits(10),
    "6 classes, 2 bits": lambda: few_bits(6),
    "2 classes, 1 bit": lambda: few_bits(2, bits=1),
}


@cache
def emitted(name):
    """Return the C of a model."""
    return emit_c(MODELS[name](), EmitOptions("m", ENTRIES, kernel="bit-slice"))


@pytest.mark.parametrize("level", ["-O2", "-Os"])
@pytest.mark.parametrize("name", MODELS)
def test_the_c_agrees(require_tool, name, level):
    require_tool("gcc")
    assert emitted(name).kernel == "bit-slice"
    outcome = verify(MODELS[name](), emission=emitted(name), opt_level=level, n_random=500)
    assert outcome.agree, outcome.first_mismatch


@pytest.mark.parametrize("name", MODELS)
def test_the_c_agrees_under_sanitizers(require_tool, name):
    require_tool("gcc")
    outcome = verify(
        MODELS[name](), emission=emitted(name), sanitize=True, opt_level="-O1", n_random=300
    )
    assert outcome.agree, outcome.first_mismatch


def spoiled(name, old, new):
    """Return the outcome of the C with one of its lines changed."""
    files = dict(emitted(name).files)
    files["m.c"] = replaced(files["m.c"], old, new)
    return verify_files(MODELS[name](), files, opt_level="-O1", n_random=300)


def test_a_dropped_carry_is_seen(require_tool):
    """Any instruction that sets a new bit of the sum."""
    require_tool("gcc")
    text = emitted("26 classes, 1 bit").files["m.c"]
    carries = re.findall(r"^    ((?:held|carry|sum)\d) = m_add\d\(.*?\);$", text, re.M | re.S)
    statements = re.findall(r"^    \w+ = m_add\d\(.*?\);$", text, re.M | re.S)
    assert len(carries) == len(statements) > 10
    for carry, statement in zip(carries[::4], statements[::4], strict=True):
        files = dict(emitted("26 classes, 1 bit").files)
        first, _, rest = text.partition(statement)
        files["m.c"] = f"{first}{statement} {carry} = 0U;{rest}"
        outcome = verify_files(letter_like(bits=1), files, opt_level="-O1")
        assert not outcome.agree, statement


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("26 classes, 2 bits", "left = m_cheaper(left, bit[0]);", ""),
        ("26 classes, 2 bits", "classes & ~bit", "classes & bit"),
        ("26 classes, 2 bits", "best = (int16_t)(best + 1);", ""),
        ("26 classes, 2 bits", "left = 0x03FFFFFFU", "left = 0x01FFFFFFU"),
        ("10 classes, 2 bits", "= sum0 >> 16;", "= sum0 >> 15;"),
        ("26 classes, 2 bits", "any ^ (odd & *sum)", "any & odd"),
    ],
)
def test_a_mistake_is_seen(require_tool, name, old, new):
    """Mistakes in the decision, in half of a word, in an adder."""
    require_tool("gcc")
    assert not spoiled(name, old, new).agree


def test_a_swapped_tie_is_seen(require_tool):
    """The second-lowest index instead of the lowest, where both are left."""
    require_tool("gcc")
    old = "    if ((left & 0x1U) == 0U) {"
    assert not spoiled("2 classes, 1 bit", old, "    if ((left & 0x2U) != 0U) {").agree


def test_a_word_of_the_second_table_of_a_pair_is_read_from_its_own_row(require_tool):
    """No word has set the level of the pair's last words: each is added in a step of its own."""
    require_tool("gcc")
    costs = [
        [6, 5, 4, 2, 2, 0, 0],
        [0, 1, 6, 5, 7, 4, 4],
        [7, 5, 5, 4, 4, 7, 2],
        [6, 5, 0, 3, 6, 4, 0],
    ]
    features = [
        Feature("a", "float32", 4, thresholds=(0.0, 1.0), missing_state=3),
        Feature("b", "int16", 4, thresholds=(0, 1), missing_state=3),
    ]
    prior = [3, 2, 2, 1, 1, 0, 0]
    model = model_of(features, forest([None, None]), QFormat(3, 0), prior, [costs, costs])
    emission = emit_c(model, EmitOptions("m", ENTRIES, kernel="bit-slice"))
    outcome = verify(model, emission=emission)
    assert outcome.agree, outcome.first_mismatch
