"""Options of the command line in Python: a budget, a target, a goal, entry points."""

import shlex
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris

from bncc import BNClassifier, load_model, save_model
from bncc._deployment import budget_of, rules_of
from bncc.emit.emitter import EmitOptions, emit_c
from bncc.emit.provenance import code_digest
from bncc.errors import ToolchainError
from bncc.resources import FilterForm, Resources, Span
from bncc.search.budget_search import Found
from bncc.search.families import FAMILIES, NETWORKS
from bncc.train.train_model import train_model
from tests.cli.conftest import invoke

MORE = {"plain": (), "scored": ("scores",)}
"""Entry points besides ``predict`` by the folder that they are emitted to."""
X, Y = load_iris(return_X_y=True, as_frame=True)


@pytest.fixture
def estimated(monkeypatch):
    """Make every price an estimate: no compiler, no simulator."""

    def no_bench(target, *names, simulator=None):
        raise ToolchainError(f"nothing builds for {target}")

    monkeypatch.setattr("bncc.device.cross.find_toolchain", no_bench)


def within(**options):
    return BNClassifier(**{"structure": "naive", "max_flash": "1.5k", "random_state": 0, **options})


def test_a_budget_is_searched_as_train_does(estimated, tmp_path):
    """The model has the tables of `bncc train --max-flash`, on the same rows in a file."""
    clf = within(epochs=2, target="nrf52832").fit(X, Y)
    X.assign(**{"class": Y}).to_csv(tmp_path / "iris.csv", index=False)
    out = tmp_path / "m.bncc"
    options = [
        "--max-flash",
        "1.5k",
        "--structure",
        "naive",
        "--epochs",
        2,
        "--target",
        "cortex-m4",
    ]
    result = invoke("train", tmp_path / "iris.csv", "-o", out, *options)
    assert result.exit_code == 0, result.output
    theirs = load_model(out)
    ours = clf.to_model()
    assert ours.q_format == theirs.q_format
    assert all((a == b).all() for a, b in zip(ours.tables, theirs.tables, strict=True))
    assert clf.optimize_ == theirs.training["resources"]["optimize"]
    assert clf.score(X, Y) > 0.9


def test_the_layout_that_was_chosen_by_a_limit_is_emitted(estimated, tmp_path):
    """With other entry points than the budget covers, too; and by the command in the header."""
    clf = within(parameters="ml", max_flash=360, target="cortex-m0").fit(X, Y)
    model = clf.to_model()
    found = model.training["resources"]
    assert (clf.optimize_, found["room"]) == ("speed", 360)
    written = [clf.emit_c(tmp_path / name, entries=list(more)) for name, more in MORE.items()]
    plain, scored = ({path.name: path.read_text() for path in paths} for paths in written)
    assert code_digest(plain, "model") == found["code"]
    options = EmitOptions("model", frozenset({"scores"}), optimize="speed", target="cortex-m0")
    assert code_digest(scored, "model") != code_digest(emit_c(model, options).files, "model")
    save_model(model, tmp_path / "model.bncc")
    command = (
        "--entry predict-raw --max-flash 360 --optimize speed --target cortex-m0 --with scores"
    )
    assert command in " ".join(line.strip(" *") for line in scored["model.h"].splitlines())
    out = tmp_path / "again"
    result = invoke("emit-c", tmp_path / "model.bncc", "-o", out, *command.split())
    assert result.exit_code == 0, result.output
    again = {name: (out / name).read_text() for name in ("model.h", "model.c")}
    assert code_digest(again, "model") == code_digest(scored, "model")


