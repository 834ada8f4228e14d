"""A log keeps finished work through kills, and is never used for other work."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from bncc.errors import BnccError, CheckpointError, OptionError
from bncc.search.log import Log, key_of

HEAD = {"bncc": "1", "options": [1, 2.5, None]}


def refusal(theirs: Mapping[str, Any]) -> BnccError:
    return OptionError(f"other work: {theirs.get('bncc')}")


def opened(path: Path | None, **others: Any) -> Log:
    return Log(path, HEAD | others, refusal)


def test_what_was_added_is_there_for_the_next_reader(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "x.log"
    log = opened(path)
    assert "a" not in log
    assert log.get("a") is None
    assert log.add("a", {"error": 0.1 + 0.2, "sizes": (1, 2)}) == log["a"]
    log.add("a", {"error": 0.1})
    log.add("b", {"none": None})
    again = opened(path)
    assert again["a"] == {"error": 0.1}
    assert "b" in again
    assert [again["b"], log["b"]] == [{"none": None}] * 2


def test_results_are_those_of_a_reader_at_once() -> None:
    assert opened(None).add("a", {"sizes": (1, 2), "x": 1 / 3}) == {"sizes": [1, 2], "x": 1 / 3}


def test_a_line_that_was_cut_off_anywhere_is_forgotten(tmp_path: Path) -> None:
    path = tmp_path / "x.log"
    log = opened(path)
    log.add("a", {"n": 1})
    n_whole = path.stat().st_size
    log.add("b", {"n": 2})
    content = path.read_bytes()
    for n_bytes in range(n_whole, len(content)):
        path.write_bytes(content[:n_bytes])
        again = opened(path)
        assert "a" in again
        assert "b" not in again
        again.add("b", {"n": 3})
        assert opened(path)["b"] == {"n": 3}


def test_a_damaged_line_in_the_middle_loses_no_other(tmp_path: Path) -> None:
    path = tmp_path / "x.log"
    log = opened(path)
    log.add("a", {"n": 1})
    log.add("b", {"n": 2})
    head, _, b = path.read_bytes().splitlines(keepends=True)
    for damaged in (b"\xff\x00\n", b"[" * 10**5 + b"\n", b"[1]\n", b'{"key": 1, "result": {}}\n'):
        path.write_bytes(head + damaged + b)
        again = opened(path)
        assert "a" not in again
        assert again["b"] == {"n": 2}


def test_other_work_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.log"
    opened(path).add("a", {})
    before = path.read_bytes()
    with pytest.raises(OptionError, match="other work: 1"):
        opened(path, options=[1, 2])
    assert path.read_bytes() == before


@pytest.mark.parametrize("content", [b"", b"x,y\n1,2\n", b"no line", json.dumps(HEAD).encode()])
def test_what_is_no_log_is_refused_and_kept(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.log"
    path.write_bytes(content)
    with pytest.raises(OptionError, match="other work: None"):
        opened(path)
    assert path.read_bytes() == content


def test_a_folder_that_cannot_be_written_to_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(CheckpointError, match=r"cannot write .*make room"):
        opened(tmp_path / "file" / "x.log")
    log = opened(tmp_path / "x.log")
    (tmp_path / "x.log").unlink()
    (tmp_path / "x.log").mkdir()
    with pytest.raises(CheckpointError, match="cannot write"):
        log.add("a", {})


def test_removed_it_is_gone(tmp_path: Path) -> None:
    log = opened(tmp_path / "x.log")
    log.remove()
    log.remove()
    opened(None).remove()
    assert list(tmp_path.iterdir()) == []


def test_keys_tell_values_apart_and_know_no_order() -> None:
    assert key_of("a", {"x": 1, "y": 2}) == key_of("a", {"y": 2, "x": 1})
    assert len({key_of("a", 1), key_of("a", 1.5), key_of("b", 1), key_of("a", "1")}) == 4
