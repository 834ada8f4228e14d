"""The model card and the list of inputs, for reviewers."""

import re
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from bncc.discretize.feature import Feature
from bncc.emit.card import WIDTH, feature_lines
from bncc.emit.emitter import EmitOptions, emit_c
from bncc.lower import request as demands
from bncc.model.file import model_digest
from bncc.model.ranges import ReadingRange
from tests import models as hand


def header(model, name="m"):
    """Return the header as text."""
    return emit_c(model, EmitOptions(name=name, kernel="plain")).files[f"{name}.h"]


def card(model, name="m"):
    """Return the card as a mapping of its titles."""
    lines = header(model, name).split(" * Model card\n")[1].split(" */")[0].splitlines()
    entries: dict[str, str] = {}
    title = ""
    for line in lines:
        title = line[5:17].strip() or title
        entries[title] = f"{entries.get(title, '')} {line[17:]}".strip()
    return entries


def test_the_card_of_a_naive_model():
    model = hand.naive_integer()
    assert card(model) == {
        "model": "m: structure by hand, 0 arcs between 2 features, 3 classes",
        "numbers": "cost = -ln p in UQ2.2; sums in 8 bits, at most 17",
        "memory": "15 B of tables, 21 B of other constants in flash if every function is linked; "
        "no static RAM",
        "work": "predict, from states: 3 additions of costs, 2 comparisons of sums (counted, not "
        "measured); no multiplication",
        "time": "varies: branches on 2 comparisons of sums, on states, on readings; "
        "none with --constant-time",
        "stack": "no recursion, no function pointers, no variable-length arrays",
        "passes": "normalize-rows, shrink-width",
        "digest": model_digest(model),
    }


def test_the_card_says_what_time_depends_on():
    def told(**options):
        text = emit_c(hand.pseudo_tan(), EmitOptions("m", **options)).files["m.h"]
        return text.replace("\n *               ", " ")

    assert "comparisons of sums, on states; none with --constant-time\n" in told(kernel="plain")
    assert "on states, on addresses computed from states" in told(kernel="packed")
    assert "time        one path for all inputs" in told(constant_time=True)


def test_the_card_excepts_missing_features_from_constant_time():
    def told(*entries):
        options = EmitOptions("m", frozenset(entries), constant_time=True)
        return emit_c(hand.naive_integer(), options).files["m.h"]

    exception = "except predict_missing: its path depends on the missing features"
    assert exception not in told("scores")
    assert exception in told("missing")


def test_a_single_table_adds_to_the_prior_and_counts_in_the_singular():
    told = card(hand.one_state_feature())
    assert told["model"].endswith("0 arcs between 1 feature, 2 classes")
    assert told["work"].startswith(
        "predict, from states: 2 additions of costs, 1 comparison of sums (counted"
    )
    assert card(hand.category_with_missing())["model"].endswith(
        "1 arc between 2 features, 2 classes"
    )


def test_a_sum_counts_its_comparisons_with_cuts():
    text = emit_c(hand.NAMED["sum_of_tables"](), EmitOptions("m", kernel="cuts")).files["m.h"]
    text = text.replace("\n *               ", " ")
    assert re.search(r"additions? of [^,]+, up to 8 comparisons with cuts, 2 comp", text)
    assert "on states, on comparisons with cuts" in text


@pytest.mark.parametrize(
    ("model", "title", "form"),
    [
        (hand.sum_of_tables, "boosted tables: additive ensemble of quantized decision tables", 1),
        (partial(hand.trees_of_sensors, 3, 1), "quantized decision tree", 2),
        (hand.tan_float, "quantized Bayesian-network classifier", 0),
    ],
)
def test_the_kind_of_classifier_is_in_the_first_line_and_in_packages(model, title, form):
    header = emit_c(model(), EmitOptions("m")).files["m.h"]
    assert f"/* m.h -- {title}." in header.splitlines()
    forms = ("Bayesian network", "ensemble of boosted decision tables", "decision tree")
    words = f"uantized {forms[form]}"
    for package, file in (
        ("arduino", "library.properties"), ("platformio", "library.json"),
        ("zephyr", "zephyr/Kconfig"),
    ):  # fmt: skip
        files = emit_c(model(), EmitOptions("m", package=package)).files
        assert words in next(text for name, text in files.items() if name.endswith(file))


