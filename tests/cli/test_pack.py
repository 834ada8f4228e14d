"""``bncc pack``."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from bncc.discretize.feature import Feature
from bncc.model.file import save_model
from bncc.pack.blob import read
from bncc.pack.runtime import runtime_files
from bncc.pack.writer import pack
from tests import models as hand

Run = Callable[..., Result]
RunJson = Callable[..., dict[str, Any]]
Refused = Callable[..., str]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """Return the file of a model with thresholds."""
    save_model(hand.tan_float(), tmp_path / "gait.bncc")
    return tmp_path / "gait.bncc"


def test_a_blob_and_the_runtime_are_written(run_json: RunJson, model: Path, tmp_path: Path) -> None:
    """The blob is that of the package, with the sequence number that was asked for."""
    blob, folder = tmp_path / "gait.bin", tmp_path / "firmware"
    found = run_json("pack", model, "-o", blob, "--sequence", 9, "--runtime", folder)
    assert blob.read_bytes() == pack(hand.tan_float(), 9).content
    assert read(blob.read_bytes()).header.sequence == found["sequence"] == 9
    assert found["bytes"] == found["table_bytes"] + 24 == blob.stat().st_size
    assert found["files"] == [str(folder / file) for file in runtime_files()]
    assert {each.name: each.read_text() for each in folder.iterdir()} == runtime_files()
    assert (found["features"], found["classes"]) == (3, 2)
    assert (found["reading_type"], found["defines"]) == ("int32_t", [])


def test_the_same_model_has_the_same_bytes(run: Run, model: Path, tmp_path: Path) -> None:
    """No date, path or host is in a blob."""
    for name in ("a.bin", "b.bin"):
        assert run("pack", model, "-o", tmp_path / name).exit_code == 0
    assert (tmp_path / "a.bin").read_bytes() == (tmp_path / "b.bin").read_bytes()


def test_a_model_beyond_the_defaults_names_the_macros(run_json: RunJson, tmp_path: Path) -> None:
    """The runtime has room for 64 readings and 32 classes."""
    features = [Feature(f"f{i}", "int8", 2, thresholds=(i,)) for i in range(65)]
    tables = [[[0] * 33, [*range(33)]]] * 65
    large = hand.model_of(features, hand.forest([None] * 65), hand.QFormat(6, 1), [0] * 33, tables)
    save_model(large, tmp_path / "large.bncc")
    found = run_json("pack", tmp_path / "large.bncc", "-o", tmp_path / "large.bin")
    assert found["defines"] == ["BNCC_MAX_FEATURES=65", "BNCC_MAX_CLASSES=33"]


def test_what_cannot_be_packed_is_refused(refused: Refused, model: Path, tmp_path: Path) -> None:
    """With exit code 2 and a remedy; nothing is written."""
    save_model(hand.TREES["one_tree"](), tmp_path / "tree.bncc")
    blob, folder = tmp_path / "tree.bin", tmp_path / "firmware"
    line = refused("pack", tmp_path / "tree.bncc", "-o", blob, "--runtime", folder)
    assert "train without leaves=N" in line
    assert not blob.exists()
    assert not folder.exists()
    blob.write_bytes(b"kept")
    assert "use --force" in refused("pack", model, "-o", blob)
    assert blob.read_bytes() == b"kept"
    refused("pack", model, "-o", tmp_path / "new.bin", "--sequence", 65536)
    refused("pack", model, "-o", tmp_path / "new.bin", "--spdx", "no license!")
    assert not (tmp_path / "new.bin").exists()
