"""The C and the program text of five small models, to be read by people in every review.

Two of them also have their textbook classifier here.

`pytest --update-golden` renews the files; the diff is then part of the change.
"""

import pytest

from bncc.compiler.importer import program_of
from bncc.compiler.text import print_program
from bncc.emit.emitter import ENTRIES, EmitOptions, emit_c
from bncc.emit.textbook import textbook_c
from tests import models as hand
from tests.conftest import GOLDEN

MODELS = (
    "naive_integer",
    "tan_float",
    "category_with_missing",
    "general_network",
    "hostile_names",
)
TEXTBOOKS = ("naive_integer", "tan_float")


def golden_files(name):
    """Return the texts to compare, by path below tests/golden."""
    model = hand.NAMED[name]()
    emission = emit_c(model, EmitOptions(name, ENTRIES))
    files = {f"{name}/{file}": text for file, text in emission.files.items()}
    if name in TEXTBOOKS:
        book = textbook_c(model, "textbook")
        files |= {f"{name}/{file}": text for file, text in book.files.items()}
    before = print_program(program_of(model), rows=True)
    after = print_program(emission.program, rows=True)
    files[f"{name}/program.txt"] = (
        f"before all passes\n\n{before}\nafter the default flow\n\n{after}"
    )
    return files


@pytest.mark.parametrize("name", MODELS)
def test_the_text_is_the_one_that_was_reviewed(name, golden):
    for path, text in golden_files(name).items():
        golden(path, text)


def test_no_golden_file_is_left_over():
    expected = {path for name in MODELS for path in golden_files(name)}
    found = {
        path.relative_to(GOLDEN).as_posix()
        for path in GOLDEN.rglob("*")
        if path.is_file() and path.parent != GOLDEN and "__pycache__" not in path.parts
    }
    assert found == expected
