"""The campaign of proofs: which programs it proves, what it repeats, and what it prints."""

from dataclasses import asdict

import pytest

from benchmarks.campaigns.proofs import (
    GOALS,
    Outcome,
    Programs,
    Proofs,
    open_ones,
    report,
)


def outcome(status: str = "proved", seconds: float = 1.0, **more: str) -> Outcome:
    """Return a verdict about `predict` of a program of satimage."""
    known = {"model": "satimage.naive.4", "target": "rv32", "entry": "predict", **more}
    return Outcome(
        optimize="size", kernel="lanes", status=status, reason="cells", instructions=9,
        seconds=seconds, level="-Os", **known,
    )  # fmt: skip


def test_programs_are_those_of_every_target_and_goal():
    assert list(Programs(["rv32", "avr"])) == [
        ("rv32", "size", "-Os"), ("rv32", "balanced", "-Os"), ("rv32", "speed", "-O2"),
        ("avr", "size", "-Os"), ("avr", "balanced", "-Os"), ("avr", "speed", "-Os"),
    ]  # fmt: skip


def test_programs_of_both_levels_have_names_of_their_own():
    """The names of those of the usual level do not change, so that a run knows their verdicts."""
    both, usual = (Programs(["rv32", "avr"], is_both) for is_both in (True, False))
    keys = [both.key("a.naive.4", *one) for one in both]
    assert len(set(keys)) == 9
    assert {usual.key("a.naive.4", *one) for one in usual} < set(keys)
    assert {"a.naive.4 rv32 size -O2", "a.naive.4 rv32 speed -Os"} < set(keys)


def test_tables_count_verdicts_and_seconds_of_proofs():
    outcomes = [
        outcome(),
        outcome(seconds=3.0),
        outcome("undecided", 90.0),
        outcome("refuted", model="letter.naive.4"),
    ]
    rows = [line.split("|")[1:-1] for line in report(outcomes, "data set").splitlines()]
    found = [[cell.strip() for cell in row] for row in rows if "predict " in row[1]]
    assert found == [
        ["satimage", "predict", "3", "2", "0", "1", "2.0", "3.0"],
        ["letter", "predict", "1", "0", "1", "0", "0.0", "0.0"],
    ]
    assert open_ones(outcomes) == [
        "satimage.naive.4 rv32 size -Os predict lanes: undecided, cells, 90.0 s",
        "letter.naive.4 rv32 size -Os predict lanes: refuted, cells, 1.0 s",
    ]


@pytest.fixture
def proofs(tmp_path):
    """Return a campaign that knows a proof, and a program without one."""
    for goal, status in (("size", "proved"), ("speed", "undecided")):
        kept = {k: x for k, x in asdict(outcome(status)).items() if k != "model"}
        Proofs(tmp_path, tmp_path)._known.put(f"satimage.naive.4 rv32 {goal}", [kept])
    return Proofs(tmp_path, tmp_path)


def test_a_later_run_knows_the_verdicts(proofs):
    assert [one.status for one in proofs.known(["satimage"])] == ["proved", "undecided"]
    assert proofs.known(["letter"]) == []


def test_what_was_not_proved_is_repeated_on_demand(proofs):
    keys = [f"satimage.naive.4 rv32 {goal}" for goal in GOALS]
    assert [proofs._is_done(key, again=False) for key in keys] == [True, False, True]
    assert [proofs._is_done(key, again=True) for key in keys] == [True, False, False]
