"""Calls in one process and in several, and their results in a file of one program."""

import os
import signal

import pytest

from bncc.errors import OptionError, ToolchainError, WorkerError
from bncc.papers import runs, training
from bncc.papers.runs import Log, Program, digest_of, kept, key_of, workers
from bncc.papers.training import TRAINER

PROGRAM = Program("bncc's learners", ("discretize",))
SOME = {"error": 0.25, "parents": [[], [0]]}


@pytest.fixture
def path(tmp_path):
    Log(tmp_path / "log.jsonl", PROGRAM).add("a", SOME)
    return tmp_path / "log.jsonl"


def test_results_are_found_again(path):
    found = Log(path, PROGRAM)
    assert found["a"] == SOME
    assert "b" not in found


def test_without_a_file_results_are_in_memory():
    log = Log(None, PROGRAM)
    log.add("a", SOME)
    assert log["a"] == SOME


def test_a_line_cut_off_costs_no_other(path):
    with path.open("a", encoding="utf-8") as stream:
        stream.write('{"key": "b", "res')
    Log(path, PROGRAM).add("c", {"error": 0.5})
    found = Log(path, PROGRAM)
    assert (found["a"], found["c"]) == (SOME, {"error": 0.5})
    assert "b" not in found


def test_a_log_of_another_program_is_refused_and_left_alone(path):
    text = path.read_bytes()
    with pytest.raises(OptionError, match="another file with --checkpoint"):
        Log(path, Program(PROGRAM.name, ("discretize", "fixed_point.py")))
    assert path.read_bytes() == text


@pytest.mark.parametrize(
    "content", [b"some notes\n", b"[1]\n", b'{"key": "a", "error": 0.5}\n', b"\xff\xb4\x00\n"]
)
def test_a_file_that_is_no_log_is_refused_and_left_alone(tmp_path, content):
    path = tmp_path / "notes"
    path.write_bytes(content)
    with pytest.raises(OptionError, match="is not a checkpoint"):
        Log(path, PROGRAM)
    assert path.read_bytes() == content


def test_keys_tell_what_is_done_on_which_rows_and_how():
    keys = {
        key_of(*key)
        for key in (
            ("learn", "r", ["NB", 0]), ("learn", "r", ["NB", 1]), ("learn", "s", ["NB", 0]),
            ("judge", "r", ["NB", 0]),
        )
    }  # fmt: skip
    assert len(keys) == 4
    assert key_of("learn", "r", ["NB", 0]) == key_of("learn", "r", ("NB", 0))


def test_a_log_of_another_engine_is_refused_and_left_alone(tmp_path, monkeypatch):
    def no_compiler(parts):
        raise ToolchainError("no C compiler")

    path = tmp_path / "log.jsonl"
    monkeypatch.setattr(training, "native_library", lambda parts: None)
    Log(path, TRAINER).add("a", SOME)
    text = path.read_text("utf-8")
    monkeypatch.setattr(training, "native_library", no_compiler)
    with pytest.raises(
        OptionError,
        match="of engine 'native', which rounds differently from 'torch', the engine on this "
        "computer; name another file with --checkpoint",
    ):
        Log(path, TRAINER)
    assert path.read_text("utf-8") == text


def test_all_text_that_decides_a_training_tells_it_from_others(tmp_path, monkeypatch):
    def digest():
        digest_of.cache_clear()
        return digest_of(TRAINER.texts)

    names = (
        "train/learn_network.py", "native/steps.c", "structure/tree.py", "discretize/mdl.py",
        "fixed_point.py", "toolchain/library.py", "data/splits.py", "papers/folds.py",
        "papers/training.py",
    )  # fmt: skip
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("one", "utf-8")
    monkeypatch.setattr(runs, "files", {"bncc": tmp_path}.__getitem__)
    first = digest()
    (tmp_path / "train" / "notes.txt").write_text("not a part", "utf-8")
    (tmp_path / "data" / "csv.py").write_text("not a part", "utf-8")
    assert digest() == first
    found = {first}
    for name in names:
        (tmp_path / name).write_text("two", "utf-8")
        found.add(digest())
    assert len(found) == 1 + len(names)
    digest_of.cache_clear()


def times(factor, call):
    return factor * call


def end(given, call):
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.parametrize("jobs", [1, 2])
def test_every_answer_comes_with_the_number_of_its_call(jobs):
    with workers(times, 10, jobs) as run:
        assert sorted(run([5, 7, 9])) == [(0, 50), (1, 70), (2, 90)]
        assert sorted(run([4])) == [(0, 40)]


def test_no_calls_have_no_answers():
    with workers(times, 10, 2) as run:
        assert list(run([])) == []


@pytest.mark.no_cover
def test_a_process_that_is_killed_is_told_of():
    with (
        pytest.raises(
            WorkerError,
            match="its worker was killed repeatedly, probably for lack of memory; use fewer --jobs",
        ),
        workers(end, None, 2) as run,
    ):
        list(run([1, 2]))


def test_what_is_known_or_comes_twice_is_not_made_again(path):
    made, told = [], []

    def double(_, call):
        made.append(call)
        return {"double": 2 * call}

    log = Log(path, PROGRAM)
    log.add("k3", {"double": 6})
    with kept(double, None, "k{}".format, log, 1) as run:
        found = run([1, 3, 1, 2], lambda *each: told.append(each))
        assert [result["double"] for result in found] == [2, 6, 2, 4]
        assert run([2], lambda *_: None) == [{"double": 4}]
    assert made == [1, 2]
    assert told == [
        (1, 3, 3, {"double": 6}), (2, 3, 1, {"double": 2}), (3, 3, 2, {"double": 4}),
    ]  # fmt: skip
    assert Log(path, PROGRAM)["k2"] == {"double": 4}
