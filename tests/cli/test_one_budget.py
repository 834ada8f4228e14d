"""One rule for all budgets: what ``train`` accepts, ``emit-c`` and ``bench`` accept."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bncc.cli.lowering import Emissions, Lowering
from bncc.data.readers import bundled_path, read_table
from bncc.data.target import dataset_of
from bncc.device.cross import Toolchain
from bncc.emit.emitter import emit_c
from bncc.emit.provenance import code_digest
from bncc.errors import ModelError, OptionError
from bncc.model.file import load_model, save_model
from bncc.model.model import Model
from bncc.pricing import entries_of, options_of, price_of, priced, recorded, with_resources
from bncc.resources import Budget, Resources
from bncc.train.fit_tables import fit_sum
from bncc.train.settings import TrainSettings
from tests.cli.building import built_by, codes_of_checks
from tests.cli.conftest import invoke, no_tools
from tests.models import NAMED, possible_entries, sum_of_tables, tan_float
from tests.ranged import ranged
from tests.tiers import examples

RunJson = Callable[..., dict[str, Any]]
Refused = Callable[..., str]

TARGETS = (None, "avr", "cortex-m0", "cortex-m4", "rv32", "big-endian", "x86", "host")
EXTRAS = ("raw", "scores", "missing", "stream", "trusted")


def words_of(budget: Budget, resources: Resources) -> list[object]:
    """Return the options of ``emit-c`` for the C that a budget was found to admit."""
    words: list[object] = [] if budget.target is None else ["--target", budget.target]
    words += ["--optimize", resources.optimize]
    words += [word for name in sorted(budget.extras) for word in ("--with", name)]
    words += [word for name in budget.entries for word in ("--entry", name)]
    return words


def limits_of(budget: Budget) -> list[object]:
    return ["--max-flash", budget.flash, "--reserve", budget.reserve, "--max-ram", budget.ram]


def tight(model: Model, budget: Budget) -> tuple[Budget, Resources]:
    """Return the least budget that admits a model, and the footprint of the model."""
    found = price_of(model, budget)
    limits = replace(
        budget,
        flash=found.flash + budget.reserve,
        ram=found.ram + found.stack,
        instructions=budget.instructions and found.slowest,
    )
    assert limits.admits(found)
    return limits, found


@st.composite
def budgets(draw: st.DrawFn, targets: tuple[str | None, ...]) -> tuple[str, Budget]:
    """Draw a model by name, and the requested options."""
    name = draw(st.sampled_from(sorted(NAMED)))
    extras = draw(st.sets(st.sampled_from(EXTRAS), max_size=2)) & possible_entries(NAMED[name]())
    entries = draw(st.sampled_from([(), ("predict",), ("trusted", "scores"), ("predict-raw",)]))
    return name, Budget(
        draw(st.sampled_from(targets)),
        instructions=draw(st.sampled_from([None, 10**9])),
        reserve=draw(st.sampled_from([0, 100])),
        entries=entries,
        extras=frozenset(extras),
    )


def accepted(name: str, budget: Budget, *, is_recorded: bool) -> tuple[Budget, dict[str, Any]]:
    """Emit a model within the least budget of ``train``; return that budget and the output."""
    model = NAMED[name]()
    limits, found = tight(model, budget)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "m.bncc"
        save_model(with_resources(model, found) if is_recorded else model, path)
        options = [*words_of(limits, found), *limits_of(limits)]
        result = invoke("emit-c", path, "-o", Path(folder) / "c", *options, "--json")
    assert result.exit_code == 0, result.output
    facts = json.loads(result.stdout)["resources"]
    again = Resources.from_json(facts)
    assert limits.admits(replace(again, instructions=found.instructions, cycles=found.cycles))
    assert (again.flash, again.entries) == (found.flash, found.entries)
    return limits, facts


@settings(max_examples=examples(25), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_what_train_accepts_emit_c_accepts_by_estimate(data: st.DataObject) -> None:
    name, budget = data.draw(budgets(TARGETS))
    with pytest.MonkeyPatch.context() as patch:
        no_tools(patch)
        try:
            _, facts = accepted(name, budget, is_recorded=data.draw(st.booleans()))
        except (ModelError, OptionError) as error:
            pytest.fail(str(error))
    assert facts["how"] == "estimated"


@pytest.mark.parametrize("target", ["avr", "cortex-m0"])
def test_what_train_accepts_emit_c_accepts_without_optimize(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    no_tools(monkeypatch)
    model = NAMED["pseudo_tan"]()
    limits, found = tight(model, Budget(target))
    path = tmp_path / "m.bncc"
    save_model(model, path)
    options = ["--target", target, "--max-flash", limits.flash]
    named = invoke("emit-c", path, "-o", tmp_path / "c", *options, "--optimize", "balanced")
    assert (named.exit_code, "use --optimize size" in named.stderr) == (1, True)
    result = invoke("emit-c", path, "-o", tmp_path / "m", *options, "--json")
    assert result.exit_code == 0, result.output
    assert "the C uses --optimize size" in result.stderr
    assert json.loads(result.stdout)["resources"]["flash"] == found.flash
    words = " ".join((tmp_path / "m" / "m.h").read_text().replace("\n *", " ").split())
    assert f"--max-flash {limits.flash} --optimize size --target {target}" in words


@pytest.mark.firmware
@pytest.mark.parametrize("name", ["pseudo_tan", "sum_of_tables"])
def test_bench_retreats_to_the_smallest_code_as_emit_c_does(
    require_bench: Callable[[str], Toolchain], tmp_path: Path, name: str
) -> None:
    require_bench("cortex-m0")
    model = NAMED[name]()
    limits, _ = tight(model, Budget("cortex-m0"))
    path = tmp_path / "m.bncc"
    save_model(model, path)
    options = ["--target", "cortex-m0", "--max-flash", limits.flash, "--json"]
    named = invoke("bench", path, *options, "--optimize", "balanced")
    assert named.exit_code == 1, named.output
    found = []
    for words in (["emit-c", path, "-o", tmp_path / "c"], ["bench", path, "--rows", 20]):
        result = invoke(*words, *options)
        assert result.exit_code == 0, result.output
        which = "" if words[0] == "emit-c" else " for cortex-m0"
        said = f"no balanced code{which} fits the budget; the C uses --optimize size"
        assert said in result.stderr
        facts = json.loads(result.stdout)
        found.append(facts.get("resources") or facts["targets"]["cortex-m0"]["resources"])
    for key in ("code", "flash", "optimize", "opt_level", "entries"):
        assert found[0][key] == found[1][key]


@pytest.mark.firmware
def test_verify_and_prove_retreat_to_the_smallest_code_at_its_level(
    require_bench: Callable[[str], Toolchain], tmp_path: Path
) -> None:
    """As ``emit-c`` does, unless a goal is named."""
    require_bench("cortex-m0")
    model = NAMED["pseudo_tan"]()
    limits, found = tight(model, Budget("cortex-m0"))
    smallest = emit_c(model, options_of(model, limits, found.optimize))
    path = tmp_path / "m.bncc"
    save_model(model, path)
    words = (path, "--target", "cortex-m0", "--max-flash", limits.flash)
    roomy = (path, "--target", "cortex-m0", "--max-flash", "64k")
    for command in ("verify", "prove"):
        named = invoke(command, *words, "--optimize", "balanced")
        assert (named.exit_code, "use --optimize size" in named.stderr) == (1, True)
        less = invoke(command, *words[:-1], limits.flash - 1)
        assert (less.exit_code, "--optimize size" in less.stderr) == (1, False)
        assert f"needs {limits.flash} bytes of flash: raise" in less.stderr
        emission, level, said = built_by(command, *words)
        assert "no balanced code for cortex-m0 fits the budget; the C uses --optimize size" in said
        assert (emission.options.optimize, level) == ("size", "-Os")
        assert emission.choice.kernel.summary == smallest.choice.kernel.summary
        emission, level, said = built_by(command, *roomy)
        assert (emission.options.optimize, level) == ("balanced", "-O2")
        assert "fits the budget" not in said
        assert built_by(command, *roomy, "--optimize", "size")[1] == "-Os"
        assert built_by(command, *roomy, "--opt-level", "3")[1] == "-O3"


def test_bench_exceeds_a_budget_where_no_target_has_a_layout_within(tmp_path: Path) -> None:
    """Exit code 1, as with a named target, and with a named kernel."""
    path = tmp_path / "m.bncc"
    save_model(NAMED["pseudo_tan"](), path)
    for words in ([], ["--kernel", "plain"]):
        result = invoke("bench", path, "--max-flash", 10, "--rows", 5, *words)
        assert result.exit_code == 1, result.output
        assert "in 10 bytes of flash" in result.stderr


def test_a_refusal_names_the_reserve(tmp_path: Path, refused: Refused) -> None:
    save_model(NAMED["pseudo_tan"](), tmp_path / "m.bncc")
    options = ["--max-flash", 210, "--reserve", 200]
    said = refused("emit-c", tmp_path / "m.bncc", "-o", tmp_path / "c", *options, code=1)
    assert "no kernel fits in 10 bytes of flash with 200 reserved" in said


@pytest.mark.firmware
@pytest.mark.parametrize("target", ["avr", "cortex-m0"])
@settings(
    max_examples=2,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(data=st.data())
def test_what_train_accepts_emit_c_and_bench_accept_as_measured(
    require_bench: Callable[[str], Toolchain], target: str, data: st.DataObject
) -> None:
    require_bench(target)
    check_measured(data, target)


@pytest.mark.slow
@pytest.mark.firmware
@settings(
    max_examples=examples(60),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(data=st.data())
def test_on_every_target_as_measured(
    require_bench: Callable[[str], Toolchain], data: st.DataObject
) -> None:
    target = data.draw(st.sampled_from(TARGETS))
    require_bench("x86" if target == "host" else target or "cortex-m0")
    check_measured(data, target)


def check_measured(data: st.DataObject, target: str | None) -> None:
    name, budget = data.draw(budgets((target,)))
    limits, facts = accepted(name, budget, is_recorded=data.draw(st.booleans()))
    assert facts["how"] == "measured"
    if target is None or limits.extras:
        return  # bench has neither generic C nor --with
    found = Resources.from_json(facts)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "m.bncc"
        save_model(NAMED[name](), path)
        result = invoke("bench", path, *words_of(limits, found), "--json")
    assert result.exit_code == 0, result.output
    facts = json.loads(result.stdout)["targets"][target]
    assert limits.admits(Resources.from_json(facts["resources"]))


@pytest.mark.firmware
def test_what_was_measured_is_accepted_where_no_tool_is_installed(
    require_bench: Callable[[str], Toolchain],
    run_json: RunJson,
    refused: Refused,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Measured bytes are fewer than estimated ones here; the record of the same C decides."""
    require_bench("cortex-m0")
    model = sum_of_tables()
    limits, found = tight(model, Budget("cortex-m0"))
    save_model(with_resources(model, found), tmp_path / "m.bncc")
    no_tools(monkeypatch)
    options = ["-o", tmp_path / "c", *words_of(limits, found), "--max-flash", limits.flash]
    facts = run_json("emit-c", tmp_path / "m.bncc", *options, "--force")
    assert facts["estimate"]["flash"] > limits.flash == facts["resources"]["flash"]
    assert facts["resources"]["how"] == "measured"
    renamed = run_json("emit-c", tmp_path / "m.bncc", *options, "--name", "other", "--force")
    assert renamed["resources"] == facts["resources"]
    save_model(model, tmp_path / "bare.bncc")
    assert "no kernel fits" in refused("emit-c", tmp_path / "bare.bncc", *options, code=1)


