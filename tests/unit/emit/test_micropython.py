"""The module in plain MicroPython, run by this Python."""

import ast
import io
import sys
from contextlib import redirect_stdout
from types import ModuleType

import numpy as np
import pytest

from bncc.discretize.missing import MISSING_INT
from bncc.discretize.readings import states_of_raw
from bncc.emit.emitter import emit_c
from bncc.emit.options import EmitOptions
from bncc.emit.vectors import drawn_vectors, limit_vectors
from bncc.errors import OptionError
from bncc.model.checked import limits_of, predict_checked
from bncc.model.reference import predict, scores
from tests.models import tan_float
from tests.other_languages import BUILT, TRAINED, built, trained, vectors

ENTRIES = frozenset({"checked", "scores"})
KINDS = [*BUILT, *TRAINED]


def files_of(kind, entries=ENTRIES):
    """Return the files of a package, with few vectors of the C, which are of no interest here."""
    model = trained(kind) if kind in TRAINED else built(kind)
    found = vectors(kind) if kind in TRAINED else drawn_vectors(model)
    options = EmitOptions("gait", entries, package="micropython", vectors=found, is_bounded=True)
    return model, found, emit_c(model, options).files


def module_of(files):
    """Return the module, as an import would."""
    module = ModuleType("gait")
    exec(compile(files["gait.py"], "gait.py", "exec"), module.__dict__)
    return module


def as_passed(model, readings):
    """Return rows of readings as a program has them: integers and floats."""
    kinds = [feature.kind for feature in model.inputs]
    return [
        [v if kind == "float32" else int(v) for kind, v in zip(kinds, row, strict=True)]
        for row in readings.tolist()
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_it_answers_as_the_reference_does(kind):
    """Classes, states, scores, and errors at limits; of states and of readings."""
    model, found, files = files_of(kind)
    module = module_of(files)
    expected = predict(model, found.states).tolist()
    assert [module.predict(x) for x in found.states.tolist()] == expected
    costs = scores(model, found.states).tolist()
    assert [module.scores(x) for x in found.states.tolist()] == costs
    readings = as_passed(model, found.readings)
    assert [module.predict_raw(r) for r in readings] == expected
    limits = limits_of(model)
    checked = predict_checked(model, limits, found.readings).tolist()
    assert [module.predict_raw_checked(r) for r in readings] == checked
    alone = limit_vectors(model, limits)
    rows = as_passed(model, alone.readings)
    for row, answers in zip(rows, alone.answers.tolist(), strict=True):
        for i, answer in enumerate(answers):
            assert module.predict_raw_checked([*rows[0][:i], row[i], *rows[0][i + 1 :]]) == answer


@pytest.mark.parametrize("kind", KINDS)
def test_random_readings_have_the_states_of_python(kind):
    """Also where no state has an end."""
    model, _, files = files_of(kind)
    module = module_of(files)
    rng = np.random.default_rng(2)
    columns = []
    for feature in model.inputs:
        if feature.kind == "float32":
            columns.append(rng.normal(0, 3, 60).astype(np.float32).astype(float))
        elif feature.is_numeric:
            low, high = MISSING_INT.get(feature.kind, 0), 127
            columns.append(rng.integers(max(low, -600), high, 60).astype(float))
        else:
            columns.append(rng.integers(0, 256, 60).astype(float))
    R = np.column_stack(columns)
    X = states_of_raw(model.features, R)
    assert [module.predict_raw(r) for r in as_passed(model, R)] == predict(model, X).tolist()


@pytest.mark.parametrize("kind", ["array", "states", "front", "gate"])
def test_the_vectors_pass_and_a_wrong_class_shows(kind):
    _, found, files = files_of(kind)
    n = len(found.classes)
    for wrong, told in ((0, "PASS"), (1, "FAIL")):
        text = files["test/test_gait.py"]
        if wrong:
            first = f'CLASSES = (\n    b"\\x{int(found.classes[0]):02x}'
            assert first in text
            text = text.replace(first, 'CLASSES = (\n    b"\\xfe')
        sys.modules["gait"] = module_of(files)
        with redirect_stdout(io.StringIO()) as said:
            exec(compile(text, "test_gait.py", "exec"), {})
        del sys.modules["gait"]
        assert said.getvalue() == f"{n} vectors, {wrong} wrong: {told}\n"


def test_what_is_wrong_is_an_error():
    """States out of range have an error's number, readings that the C cannot hold are refused."""
    module = module_of(files_of("bytes_and_others")[2])
    assert module.predict([0] * 6 + [2]) == module.ERR_STATE == -1
    assert module.scores([-1] + [0] * 6) is None
    with pytest.raises(ValueError, match="7 states are needed"):
        module.predict([0])
    with pytest.raises(ValueError, match="7 readings are needed"):
        module.predict_raw([0])
    with pytest.raises(ValueError, match="reading 1 is out of range"):
        module.predict_raw([0, 256, 0, 0, 0, 0.0, 0])
    assert [module.class_name(c) for c in (-1, 0, 2)] == ["", "c0", ""]


def test_what_is_not_asked_for_is_not_there():
    text = files_of("states", frozenset())[2]["gait.py"]
    names = {each.name for each in ast.parse(text).body if isinstance(each, ast.FunctionDef)}
    assert names == {"class_name", "predict", "_is_valid", "_decide", "_sums", "_add"}


@pytest.mark.parametrize("kind", KINDS)
def test_a_decision_uses_no_operation_but_additions_and_comparisons(kind):
    """A product with a constant finds a row; nothing divides."""
    tree = ast.parse(files_of(kind)[2]["gait.py"])
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp):
            if isinstance(node.op, ast.Mult):
                assert isinstance(node.right, ast.Constant) or ast.unparse(node) == (
                    "row * N_CLASSES"
                )
            else:
                is_message = isinstance(node.op, ast.Mod) and isinstance(node.left, ast.Constant)
                assert isinstance(node.op, ast.Add | ast.Sub) or is_message


@pytest.mark.parametrize("name", ["machine", "Array", "lambda"])
def test_the_name_of_a_module_of_micropython_is_refused(name):
    with pytest.raises(OptionError, match=f"'{name}' is a reserved name of the build system"):
        emit_c(tan_float(), EmitOptions(name, package="micropython"))
