"""``bncc emit-c --package rust``."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from bncc.classifier import BNClassifier
from bncc.cli.emit_rust import OF_C
from bncc.emit.rust import FILES
from bncc.model.file import save_model
from tests import models as hand

Run = Callable[..., Result]
RunJson = Callable[..., dict[str, Any]]
Refused = Callable[..., str]


def unbroken(text: str) -> str:
    """Return a text without the line breaks of its comments."""
    return re.sub(r"\n// +", " ", text)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """Return the file of a model with thresholds."""
    save_model(hand.tan_float(), tmp_path / "gait.bncc")
    return tmp_path / "gait.bncc"


def test_json_has_the_fields_of_c(run_json: RunJson, model: Path, tmp_path: Path) -> None:
    """Those of C alone are null, and no file is overwritten."""
    found = run_json("emit-c", model, "--package", "rust", "-o", tmp_path / "r")
    c = run_json("emit-c", model, "-o", tmp_path / "c")
    assert set(found) == set(c)
    assert {name for name, value in found.items() if value is not None} == {
        "files",
        "passes",
        "table_bytes",
    }
    assert found["files"] == [str(tmp_path / "r" / file) for file in FILES]
    assert all((tmp_path / "r" / file).is_file() for file in FILES)
    assert found["table_bytes"] > 0


def test_the_command_in_the_crate_repeats_it(run: Run, model: Path, tmp_path: Path) -> None:
    words = ("emit-c", model, "--package", "rust", "--with", "scores", "--vectors", "5")
    said = run(*words, "-o", tmp_path / "a").stdout
    assert str(tmp_path / "a" / "src" / "lib.rs") in said
    text = (tmp_path / "a" / "src" / "lib.rs").read_text()
    assert "--name gait --package rust --vectors 5 --with scores" in unbroken(text)
    run(*words, "-o", tmp_path / "b")
    for file in FILES:
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ("--target", "avr"),
            "--target is about C, and package 'rust' contains none; leave",
        ),
        (("--kernel", "plain"), "--kernel is about C"),
        (("--max-flash", "2k"), "--max-flash is about C"),
        (("--optimize", "size"), "--optimize is about C"),
        (("--with", "stream"), "package 'rust' has no entry point 'stream'; choose from checked"),
        (("--name", "core"), "'core' is a reserved name in package 'rust'; choose another"),
    ],
)
def test_what_a_crate_has_not_is_one_line(
    refused: Refused, model: Path, tmp_path: Path, words: tuple[str, ...], message: str
) -> None:
    assert message in refused("emit-c", model, "--package", "rust", "-o", tmp_path / "r", *words)
    assert not (tmp_path / "r").exists()


def test_options_of_c_exist() -> None:
    """A renamed parameter would not be refused any longer."""
    from bncc.cli.emit_c import command

    assert set(OF_C) <= {param.name for param in command.params}


def test_a_classifier_writes_a_crate(tmp_path: Path) -> None:
    """Its target chooses C, and is left out of the command."""
    rows = [[k % 7, (3 * k) % 5] for k in range(60)]
    labels = [k % 7 > 3 for k in range(60)]
    fitted = BNClassifier(structure="naive", target="avr").fit(rows, labels)
    files = fitted.emit_c(tmp_path / "r", "gait", package="rust", spdx="MIT")
    assert [path.relative_to(tmp_path / "r").as_posix() for path in files] == list(FILES)
    text = (tmp_path / "r" / "src" / "lib.rs").read_text()
    assert "--package rust --spdx MIT" in unbroken(text)
    assert "avr" not in text
