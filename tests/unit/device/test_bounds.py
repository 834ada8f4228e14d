"""Stack from handwritten reports and calls, and refused inputs."""

from dataclasses import replace

import pytest

from bncc.device import bounds
from bncc.emit.options import bound_lines
from bncc.errors import ToolchainError
from bncc.resources import Bounds, Counts, ProvedBound, SampleCounts

REPORT = "m.c:1:2:f\t8\tstatic\nm.c:2:2:g.constprop\t20\tstatic\nm.c:3:2:h\t4\tstatic\n"
CALLS = {"f": frozenset({"h", "g.constprop.0"}), "h": frozenset({"g.constprop.1"})}


def found(*, is_exact, low=5, high=5, unit="cycles"):
    counts = (("predict", Counts(low, high)),)
    return Bounds("cc 1 -Os", "sim 2", unit, (("predict", 12),), counts, 100, is_exact)


def test_the_deepest_chain_of_calls_counts():
    frames = bounds._frames(REPORT)
    assert frames == {"f": 8, "g.constprop": 20, "h": 4}
    assert bounds._depth("f", frames, CALLS, ()) == 8 + 4 + 20
    assert bounds._depth("g.constprop", frames, CALLS, ()) == 20


def test_what_has_no_bound_is_refused():
    with pytest.raises(ToolchainError, match="stack of f has no bound"):
        bounds._frames("m.c:1:2:f\t8\tdynamic\n")
    frames = bounds._frames(REPORT)
    for calls in ({"f": frozenset({"memset"})}, {"f": frozenset({"h"}), "h": frozenset({"f"})}):
        with pytest.raises(ToolchainError, match="is unknown"):
            bounds._depth("f", frames, calls, ())


def test_a_count_is_a_macro_only_if_it_is_that_of_every_input():
    lines = bound_lines(found(is_exact=True), "m")
    assert lines[-2:] == ["#define M_PREDICT_STACK 12U", "#define M_PREDICT_CYCLES 5U"]
    for each in (found(is_exact=True, high=6), found(is_exact=False)):
        lines = bound_lines(each, "m")
        assert lines[-1] == "#define M_PREDICT_STACK 12U"
        assert "observed over 100 inputs; not a bound." in " ".join(lines)


def test_instructions_are_not_sold_as_cycles():
    assert "are not cycles" not in " ".join(bound_lines(found(is_exact=True), "m"))
    lines = bound_lines(found(is_exact=True, unit="instructions"), "m")
    assert "Executed instructions are not cycles." in " ".join(lines)
    assert lines[-1] == "#define M_PREDICT_INSTRUCTIONS 5U"


def test_cycles_beside_instructions_have_a_source():
    counted = found(is_exact=False, unit="instructions")
    timed = replace(
        counted, cycles=(("predict", Counts(7, 9)),), timing="Cycles of a core, by a manual"
    )
    text = " ".join(line.strip(" *") for line in bound_lines(timed, "m"))
    assert "predict: 7 .. 9 cycles over the same inputs; not a bound." in text
    assert "Cycles of a core, by a manual." in text
    assert "are not cycles" not in text


def test_samples_are_stated_with_what_was_tried():
    samples = SampleCounts(812, 64, Counts(20, 90), Counts(80, 90), 4000, 76)
    bounds_ = replace(found(is_exact=False), stack=(("push", 40),), samples=samples)
    text = " ".join(line.strip(" *") for line in bound_lines(bounds_, "m"))
    assert "push: 20 .. 90 cycles observed over 4000 hostile samples, 80 .. 90 for the 76" in text
    assert "not a bound. A stream takes 64 bytes." in text
    assert "Front end and classifier together take 812 bytes of flash" in text
    assert text.endswith("#define M_PUSH_STACK 40U")
    assert "push" not in " ".join(bound_lines(found(is_exact=False), "m"))


def test_a_proof_bounds_what_is_counted_and_the_stack():
    """The smaller stack is stated: both hold for every input."""
    proved = (("predict", ProvedBound(7, 12)), ("predict_raw", ProvedBound(30, 4000)))
    both = replace(
        found(is_exact=False, unit="instructions"),
        stack=(("predict", 40), ("predict_raw", 64), ("states", 8)),
        proved=proved,
        undecided=(("scores", "cells"),),
    )
    assert both.stacks == {"predict": 12, "predict_raw": 64, "states": 8}
    lines = bound_lines(both, "m")
    assert [line for line in lines if line.startswith("#define")] == [
        "#define M_PREDICT_STACK 12U",
        "#define M_PREDICT_RAW_STACK 64U",
        "#define M_STATES_STACK 8U",
        "#define M_PREDICT_MAX_INSTRUCTIONS 7U",
        "#define M_PREDICT_RAW_MAX_INSTRUCTIONS 30U",
    ]
    text = " ".join(line.removeprefix(" * ") for line in lines)
    assert "MAX_INSTRUCTIONS: no input takes more, as `bncc prove` has shown" in text
    assert "scores: the number of instructions is not proved (cells)." in text
    assert "MAX_INSTRUCTIONS" not in " ".join(bound_lines(found(is_exact=True), "m"))