def test_a_front_may_decide_before_any_addition():
    found = []
    for model in (hand.sum_with_front(), hand.sum_of_tables()):
        text = emit_c(model, EmitOptions("m", kernel="cuts")).files["m.h"]
        found.append("from states: up to " in text)
    assert found == [True, False]


def test_the_largest_sum_counts_a_prior_of_ones():
    assert card(hand.all_zero())["numbers"].endswith("sums in 8 bits, at most 1")


def test_costs_of_a_cycle_are_told_to_be_no_probabilities():
    numbers = card(hand.pseudo_tan())["numbers"]
    assert numbers.startswith("costs in UQ5.1, not -ln p: arcs form a cycle; sums in ")


def trained(**training):
    return replace(hand.naive_integer(), training=training)


def test_free_tables_are_told_to_be_no_probabilities():
    free = trained(parameters="free")
    assert ", not -ln p: tables are free; sums in " in card(free)["numbers"]
    assert "Cost of a class: a score (the lowest wins) in units of 2^" in header(free)
    assert "Cost of a class: -ln p in units of 2^" in header(trained(parameters="hybrid"))


def test_the_test_error_goes_before_the_validation_error():
    told = card(trained(error_test=0.25, error_validation=0.5))
    assert told["test error"] == "25.00 % of rows not used in training"
    assert "val. error" not in told


INTERVAL = {"error_interval": [0.1, 0.3], "interval_method": "Wilson"}
WORDS = "95 % interval 10.00 to 30.00 % (Wilson, assuming independent rows)"


def test_an_error_has_its_interval():
    test = trained(error_test=0.25, error_validation=0.5, confusion_of="test", **INTERVAL)
    assert card(test)["test error"].endswith(f"training, {WORDS}")
    held = card(trained(error_validation=0.25, confusion_of="validation", **INTERVAL))
    assert f"options, {WORDS}; the final tables" in held["val. error"]
    other = card(trained(error_test=0.25, confusion_of="validation", **INTERVAL))
    assert other["test error"] == "25.00 % of rows not used in training"
    for forged in ([0.3, 0.1], [0, "1"], [0.1], 3, [-1, 0]):
        wrong = trained(error_test=0.25, confusion_of="test", error_interval=forged)
        assert card(wrong)["test error"] == "25.00 % of rows not used in training"


def test_the_error_of_the_procedure_is_that_of_cross_validation():
    of_folds = {"error_cross_validation": 0.25, "folds": 5, "confusion_of": "cross-validation"}
    told = card(trained(error_validation=0.5, **of_folds, **INTERVAL))
    assert told["error"] == (
        "25.00 % by cross-validation of the whole training procedure in 5 folds, "
        f"{WORDS}; the final tables use all rows"
    )
    assert "val. error" not in told
    both = card(trained(error_test=0.5, **of_folds, **INTERVAL))
    assert {"error", "test error"} <= both.keys()
    assert "*/" not in card(trained(**of_folds | {"folds": "*/"}))["error"]


def test_the_validation_error_stands_in():
    told = card(trained(error_test=None, error_validation=0))
    assert told["val. error"].startswith("0.00 % of validation rows, in a first training ")
    assert "test error" not in told


@pytest.mark.parametrize(
    ("folds", "chosen_by", "words"),
    [
        (5, "error", "the mean of 5 folds, the search criterion"),
        (1, "error", "one fold, the search criterion"),
        (
            5,
            "balanced-error",
            "the mean of 5 folds; search criterion: balanced error on the same rows",
        ),
        (1, "log-loss", "one fold; search criterion: log-loss on the same rows"),
        (5, "*/", "the mean of 5 folds, the search criterion"),
    ],
)
def test_the_error_of_a_search_names_what_it_chose_by(folds, chosen_by, words):
    record = {"error_validation": 0.25, "validation_folds": folds, "chosen_by": chosen_by}
    told = card(trained(error_test=None, **record))
    ends = f"{words}; the final tables use all rows"
    assert told["val. error"] == f"25.00 % of validation rows, {ends}"


