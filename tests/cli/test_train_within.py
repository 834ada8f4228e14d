"""``bncc train --max-flash``: the best model that fits, and the command that emits it."""

import json
import re
import shlex
import signal
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from bncc.data.readers import bundled_path
from bncc.errors import BudgetError
from bncc.lower import request
from bncc.lower.kernels.families import FAMILIES as FAMILIES_OF_KERNELS
from bncc.model.file import load_model, to_bytes
from bncc.search import budget_search as search
from bncc.search.ensemble_race import JudgedSum
from bncc.search.families import FAMILIES, NETWORKS
from bncc.train.train_model import NO_FRONT
from tests.cli.building import code_verified
from tests.cli.conftest import Searched, write_csv

Run = Callable[..., Result]
RunJson = Callable[..., dict[str, Any]]
Refused = Callable[..., str]


@pytest.fixture(scope="module")
def wifi() -> Path:
    return Path(bundled_path("wifi"))


def test_json_tells_what_was_tried_and_what_it_takes(
    run_json: RunJson, few: Path, tmp_path: Path
) -> None:
    model = tmp_path / "m.bncc"
    options = ("--structure", "naive", "--epochs", "4", "--target", "cortex-m0")
    facts = run_json("train", few, "-o", model, "--max-flash", "1k", *options)
    assert facts["budget"] == {"flash": 1024, "instructions": None, "target": "cortex-m0"}
    assert facts["price"]["flash"] <= 1024
    assert facts["price"]["optimize"] in ("size", "balanced", "speed")
    assert {one["structure"] for one in facts["tried"]} == {"naive"}
    assert facts["structure"] == "naive"
    assert facts["prefer"] == "balanced"
    (chosen,) = (one for one in facts["front"] if one["chosen"])
    assert {key: value for key, value in chosen.items() if key != "chosen"} in facts["tried"]
    assert chosen["price"] == facts["price"]
    assert facts["half"]["budget"] == {"flash": 512, "instructions": None}
    assert facts["half"]["price"]["flash"] <= 512
    assert model.exists()


@pytest.mark.long
def test_the_recorded_goal_reproduces_what_it_takes(
    run: Run, run_json: RunJson, few: Path, tmp_path: Path
) -> None:
    """The fastest layout that fits is that of its goal within the budget."""
    model = tmp_path / "m.bncc"
    options = ("--structure", "naive", "--parameters", "ml", "--max-flash", "2k")
    facts = run_json("train", few, "-o", model, *options)
    smaller = run_json("train", few, "-o", tmp_path / "s.bncc", *options[:-1], "300")
    assert facts["price"]["optimize"] != smaller["price"]["optimize"]
    assert facts["price"]["instructions"] < smaller["price"]["instructions"]
    target = ("--target", "cortex-m0", "--json")
    options = ("--optimize", facts["price"]["optimize"], "--max-flash", "2k")
    out = run("emit-c", model, "-o", tmp_path / "c", *target, *options).stdout
    assert json.loads(out)["resources"] == facts["resources"]
    assert facts["resources"]["room"] == 2048
    assert facts["resources"]["flash"] <= 2048 <= facts["resources"]["limit"]


