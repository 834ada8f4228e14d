"""``bncc structures``, and the other names of structures."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bncc.classifier import BNClassifier
from bncc.errors import OptionError
from bncc.search.option_domains import option_of
from bncc.structure.catalog import STRUCTURES, option_keys
from bncc.structure.learner import Learner, OptionText
from bncc.structure.learners import LEARNERS
from bncc.train.settings import TrainSettings
from bncc.train.structure_texts import structure_text
from bncc.train.sum_settings import boost_settings_of

OPTIONS = [(name, key) for name in STRUCTURES for key in option_keys(name)]
DEPENDENT = {"width", "widths", "lambda", "scale", "rate", "shift"}
"""Options whose default depends on other values, and cannot be typed."""


def settings(name: str, **options: str) -> TrainSettings:
    """Return a training of a structure with options, which are checked."""
    parameters = {} if name == "tables" else {"parameters": "hybrid"}
    return TrainSettings(structure=name, structure_options=options, **parameters)


def test_json_lists_every_structure_and_option(run_json: Callable[..., dict[str, Any]]) -> None:
    found = run_json("structures")
    assert found["default"] == "chow-liu"
    assert [one["name"] for one in found["structures"]] == list(STRUCTURES)
    for one in found["structures"]:
        assert set(one) == {"name", "aliases", "description", "options"}
        assert tuple(option["key"] for option in one["options"]) == option_keys(one["name"])
        assert all(set(o) == {"key", "values", "default", "description"} for o in one["options"])


def test_the_report_has_a_line_for_each(run: Callable[..., Any]) -> None:
    lines = run("structures").stdout.splitlines()
    for name in STRUCTURES:
        assert sum(line.partition(":")[0].split(" ")[0] == name for line in lines) >= 1
    assert sum(line.startswith("  ") for line in lines) == len(OPTIONS)
    assert max(map(len, lines)) <= 120


@pytest.mark.parametrize(("name", "key"), OPTIONS)
def test_defaults_are_those_that_hold(name: str, key: str) -> None:
    """A default that is typed changes nothing."""
    text = structure_text(name).options[key]
    assert text.is_literal == (key not in DEPENDENT)
    if not text.is_literal:
        return
    typed = settings(name, **{key: text.default})
    if name == "tables":
        assert boost_settings_of(typed) == boost_settings_of(settings(name))
    else:
        assert values_of(name, {key: text.default}) == values_of(name, {})


def values_of(name: str, options: dict[str, str]) -> list[object]:
    """Return what the readers of a structure make of options."""
    from bncc.structure import options as joint
    from bncc.structure.candidates import CANDIDATE_SETS
    from bncc.structure.learners import LEARNERS

    if name in LEARNERS:
        return [read(options) for read in LEARNERS[name].readers.values()]
    assert name in CANDIDATE_SETS
    order = joint.order_name(options, "C" if name == "tan-heuristic" else "random")
    others = (joint.step_of, joint.parents_of, joint.price_of)
    return [order, *(read(options) for read in others)]


CHOICES = [(name, key) for name, key in OPTIONS if "|" in structure_text(name).options[key].values]


@pytest.mark.parametrize(("name", "key"), CHOICES)
def test_choices_are_accepted_and_others_refused(name: str, key: str) -> None:
    text: OptionText = structure_text(name).options[key]
    for value in text.values.split("|"):
        settings(name, **{key: value})
    with pytest.raises(OptionError, match="unknown"):
        settings(name, **{key: "absent"})


def test_a_learner_brings_its_own_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = {"deep": OptionText("N", "1", "Depth.")}
    readers = {"deep": len, "alpha": len}
    oak = Learner("oak", LEARNERS["naive"].learn, readers, text="A tree.", option_texts=texts)
    monkeypatch.setitem(LEARNERS, "oak", oak)
    found = structure_text("oak")
    assert (found.text, found.options["deep"]) == ("A tree.", texts["deep"])
    assert found.options["alpha"].text == "Equivalent sample size of the BDeu prior."
    monkeypatch.setitem(LEARNERS, "oak", replace(oak, option_texts={}))
    with pytest.raises(RuntimeError, match="option 'deep' of structure 'oak' has no help text"):
        structure_text("oak")
    monkeypatch.setitem(LEARNERS, "oak", replace(oak, text=""))
    with pytest.raises(RuntimeError, match="structure 'oak' has no help text"):
        structure_text("oak")


def test_boosted_is_another_name_of_tables(
    run_json: Callable[..., dict[str, Any]], readings: Path, tmp_path: Path
) -> None:
    quick = ("--structure-option", "tables=2", "--folds", 0)
    model = tmp_path / "m.bncc"
    found = run_json("train", readings, "-o", model, "--structure", "boosted", *quick)
    assert found["structure"] == "tables"
    again = run_json("train", readings, "-o", model, "--structure", "tables", *quick, "--force")
    assert {**again, "seconds": 0} == {**found, "seconds": 0}
    assert structure_text("tables").aliases == ("boosted",)


def test_spaces_and_the_estimator_know_the_alias() -> None:
    assert option_of("structure").value("boosted") == "tables"
    options = {"tables": 2, "rows": 2}
    X = [[k, k % 5] for k in range(40)]
    y = [k // 20 for k in range(40)]
    clf = BNClassifier(structure="boosted", structure_options=options).fit(X, y)
    assert clf.get_params()["structure"] == "boosted"
    assert clf.model_.training["structure"] == "tables"


def test_an_unknown_structure_is_refused_with_all_names(
    refused: Callable[..., str], readings: Path
) -> None:
    said = refused("train", readings, "-o", "m.bncc", "--structure", "oak")
    assert all(name in said for name in STRUCTURES)