def test_a_record_of_other_c_is_passed_over(bare: None) -> None:
    model = tan_float()
    budget = Budget("cortex-m0")
    found = price_of(model, budget)
    record = with_resources(model, found)
    emission = emit_c(record, options_of(model, budget, "size"))
    assert recorded(record, emission, "cortex-m0") == found
    assert recorded(record, emission, "cortex-m4") is None
    assert recorded(model, emission, "cortex-m0") is None
    other = emit_c(record, options_of(model, budget, "balanced"))
    assert recorded(record, other, "cortex-m0") in (None, found)
    changed = with_resources(model, replace(found, code="0" * 64))
    assert recorded(changed, emission, "cortex-m0") is None
    for damaged in (3, {}, {"flash": 1}, None):
        forged = replace(model, training={**model.training, "resources": damaged})
        assert recorded(forged, emission, "cortex-m0") is None


def test_generic_c_is_priced_on_a_cortex_m0(bare: None) -> None:
    model = tan_float()
    options = options_of(model, Budget(None), "balanced")
    found = priced(model, emit_c(model, options), options, None)
    assert (options.target, found.target, found.how) == (None, "cortex-m0", "estimated")


@pytest.mark.firmware
def test_a_budget_of_scores_counts_the_scores(
    require_bench: Callable[[str], Toolchain],
) -> None:
    """1,556 bytes became 1,882 when the scores were linked, which no budget had counted."""
    require_bench("cortex-m0")
    model = NAMED["naive_integer"]()
    alone = price_of(model, Budget("cortex-m0"))
    both = price_of(model, Budget("cortex-m0", extras=frozenset({"scores"})))
    assert both.entries == ("predict-raw", "scores")
    assert both.flash > alone.flash
    assert set(both.spans) == {"predict-raw", "scores"}
    assert entries_of(model, Budget(None, entries=("trusted",))) == ("trusted",)


