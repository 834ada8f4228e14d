"""
The C and the program text of five small models, to be read by people in every review.

Two of them also have their textbook classifier here, and their C for features one by one. A sixth
has the C for 64-bit registers. What build systems want around the C is under packages/.

`pytest --update-golden` renews the files; the diff is then part of the change.
"""

import pytest

from bncc.discretize.feature import Feature
from bncc.emit.emitter import EmitOptions, emit_c
from bncc.emit.packages import PACKAGES
from bncc.emit.textbook import textbook_c
from bncc.fixed_point import QFormat
from bncc.program.pipeline import program_of
from bncc.program.text import print_program
from bncc.structure.graph import forest
from tests import models as hand
from tests.agreement.large import mixed_kinds, random_model
from tests.conftest import GOLDEN

MODELS = (
    "naive_integer",
    "tan_float",
    "category_with_missing",
    "general_network",
    "hostile_names",
)
TEXTBOOKS = ("naive_integer", "tan_float")
ENTRIES = frozenset({"raw", "scores", "trusted"})
SIX = "six_classes/six_classes.c"


def golden_files(name):
    """Return the texts to compare, by path below tests/golden."""
    model = hand.NAMED[name]()
    emission = emit_c(model, EmitOptions(name, ENTRIES))
    files = {f"{name}/{file}": text for file, text in emission.files.items()}
    if name in TEXTBOOKS:
        book = textbook_c(model, "textbook")
        files |= {f"{name}/{file}": text for file, text in book.files.items()}
        streamed = emit_c(model, EmitOptions("stream", ENTRIES | {"stream"})).files
        files |= {f"{name}/{file}": streamed[file] for file in ("stream.c", "stream.h")}
    before = print_program(program_of(model), rows=True)
    after = print_program(emission.program, rows=True)
    files[f"{name}/program.txt"] = (
        f"before all passes\n\n{before}\nafter the default flow\n\n{after}"
    )
    return files


def package_files():
    """Return what is put around the C for each build system but the plain one."""
    return {
        f"packages/{name}/{file}": text
        for name, package in PACKAGES.items()
        for file, text in emit_c(mixed_kinds(), EmitOptions("gait", package=name)).files.items()
        if file in package.files and name != "plain"
    }


@pytest.mark.parametrize("name", MODELS)
def test_the_text_is_the_one_that_was_reviewed(name, golden):
    for path, text in golden_files(name).items():
        golden(path, text)


def test_the_text_around_the_c_is_the_one_that_was_reviewed(golden):
    for path, text in package_files().items():
        golden(path, text)


def test_the_text_for_registers_of_64_bits_is_the_one_that_was_reviewed(golden):
    features = [Feature(f"x{i}", "state", 3) for i in range(4)]
    model = random_model(features, forest([None, None, None, 2]), 6, QFormat(2, 2))
    options = EmitOptions("six_classes", kernel="lanes", optimize="speed", target="x86")
    golden(SIX, emit_c(model, options).files["six_classes.c"])


def test_no_golden_file_is_left_over():
    expected = {path for name in MODELS for path in golden_files(name)}
    expected |= {SIX, *package_files()}
    found = {
        path.relative_to(GOLDEN).as_posix()
        for path in GOLDEN.rglob("*")
        if path.is_file() and path.parent != GOLDEN and "__pycache__" not in path.parts
    }
    assert found == expected
