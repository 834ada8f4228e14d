"""The campaign of proofs: which programs it proves, what it repeats, and what it prints."""

from collections import Counter
from dataclasses import asdict
from itertools import product

import pytest

from benchmarks.campaigns.proofs import (
    CODE,
    STRUCTURES,
    TARGETS,
    Outcome,
    Programs,
    Proofs,
    added,
    models,
    open_ones,
    report,
)

GOALS = [goal for goal, _ in CODE]


def outcome(status: str = "proved", seconds: float = 1.0, **more: str) -> Outcome:
    """Return a verdict about `predict` of a program of satimage."""
    known = {"model": "satimage.naive.4", "target": "rv32", "entry": "predict", **more}
    return Outcome(
        optimize="size", kernel="lanes", status=status, reason="cells", instructions=9,
        seconds=seconds, **known,
    )  # fmt: skip


def test_a_sample_has_each_model_on_each_target_and_each_goal_of_each_structure():
    sample = Programs(is_sample=True)
    found = [
        (structure, bits, *program[:2])
        for _, structure, bits in models(["satimage"])
        for program in sample.of(structure, bits)
    ]
    assert len(found) == len(models(["satimage"])) * len(TARGETS)
    assert set(Counter((s, b, t) for s, b, t, _ in found).values()) == {1}
    assert {(s, g) for s, _, _, g in found} == set(product(STRUCTURES, GOALS))
    by_target = {(s, t, g) for s, _, t, g in found if s in ("naive", "chow-liu", "tables")}
    assert by_target == set(product(("naive", "chow-liu", "tables"), TARGETS, GOALS))


def test_all_programs_are_those_of_every_target_and_goal():
    assert [p[:2] for p in Programs(["rv32", "avr"]).of("naive", 4)] == [
        (target, goal) for target in ("rv32", "avr") for goal in GOALS
    ]


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
        "satimage.naive.4 rv32 size predict lanes: undecided, cells, 90.0 s",
        "letter.naive.4 rv32 size predict lanes: refuted, cells, 1.0 s",
    ]


def test_a_table_keeps_the_rows_of_other_data_sets():
    """In the order of the data sets; those of the same set are replaced."""
    others = [outcome(model=f"{name}.naive.4") for name in ("spambase", "letter")]
    known = report([*others, outcome("undecided")], "data set")
    new = report([outcome()], "data set")
    assert added(known, new) == report([others[0], outcome(), others[1]], "data set")
    assert added("", new) == new


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
