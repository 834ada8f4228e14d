"""Verdicts: exit codes, sentences, JSON objects, numbers of inputs."""

import math
import re
from dataclasses import replace
from pathlib import Path

import pytest

import bncc.prove
from bncc.prove.verdict import REMEDIES, Verdict, exit_code_of, n_inputs
from tests import models as hand

PROVED = Verdict("proved", "predict-raw", "cortex-m0", instructions=1412, stack=48, seconds=0.44)
REFUTED = replace(
    PROVED, status="refuted", reason="wrong-answer", detail="the answers differ",
    instructions=None, stack=None, input={"light": -3, "color": "red"}, expected=2, actual=0,
)  # fmt: skip
OPEN = replace(REFUTED, status="undecided", reason="sums-differ", detail="class 2", input=None)


@pytest.mark.parametrize(
    ("verdict", "sentence"),
    [
        (
            PROVED,
            "cortex-m0: predict-raw decides as the model does for every input: 1,412 instructions "
            "and 48 bytes of stack at most (0.4 s)",
        ),
        (
            replace(PROVED, stack=None),
            "cortex-m0: predict-raw decides as the model does for every input: 1,412 instructions "
            "at most (0.4 s)",
        ),
        (
            replace(PROVED, stack=None, instructions=None),
            "cortex-m0: predict-raw decides as the model does for every input (0.4 s)",
        ),
        (
            REFUTED,
            "cortex-m0: predict-raw DOES NOT decide as the model does: for light = -3, color = red "
            "the code returns 0, the model 2 (0.4 s)",
        ),
        (
            replace(REFUTED, expected=None, actual=None, detail="it reads 4 bytes at 0x0"),
            "cortex-m0: predict-raw DOES NOT decide as the model does: it reads 4 bytes at 0x0; "
            "for light = -3, color = red (0.4 s)",
        ),
        (
            replace(REFUTED, input=None, detail=""),
            "cortex-m0: predict-raw DOES NOT decide as the model does: wrong-answer (0.4 s)",
        ),
        (OPEN, "cortex-m0: predict-raw is NOT DECIDED: sums-differ: class 2 (0.4 s)"),
    ],
)
def test_a_verdict_is_one_sentence(verdict, sentence):
    assert verdict.sentence == sentence


@pytest.mark.parametrize(
    ("verdicts", "code"),
    [
        ([PROVED, PROVED], 0),
        ([PROVED, OPEN], 3),
        ([OPEN, REFUTED, PROVED], 1),
        ([REFUTED], 1),
    ],
)
def test_a_refutation_counts_more_than_what_is_open(verdicts, code):
    assert exit_code_of(verdicts) == code


def test_the_object_has_bounds_or_a_counterexample():
    proved, refuted = PROVED.to_json(), REFUTED.to_json()
    assert (proved["instructions"], proved["stack"]) == ({"max": 1412}, 48)
    assert proved["counterexample"] is proved["reason"] is proved["detail"] is None
    assert refuted["instructions"] is None
    assert refuted["counterexample"] == {
        "input": {"light": -3, "color": "red"}, "expected": 2, "actual": 0,
    }  # fmt: skip
    assert proved.keys() == refuted.keys()


def test_a_reading_that_json_lacks_is_text():
    found = replace(REFUTED, input={"x": math.nan, "y": -math.inf, "z": 0.5}).to_json()
    assert found["counterexample"]["input"] == {"x": "nan", "y": "-inf", "z": 0.5}


def test_inputs_are_counted_by_the_types_that_the_entry_takes():
    """States have a byte each, or two; trusted is promised that they are in range."""
    model, wide = hand.sum_of_tables(), hand.wide_states()
    assert n_inputs(model, "predict-raw") == 2 ** (16 + 16 + 8 + 16)
    assert n_inputs(model, "predict") == n_inputs(model, "scores") == 2**32
    assert n_inputs(model, "trusted") == 4 * 4 * 3
    assert n_inputs(wide, "predict") == 2 ** (16 * wide.n_features)
    assert n_inputs(hand.tan_float(), "predict-raw") == 2**96


def test_every_reason_of_the_analysis_has_a_remedy():
    """The reasons are those of the sources, such as ``UndecidedError("cells", ...)``."""
    folder = Path(bncc.prove.__file__).parent
    sources = "".join(path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.py")))
    reasons = set(re.findall(r'UndecidedError\(\s*"([a-z-]+)"', sources))
    assert {"cells", "steps", "sums-differ"} < reasons
    assert reasons <= REMEDIES.keys()


def test_what_is_decided_has_no_remedy():
    assert OPEN.remedy is not None
    assert PROVED.remedy is REFUTED.remedy is None
