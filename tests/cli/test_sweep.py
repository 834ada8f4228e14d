"""``bncc sweep``: its output and files, its refusals, and its interruption."""

import json
import random
import shlex
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from click.testing import Result

from bncc.model.file import load_model
from bncc.search.study import read_study
from tests.cli.sweeping import SPACE, found_in

Run = Callable[..., Result]
RunJson = Callable[..., dict[str, Any]]
Refused = Callable[..., str]

TRIAL_KEYS = {
    "number", "params", "error_validation", "error_test", "bits", "flash", "instructions",
    "command",
}  # fmt: skip


@pytest.fixture
def options(tmp_path: Path, readings: Path) -> tuple[object, ...]:
    """Return the words of a small sweep that measures nothing."""
    space = tmp_path / "space.toml"
    space.write_text(SPACE)
    return (
        "sweep", readings, "--study", tmp_path / "s.db", "--space", space, "--target", "none",
        "--trials", 6, "--repeats", 2,
    )  # fmt: skip


def test_the_object_is_that_of_the_contract(
    run_json: RunJson, options: tuple[object, ...], tmp_path: Path
) -> None:
    found = run_json(*options)
    assert found["study"] == str(tmp_path / "s.db")
    assert (found["finished"], found["failed"]) == (6, 0)
    for trial in found["pareto"]:
        assert set(trial) >= TRIAL_KEYS
        assert 0 <= trial["error_validation"] <= 1
        assert (trial["error_test"], trial["flash"], trial["instructions"]) == (None, None, None)
    sizes = [(trial["bits"], trial["error_validation"]) for trial in found["pareto"]]
    assert sizes == sorted(sizes)
    assert [error for _, error in sizes] == sorted((e for _, e in sizes), reverse=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "readings.csv", "s.db", "space.toml",
    ]  # fmt: skip


def test_all_trials_are_written_as_a_table(
    run: Run, refused: Refused, options: tuple[object, ...], tmp_path: Path
) -> None:
    """The same table as that of ``bncc report``, also when no trial is left."""
    path = tmp_path / "trials.csv"
    assert f"wrote {path}: 6 trials" in run(*options, "-o", path).stderr
    run("report", tmp_path / "s.db", "-o", tmp_path / "report.csv")
    assert path.read_bytes() == (tmp_path / "report.csv").read_bytes()
    assert "use --force" in refused(*options, "-o", path)
    run(*options, "-o", tmp_path / "trials.parquet")
    assert len(pd.read_parquet(tmp_path / "trials.parquet")) == 6
    assert "not as 'trials.md'" in refused(*options, "-o", "trials.md")


def test_the_same_command_goes_on_and_does_nothing_twice(
    run: Run, run_json: RunJson, options: tuple[object, ...], tmp_path: Path
) -> None:
    run(*options, "--trials", 2)
    first = found_in(tmp_path / "s.db")
    assert sorted(first) == [0, 1]
    assert run_json(*options)["finished"] == 6
    assert run_json(*options, "--jobs", 2)["finished"] == 6
    found = found_in(tmp_path / "s.db")
    assert {k: found[k] for k in first} == first
    assert sorted(found) == list(range(6))
    # A number below the finished trials changes nothing.
    assert run_json(*options, "--trials", 1)["finished"] == 6


def test_people_see_the_front_and_the_next_command(
    run: Run, options: tuple[object, ...], tmp_path: Path
) -> None:
    result = run(*options)
    lines = result.stdout.splitlines()
    assert lines[0] == "Pareto front of 6 trials, not measured on a target"
    assert lines[1].split() == ["trial", "validation", "test", "bits", "options"]
    assert lines[-1].split(maxsplit=1) == ["next", f"bncc report {tmp_path}/s.db -o report.html"]
    assert result.stderr == ""


@pytest.mark.cc
def test_a_command_of_a_trial_gives_its_figures_again(
    run: Run, run_json: RunJson, options: tuple[object, ...], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch, require_bench: Callable[..., object],
) -> None:  # fmt: skip
    require_bench("x86")
    run(*options, "--target", "x86", "--trials", 2, "--test", tmp_path / "readings.csv", code=2)
    options = tuple("x86" if word == "none" else word for word in options)
    seed = random.randrange(10**6)
    print(f"seed {seed}")  # pytest shows it where the test fails
    run(*options, "--trials", 2, "--seed", seed, "--test", tmp_path / "readings.csv")
    (study,) = read_study(str(tmp_path / "s.db"))
    (tmp_path / "again").mkdir()
    monkeypatch.chdir(tmp_path / "again")
    for point in random.Random(seed).sample(study.points, 1):
        train, bench = (shlex.split(part) for part in point.command.split(" && "))
        again = run_json(*train[1:])
        assert [r["error_validation"] for r in again["repeats"]] == list(point.validation.errors)
        assert point.test is not None
        assert [r["error_test"] for r in again["repeats"]] == list(point.test.errors)
        facts = run_json(*bench[1:])["targets"]["x86"]
        cost = point.footprint("x86")
        assert cost is not None
        assert (facts["flash"], facts["ram"]) == (cost.flash, cost.ram)
        assert cost.entries == ("predict-raw",)
        spread = facts["raw"]["instructions"]
        assert (spread["mean"], spread["max"]) == (cost.mean, cost.most)


