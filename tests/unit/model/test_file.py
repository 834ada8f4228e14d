"""A model file is read back identically, or is refused in one sentence."""

import errno
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

from bncc.errors import BnccError, ModelError, ModelFileError, OptionError
from bncc.model import file as module
from bncc.model.archive import pack, unpack, with_sums
from bncc.model.file import DOCUMENT, load_model, model_digest, save_model
from tests import models as hand
from tests.strategies import models

DIGEST_OF_TIES = "bc7f4afb40ec4c05955d89a932c6a3ed9e0bd4257b887ef0d9c0714cb4708e9f"


def assert_same(a, b):
    assert (a.features, a.classes, a.structure) == (b.features, b.classes, b.structure)
    assert (a.q_format, dict(a.training)) == (b.q_format, dict(b.training))
    for left, right in zip((a.prior, *a.tables), (b.prior, *b.tables), strict=True):
        assert left.dtype == right.dtype == np.int64
        assert left.tolist() == right.tolist()


def refusal(path):
    """Return the message of the refusal, which is one printable sentence naming the file."""
    with pytest.raises(ModelFileError) as caught:
        load_model(path)
    message = str(caught.value)
    assert "\n" not in message
    assert str(path) in message
    return message


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "m.bncc"
    save_model(hand.tan_float(), path)
    return path


@pytest.mark.parametrize("name", hand.NAMED)
def test_hand_built_models_come_back(tmp_path, name):
    model = hand.NAMED[name]()
    save_model(model, tmp_path / "m.bncc")
    assert_same(load_model(tmp_path / "m.bncc"), model)


@given(models(max_bits=31))
def test_drawn_models_come_back_and_keep_their_digest(tmp_path_factory, model):
    path = tmp_path_factory.getbasetemp() / "drawn.bncc"
    save_model(model, path, overwrite=True)
    loaded = load_model(path)
    assert_same(loaded, model)
    assert model_digest(loaded) == model_digest(model)
    first = path.read_bytes()
    save_model(loaded, path, overwrite=True)
    assert path.read_bytes() == first


def test_a_loaded_model_cannot_be_changed(path):
    loaded = load_model(path)
    for costs in (loaded.prior, *loaded.tables):
        with pytest.raises(ValueError, match="read-only"):
            costs[0] = 1
    with pytest.raises(TypeError):
        loaded.training["seed"] = 1


def test_the_file_is_a_zip_whose_sums_other_programs_can_check(path):
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        names = archive.namelist()
    assert names == ["model.json", "prior.npy", "tables.npy", "SHA256SUMS"]


def test_the_digest_of_a_model_never_changes():
    """The bytes of format 1 are fixed; if this fails, old model files are refused."""
    assert model_digest(hand.ties()) == DIGEST_OF_TIES


def test_different_models_have_different_digests():
    assert len({model_digest(make()) for make in hand.NAMED.values()}) == len(hand.NAMED)


def test_no_byte_of_a_file_can_change_unseen(path):
    """Every position, three flips each, up to the last byte."""
    data = path.read_bytes()
    for position in range(len(data)):
        for flip in (0x01, 0x80, 0xFF):
            damaged = bytearray(data)
            damaged[position] ^= flip
            path.write_bytes(damaged)
            with pytest.raises(ModelFileError):
                load_model(path)


def test_no_truncated_file_passes(path):
    data = path.read_bytes()
    for n in range(len(data)):
        path.write_bytes(data[:n])
        with pytest.raises(ModelFileError):
            load_model(path)
    path.write_bytes(data + b"\n")
    assert "not a bncc model" in refusal(path)


def _rewrite(path, change, *, sums=True):
    entries = unpack(path.read_bytes())
    del entries["SHA256SUMS"]
    entries = change(entries)
    path.write_bytes(pack(with_sums(entries) if sums else entries))


def _with_format(number):
    def change(entries):
        document = {**json.loads(entries[DOCUMENT]), "format": number}
        text = json.dumps(document, sort_keys=True, separators=(",", ":"))
        return {**entries, DOCUMENT: text.encode() + b"\n"}

    return change


def test_a_newer_format_asks_for_an_update(path):
    _rewrite(path, _with_format(6))
    assert refusal(path).endswith(
        "has model format 6, and this version of bncc reads up to 5; update bncc"
    )


def test_a_network_in_the_format_of_other_sums_is_refused(path):
    _rewrite(path, _with_format(2))
    assert "the record of cuts, features is malformed" in refusal(path)


def test_a_newer_format_may_have_other_entries(path):
    _rewrite(path, lambda entries: {**_with_format(6)(entries), "more.npy": b""})
    assert refusal(path).endswith("update bncc")


