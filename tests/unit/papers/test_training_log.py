"""Errors that are known, kept in a file: of this trainer alone."""

from dataclasses import replace

import pytest

from bncc.errors import OptionError, ToolchainError
from bncc.papers import training_log
from bncc.papers.training import Judged
from bncc.papers.training_log import TrainingLog, trainer_digest, training_key
from bncc.train.settings import TrainSettings
from tests.folds import small_fold

SOME = Judged(0.25, 70)


def test_errors_are_found_again(tmp_path):
    path = tmp_path / "log.jsonl"
    log = TrainingLog(path)
    assert "a" not in log
    log.add("a", SOME)
    assert log["a"] == SOME
    assert TrainingLog(path)["a"] == SOME


def test_without_a_file_errors_are_in_memory():
    log = TrainingLog(None)
    log.add("a", SOME)
    assert log["a"] == SOME


def test_a_line_cut_off_costs_no_other(tmp_path):
    path = tmp_path / "log.jsonl"
    TrainingLog(path).add("a", SOME)
    with path.open("a", encoding="utf-8") as stream:
        stream.write('{"key": "b", "err')
    TrainingLog(path).add("c", Judged(0.5, 3))
    found = TrainingLog(path)
    assert (found["a"], found["c"]) == (SOME, Judged(0.5, 3))
    assert "b" not in found


def test_a_log_of_another_trainer_is_refused_and_left_alone(tmp_path, monkeypatch):
    path = tmp_path / "log.jsonl"
    TrainingLog(path).add("a", SOME)
    text = path.read_text("utf-8")
    monkeypatch.setattr(training_log, "trainer_digest", lambda trainer: "another")
    with pytest.raises(OptionError, match=r"no checkpoint of this version .*--checkpoint"):
        TrainingLog(path)
    assert path.read_text("utf-8") == text


@pytest.mark.parametrize(
    "content", [b"some notes\n", b"[1]\n", b'{"key": "a", "error": 0.5}\n', b"\xff\xb4\x00\n"]
)
def test_a_file_that_is_no_log_is_refused_and_left_alone(tmp_path, content):
    path = tmp_path / "notes"
    path.write_bytes(content)
    with pytest.raises(OptionError, match="no checkpoint"):
        TrainingLog(path)
    assert path.read_bytes() == content


def test_a_log_of_another_engine_is_refused_and_left_alone(tmp_path, monkeypatch):
    def no_compiler(parts):
        raise ToolchainError("no C compiler")

    path = tmp_path / "log.jsonl"
    monkeypatch.setattr(training_log, "native_library", lambda parts: None)
    TrainingLog(path).add("a", SOME)
    text = path.read_text("utf-8")
    monkeypatch.setattr(training_log, "native_library", no_compiler)
    with pytest.raises(OptionError, match=r"of engine 'native', .* from 'torch', .*--checkpoint"):
        TrainingLog(path)
    assert path.read_text("utf-8") == text


def test_all_text_that_decides_a_training_tells_it_from_others(tmp_path, monkeypatch):
    def digest():
        trainer_digest.cache_clear()
        return trainer_digest()

    names = (
        "train/learn_network.py", "native/steps.c", "structure/tree.py", "discretize/mdl.py",
        "fixed_point.py", "toolchain/library.py", "data/splits.py", "papers/training.py",
    )  # fmt: skip
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("one", "utf-8")
    monkeypatch.setattr(training_log, "files", {"bncc": tmp_path}.__getitem__)
    first = digest()
    (tmp_path / "train" / "notes.txt").write_text("not a part", "utf-8")
    (tmp_path / "data" / "csv.py").write_text("not a part", "utf-8")
    assert digest() == first
    found = {first}
    for name in names:
        (tmp_path / name).write_text("two", "utf-8")
        found.add(digest())
    assert len(found) == 1 + len(names)
    trainer_digest.cache_clear()


def test_rows_options_and_split_tell_trainings_apart():
    fold, settings = small_fold(), TrainSettings(float_=True)
    keys = [
        training_key(fold, settings, 0),
        training_key(fold, settings, 1),
        training_key(fold, settings, None),
        training_key(fold, settings, None, 5),
        training_key(fold, replace(settings, lr=0.5), 0),
        training_key(small_fold(seed=1), settings, 0),
    ]
    assert len(set(keys)) == len(keys)
    assert training_key(small_fold(), replace(settings), 0) == keys[0]
