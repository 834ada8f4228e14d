"""The table of options agrees with everything made from it, and with the estimator's names."""

import subprocess
import sys
from dataclasses import fields
from inspect import signature
from typing import get_args

import pytest

from bncc import BNClassifier
from bncc._validation import settings_of
from bncc.cli.baseline import command as baseline
from bncc.cli.train import command as train
from bncc.errors import OptionError
from bncc.train.options import (
    FRACTION,
    OPTIONS,
    DescentValues,
    TrainOptions,
    Use,
    at_least,
    in_record_order,
)
from bncc.train.settings import TrainSettings

DESCENT = {"descent", "tables", "rounding", "hinge"}
FLAGS = {option: each for each in train.params for option in each.opts}
ALTERED = {"structure": None, "float_": True}
"""Defaults of the estimator that are not the table's: its first structure, and ``quantize``."""


@pytest.mark.parametrize("option", OPTIONS.values(), ids=OPTIONS)
def test_every_row_is_an_option_of_train(option):
    parameter = FLAGS[option.flag]
    assert parameter.name == option.name
    assert set(getattr(parameter.type, "choices", ())) == set(option.choices)
    assert parameter.help is None or "{" not in parameter.help


def test_settings_of_no_arguments_are_those_of_no_flags():
    context = train.make_context("train", ["d.csv", "-o", "m.bncc"])
    given = {name: value for name, value in context.params.items() if name in OPTIONS}
    assert TrainSettings(**given) == TrainSettings() == settings_of(BNClassifier(random_state=0))


@pytest.mark.parametrize("option", OPTIONS.values(), ids=OPTIONS)
def test_every_argument_of_the_estimator_has_the_default_of_its_row(option):
    parameters = signature(BNClassifier).parameters
    if option.argument is None:
        assert option.name not in parameters
        return
    default = parameters[option.argument].default
    assert (default or None) == (ALTERED.get(option.name, option.default) or None)
    assert option.argument in BNClassifier.__doc__


def test_the_estimator_refuses_an_argument_of_no_row():
    with pytest.raises(TypeError, match="unexpected keyword argument 'jiter'"):
        BNClassifier(jiter=0.1)
    with pytest.raises(TypeError, match="too many positional arguments"):
        BNClassifier("naive", "ml", "mdl", 8)
    assert BNClassifier(jitter=0.1).get_params()["jitter"] == 0.1


def test_what_a_descent_uses_is_filled_in_for_it():
    used = {name for name, option in OPTIONS.items() if DESCENT & set(option.uses)}
    assert {each.name for each in fields(DescentValues)} == (used | {"loss", "seed"}) - {"effort"}
    assert all(set(option.uses) <= set(get_args(Use)) for option in OPTIONS.values())


def test_the_hinge_comes_late_in_records_and_what_is_not_recorded_last():
    words = [option.word for option in in_record_order(OPTIONS) if option.uses]
    assert words[-7:] == ["lambda", "gamma", "eta", "effort", "device", "threads", "engine"]
    assert words[:3] == ["epochs", "batch-size", "lr"]


def test_a_choice_without_none_as_default_refuses_none():
    with pytest.raises(OptionError, match="unknown parameters 'None'"):
        TrainSettings(parameters=None)
    assert TrainSettings(discretize=None) == TrainSettings()


def test_ranges_hold_their_ends():
    held = [FRACTION.holds(value) for value in (0, 0.99, 1, float("nan"))]
    assert held == [True, True, False, False]
    assert [at_least(2).holds(value) for value in (1, 2)] == [False, True]


def test_a_baseline_reads_numbers_as_training_does():
    shared = {each.name: each for each in baseline.params if each.name in ("discretize", "n_bins")}
    for name, each in shared.items():
        assert each.opts == [OPTIONS[name].flag]
        assert each.type.name == FLAGS[OPTIONS[name].flag].type.name
    assert isinstance(TrainSettings(), TrainOptions)


ROW = """\
    tilt: Annotated[float | None, Option(
        metavar="T", within=(FRACTION,), measured=0.25, uses=("descent",),
        help="Made up [default: {measured}].",
    )] = None
"""
VALUE = "    tilt: float\n"
PROGRAM = """
import sys, types
import bncc.train
from importlib.util import find_spec

spec = find_spec("bncc.train.options")
source = open(spec.origin, encoding="utf-8").read()
for place, text in (("    jitter: Annotated[", ROW), ("    jitter: float\\n", VALUE)):
    assert source.count(place) == 1
    source = source.replace(place, text + place)
module = sys.modules[spec.name] = types.ModuleType(spec.name)
exec(compile(source, spec.origin, "exec"), module.__dict__)

from inspect import signature
from bncc import BNClassifier
from bncc._arguments import as_arguments
from bncc.cli.train import command
from bncc.errors import OptionError
from bncc.search.config import settings_of
from bncc.search.space import space_of
from bncc.train.hyperparameters import hyperparameters_of
from bncc.train.record import settings_record
from bncc.train.settings import TrainSettings
from bncc.train.unused_options import idle_notes

(found,) = [each for each in command.params if each.name == "tilt"]
assert found.help == "Made up [default: 0.25]."
assert signature(BNClassifier).parameters["tilt"].default is None
assert ", dropout, tilt, jitter, " in BNClassifier.__doc__
assert space_of("[tilt]\\nlow = 0.0\\nhigh = 0.5", "s").options["tilt"][0].domain.high == 0.5
assert settings_of({"tilt": 0.5}, 0).tilt == 0.5
assert hyperparameters_of(TrainSettings(), 100).tilt == 0.25
record = list(settings_record(TrainSettings(tilt=0.5), 100).items())
assert record[record.index(("tilt", 0.5)) + 1] == ("jitter", 0.0)
assert idle_notes(TrainSettings("tables", tilt=0.5)) == (
    "--tilt has no effect with --structure tables",
)
try:
    TrainSettings(tilt=2)
except OptionError as error:
    assert as_arguments(str(error)) == "tilt is 2; it must be a fraction from 0 to below 1"
else:
    raise AssertionError("no range")
print("all of it")
"""


def test_a_row_is_all_that_an_option_needs():
    """The command line, the estimator, sweeps, checks, notes and records use the table."""
    program = f"ROW, VALUE = {ROW!r}, {VALUE!r}\n{PROGRAM}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.stdout, done.stderr, done.returncode) == ("all of it\n", "", 0)
