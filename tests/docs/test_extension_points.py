"""The example of CONTRIBUTING.md for each extension point works once it is in its list."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import click
import numpy as np
import pytest
from jinja2 import ChoiceLoader, DictLoader

from bncc.cli.training_options import training_options
from bncc.device import targets
from bncc.device.agreement import verify
from bncc.device.simulators.unicorn import CORES
from bncc.emit.emitter import EmitOptions, emit_c
from bncc.emit.environment import environment
from bncc.emit.packages import PACKAGES
from bncc.errors import OptionError
from bncc.lower import cost_model
from bncc.lower.kernels import families
from bncc.papers import experiments
from bncc.program.ir import costs
from bncc.program.pipeline import FLOWS, optimize
from bncc.structure.catalog import learn_structure
from bncc.structure.graph import forest
from bncc.structure.learners import LEARNERS
from bncc.toolchain import tools
from bncc.train import options
from bncc.train.gradient.loop import descend
from bncc.train.hyperparameters import hyperparameters_of
from bncc.train.maximum_likelihood import ml_log_tables
from bncc.train.settings import TrainSettings
from tests import models as hand
from tests.docs.blocks import ROOT, Block, parts
from tests.unit.lower.by_hand import inputs, program, table

ENTRIES = frozenset({"raw", "scores"})


def shown(heading: str, language: str = "python") -> str:
    """Return the block of a section of CONTRIBUTING.md."""
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    section = text.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    (block,) = (
        each for each in parts(section) if isinstance(each, Block) and each.language == language
    )
    return block.text


def names_of(heading: str, **given: object) -> dict[str, Any]:
    """Return what the block of a section defines, with names that it finds defined."""
    names: dict[str, Any] = {"__name__": "shown", **given}
    exec(shown(heading), names)
    return names


@pytest.fixture
def add_template(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    """Return a function that adds a template to those of the folder."""

    def add(name: str, text: str) -> None:
        made = environment()
        both = ChoiceLoader([DictLoader({name: text}), made.loader])
        monkeypatch.setattr(made, "loader", both)

    return add


def test_a_learner_is_learned_with(monkeypatch: pytest.MonkeyPatch) -> None:
    (learner,) = names_of("Adding a learner of structures")["LEARNERS"]
    monkeypatch.setitem(LEARNERS, learner.name, learner)
    X, y = np.zeros((4, 3), np.int64), np.zeros(4, np.int64)
    structure = learn_structure("star", X, y, [2] * 3, 1, {"center": "2"})
    assert structure.parents == ((1,), (), (1,))
    with pytest.raises(OptionError, match="center=two is not a whole number"):
        learn_structure("star", X, y, [2] * 3, 1, {"center": "two"})


def test_an_experiment_is_found_and_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("s9")
    vars(module).update(names_of("Adding an experiment of a paper"))
    monkeypatch.setitem(sys.modules, "bncc.papers.s9", module)
    monkeypatch.setitem(experiments.MODULES, "s9-dice", "s9")
    told: list[tuple[float, str]] = []
    cells = experiments.reproduce(
        experiments.find_experiment("s9-dice"),
        experiments.Request(Path()),
        lambda share, words: told.append((share, words)),
    )
    assert [cell["ours"] for cell in cells] == [50, pytest.approx(100 / 6)]
    assert told == [(0, "coin"), (0.25, "coin dividing"), (0.5, "die"), (0.75, "die dividing")]


def test_a_pass_runs_in_a_flow_and_keeps_what_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    step = names_of("Adding a compiler pass")["DROP_ZEROS"]
    monkeypatch.setitem(FLOWS, "zeros", (step,))
    zeros, other = table([0], [[0, 0], [0, 0]]), table([1], [[0, 3], [2, 1], [4, 0]])
    before = program([2, 3], [1, 0], [zeros, other])
    after, (report,) = optimize(before, "zeros")
    assert report.fired
    assert [each.name for each in after.tables] == ["x1"]
    X = inputs([2, 3])
    assert np.array_equal(costs(before, X), costs(after, X))
    assert step.keeps == "cost"
    assert not optimize(after, "zeros").passes[0].fired
    assert not optimize(program([2], [0, 1], [zeros]), "zeros").passes[0].fired


def test_a_training_option_is_made_from_its_row(monkeypatch: pytest.MonkeyPatch) -> None:
    names = names_of(
        "Adding a training option",
        Annotated=Annotated, Option=options.Option, FRACTION=options.FRACTION,
    )  # fmt: skip
    ((name, hint),) = names["__annotations__"].items()
    row = options._row(name, hint, names[name])
    monkeypatch.setitem(options.OPTIONS, name, row)
    command = training_options(name)(click.Command("train", callback=lambda **_: None))
    (parameter,) = command.params
    assert command.make_context("train", ["--label-smoothing", "0.2"]).params == {name: 0.2}
    assert parameter.help == "Probability mass moved to the other classes [default: 0]."
    assert [row.takes_effect(frozenset({use})) for use in ("descent", "boosting")] == [True, False]
    assert not all(allowed.holds(1.0) for allowed in row.within)


def test_a_loss_is_descended_on(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    from bncc.train.gradient import torch_engine

    focal = names_of("Adding a loss")["focal"]
    log_joint = torch.log(torch.tensor([[0.5, 0.5], [0.1, 0.3]]))
    by_hand = -(0.25 * np.log(0.5) + 0.0625 * np.log(0.75)) / 2
    assert float(focal(log_joint, torch.tensor([0, 1]))) == pytest.approx(by_hand)

    X = np.random.default_rng(0).integers(0, 3, (200, 2))
    y = (X.sum(axis=1) > 1).astype(np.int64)
    structure = forest([None, None])
    start = ml_log_tables(X, y, structure, [3, 3], 2)
    seen = []

    def loss_of(log_joint: Any, y: Any, hyper: Any) -> Any:
        seen.append(float(focal(log_joint, y).detach()))
        return focal(log_joint, y)

    monkeypatch.setattr(torch_engine, "loss_of", loss_of)
    settings = TrainSettings(parameters="cross-entropy", engine="torch", epochs=10)
    descend(X, y, structure, [3, 3], start, hyperparameters_of(settings, len(y)), None)
    assert np.mean(seen[-20:]) < np.mean(seen[:20])


@pytest.mark.cc
def test_a_package_is_emitted_and_builds(
    monkeypatch: pytest.MonkeyPatch,
    add_template: Callable[[str, str], None],
    tmp_path: Path,
    require_tool: Callable[[str], str],
) -> None:
    require_tool("gcc")
    require_tool("make")
    package = names_of("Adding an output package")["MAKE"]
    monkeypatch.setitem(PACKAGES, package.name, package)
    add_template("emit/packages/make/Makefile.j2", shown("Adding an output package", "jinja"))
    add_template("emit/packages/make/README.md.j2", "# {{ name }}\n")
    for path, text in emit_c(hand.ties(), EmitOptions("m", package="make")).files.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text, "utf-8")
    subprocess.run(["make", "CC=gcc", "test"], cwd=tmp_path, check=True, capture_output=True)
    assert (tmp_path / "selftest").is_file()


@pytest.fixture
def family(monkeypatch: pytest.MonkeyPatch, add_template: Callable[[str, str], None]) -> str:
    """Enter the family of kernels that the page shows, without weights."""
    (family,) = names_of("Adding a kernel family")["FAMILIES"]
    monkeypatch.setitem(families.FAMILIES, family.name, family)
    monkeypatch.setitem(families._TEXTS, family.kernel, family.text)
    add_template("lower/kernels/largest_first.c.j2", shown("Adding a kernel family", "jinja"))
    return family.name


@pytest.mark.cc
@pytest.mark.parametrize("name", ["general_network", "sum_of_tables", "naive_integer"])
def test_a_kernel_family_agrees(
    monkeypatch: pytest.MonkeyPatch, family: str, name: str, require_tool: Callable[[str], str]
) -> None:
    require_tool("gcc")
    for level in ("-O2", "-Os"):
        weights = cost_model.WEIGHTS["plain", "cortex-m0", level]
        monkeypatch.setitem(cost_model.WEIGHTS, (family, "cortex-m0", level), weights)
    model = hand.NAMED[name]()
    emission = emit_c(model, EmitOptions("m", kernel=family, entries=ENTRIES))
    assert emission.kernel == family
    assert "/* Larger tables first. */" in emission.files["m.c"]
    assert verify(model, emission=emission, n_random=100).mismatches == 0
    chosen = {each.kernel.family for each in emit_c(model).choice.candidates}
    assert family in chosen


def test_a_kernel_family_needs_weights(family: str) -> None:
    with pytest.raises(RuntimeError, match=r"has no weights; give \S+ the keys"):
        emit_c(hand.naive_integer())


@pytest.mark.firmware
def test_a_target_runs_a_model(
    monkeypatch: pytest.MonkeyPatch, require_bench: Callable[..., object]
) -> None:
    names = names_of("Adding a target")
    target = names["TARGET"]
    for attribute in ("_COMMANDS", "_WHEELS"):
        served = tuple(
            (tool, role, (*serves, target.name) if "cortex-m4" in serves else serves, hint)
            for tool, role, serves, hint in getattr(tools, attribute)
        )
        monkeypatch.setattr(tools, attribute, served)
    monkeypatch.setitem(targets.TARGETS, target.name, target)
    monkeypatch.setitem(CORES, target.name, names["CORE"])
    require_bench(target.name)
    outcome = verify(hand.tan_float(), target.name, n_random=100)
    assert (outcome.target, outcome.mismatches) == (target.name, 0)
    assert outcome.checked > 100