@pytest.mark.cc
def test_the_best_that_fits_is_picked(
    run: Run, run_json: RunJson, refused: Refused, options: tuple[object, ...], tmp_path: Path,
    require_bench: Callable[..., object],
) -> None:  # fmt: skip
    require_bench("x86")
    options = tuple("x86" if word == "none" else word for word in options)
    run(*options)
    (study,) = read_study(str(tmp_path / "s.db"))
    flashes = sorted({f.flash for p in study.points if (f := p.footprint("x86"))})
    limit, model = flashes[1], tmp_path / "best.bncc"
    found = run_json(*options, "--max-flash", limit, "--pick", model)
    point = next(p for p in study.points if p.number == found["best"])
    cost = point.footprint("x86")
    assert cost is not None
    assert cost.flash <= limit
    training = load_model(model).training
    assert training["error_validation"] == point.validation.errors[0]
    assert found["pick"] == str(model)
    least = min(
        p.validation.mean
        for p in study.points
        if (f := p.footprint("x86")) is not None and f.flash <= limit
    )
    assert point.validation.mean == least
    assert "use --force" in refused(*options, "--pick", model)
    text = run(*options, "--max-flash", limit, "--pick", model, "--force").stdout
    assert f"best within the budget  trial {point.number}," in text
    model.unlink()
    result = run(*options, "--max-flash", flashes[0] - 1, "--pick", model, code=1)
    assert "bncc: error: no trial fits the budget; the closest is trial" in result.stderr
    assert f"with {flashes[0]} bytes of flash" in result.stderr
    assert not model.exists()


def test_without_a_budget_the_least_error_is_picked(
    run_json: RunJson, options: tuple[object, ...], tmp_path: Path
) -> None:
    found = run_json(*options, "--pick", tmp_path / "m.bncc")
    (study,) = read_study(str(tmp_path / "s.db"))
    best = min(study.points, key=lambda p: (p.validation.mean, p.bits, p.number))
    assert found["best"] == best.number
    assert (tmp_path / "m.bncc").exists()


@pytest.mark.parametrize("sampler", ["tpe", "nsga2"])
def test_other_samplers_go_on_as_if_never_stopped(
    run: Run, options: tuple[object, ...], tmp_path: Path, sampler: str
) -> None:
    options = (*options, "--sampler", sampler, "--trials", 14, "--repeats", 1)
    run(*options, "--trials", 12)
    run(*options)
    run(*options, "--study", tmp_path / "whole.db")
    assert found_in(tmp_path / "s.db") == found_in(tmp_path / "whole.db")
    assert len({str(trial["params"]) for trial in found_in(tmp_path / "s.db").values()}) > 7


def test_trials_that_come_to_nothing_are_counted_and_replaced(
    run: Run, run_json: RunJson, options: tuple[object, ...], tmp_path: Path
) -> None:
    space = tmp_path / "space.toml"
    # The learner has no such option, which training reports and the space does not.
    when = "when = { structure = 'chow-liu' }"
    space.write_text(f"{SPACE}[structure-option.parents]\nvalue = 2\n{when}\n")
    result = run(*options, "-v")
    (study,) = read_study(str(tmp_path / "s.db"))
    assert len(study.points) == 6
    assert {point.family for point in study.points} == {"naive"}
    assert study.failed
    assert "further trials failed, the last one because unknown option" in (result.stderr)
    assert f"trial {min(study.failed)} failed: " in result.stderr
    assert run_json(*options)["failed"] == len(study.failed)
    numbers = [p.number for p in study.points] + list(study.failed)
    assert sorted(numbers) == list(range(len(numbers)))


def test_too_many_that_come_to_nothing_end_the_sweep(
    run: Run, options: tuple[object, ...], tmp_path: Path
) -> None:
    (tmp_path / "space.toml").write_text(SPACE + "[structure-option.parents]\nvalue = 2\n")
    result = run(*options, code=1)
    assert result.stderr.startswith("bncc: error: 11 trials failed, the last one because")
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("words", "difference"),
    [
        (("--seed", 7), "--seed is 0 there and 7 here"),
        (("--repeats", 3), "--repeats is 2 there and 3 here"),
        (("--sampler", "tpe"), "--sampler is random there and tpe here"),
        (("--objective", "bits"), "--objective is error and bits there and bits here"),
        (("--class", "color"), "the class column is class there and color here"),
        (("--drop", "slope"), "its rows differ from those of this command"),
        (("--space", "default"), "its space differs from that of this command"),
    ],
)
def test_a_study_of_something_else_is_refused(
    run: Run, refused: Refused, options: tuple[object, ...], words: tuple[object, ...],
    difference: str,
) -> None:  # fmt: skip
    run(*options, "--trials", 1)
    line = refused(*options, *words)
    assert difference in line
    assert line.endswith("name another --study")


