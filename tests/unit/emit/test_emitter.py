"""From model to files: entry points, errors, bytes."""

import os
import subprocess
import sys
from dataclasses import replace

import pytest

from bncc.discretize.feature import Feature
from bncc.emit.emitter import ENTRIES, EmitOptions, emit_c, emit_candidate
from bncc.errors import BudgetError, IrError, OptionError
from bncc.fixed_point import QFormat
from bncc.lower.state_cost import MOST_HANDED_OVER
from bncc.model.rules import EXTRAS
from bncc.program.ir import table_bits
from bncc.structure.graph import forest
from tests import models as hand
from tests.agreement.large import letter_like
from tests.ranged import ranged

FUNCTIONS = {
    "checked": "int16_t m_predict_raw_checked(const m_raw_t *x)",
    "missing": "int16_t m_predict_missing(const",
    "raw": "int16_t m_predict_raw(const m_raw_t *x)",
    "scores": "int16_t m_scores(const",
    "scores-raw": "int16_t m_scores_raw(const m_raw_t *x,",
    "stream": "int16_t m_feed(m_state_t *s, uint16_t i, ",
    "trusted": "int16_t m_predict_trusted(const",
}


def emitted(model, *entries):
    return emit_c(model, EmitOptions("m", frozenset(entries))).files


def test_a_model_becomes_four_files_and_a_readme():
    assert list(emitted(hand.ties())) == ["m.h", "m.c", "m_vectors.h", "m_selftest.c", "README.md"]


def test_the_default_name_is_model():
    assert emit_c(hand.ties()).name == "model"
    assert "model.c" in emit_c(hand.ties()).files


@pytest.mark.parametrize("entry", sorted(ENTRIES - EXTRAS.keys()))
def test_an_entry_point_is_declared_and_defined_only_when_asked_for(entry):
    without, with_it = emitted(hand.ties()), emitted(hand.ties(), entry)
    for file in ("m.h", "m.c"):
        assert FUNCTIONS[entry] not in without[file]
        assert FUNCTIONS[entry] in with_it[file]


def test_thresholds_bring_the_raw_entry_point_along():
    assert FUNCTIONS["raw"] in emitted(hand.naive_integer())["m.h"]


@pytest.mark.parametrize("optimize", ["size", "balanced", "speed"])
@pytest.mark.parametrize("n_features", [MOST_HANDED_OVER, MOST_HANDED_OVER + 1])
@pytest.mark.parametrize("kernel", ["lanes", "bit-slice", "looped"])
def test_few_states_go_from_readings_to_the_kernel_in_registers(optimize, n_features, kernel):
    model = hand.model_of(
        [Feature(f"x{f}", "int16", 3, thresholds=(0, 50)) for f in range(n_features)],
        forest([None] * n_features),
        QFormat(4, 0),
        [0, 1],
        [[[f, 1], [2, f], [f, 3]] for f in range(n_features)],
    )
    emission = emit_c(model, EmitOptions("m", optimize=optimize, kernel=kernel))
    raw, straight = emission.layout.raw, kernel != "looped"
    few = n_features == MOST_HANDED_OVER and not raw.is_loop
    assert emission.layout.hands_over == (optimize == "speed" and straight and few)
    assert ("m_find_states(x, state);" in emission.files["m.c"]) == emission.layout.hands_over


def test_predict_and_the_labels_are_always_there():
    for file in ("m.h", "m.c"):
        assert "int16_t m_predict(const uint8_t x[M_N_FEATURES])" in emitted(hand.ties())[file]
        assert "const char *m_class_name(uint8_t c)" in emitted(hand.ties())[file]


def test_the_emission_tells_how_the_files_came_about():
    emission = emit_c(hand.general_network(), EmitOptions("m", kernel="plain"))
    assert emission.kernel == "plain"
    assert [report.name for report in emission.passes] == [
        "normalize-rows",
        "move-parent-terms",
        "fuse-parent",
        "drop-constant",
        "column-offsets",
        "fold-prior",
        "shrink-width",
    ]
    assert (
        emission.table_bytes * 8 == table_bits(emission.program) == emission.passes[-1].bits_after
    )
    assert emission.layout.program is emission.program
    assert emission.estimate.flash > emission.table_bytes