@pytest.mark.parametrize(
    ("options", "families", "note"),
    [
        ({}, FAMILIES, None),
        (
            {"parameters": "ml"},
            NETWORKS,
            "boosted tables are not tried, as they do not support parameters='ml'",
        ),
        ({"structure": "chow-liu"}, ("chow-liu",), None),
        ({"structure": "boosted"}, ("tables",), None),
        ({"prefer": "error"}, FAMILIES, None),
    ],
)
def test_what_is_tried_follows_from_what_is_named(monkeypatch, options, families, note):
    seen = []

    def searched(dataset, base, limits, *, families, prefer):
        seen.append((families, limits.target, limits.flash, limits.instructions))
        assert prefer == options.get("prefer", "balanced")
        result = train_model(dataset, replace(base, structure="naive"))
        span = Span(1, 1, 1)
        price = Resources(
            "cortex-m0", 9, 0, 0, {"predict": span}, None, ("predict",), "speed", "-O2", "estimated"
        )
        return Found(result, base, price)

    monkeypatch.setattr("bncc.search.budget_search.search", searched)
    clf = BNClassifier(max_instructions=900, **options).fit(X, Y)
    assert seen == [(families, "cortex-m0", None, 900)]
    assert clf.optimize_ == "speed"
    assert [each for each in clf.notes_ if "are not tried" in each] == ([note] if note else [])


def test_a_budget_has_the_form_of_the_filter():
    clf = within(filter="auto", filter_hold=2, filter_lag=3, filter_transitions="dwell")
    found = budget_of(clf, rules_of(clf))
    assert found.filter == FilterForm(2, 3, has_transitions=True)
    assert budget_of(within(), rules_of(within())).filter == FilterForm()


@pytest.mark.parametrize("name", ["max_flash", "target", "optimize", "entries", "prefer"])
def test_parameters_survive_a_clone(name):
    values = {"max_flash": 2048, "target": "rv32", "optimize": "speed", "entries": ["scores"]}
    values["prefer"] = "error"
    assert clone(within(**values)).get_params()[name] == values[name]


def test_the_c_is_for_the_target_and_the_goal_with_the_entry_points(tmp_path):
    clf = BNClassifier(
        "naive", "ml", target="stm32f030", optimize="speed", entries=["scores", "stream"]
    ).fit(X, Y)
    clf.emit_c(tmp_path / "c", "iris")
    save_model(clf.to_model(), tmp_path / "iris.bncc")
    header = (tmp_path / "c" / "iris.h").read_text()
    assert "iris_scores(" in header
    assert "iris_feed(" in header
    assert "iris_predict_trusted(" not in header
    (line,) = [line for line in header.splitlines() if line.startswith(" *   command")]
    assert shlex.split(line[17:])[7:] == ["--optimize", "speed", "--target", "cortex-m0"]
    clf.emit_c(tmp_path / "d", "iris", target="rv32", optimize="size", entries=[])
    header = (tmp_path / "d" / "iris.h").read_text()
    assert "--optimize size --target rv32\n" in header
    assert "iris_scores(" not in header


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"max_flash": "2 kB"}, "max_flash is '2 kB'; use bytes such as 2048, '2k' or '1.5k'"),
        ({"max_flash": True}, "max_flash is True; use bytes"),
        ({"max_instructions": 0}, "max_instructions is 0; it must be an integer above 0"),
        ({"max_instructions": np.int64(0)}, "max_instructions is 0; it must be an integer above 0"),
        ({"target": "z80"}, "target is 'z80'; it must be host, .* or a part such as nrf52832"),
        ({"optimize": "best"}, "optimize is 'best'; it must be one of balanced, size, speed"),
        ({"prefer": "time"}, "prefer is 'time'; it must be one of balanced, error"),
        ({"entries": "scores"}, "entries is 'scores'; use a list such as \\['scores'\\]"),
        (
            {"entries": ["score"]},
            "entries contains the unknown 'score'; choose from adapt, checked, confidence, "
            "counters, filter",
        ),
        (
            {"bits": 3},
            "bits does not apply to a budget search; leave it out",
        ),
        (
            {"quantize": False},
            "quantize=False does not apply to a budget search; leave it out",
        ),
        (
            {"structure": "tables", "structure_options": {"tables": 3}},
            "structure_options={'tables': ...} does not apply to a budget search; leave it out",
        ),
        ({"max_flash": 10}, "no candidate fits in 10 bytes of flash on cortex-m0"),
    ],
)
def test_what_makes_no_sense_is_a_value_error(estimated, options, said):
    with pytest.raises(ValueError, match=said):
        within(**options).fit(X, Y)