def test_reserved_bytes_are_no_part_of_the_budget(
    run_json: RunJson, refused: Refused, tmp_path: Path, bare: None
) -> None:
    save_model(tan_float(), tmp_path / "m.bncc")
    options = ("emit-c", tmp_path / "m.bncc", "-o", tmp_path / "c", "--optimize", "size")
    flash = run_json(*options, "--target", "cortex-m0")["resources"]["flash"]
    assert run_json(*options, "--force", "--max-flash", flash + 100, "--reserve", 100)
    line = refused(*options, "--force", "--max-flash", flash + 99, "--reserve", 100, code=1)
    assert f"no kernel fits in {flash - 1} bytes of flash" in line
    assert "leaves nothing of --max-flash" in refused(
        *options, "--force", "--max-flash", "1k", "--reserve", "1k"
    )
    assert "has no effect without --max-flash" in refused(*options, "--force", "--reserve", "1k")


def test_the_record_of_train_is_in_the_model_file(
    run_json: RunJson, tmp_path: Path, bare: None
) -> None:
    from bncc.data.readers import bundled_path

    path = tmp_path / "m.bncc"
    options = ("--structure", "naive", "--parameters", "ml", "--target", "nrf51822")
    scores = ("--with", "scores", "--entry", "scores", "--reserve", 100)
    facts = run_json(
        "train", bundled_path("wifi"), "-o", path, "--max-flash", "1.5k", *options, *scores
    )
    assert facts["budget"] == {
        "flash": 1536, "instructions": None, "target": "cortex-m0", "reserve": 100,
    }  # fmt: skip
    assert facts["resources"]["entries"] == ["scores"]
    assert facts["resources"]["flash"] <= 1436
    assert load_model(path).training["resources"] == facts["resources"]
    assert len(facts["resources"]["code"]) == 64
    assert facts["error_validation"] == facts["tried"][0]["error_validation"]
    emitted = run_json(
        "emit-c", path, "-o", tmp_path / "c", "--max-flash", 1536, "--target", "cortex-m0",
        "--optimize", facts["resources"]["optimize"], *scores,
    )  # fmt: skip
    assert emitted["resources"] == facts["resources"]
    assert facts["resources"]["room"] == 1436


