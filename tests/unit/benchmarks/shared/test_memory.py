"""Values that an earlier run has computed."""

import pytest

from benchmarks.shared.memory import Memory


def test_a_value_is_computed_once_even_in_another_run(tmp_path):
    path, n_computed = tmp_path / "folder" / "known.jsonl", []

    def compute():
        n_computed.append(1)
        return {"flash": 900, "none": None}

    first = Memory(path)
    assert "a" not in first
    assert first.get("a", compute) == first["a"] == {"flash": 900, "none": None}
    assert first.get("a", compute) == Memory(path).get("a", compute)
    assert len(n_computed) == 1


def test_a_line_that_a_killed_run_has_left_is_computed_again(tmp_path):
    path = tmp_path / "known.jsonl"
    Memory(path).get("a", lambda: 1)
    with path.open("a") as file:
        file.write('{"key": "b", "val')
    assert Memory(path).get("b", lambda: 2) == 2
    assert [Memory(path)[key] for key in "ab"] == [1, 2]


def test_what_fails_is_not_known(tmp_path):
    memory = Memory(tmp_path / "known.jsonl")
    with pytest.raises(ZeroDivisionError):
        memory.get("a", lambda: 1 // 0)
    assert "a" not in memory


def test_a_value_that_is_put_replaces_an_earlier_one(tmp_path):
    first = Memory(tmp_path / "known.jsonl")
    first.put("a", 1)
    first.put("a", 2)
    assert first["a"] == 2
    assert Memory(tmp_path / "known.jsonl")["a"] == 2