@pytest.mark.long
def test_a_layout_chosen_by_a_limit_is_the_one_that_is_emitted_and_verified(
    run: Run, run_json: RunJson, wifi: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without another build, although a faster layout exists that does not fit."""
    model = tmp_path / "m.bncc"
    shape = ("--structure", "naive", "--parameters", "ml", "--target", "cortex-m0")
    budget = ("--max-flash", "750", "--reserve", "100")
    out = run("train", wifi, "-o", model, *shape, *budget).stdout
    facts = load_model(model).training["resources"]
    assert (facts["optimize"], facts["room"]) == ("speed", 650)
    assert facts["flash"] <= 650
    commands = ("bncc verify", "bncc emit-c")
    lines = [line for line in out.splitlines() if any(each in line for each in commands)]
    verified, emitted = map(str.split, lines)
    monkeypatch.setattr("bncc.pricing.priced", None)  # no build
    emitted = emitted[emitted.index("emit-c") :]
    assert emitted[-4:] == ["--max-flash", "750", "--reserve", "100"]
    found = json.loads(run(*emitted, "--json").stdout)
    assert found["resources"] == facts
    fastest = run_json("emit-c", model, "-o", tmp_path / "f", "--optimize", "speed")
    assert fastest["layout"] != found["layout"]
    code = json.loads(run(*verified[verified.index("verify") :], "--json").stdout)
    assert code["agree"]
    assert code["targets"]["cortex-m0"]["kernel"] == found["kernel"]
    within = ("--max-flash", "650", *verified[verified.index("--target") :][:4])
    measured = run_json("bench", model, *within)["targets"]["cortex-m0"]
    assert measured["resources"]["flash"] == facts["flash"]
    assert run_json("bench", model, *within[2:])["targets"] != {"cortex-m0": measured}


@pytest.mark.firmware
def test_the_command_that_is_printed_keeps_a_limit_of_instructions(
    run: Run, few: Path, tmp_path: Path, require_bench: Callable[..., object]
) -> None:
    """The C of the default goal of ``emit-c`` takes more."""
    require_bench("cortex-m0")
    options = ("--structure", "naive", "--parameters", "ml", "--target", "cortex-m0")
    model, most = tmp_path / "m.bncc", 300
    out = run("train", few, "-o", model, *options, "--max-instructions", most).stdout
    (line,) = (line for line in out.splitlines() if "bncc emit-c" in line)
    words = [*shlex.split(line)[1:], "--json"]
    emitted = json.loads(run(*words).stdout)["resources"]
    assert emitted == load_model(model).training["resources"]
    assert emitted["instructions"]["predict-raw"]["max"] <= most
    goal = words.index("--optimize")
    others = json.loads(run(*words[:goal], *words[goal + 2 :], "--force").stdout)["resources"]
    assert others["instructions"]["predict-raw"]["max"] > most


def test_the_preference_is_told_and_takes_two_words_for_time(
    run: Run, run_json: RunJson, few: Path, tmp_path: Path, bare: None
) -> None:
    options = ("--structure", "naive", "--parameters", "ml", "--max-flash", "600")
    for asked, told in (("error", "error"), ("time", "balanced"), ("balanced", "balanced")):
        model = tmp_path / f"{asked}.bncc"
        assert run_json("train", few, "-o", model, *options, "--prefer", asked)["prefer"] == told
    result = run("train", few, "-o", tmp_path / "n.bncc", *options[:4], "--prefer", "error")
    assert "--prefer has no effect without --max-flash or --max-instructions" in result.stderr


@pytest.mark.parametrize("structure", ["tables", "naive"])
def test_the_recorded_options_train_the_same_model_without_a_search(
    run: Run, run_json: RunJson, few: Path, searched: Searched, tmp_path: Path, structure: str
) -> None:
    found, again = tmp_path / "m.bncc", tmp_path / "again.bncc"
    if structure == "tables":
        found.write_bytes(searched.model)
    else:
        run("train", few, "-o", found, "--structure", "naive", "--epochs", "3", "--max-flash", "1k")
    facts = run_json("inspect", found)
    assert "--bits" in facts["options"]
    assert ("--effort" in facts["options"]) == (structure == "naive")
    assert shlex.join(facts["options"]) in run("inspect", found).stdout
    run("train", few, "-o", again, "--folds", "0", *facts["options"])
    assert run_json("inspect", again)["options"] is None
    one, other = (replace(load_model(path), training={}) for path in (found, again))
    assert to_bytes(one) == to_bytes(other)


def test_people_see_what_it_takes_and_how_to_emit_it(run: Run, searched: Searched) -> None:
    out = searched.said
    assert "bytes of flash" in out
    assert re.search(r"^tables .*\w at most \d bits \(chosen\)  ", out, re.MULTILINE)
    assert "\ntrade-offs " in out
    assert "\nfront " not in out  # a front is one of sure leaves
    assert re.search(
        r"^half +\d+\.\d+ % validation, \d+ bytes, [\d,]+ instructions: tables", out, re.M
    )
    assert "each in a layout that fits there" in out
    (line,) = (line for line in out.splitlines() if "emit-c" in line)
    words = line.split()
    emitted = run(*words[words.index("emit-c") :], "--force", "--json")
    assert json.loads(emitted.stdout)["kernel"]


TIMED = ("--part", "stm32f030", "--clock", "24M")
NEXT = {
    ("--max-flash", "400"): {"raw"},
    ("--max-flash", "2k", "--entry", "checked", "--with", "stream", "--with", "scores"): {
        "checked", "stream", "scores",
    },
    ("--max-flash", "1k", "--reserve", "200", "--with", "scores"): {"raw", "scores"},
    ("--max-instructions", "400", "--entry", "trusted"): {"trusted"},
    ("--max-flash", "2k", "--entry", "scores", *TIMED): {"scores"},
    ("--max-flash", "1k", "--target", "avr", "--clock", "16M"): {"raw"},
}  # fmt: skip


@pytest.mark.parametrize("options", NEXT)
def test_the_next_step_builds_the_c_that_was_priced(
    run: Run, few: Path, tmp_path: Path, bare: None, options: tuple[str, ...]
) -> None:
    """``emit-c`` writes it, and ``verify`` compares it with further functions."""
    if "--part" in options:
        pytest.importorskip("capstone", reason="capstone is not installed")
    model, shape = tmp_path / "m.bncc", ("--structure", "naive", "--parameters", "ml")
    out = run("train", few, "-o", model, *shape, *options).stdout
    lines = [shlex.split(line) for line in out.splitlines() if " --optimize " in line]
    verify, emit = (line[line.index("bncc") + 1 :] for line in lines)
    record = load_model(model).training["resources"]
    assert json.loads(run(*emit, "--json").stdout)["resources"]["code"] == record["code"]
    assert code_verified(model, verify[1:], frozenset(NEXT[options])) == record["code"]
    assert ("--max-flash" in emit) == ("--max-flash" in verify) == ("--max-flash" in options)


@pytest.mark.long
def test_a_model_for_proofs_has_a_provable_layout(
    run: Run,
    run_json: RunJson,
    refused: Refused,
    few: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shape = ("--structure", "naive", "--parameters", "ml", "--max-flash", "600")
    kernels: list[str] = []
    for options in ((), ("--provable",)):
        monkeypatch.setattr(request, "PROVABLE", FAMILIES_OF_KERNELS.keys() - kernels)
        out = run("train", few, "-o", tmp_path / f"{len(options)}.bncc", *shape, *options).stdout
        verify, emit = (line.split() for line in out.splitlines() if " --optimize " in line)
        assert ("--provable" in emit) == ("--provable" in verify) == bool(options)
        assert (verify[-1] == "--prove") == bool(options)
        kernels.append(run_json(*emit[emit.index("emit-c") :], "--force")["kernel"])
    assert len(set(kernels)) == 2
    line = refused("train", few, "-o", tmp_path / "m", *shape, "--provable", "--target", "host")
    assert "proofs do not cover host" in line
    line = refused("train", few, "-o", tmp_path / "m", *shape, "--provable", "--entry", "checked")
    assert "not checked; name some of these with --entry" in line


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("--repeats", "2"), "--repeats"),
        (("--bits", "4"), "--bits"),
        (("--int-bits", "2", "--frac-bits", "1"), "--int-bits"),
        (("--float",), "--float"),
        (
            ("--structure", "tables", "--structure-option", "rows=8"),
            "--structure-option rows",
        ),
    ],
)
def test_what_a_search_has_no_use_for_is_refused(
    refused: Refused, few: Path, tmp_path: Path, options: tuple[str, ...], named: str
) -> None:
    line = refused("train", few, "-o", tmp_path / "m", "--max-flash", "1k", *options)
    assert f"{named} does not apply to a budget search; leave it out" in line


@pytest.mark.parametrize("option", [("--parameters", "free"), ("--engine", "torch")])
def test_options_of_networks_leave_sums_out_of_a_search(
    run: Run, few: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, option: tuple[str, str]
) -> None:
    asked: list[tuple[str, ...]] = []

    def search(given: Any, families: tuple[str, ...], *others: Any, **options: Any) -> None:
        asked.append(families)
        raise BudgetError("nothing is searched here")

    # A failure prints notes only with --verbose.
    monkeypatch.setattr("bncc.search.budget_search.searched", search)
    given = ("train", few, "-o", tmp_path / "m", "--max-flash", "1k", "-v")
    said = run(*given, *option, code=1).stderr
    assert f"boosted tables are not tried, as they do not support {' '.join(option)}" in said
    run(*given, code=1)
    assert asked == [NETWORKS, FAMILIES]


def test_a_sum_that_is_named_is_not_left_out_for_other_options(
    refused: Refused, few: Path, tmp_path: Path
) -> None:
    named = ("--structure", "tables", "--parameters", "free", "--max-flash", "1k")
    assert "leave out --parameters" in refused("train", few, "-o", tmp_path / "m", *named)


def test_a_budget_that_nothing_fits_is_exceeded(
    refused: Refused, few: Path, tmp_path: Path, bare: None
) -> None:
    shape = ("--structure", "naive", "--epochs", "2", "--max-flash", "20")
    line = refused("train", few, "-o", tmp_path / "m", *shape, code=1)
    assert "no candidate fits in 20 bytes of flash on cortex-m0" in line
    assert not (tmp_path / "m").exists()


def test_ctrl_c_ends_the_search_with_the_best_by_then(
    run: Run, few: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = tmp_path / "m.bncc"
    judge = search.judged_sums

    def interrupted(*given: Any) -> Iterator[JudgedSum]:
        for one in judge(*given):
            yield one
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(search, "judged_sums", interrupted)
    shape = ("--structure", "tables", "--epochs", "2", "--max-flash", "450")
    result = run("train", few, "-o", model, *shape, code=130)
    assert result.stderr == f"bncc: stopped after 2 candidates; '{model}' is the best of them\n"
    assert load_model(model).training["error_validation"] < 0.2
    words = "search stopped early, after 2 candidates"
    assert re.search(rf"^training +{words}$", run("inspect", model).stdout, re.MULTILINE)
    run("emit-c", model, "-o", tmp_path / "c")
    assert f" *   training    {words}\n" in (tmp_path / "c" / "m.h").read_text("utf-8")


def test_a_front_that_is_dropped_in_the_final_training_is_a_warning_and_a_key(
    run: Run, few: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bare: None
) -> None:
    monkeypatch.setattr("bncc.train.train_model._front_notes", lambda *_: [NO_FRONT])
    options = ("--structure", "naive", "--parameters", "ml", "--max-flash", "600")
    result = run("train", few, "-o", tmp_path / "m.bncc", *options, "--quiet", "--json")
    assert result.stderr == f"bncc: {NO_FRONT}\n"
    assert json.loads(result.stdout)["front_dropped"]


def test_one_class_is_the_same_error_with_and_without_a_budget(refused, tmp_path):
    """Not too few rows for a validation set, which more rows of the class would not change."""
    data = write_csv(tmp_path / "one.csv", ["a", "class"], [[k, "x"] for k in range(4)])
    for budget in ((), ("--max-flash", "2k")):
        said = refused("train", data, "-o", tmp_path / "m.bncc", *budget)
        assert said == (
            "the class column 'class' contains a single class, 'x'; add rows of a second one"
        )