@pytest.mark.firmware
def test_a_checked_entry_point_is_priced(require_bench: Callable[[str], Toolchain]) -> None:
    require_bench("cortex-m0")
    model = ranged(NAMED["naive_integer"]())
    alone = price_of(model, Budget("cortex-m0"))
    both = price_of(model, Budget("cortex-m0", extras=frozenset({"checked"})))
    assert both.entries == ("predict-raw", "checked")
    assert both.flash > alone.flash
    assert set(both.spans) == {"predict-raw", "checked"}


@pytest.fixture(scope="module")
def robot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return boosted tables, for which small changes of a budget select other layouts."""
    tables = {"tables": "6", "rows": "8"}
    settings = TrainSettings(structure="tables", structure_options=tables, epochs=4)
    path = tmp_path_factory.mktemp("robot") / "m.bncc"
    save_model(fit_sum(dataset_of(read_table(bundled_path("robot"))), settings), path)
    return path


@pytest.mark.firmware
@pytest.mark.parametrize("limit", [700, 820])
def test_bench_verify_and_prove_choose_the_layout_that_emit_c_does(
    require_bench, run, tmp_path, robot, limit
):
    """Estimates alone would choose other ones within these bytes."""
    require_bench("cortex-m0")
    model = load_model(robot)
    words = ("--target", "cortex-m0", "--optimize", "speed", "--max-flash", limit)
    run("emit-c", robot, *words, "--entry", "predict-raw", "-o", tmp_path / "c")
    written = {path.name: path.read_text() for path in (tmp_path / "c").iterdir()}
    lowering = Lowering("speed", None, constant_time=False)
    within = Budget(None, limit, entries=("predict-raw",))
    emission = Emissions(model, lowering, frozenset({"raw"}), within).of("cortex-m0")
    assert code_digest(emission.files, emission.name) == code_digest(written, "m")
    options = lowering.options("cortex-m0", entries=frozenset({"raw"}))
    by_estimate = emit_c(model, replace(options, max_flash=limit, priced=("predict-raw",)))
    assert emission.files[f"{emission.name}.c"] != by_estimate.files[f"{emission.name}.c"]


@pytest.mark.firmware
@pytest.mark.parametrize("entries", [(), ("trusted",), ("scores", "predict")])
def test_the_same_entry_points_give_the_same_c_in_all_commands(
    require_bench: Callable[[str], Toolchain],
    run_json: RunJson,
    robot: Path,
    tmp_path: Path,
    entries: tuple[str, ...],
) -> None:
    """``verify`` compares more functions, in the layout of the others."""
    require_bench("cortex-m0")
    options = (robot, "--target", "cortex-m0", "--optimize", "speed", "--max-flash", 700)
    options += tuple(word for entry in entries for word in ("--entry", entry))
    written = run_json("emit-c", *options, "-o", tmp_path / "c")
    code = written["resources"]["code"]
    measured = run_json("bench", *options, "--rows", 5)["targets"]["cortex-m0"]
    assert measured["resources"]["code"] == code
    assert codes_of_checks(robot, options) == [code, code]


@pytest.mark.firmware
@pytest.mark.parametrize(
    ("named", "limit"),
    [(("--part", "stm32f030"), ("--max-flash", "1000")), (("--clock", "24M"), ())],
)
def test_all_commands_compare_layouts_by_the_cycles_of_a_part_as_emit_c_does(
    require_bench: Callable[..., Toolchain],
    run_json: RunJson,
    robot: Path,
    tmp_path: Path,
    named: tuple[str, ...],
    limit: tuple[str, ...],
) -> None:
    pytest.importorskip("capstone", reason="capstone is not installed")
    require_bench("cortex-m0", simulator="unicorn")
    options = (robot, "--target", "cortex-m0", "--optimize", "speed", *limit)
    written = run_json("emit-c", *options, *named, "-o", tmp_path / "c")
    measured = run_json("bench", *options, *named, "--rows", 5)["targets"]["cortex-m0"]
    code = written["resources"]["code"]
    assert measured["resources"]["code"] == code
    assert codes_of_checks(robot, (*options, *named)) == [code, code]
    by_instructions = run_json("emit-c", *options, "-o", tmp_path / "d")
    assert by_instructions["resources"]["code"] != code
