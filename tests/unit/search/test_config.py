"""Settings and their command line, which reproduces a trial to the bit."""

import random
import shlex
from dataclasses import fields
from typing import Any

import click
import pytest

from bncc.cli import bench, train
from bncc.errors import OptionError
from bncc.search.config import command_of, optimize_of, settings_of, source_words, train_words
from bncc.search.space import PRESETS, read_space
from bncc.train.settings import TrainSettings
from tests.spaces import drawer


def typed(words: list[str]) -> TrainSettings:
    """Return what ``bncc train`` makes of a command line."""
    with train.command.make_context("train", list(words)) as ctx:
        options: dict[str, Any] = dict(ctx.params)
        if ctx.get_parameter_source("discretize") is not click.core.ParameterSource.COMMANDLINE:
            options["discretize"] = None
    assert options["effort"] in (None, "quick")
    options["effort"] = None  # the same, as trials have it
    return TrainSettings(**{f.name: options[f.name] for f in fields(TrainSettings)})


@pytest.mark.parametrize("name", PRESETS)
def test_the_words_of_a_trial_have_its_settings(name: str) -> None:
    space = read_space(name)
    for seed in range(60):
        params = space.draw(drawer(seed))
        words = ["d.csv", *train_words(params), "--seed", str(seed), "-o", "m.bncc"]
        assert typed(words) == settings_of(params, seed)


def test_every_kind_of_option_comes_back() -> None:
    rng = random.Random(1)
    params = {
        "structure": "tan-heuristic",
        "structure-option.order": "C",
        "structure-option.width": 4,
        "structure-option.step": rng.random() / 3,
        "parameters": "free",
        "discretize": "width",
        "n-bins": 5,
        "int-bits": 6,
        "frac-bits": -2,
        "float": False,
        "size-weight": 1e-17 / 3,
        "epochs": 3,
        "batch-size": 40,
        "lr": 0.1 + 0.2,
        "lambda": 1e22,
        "gamma": 1 / 3,
        "eta": 5.0,
        "dropout": 0.0,
        "jitter": 0.03,
        "average": 0.7,
        "quantize-from": 0.25,
    }
    words = ["d.csv", *train_words(params), "--seed", "3", "-o", "m.bncc"]
    settings = settings_of(params, 3)
    assert typed(words) == settings
    assert settings.lr == 0.1 + 0.2
    assert settings.structure_options["width"] == "4"


def test_no_values_are_the_defaults_of_the_command() -> None:
    assert settings_of({}, 0) == typed(["d.csv", "-o", "m"])
    with bench.command.make_context("bench", ["m"]) as ctx:
        assert optimize_of({}) == ctx.params["optimize"]


def test_values_that_make_no_sense_together_are_refused() -> None:
    with pytest.raises(OptionError, match="leave out --float, or the bits"):
        settings_of({"float": True, "bits": 3}, 0)


def test_a_shell_reads_the_command_as_it_was_meant() -> None:
    source, bench_source = source_words("it's here.csv", class_name="a b", fold=2, drop=("x", "$y"))
    command = command_of(
        17,
        {"bits": 3, "optimize": "size"},
        source=source,
        bench_source=bench_source,
        seed=5,
        repeats=3,
        targets=("avr", "rv32"),
    )
    first, second = command.split(" && ")
    assert shlex.split(first) == [
        "bncc", "train", "it's here.csv", "--class", "a b", "--fold", "2", "--drop", "x",
        "--drop", "$y", "--bits", "3", "--effort", "quick", "--seed", "5", "--repeats", "3", "-o",
        "trial-17.bncc",
    ]  # fmt: skip
    assert shlex.split(second) == [
        "bncc", "bench", "trial-17.bncc", "--data", "it's here.csv", "--fold", "2",
        "--target", "avr", "--target", "rv32", "--optimize", "size",
    ]  # fmt: skip


def test_without_targets_nothing_is_measured() -> None:
    source, bench_source = source_words("-d.csv", test="t.csv")
    command = command_of(
        0, {}, source=source, bench_source=bench_source, seed=0, repeats=1, targets=()
    )
    assert command == (
        "bncc train ./-d.csv --test t.csv --effort quick --seed 0 --repeats 1 -o trial-0.bncc"
    )
