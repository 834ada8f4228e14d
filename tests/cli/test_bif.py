"""Networks in BIF files become models, C, and networks again."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import Result

from bncc.model.file import load_model, save_model
from bncc.model.reference import predict
from bncc.network.bif import bif_bytes, read_bif
from bncc.network.network import Network, Variable
from tests import models as hand
from tests.unit.network.networks import drawn

Run = Callable[..., Result]
RunJson = Callable[..., dict[str, Any]]
Refused = Callable[..., str]

NAMES = ["above", 'spo"use', "*/ class", "lüft", "far away", "lone"]


@pytest.fixture
def bif(tmp_path: Path) -> Path:
    """Write a network in which variable 2 has a parent, a child, a spouse and others."""
    network = drawn([(4,), (0,), (0, 4), (1, 2), (), ()], [2, 3, 3, 2, 2, 2], 3, names=NAMES)
    path = tmp_path / "n.bif"
    path.write_bytes(bif_bytes(network))
    return path


def test_any_variable_becomes_the_class_of_a_model_whose_c_agrees(
    run: Run, run_json: RunJson, bif: Path, tmp_path: Path
) -> None:
    for k, name in enumerate(NAMES[:5]):
        path = tmp_path / f"{k}.bncc"
        facts = run_json("import-bif", bif, "--class", name, "-o", path)
        assert (facts["class"], facts["variables"], facts["arcs"]) == (name, 6, 6)
        assert facts["removed"] == 5 - len(facts["features"])
        assert run_json("verify", path)["agree"]
    facts = run_json("inspect", tmp_path / "2.bncc")
    assert facts["class_parents"] == ["above", "far away"]
    assert facts["features"] == ["above", 'spo"use', "lüft", "far away"]
    assert "seed" not in run("inspect", tmp_path / "2.bncc").stdout


def test_bits_and_keep_are_followed(run_json: RunJson, run: Run, bif: Path, tmp_path: Path) -> None:
    path = tmp_path / "m.bncc"
    options = ("import-bif", bif, "--class", "above", "-o", path, "--force")
    facts = run_json(*options, "--bits", "12", "--keep", "all")
    assert sum(facts["q_format"].values()) == 12
    assert len(facts["features"]) == 5
    assert run_json(*options)["removed"] == 2
    assert "3; variables removed: 2" in " ".join(run(*options).stdout.split())


def test_a_probability_of_zero_is_told_and_vetoes(
    run: Run, run_json: RunJson, tmp_path: Path
) -> None:
    variables = (Variable("c", ("n", "y")), Variable("x", ("a", "b")))
    tables = (np.array([[0.5, 0.5]]), np.array([[0.001, 0.999], [1.0, 0.0]]))
    path, model = tmp_path / "n.bif.gz", tmp_path / "m.bncc"
    path.write_bytes(bif_bytes(Network(variables, ((), (0,)), tables), compress=True))
    facts = run_json("import-bif", path, "--class", "c", "-o", model)
    assert (facts["zeros"], facts["clipped"], facts["notes"]) == (1, 0, [])
    assert (facts["cost_bits"], facts["agreement"]) == (8, 1.0)
    assert facts["veto"] > 221  # of 0.001 in units of a 32nd of a nat
    assert sum(facts["q_format"].values()) == facts["veto"].bit_length()
    shown = run("import-bif", path, "--class", "c", "-o", model, "--force").stdout
    assert f"a probability of 0 has cost {facts['veto']}" in shown
    assert f"a probability of 0 has cost {facts['veto']}" in run("inspect", model).stdout
    (tmp_path / "x.csv").write_text("x\nb\n")
    (told,) = run_json("predict", model, tmp_path / "x.csv")["prediction"]
    assert told == "n"
    parts = run_json("explain", model, tmp_path / "x.csv")["contributions"]
    assert [part["impossible"] for part in parts] == [[], ["y"]]
    assert parts[1]["nats"]["n"] == 0
    assert "impossible" in run("explain", model, tmp_path / "x.csv").stdout
    run("emit-c", model, "-o", tmp_path / "c")
    assert f", {facts['veto']} where p is 0" in (tmp_path / "c" / "m.h").read_text("utf-8")


def test_what_bits_cannot_tell_apart_is_noted(run_json: RunJson, tmp_path: Path) -> None:
    variables = (Variable("c", ("n", "y")), Variable("x", ("a", "b", "c")))
    tables = (np.array([[0.5, 0.5]]), np.array([[0.49, 0.5, 0.01], [0.5, 0.49, 0.01]]))
    path, model = tmp_path / "n.bif", tmp_path / "m.bncc"
    path.write_bytes(bif_bytes(Network(variables, ((), (0,)), tables)))
    options = ("import-bif", path, "--class", "c", "-o", model, "--force", "--bits")
    (note,) = run_json(*options, "3")["notes"]
    assert note.startswith("the model agrees with the network on ")
    assert note.endswith("costs of 3 bits are rounded; use more --bits")
    (note,) = run_json(*options, "6")["notes"]
    assert note.startswith("nonzero probabilities with costs beyond the format: 2;")


def test_large_tables_make_features_given(run_json: RunJson, tmp_path: Path) -> None:
    network = drawn([(), (), (1,), (0, 1, 2)], [2, 200, 90, 1])
    path, model, again = tmp_path / "n.bif", tmp_path / "m.bncc", tmp_path / "again.bif"
    path.write_bytes(bif_bytes(network))
    facts = run_json(
        "import-bif", path, "--class", "v0", "-o", model, "--bits", "4",
        "--max-table-bytes", "37k",
    )  # fmt: skip
    assert facts["given"] == ["v2"]
    assert facts["notes"][-1].startswith("features without a distribution,")
    notes = run_json("export-bif", model, "-o", again)["notes"]
    assert notes[-1] == "features without a distribution, written as uniform: 1"


def test_a_model_comes_back_from_the_network_that_it_was_written_as(
    run_json: RunJson, run: Run, bif: Path, tmp_path: Path
) -> None:
    first, network, second = tmp_path / "a.bncc", tmp_path / "b.bif.gz", tmp_path / "c.bncc"
    options = ("--class", "*/ class", "--keep", "all", "--bits", "14")
    run_json("import-bif", bif, *options, "-o", first)
    facts = run_json("export-bif", first, "-o", network)
    assert (facts["variables"], facts["arcs"], facts["notes"]) == (6, 6, [])
    again = read_bif(network)
    old = read_bif(bif)
    assert {v.name: v.states for v in again.variables} == {v.name: v.states for v in old.variables}
    run_json("import-bif", network, *options, "-o", second)
    X = hand.all_states(load_model(first))
    assert (predict(load_model(first), X) == predict(load_model(second), X)).mean() > 0.99
    assert "wrote 6 variables and 6 arcs" in run("export-bif", first, "-o", tmp_path / "d").stdout


def test_a_network_of_free_tables_is_noted(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "m.bncc"
    save_model(hand.class_with_parents(), path)
    stderr = run("export-bif", path, "-o", tmp_path / "n.bif").stderr
    assert "rows of the model's tables that were not distributions: 7;" in stderr


def test_what_cannot_be_done_is_refused(refused: Refused, bif: Path, tmp_path: Path) -> None:
    path = tmp_path / "m.bncc"
    assert "no variable 'x'" in refused("import-bif", bif, "--class", "x", "-o", path)
    assert "is independent of all other variables" in refused(
        "import-bif", bif, "--class", "lone", "-o", path
    )
    assert "is an input of the command" in refused("import-bif", bif, "--class", "above", "-o", bif)
    large = ("import-bif", bif, "--class", "above", "-o", path, "--max-table-bytes", "9")
    assert "raise --max-table-bytes" in refused(*large)
    assert "such as 900, 4k or 1.5M" in refused(*large[:-1], "1G")
    bif.write_text(bif.read_text("utf-8")[:-20], "utf-8")
    assert "line 50: the file ends" in refused("import-bif", bif, "--class", "above", "-o", path)
    assert not path.exists()
    save_model(hand.sum_of_tables(), path)
    assert "are not a Bayesian network" in refused("export-bif", path, "-o", tmp_path / "x")


@pytest.mark.cc
def test_vetoes_agree_in_c_with_missing_features_too(run_json: RunJson, tmp_path: Path) -> None:
    network = drawn([(), (0,), (0, 1), (0, 2)], [3, 2, 3, 2], 2, zeros=0.5)
    path, model = tmp_path / "n.bif", tmp_path / "m.bncc"
    path.write_bytes(bif_bytes(network))
    for options in ([], ["--bits", "20"]):
        facts = run_json("import-bif", path, "--class", "v0", "-o", model, "--force", *options)
        assert facts["veto"] > 0
        for more in ([], ["--with", "missing"]):
            assert run_json("verify", model, *more)["agree"]


@pytest.mark.cc
@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "classes"),
    [
        ("asia", None), ("cancer", None), ("earthquake", None), ("survey", None),
        ("mildew", ("straaling_4", "temp_4")), ("munin1", ("R_MED_ALLDEL_WA",)),
        ("alarm", ("HYPOVOLEMIA", "HR", "CATECHOL", "VENTLUNG", "BP")),
    ],
)  # fmt: skip
def test_networks_of_others_become_c_that_agrees(
    run_json: RunJson, shared_data: Path, tmp_path: Path, name: str, classes: tuple[str] | None
) -> None:
    path = shared_data / "networks" / f"{name}.bif.gz"
    for k, variable in enumerate(classes or read_bif(path).names):
        model = tmp_path / f"{k}.bncc"
        facts = run_json("import-bif", path, "--class", variable, "-o", model)
        assert facts["given"] == []
        assert run_json("verify", model)["agree"]
