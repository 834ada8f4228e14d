"""The example of CONTRIBUTING.md for each extension point works once it is in its list."""

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import click
import numpy as np
import pytest
from jinja2 import ChoiceLoader, DictLoader

from bncc.cli.training_options import training_options
from bncc.emit.emitter import EmitOptions, emit_c
from bncc.emit.environment import environment
from bncc.emit.packages import PACKAGES
from bncc.errors import OptionError
from bncc.lower.discretizers.rates import rates_of
from bncc.lower.input_check import state_words
from bncc.lower.kernels import families
from bncc.on_device import verify
from bncc.papers import experiments
from bncc.program.ir import costs
from bncc.program.pipeline import FLOWS, Pass, optimize
from bncc.structure.catalog import learn_structure
from bncc.structure.graph import forest
from bncc.structure.learners import LEARNERS
from bncc.targets import TARGETS, target_of
from bncc.toolchain.tools import find_tools
from bncc.train import options
from bncc.train.gradient.loop import descend
from bncc.train.hyperparameters import hyperparameters_of
from bncc.train.maximum_likelihood import ml_log_tables
from bncc.train.settings import TrainSettings
from tests import models as hand
from tests.docs.blocks import ROOT, Block, parts
from tests.unit.lower.by_hand import inputs, program, table

ENTRIES = frozenset({"raw", "scores"})


def blocks_of(heading: str, language: str = "python") -> list[str]:
    """Return the blocks of a section of CONTRIBUTING.md."""
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    section = text.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    every = (each for each in parts(section) if isinstance(each, Block))
    return [each.text for each in every if each.language == language]


def shown(heading: str, language: str = "python") -> str:
    """Return the only block of a section."""
    (text,) = blocks_of(heading, language)
    return text


def names_in(text: str, **given: object) -> dict[str, Any]:
    """Return what Python defines, with names that it finds defined."""
    names: dict[str, Any] = {"__name__": "shown", **given}
    exec(text, names)
    return names


def names_of(heading: str, **given: object) -> dict[str, Any]:
    """Return what the block of a section defines, with names that it finds defined."""
    return names_in(shown(heading), **given)


@pytest.fixture
def add_template(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    """Return a function that adds a template to those of the folder."""

    def add(name: str, text: str) -> None:
        made = environment()
        both = ChoiceLoader([DictLoader({name: text}), made.loader])
        monkeypatch.setattr(made, "loader", both)

    return add


def test_a_learner_is_learned_with(monkeypatch: pytest.MonkeyPatch) -> None:
    (learner,) = names_of("Adding a structure learner")["LEARNERS"]
    monkeypatch.setitem(LEARNERS, learner.name, learner)
    X, y = np.zeros((4, 3), np.int64), np.zeros(4, np.int64)
    structure = learn_structure("star", X, y, [2] * 3, 1, {"center": "2"})
    assert structure.parents == ((1,), (), (1,))
    with pytest.raises(OptionError, match="center=two is not a positive integer"):
        learn_structure("star", X, y, [2] * 3, 1, {"center": "two"})


def test_an_experiment_is_found_and_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("s9")
    vars(module).update(names_of("Adding a paper experiment"))
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
    in_its_file, in_the_pipeline = blocks_of("Adding a compiler pass")
    rewrite = names_in(in_its_file)["drop_zeros"]
    step = names_in(in_the_pipeline, Pass=Pass, drop_zeros=rewrite)["DROP_ZEROS"]
    assert "bncc.program.pipeline" not in in_its_file  # which imports it
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
    """Enter the family of kernels that the page shows."""
    package, weights = blocks_of("Adding a kernel family")
    module = ModuleType("weights")
    vars(module).update(names_in(weights))
    monkeypatch.setitem(sys.modules, "bncc.lower.kernels.largest_first.weights", module)
    (family,) = names_in(package)["FAMILIES"]
    monkeypatch.setitem(families.FAMILIES, family.name, family)
    add_template("lower/kernels/largest_first.c.j2", shown("Adding a kernel family", "jinja"))
    return family.name


@pytest.mark.cc
@pytest.mark.parametrize("name", ["general_network", "sum_of_tables", "naive_integer"])
def test_a_kernel_family_agrees(family: str, name: str, require_tool: Callable[[str], str]) -> None:
    require_tool("gcc")
    model = hand.NAMED[name]()
    emission = emit_c(model, EmitOptions("m", kernel=family, entries=ENTRIES))
    assert emission.kernel == family
    assert "/* Larger tables first. */" in emission.files["m.c"]
    assert verify(model, emission=emission, n_random=100).mismatches == 0
    chosen = {each.kernel.family for each in emit_c(model).choice.candidates}
    assert family in chosen


def test_a_kernel_family_needs_weights(monkeypatch: pytest.MonkeyPatch, family: str) -> None:
    bare = replace(families.FAMILIES[family], weights={})
    monkeypatch.setitem(families.FAMILIES, family, bare)
    with pytest.raises(RuntimeError, match=r"has no weights; give weights\.py of its folder the"):
        emit_c(hand.naive_integer())


@pytest.mark.cc
def test_all_layouts_of_a_family_agree(
    require_tool: Callable[[str], str], capsys: pytest.CaptureFixture[str]
) -> None:
    require_tool("gcc")
    names_of("Adding a layout to a kernel family", model=hand.naive_integer())
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) > 1
    assert all(line.endswith(" 0") for line in lines)


@pytest.mark.firmware
def test_a_target_runs_a_model(
    monkeypatch: pytest.MonkeyPatch, require_bench: Callable[..., object]
) -> None:
    (target,) = names_of("Adding a target")["TARGETS"]
    monkeypatch.setitem(TARGETS, target.name, target)
    require_bench(target.name)
    outcome = verify(hand.tan_float(), target.name, n_random=100)
    assert (outcome.target, outcome.mismatches) == (target.name, 0)
    assert outcome.checked > 100


def test_a_target_is_known_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    (target,) = names_of("Adding a target")["TARGETS"]
    monkeypatch.setitem(TARGETS, target.name, target)
    assert target_of("RP2350") == target.name == "cortex-m33"
    served = {tool.name for tool in find_tools() if target.name in tool.serves}
    assert served == {"arm-none-eabi-gcc", "ziglang", "unicorn"}
    assert rates_of(target.name) == rates_of("cortex-m4") != rates_of(None)
    assert state_words([5] * 36, target.name) == state_words([5] * 36, "cortex-m4")
    chosen, other = (emit_c(hand.tan_float(), EmitOptions("m", target=name)).choice.chosen
                     for name in (target.name, "cortex-m4"))  # fmt: skip
    assert (chosen.instructions, chosen.flash) == (other.instructions, other.flash)
