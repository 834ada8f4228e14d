"""The comparison itself: correct C agrees, and every kind of mistake is found and reported."""

import re
from dataclasses import replace

import numpy as np
import pytest

from bncc.device.agreement import Agreement, combine, compare, verify
from bncc.device.harness import build_harness
from bncc.device.host import build_library
from bncc.device.inputs.cases import cases
from bncc.emit.emitter import EmitOptions, emit_c
from bncc.errors import ToolchainError
from tests import models as hand
from tests.unit.device.by_hand import FILES, MODEL, spoiled

pytestmark = pytest.mark.cc


@pytest.fixture(autouse=True)
def gcc(require_tool):
    return require_tool("gcc")


def check(files) -> Agreement:
    with build_library(MODEL, files) as library:
        return compare(library, cases(MODEL))


def test_right_code_agrees():
    """No mismatch, and a count of the inputs."""
    outcome = check(FILES)
    assert outcome.agree
    assert outcome.mismatches == 0
    assert outcome.checked > 1000
    assert outcome.first_mismatch is None


MISTAKES = [
    pytest.param("4, 1, 7,", "4, 2, 7,", "scores of states 1, 0", id="a table entry"),
    pytest.param("x[0] > -5", "x[0] >= -5", "raw of readings", id="a threshold's side"),
    pytest.param("x[0] > 100", "x[0] > 101", "raw of readings", id="a threshold"),
    pytest.param("x[0] != INT16_MIN", "x[0] != 0", "raw of readings", id="the missing marker"),
    pytest.param("s[c] < s[best]", "s[c] <= s[best]", "predict of states", id="the tie rule"),
    pytest.param("(uint8_t)(2 +", "(uint8_t)(15 & (2 +", "of states", id="a narrow sum"),
    pytest.param("x[1] > 1)", "x[1] > 2)", "predict of states 0, 2|predict of states .*, 2",
                 id="the limit of a state"),
    pytest.param("return hand_predict(x);", "return (int16_t)(0 * x[0]);", "trusted of states",
                 id="trusted"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "told"), MISTAKES)
def test_a_mistake_is_found(old, new, told):
    """The report describes the first input that shows it."""
    files = spoiled(old, new)
    if "15 & (" in new:
        files["hand.c"] = files["hand.c"].replace("+ c]);", "+ c]));")
    outcome = check(files)
    assert not outcome.agree
    assert outcome.mismatches > 0
    assert re.search(told, outcome.first_mismatch)
    assert "the C says" in outcome.first_mismatch


def test_a_crash_is_a_mismatch():
    """A program stopped by a sanitizer counts as disagreement."""
    files = spoiled("light[3 * x[1] + c]", "light[4 * x[1] + c]")
    with build_harness(MODEL, files, opt_level="-O0") as program:
        outcome = compare(program, cases(MODEL))
    assert not outcome.agree
    assert outcome.mismatches == 1
    assert "was stopped" in outcome.first_mismatch


def test_long_inputs_are_told_in_short():
    """Two dozen numbers are enough."""

    class Zero:
        entries = frozenset({"predict"})
        toolchain = "none"

        def predict(self, X):
            return np.full(len(X), 7, dtype=np.int16)

    model = hand.model_of(
        [hand.feature(f"x{i}", 2) for i in range(30)], hand.forest([None] * 30),
        hand.QFormat(1, 0), [0, 0], [[[0, 1], [1, 0]]] * 30,
    )  # fmt: skip
    outcome = compare(Zero(), cases(model))  # raw readings are left out, as it takes none
    assert ", ...: the C says 7, Python says" in outcome.first_mismatch


def test_outcomes_of_several_compilers_are_joined():
    """One disagreement is enough, and its report is kept."""
    good = Agreement(True, "host", 10, 0, "all", "gcc")
    bad = Agreement(False, "host", 10, 3, "all", "clang", "scores of ...")
    assert combine([good, bad]) == Agreement(
        False, "host", 20, 3, "all", "gcc; clang", "scores of ...", n_builds=2
    )


class Emitted:
    """An emission as far as the check looks at it."""

    files = FILES


@pytest.mark.parametrize("sanitize", [False, True])
def test_verify_builds_compares_and_says_how_strongly(sanitize):
    """With a given emission, as library or under sanitizers."""
    outcome = verify(
        MODEL, emission=Emitted(), compiler="gcc", opt_level="-O1", sanitize=sanitize, n_random=50
    )
    assert outcome.agree
    assert outcome.target == "host"
    assert outcome.strength == (
        "all 6 joint states, 50 random readings, 256 rows out of range, "
        "3 values at each of 3 thresholds"
    )
    assert outcome.toolchain.startswith("gcc ")
    assert " -O1" in outcome.toolchain


def test_verify_with_all_compilers_runs_each():
    """Each compiler that is installed adds its inputs."""
    one = verify(MODEL, emission=Emitted(), compiler="gcc")
    every = verify(MODEL, emission=Emitted(), compiler="all")
    assert every.checked == one.checked * (every.n_builds)


def test_verify_without_an_emission_emits_all_entries():
    """The usual call."""
    assert verify(MODEL).agree


def test_a_missing_compiler_is_told_with_its_remedy():
    """Exit code 2 on the command line."""
    with pytest.raises(ToolchainError, match="is not installed; run `bncc targets`"):
        verify(MODEL, compiler="no-such-cc")


def emitted(model, entries, **options):
    return emit_c(model, EmitOptions("m", frozenset(entries), **options))


def test_streams_and_gaps_of_a_second_emission_are_tried_on_a_sample():
    """The first is checked in full, and counted alone."""
    model = hand.tan_float()
    first = emitted(model, {"scores", "raw"})
    alone = verify(model, emission=first, n_random=20)
    both = verify(model, emission=first, also=emitted(model, {"stream", "missing"}), n_random=20)
    assert both.agree
    assert both.checked == alone.checked
    assert both.strength.startswith(f"{alone.strength}, ")
    assert re.search(r", \d+ of them also fed feature by feature, 20 random", both.strength)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("end = m_rom_uint8(&m_first_reader[i + 1U]);", "end = k;", "feed of states"),
        ("return m_decide_missing(x);", "return (int16_t)(m_decide_missing(x) ^ 1);", "missing of"),
        ("return m_decide_missing(state);", "return 0;", "raw_missing of"),
    ],
)
def test_a_mistake_in_the_second_emission_is_found(old, new, told):
    model = hand.tan_float()
    also = emitted(model, {"stream", "missing"})
    assert old in also.files["m.c"], old
    also = replace(also, files={**also.files, "m.c": also.files["m.c"].replace(old, new)})
    outcome = verify(model, emission=emitted(model, {"raw"}), also=also, n_random=20)
    assert not outcome.agree
    assert outcome.mismatches > 0
    assert outcome.first_mismatch.startswith(told)