def test_a_forged_number_of_folds_is_left_out():
    forged = card(trained(error_test=None, error_validation=0.25, validation_folds="*/"))
    assert "first training" in forged["val. error"]


def test_an_early_end_of_training_is_told():
    told = card(trained(interim=True, epochs_done=3, epochs=12))
    assert told["training"] == "stopped early, after 3 of 12 epochs"
    told = card(trained(interim=True, epochs_done="*/", epochs=12))
    assert told["training"] == "stopped early, after '/ of 12 epochs"
    assert "training" not in card(trained(epochs=12))


def test_an_unknown_structure_is_called_so_and_a_hostile_one_made_safe():
    assert "structure unknown" in card(trained())["model"]
    assert "structure '/" in card(trained(structure="*/"))["model"]


def test_passes_that_changed_nothing_are_not_listed(monkeypatch):
    monkeypatch.setattr(demands, "FLOWS_FOR", {"balanced": ("none",)})
    told = emit_c(hand.naive_integer()).files["model.h"]
    assert " *   passes" not in told


@pytest.mark.parametrize(
    ("feature", "line"),
    [
        (
            Feature("p", "int16", 3, thresholds=(-5, 7), missing_state=1),
            "  0  p: 3 states, thresholds -5 7; missing: state 1",
        ),
        (
            Feature("p", "float32", 2, thresholds=(0.10000000149011612,)),
            "  0  p: 2 states, thresholds 0.1; missing: state 0",
        ),
        (Feature("p", "int32", 1), "  0  p: 1 state; missing: state 0"),
        (
            Feature("c", "category", 3, categories=("a", "*/"), missing_state=2),
            "  0  c: 3 states, categories 0=a 1='/; missing: state 2",
        ),
        (Feature("s", "state", 4, missing_state=3), "  0  s: 4 states; missing: state 3"),
        (
            Feature("speed", "int16", 3, thresholds=(-(2**15), 5)),
            "  0  speed: 3 states, thresholds (not missing) 5; missing: state 0",
        ),
    ],
)
def test_how_an_input_reads(feature, line):
    assert feature_lines((feature,)) == [line]


def test_inputs_are_numbered():
    assert [line[:4] for line in feature_lines((Feature("s", "state", 2),) * 2)] == ["  0 ", "  1 "]


def test_a_line_of_an_input_may_be_exactly_full():
    title = "  0  c: 2 states, categories 0=a"

    def lines(length):
        return feature_lines((Feature("c", "category", 2, categories=("a", "b" * length)),))

    # after the title come a blank, "1=", the label and a semicolon
    full = WIDTH - len(title) - 4
    assert lines(full)[0] == f"{title} 1={'b' * full};"
    assert lines(full + 1)[0] == title


@pytest.mark.parametrize("n", [1, 24, 300])
def test_all_thresholds_are_listed_on_wrapped_lines(n):
    lines = feature_lines((Feature("p", "int16", n + 1, thresholds=tuple(range(1000, 1000 + n))),))
    assert (len(lines) > 1) == (n > 1)
    assert all(len(line) <= WIDTH for line in lines)
    assert all(line.startswith("       ") for line in lines[1:])
    words = " ".join(lines).replace(";", "").split()
    assert [word for word in words if word.isdigit() and len(word) == 4] == [
        str(1000 + k) for k in range(n)
    ]


def test_an_input_shows_the_range_of_its_training_readings_and_its_unit():
    """Nothing is shown of a category, or where training had no reading."""
    inputs = (
        Feature("t", "float32", 2, thresholds=(float(np.float32(21.7)),)),
        Feature("n", "int16", 1),
        Feature("c", "category", 1, categories=("a",)),
        Feature("gone", "int16", 1),
    )
    seen = (
        ReadingRange(-0.5, float(np.float32(40.1)), "\u00b0C"),
        ReadingRange(-3, 7),
        ReadingRange(None, None),
        ReadingRange(None, None, "m"),
    )
    assert feature_lines(inputs, seen) == [
        "  0  t: 2 states, thresholds 21.7; training: -0.5 .. 40.1 degC; missing: state 0",
        "  1  n: 1 state; training: -3 .. 7; missing: state 0",
        "  2  c: 1 state, categories 0=a; missing: state 0",
        "  3  gone: 1 state; missing: state 0",
    ]
