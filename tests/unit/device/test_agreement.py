"""The comparison itself: correct C agrees, and every kind of mistake is found and reported."""

import re

import numpy as np
import pytest

from bncc.device.agreement import Agreement, combine, compare
from bncc.device.host import build_harness, build_library
from bncc.device.inputs.cases import cases
from bncc.device.sources import sources
from bncc.errors import ToolchainError
from tests import models as hand
from tests.agreement.mistakes import verify_files
from tests.unit.device.by_hand import FILES, MODEL, spoiled

pytestmark = pytest.mark.cc


@pytest.fixture(autouse=True)
def gcc(require_tool):
    return require_tool("gcc")


def check(files) -> Agreement:
    with build_library(sources(MODEL, files)) as library:
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
    with build_harness(sources(MODEL, files), opt_level="-O0") as program:
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


@pytest.mark.parametrize("sanitize", [False, True])
def test_verify_builds_compares_and_says_how_strongly(sanitize):
    """With a given emission, as library or under sanitizers."""
    outcome = verify_files(
        MODEL, FILES, compiler="gcc", opt_level="-O1", sanitize=sanitize, n_random=50
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
    one = verify_files(MODEL, FILES, compiler="gcc")
    every = verify_files(MODEL, FILES, compiler="all")
    assert every.checked == one.checked * (every.n_builds)


def test_a_missing_compiler_is_told_with_its_remedy():
    """Exit code 2 on the command line."""
    with pytest.raises(ToolchainError, match="is not installed; run `bncc targets`"):
        verify_files(MODEL, FILES, compiler="no-such-cc")
