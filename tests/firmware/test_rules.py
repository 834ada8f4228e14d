"""Rules for decisions, of trained models, on simulated targets and by their compilers."""

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import pytest

from bncc.device.inputs.cases import Case, Effort
from bncc.device.inputs.confidence import confidence_cases
from bncc.device.inputs.filter import filter_cases
from bncc.device.inputs.unknown import unknown_cases
from bncc.emit.emitter import EmitOptions, emit_c
from bncc.model.model import Model
from bncc.model.rules import RULES
from tests.firmware.analyzed import RATED
from tests.firmware.compiled import compile_as_one, faults, write_all
from tests.firmware.fleet import answers, comparing, disagreeing
from tests.firmware.machines import LEVELS, MACHINES
from tests.firmware.test_filter import models
from tests.firmware.test_strict import C99, OLD_CPP17
from tests.unknown import RULED

COMPILED = ("host-gcc", "host-clang", "atmega328p", "cortex-m0", "cortex-m4", "rv32imc")
pytestmark = [pytest.mark.cc, pytest.mark.firmware]


class Tried(NamedTuple):
    """Models with a rule, and inputs of it up to a largest score."""

    models: Callable[[], Mapping[str, Model]]
    cases: Callable[[Model, int, Effort], Iterator[Case]]


TRIED = {
    "confidence": Tried(lambda: {key: make() for key, make in RATED.items()}, confidence_cases),
    "filter": Tried(models, filter_cases),
    "unknown": Tried(
        lambda: {key: make() for key, make in RULED.items()},
        lambda model, largest, effort: unknown_cases(model, largest, None, effort),
    ),
}


def test_every_rule_is_tried() -> None:
    assert TRIED.keys() == RULES.keys()


@pytest.mark.parametrize("rule", TRIED)
@pytest.mark.parametrize("name", COMPILED)
def test_compilers_warn_of_nothing_multiply_nothing_and_call_nothing(
    require_machine, name, rule, tmp_path
):
    """Compilers replace loops that clear or copy arrays with library calls."""
    machine = MACHINES[name]
    require_machine(machine)
    options = EmitOptions("m", frozenset({rule}))
    emitted = {key: emit_c(model, options).files for key, model in TRIED[rule].models().items()}
    names = write_all(tmp_path, emitted)
    language = OLD_CPP17 if "clang" not in machine.compiler else ("-xc++", "-std=c++17")
    compile_as_one(machine, tmp_path, names, (*language, "-O2"))
    assert faults(machine, tmp_path, names, LEVELS, C99) == {}


@pytest.mark.parametrize("rule", TRIED)
@pytest.mark.parametrize("target", ["avr", "cortex-m0", "rv32", "big-endian"])
@pytest.mark.parametrize("level", ["-Os", "-O3"])
def test_targets_agree_row_by_row(require_bench, target, level, rule):
    """Scores of the model, random ones, and hostile ones at the limits of the rule."""
    bench = require_bench(target)
    options, members = EmitOptions("m", frozenset({rule}), target=target), {}
    for key, model in TRIED[rule].models().items():
        emission = emit_c(model, options)
        rows = list(TRIED[rule].cases(model, emission.layout.largest_sum, Effort(100)))
        members[key] = comparing(model, emission.files, 20, also=rows)
        assert rule in members[key].entries
    assert disagreeing(answers(bench, level, members)) == {}