@pytest.mark.parametrize("content", [b"", b"not a study", b"SQLite format 3\0" + bytes(200)])
def test_a_file_that_is_no_study_is_left_alone(
    refused: Refused, options: tuple[object, ...], tmp_path: Path, content: bytes
) -> None:
    (tmp_path / "s.db").write_bytes(content)
    assert refused(*options).endswith("contains no study of bncc; name another file or URL")
    assert (tmp_path / "s.db").read_bytes() == content


def test_entry_points_of_rules_are_refused(
    refused: Refused, options: tuple[object, ...], tmp_path: Path
) -> None:
    for rule in ("confidence", "filter", "unknown"):
        said = refused(*options, "--entry", rule)
        assert said.endswith(f"a sweep chooses no {rule}; leave out --entry {rule}")
    assert not (tmp_path / "s.db").exists()


def test_another_programs_database_is_left_alone(
    refused: Refused, options: tuple[object, ...], tmp_path: Path
) -> None:
    with closing(sqlite3.connect(tmp_path / "s.db")) as connection, connection:
        connection.execute("CREATE TABLE studies (x)")
    connection.close()
    content = (tmp_path / "s.db").read_bytes()
    assert "contains no study of bncc" in refused(*options)
    assert (tmp_path / "s.db").read_bytes() == content


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--study", "absent/s.db"), "cannot keep a study in 'absent/s.db'"),
        (("--study", "nonsense://x"), "'nonsense://x' is not a database URL"),
        (("--study", "mysql+nodriver://x/y"), "is not a database URL"),
        (("--baselines", "oak"), "unknown baseline 'oak'"),
        (("--objective", "flash"), "--objective flash needs a target; add --target"),
        (("--objective", "bits", "--objective", "bits"), "--objective bits is given twice"),
        (("--max-flash", "8k"), "--max-flash and --max-instructions need a target; add --target"),
        (("--max-flash", "8m"), "'8m' is not a number of bytes"),
        (("--target", "x86"), "--target none cannot be combined with another --target"),
        (("--time-limit", "soon"), "'soon' is not a time such as 30s, 10m or 2h"),
        (("--space", "absent.toml"), "space 'absent.toml' does not exist"),
        (("--trials", "0"), "Invalid value for '--trials'"),
        (("--pick", "absent/m.bncc"), "the directory 'absent' does not exist"),
        (("--test", "absent.csv"), "absent.csv"),
    ],
)
def test_what_makes_no_sense_is_refused(
    refused: Refused, options: tuple[object, ...], tmp_path: Path, words: tuple[str, ...],
    sentence: str,
) -> None:  # fmt: skip
    assert sentence in refused(*options, *words)
    assert not (tmp_path / "s.db").exists()


def test_a_time_limit_begins_no_more_trials(
    run: Run, options: tuple[object, ...], tmp_path: Path
) -> None:
    result = run(*options, "--time-limit", "0s")
    assert result.stdout == ""
    said = "bncc: time limit reached; 0 of 6 trials finished; repeat the command to resume\n"
    assert result.stderr == said
    table = tmp_path / "trials.csv"
    result = run(*options, "--time-limit", "0s", "-o", table)
    assert result.stderr == f"bncc: no trial has finished, so {table} is not written\n{said}"
    assert not table.exists()
    assert run(*options).stderr == ""


@pytest.mark.parametrize("package", ["optuna", "sqlalchemy"])
def test_a_package_that_is_missing_is_named(
    refused: Refused, options: tuple[object, ...], monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    line = refused(*options)
    remedy = "run `pip install -e '.[sweep]'` in bncc's clone"
    assert line == f"a study needs optuna and SQLAlchemy; {remedy}"


def test_other_compilers_are_noted(run: Run, options: tuple[object, ...], tmp_path: Path) -> None:
    run(*options, "--trials", 1)
    with closing(sqlite3.connect(tmp_path / "s.db")) as connection, connection:
        (facts,) = connection.execute("SELECT value_json FROM study_user_attributes").fetchone()
        changed = json.dumps(json.loads(facts) | {"toolchains": {"x86": "gcc 4"}})
        connection.execute("UPDATE study_user_attributes SET value_json = ?", (changed,))
    connection.close()
    result = run(*options, "--trials", 1)
    assert "compilers or simulators differ from those that" in result.stderr
