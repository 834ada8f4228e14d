"""Results that are known, kept in a file: of this program alone."""

import pytest

from bncc.errors import OptionError
from bncc.papers.run_log import RunLog, run_key

PROGRAM = ("discretize",)
SOME = {"error": 0.25, "parents": [[], [0]]}


@pytest.fixture
def path(tmp_path):
    RunLog(tmp_path / "log.jsonl", PROGRAM).add("a", SOME)
    return tmp_path / "log.jsonl"


def test_results_are_found_again(path):
    found = RunLog(path, PROGRAM)
    assert found["a"] == SOME
    assert "b" not in found


def test_without_a_file_results_are_in_memory():
    log = RunLog(None, PROGRAM)
    log.add("a", SOME)
    assert log["a"] == SOME


def test_a_line_cut_off_costs_no_other(path):
    with path.open("a", encoding="utf-8") as stream:
        stream.write('{"key": "b", "res')
    RunLog(path, PROGRAM).add("c", {"error": 0.5})
    found = RunLog(path, PROGRAM)
    assert (found["a"], found["c"]) == (SOME, {"error": 0.5})
    assert "b" not in found


def test_a_log_of_another_program_is_refused_and_left_alone(path):
    text = path.read_bytes()
    with pytest.raises(OptionError, match="another file with --checkpoint"):
        RunLog(path, ("discretize", "fixed_point.py"))
    assert path.read_bytes() == text


def test_a_file_that_is_no_log_is_refused(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("notes\n", "utf-8")
    with pytest.raises(OptionError, match="no checkpoint"):
        RunLog(path, PROGRAM)
    assert path.read_text("utf-8") == "notes\n"


def test_keys_tell_what_is_done_on_which_rows_and_how():
    keys = {
        run_key(*key)
        for key in (
            ("learn", "r", ["NB", 0]), ("learn", "r", ["NB", 1]), ("learn", "s", ["NB", 0]),
            ("judge", "r", ["NB", 0]),
        )
    }  # fmt: skip
    assert len(keys) == 4
    assert run_key("learn", "r", ["NB", 0]) == run_key("learn", "r", ("NB", 0))