@pytest.mark.parametrize("number", [0, -1, "1", None, 1.0, True, [1]])
def test_a_format_that_is_no_number_is_refused(path, number):
    _rewrite(path, _with_format(number))
    assert "format number is malformed" in refusal(path)


def test_changed_content_without_its_digest_is_refused(path):
    entries = unpack(path.read_bytes())
    entries["prior.npy"] = entries["prior.npy"][:-1] + b"\x00"
    path.write_bytes(pack(entries))
    assert "digest mismatch" in refusal(path)


def test_a_file_without_digests_is_refused(path):
    _rewrite(path, lambda entries: entries, sums=False)
    assert "digest mismatch" in refusal(path)


@pytest.mark.parametrize("name", ["../x", "/etc/passwd", "C:\\x", "model.json/"])
def test_an_entry_with_a_path_for_a_name_is_refused_and_nothing_is_written(path, name):
    _rewrite(path, lambda entries: {**entries, name: b"owned"})
    assert "missing or superfluous" in refusal(path)
    assert list(path.parent.iterdir()) == [path]


def test_a_zip_bomb_is_refused_without_being_unfolded(path):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("model.json", bytes(5 * 10**7))
    assert path.stat().st_size < 10**5
    assert "corrupt" in refusal(path)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"\x80\x04N.", b"hello\n" * 100])
def test_what_is_no_zip_is_refused(path, content):
    path.write_bytes(content)
    assert "not a bncc model" in refusal(path)


def test_an_oversized_file_is_refused_after_reading_no_more_than_the_limit(path, monkeypatch):
    monkeypatch.setattr(module, "MAX_FILE", 100)
    assert "larger than 100 bytes" in refusal(path)


def test_a_sparse_file_beyond_the_limit_is_refused(path):
    with path.open("r+b") as file:
        file.truncate(2**40)
    assert "larger than" in refusal(path)


def test_a_missing_file_a_directory_and_a_pipe_are_refused(tmp_path):
    assert "does not exist" in refusal(tmp_path / "no.bncc")
    assert "is a directory" in refusal(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    assert "not a regular file" in refusal(tmp_path / "pipe")


@pytest.mark.parametrize("name", ["a\x00b", "n" * 300])
def test_a_name_that_no_file_can_have_is_refused(name):
    with pytest.raises(ModelFileError, match=r"cannot read|does not exist"):
        load_model(name)


def test_a_file_that_cannot_be_read_is_refused(path, monkeypatch):
    def denied(*_):
        raise PermissionError(errno.EACCES, "secret detail")

    monkeypatch.setattr(Path, "open", denied)
    assert "Permission denied" in refusal(path)


def test_an_existing_file_is_kept_unless_told_otherwise(path):
    before = path.read_bytes()
    with pytest.raises(OptionError, match="--force"):
        save_model(hand.ties(), path)
    assert path.read_bytes() == before
    save_model(hand.ties(), path, overwrite=True)
    assert_same(load_model(path), hand.ties())


def test_a_directory_is_never_replaced(tmp_path):
    with pytest.raises(OptionError, match="not a regular file"):
        save_model(hand.ties(), tmp_path, overwrite=True)


@pytest.mark.parametrize("name", ["no/m.bncc", "a\x00b", "n" * 300])
def test_a_place_that_cannot_be_written_is_refused_in_one_sentence(tmp_path, name):
    with pytest.raises(ModelFileError, match="cannot write") as caught:
        save_model(hand.ties(), tmp_path / name)
    assert "choose another folder" in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_a_failing_disk_leaves_the_old_model(path, monkeypatch):
    before = path.read_bytes()

    def fail(*_):
        raise OSError(errno.EIO, "detail")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail)
        with pytest.raises(ModelFileError, match="Input/output error"):
            save_model(hand.ties(), path, overwrite=True)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_a_model_too_large_for_a_file_is_not_written(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "MAX_FILE", 100)
    with pytest.raises(ModelFileError, match="holds at most 100"):
        save_model(hand.ties(), tmp_path / "m.bncc")
    assert list(tmp_path.iterdir()) == []


def test_a_model_that_is_not_whole_is_not_written(tmp_path):
    broken = hand.model_of([], hand.forest([]), hand.QFormat(1, 0), [0, 0], [])
    with pytest.raises(ModelError, match="0 features"):
        save_model(broken, tmp_path / "m.bncc")
    assert issubclass(ModelError, BnccError)


def test_loading_imports_no_heavy_library(path):
    """`bncc emit-c` starts at once, which depends on the imports of load_model."""
    code = (
        "import sys; from bncc.model.file import load_model; load_model(sys.argv[1]);"
        "print(sorted({'torch', 'pandas', 'scipy', 'sklearn', 'rich'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
