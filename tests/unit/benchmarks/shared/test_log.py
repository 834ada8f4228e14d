"""Log of measurements: all are read back except a line truncated by a kill."""

from dataclasses import replace

from benchmarks.fit.cost_samples import Sample, known_samples
from benchmarks.shared.log import appending

ONE = Sample("a", "", "model", "lanes", "avr", "-O2", 1, 2, (1.0, 2.0), (3.0,), 4.0, 5.0, None)


def test_the_last_result_of_a_key_is_known_and_a_line_cut_off_is_passed_over(tmp_path):
    log = tmp_path / "new" / "log.jsonl"
    assert known_samples(log) == {}
    with appending(log) as append:
        append(ONE)
        append(replace(ONE, key="b"))
        append(replace(ONE, trusted=7.0))
    log.write_text(log.read_text("utf-8") + '{"key": "b", "tru', "utf-8")
    with appending(log) as append:
        append(replace(ONE, key="c"))
    assert known_samples(log) == {
        "a": replace(ONE, trusted=7.0),
        "b": replace(ONE, key="b"),
        "c": replace(ONE, key="c"),
    }