def test_an_unknown_entry_point_names_those_that_exist():
    with pytest.raises(
        OptionError,
        match="unknown entry point 'fast'; choose from adapt, checked, confidence, counters, "
        "filter, missing, raw, scores, scores-raw, stream, trusted, unknown",
    ):
        emitted(hand.ties(), "scores", "fast")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (EmitOptions("int"), "reserved word"),
        (EmitOptions("2m"), "cannot prefix C symbols"),
        (EmitOptions("m", package="zip"), "unknown package 'zip'"),
    ],
)
def test_unknown_options_are_one_sentence(options, message):
    with pytest.raises(OptionError, match=message):
        emit_c(hand.ties(), options)


def test_a_model_whose_sums_leave_32_bits_is_refused():
    model = hand.model_of(
        [hand.feature("a", 1), hand.feature("b", 1)],
        forest([None, None]),
        QFormat(31, 0),
        [0, 2],
        [[[0, 2**31 - 1]]] * 2,
    )
    with pytest.raises(IrError, match="can exceed 32 bits; train with fewer bits"):
        emit_c(model)


def packed(optimize, **limits):
    return emit_c(letter_like(), EmitOptions(kernel="packed", optimize=optimize, **limits))


def test_budgets_are_those_of_all_that_is_emitted():
    """The fastest kernel with which thresholds, labels and entry points still fit."""
    fast, small = packed("speed").estimate, packed("size").estimate
    between = (fast.flash + small.flash) // 2
    found = packed("speed", max_flash=between)
    assert small.instructions > found.estimate.instructions > fast.instructions
    assert found.estimate.flash <= between
    assert found.estimate == packed("speed", max_flash=found.estimate.flash).estimate
    with pytest.raises(BudgetError, match=f"no kernel fits in {small.ram - 1} bytes of RAM; "):
        packed("speed", max_ram=small.ram - 1)
    assert packed("speed", max_ram=small.ram).estimate == fast


@pytest.mark.parametrize(("optimize", "level"), [("size", "-Os"), ("speed", "-O2")])
def test_a_budget_names_the_level_that_it_holds_at(optimize, level):
    """In the header and in the page of each package; without a budget there is none."""
    options = EmitOptions("m", optimize=optimize, package="cmake", max_flash=10**6)
    files = emit_c(hand.ties(), options).files
    header = next(text for path, text in files.items() if path.endswith("m.h"))
    assert f" *   budget      within --max-flash if compiled at {level}\n" in header
    assert f"within a flash budget at `{level}`; at other levels" in files["README.md"]
    free = emit_c(hand.ties(), replace(options, max_flash=None)).files
    assert not any("budget" in text for text in free.values())


def test_a_candidate_is_emitted_as_if_it_had_been_chosen():
    options = EmitOptions("m", ENTRIES - EXTRAS.keys(), optimize="speed")
    model = ranged(hand.tan_float())
    chosen = emit_c(model, options)
    same = emit_candidate(model, chosen.choice.chosen, options)
    assert same.estimate == chosen.estimate
    own, passes = same.files["m.c"], same.passes
    assert own == chosen.files["m.c"]
    assert passes == ()
    other = emit_candidate(
        model, emit_c(model, EmitOptions(kernel="packed")).choice.chosen, options
    )
    assert other.kernel == "packed"


PRINT_ALL = """
from bncc.discretize.feature import Feature
from bncc.emit.emitter import EmitOptions, emit_c
from bncc.model.rules import EXTRAS
from tests import models
for name, make in models.NAMED.items():
    model = make()
    options = EmitOptions("m", models.possible_entries(model))
    for file, text in emit_c(model, options).files.items():
        print(name, file, text)
"""


def test_the_same_model_gives_the_same_bytes_whatever_the_hash_seed():
    texts = {
        subprocess.run(
            [sys.executable, "-c", PRINT_ALL],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONUTF8": "1"},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "2026")
    }
    assert len(texts) == 1
    assert len(texts.pop()) > 10**5


def test_discretizers_give_way_before_a_kernel_does():
    """A budget between the bytes of trees and of a search keeps a kernel that is asked for."""
    fast = emit_c(letter_like(), EmitOptions(optimize="speed", kernel="lanes"))
    assert fast.layout.raw.functions
    less = EmitOptions(optimize="speed", kernel="lanes", max_flash=fast.resources.flash - 1)
    small = emit_c(letter_like(), less)
    assert small.layout.raw.is_loop
    assert small.layout.raw.functions == ()
    assert small.resources.flash < fast.resources.flash
    assert small.kernel == fast.kernel
    assert small.table_bytes == fast.table_bytes
    free = emit_c(letter_like(), replace(less, kernel=None))
    assert free.resources.flash <= less.max_flash
    assert free.resources.slowest <= small.resources.slowest
