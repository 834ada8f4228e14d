"""``bncc emit-c``: the files of the contract, budgets, names."""

import re
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from bncc.cli.lowering import OPTIMIZE
from bncc.cli.options import TARGETS
from bncc.emit.packages import PACKAGES
from bncc.lower import choose
from bncc.lower.c import constants as avr
from bncc.lower.kernels.families import FAMILIES
from bncc.model.file import load_model, save_model
from bncc.program.pipeline import optimize as optimize_program
from bncc.program.pipeline import program_of
from bncc.toolchain.tools import is_x86
from tests.models import int32_thresholds, products_of_sensors, sum_of_tables, sum_with_front

Run = Callable[..., Result]
RunJson = Callable[..., dict[str, Any]]
Refused = Callable[..., str]
Tool = Callable[[str], str]


def test_json_names_files_passes_and_estimates(
    run_json: RunJson, model: Path, tmp_path: Path
) -> None:
    out = tmp_path / "c"
    found = run_json("emit-c", model, "-o", out)
    told = {"files", "kernel", "passes", "table_bytes", "estimate", "resources"}  # by the contract
    assert set(found) == told | {"layout", "reason", "candidates", "bounds"}
    for suffix in (".c", ".h", "_vectors.h", "_selftest.c"):
        assert str(out / f"sensor{suffix}") in found["files"]
    assert sorted(found["files"]) == sorted(str(p) for p in out.iterdir())
    assert found["kernel"] in FAMILIES
    assert set(found["estimate"]) == {"flash", "ram", "instructions"}
    assert found["table_bytes"] <= found["estimate"]["flash"]
    for step in found["passes"]:
        assert set(step) == {"name", "fired", "bits_before", "bits_after"}


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_is_written_with_its_folders(
    run_json: RunJson, refused: Refused, model: Path, tmp_path: Path, package: str
) -> None:
    """JSON names every file, and an existing tree is not overwritten."""
    out = tmp_path / "c"
    found = run_json("emit-c", model, "-o", out, "--package", package)
    assert sorted(found["files"]) == sorted(str(p) for p in out.rglob("*") if p.is_file())
    assert str(out / "README.md") in found["files"]
    said = refused("emit-c", model, "-o", out, "--package", package)
    assert "exists; use --force to overwrite it" in said


def test_same_model_and_options_give_the_same_bytes(run: Run, model: Path, tmp_path: Path) -> None:
    for name in ("a", "b"):
        run("emit-c", model, "-o", tmp_path / name)
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()
        assert str(tmp_path) not in path.read_text(), "no path in an output"


def test_people_read_what_was_written(run: Run, model: Path, tmp_path: Path) -> None:
    result = run("emit-c", model, "-o", tmp_path / "c")
    assert str(tmp_path / "c" / "sensor.c") in result.stdout
    assert "bytes of flash" in result.stdout
    assert run("emit-c", model, "-o", tmp_path / "d", "--quiet").output == ""


@pytest.mark.parametrize(
    ("options", "entries"),
    [
        ([], {"predict", "predict_raw"}),
        (["--with", "scores"], {"predict", "predict_raw", "scores"}),
        (
            ["--with", "trusted", "--with", "raw"],
            {"predict", "predict_raw", "predict_trusted"},
        ),
        (["--with", "stream"], {"predict", "predict_raw", "feed", "end"}),  # readings: a struct
    ],
)
def test_with_adds_entry_points_and_raw_comes_with_thresholds(
    run: Run, model: Path, tmp_path: Path, options: list[str], entries: set[str]
) -> None:
    run("emit-c", model, "-o", tmp_path, *options)
    header = (tmp_path / "sensor.h").read_text()
    names = ("predict", "predict_raw", "predict_trusted", "scores", "feed", "feed_raw", "end")
    assert {name for name in names if f"int16_t sensor_{name}(" in header} == entries


def test_the_name_prefixes_files_and_symbols(run: Run, model: Path, tmp_path: Path) -> None:
    run("emit-c", model, "-o", tmp_path / "c", "--name", "gait")
    assert (tmp_path / "c" / "gait.c").exists()
    assert "gait_predict" in (tmp_path / "c" / "gait.h").read_text()


@pytest.mark.parametrize(
    ("file", "stem"),
    [("My Model-2.bncc", "my_model_2"), ("int.bncc", "int_model"), ("été.bncc", "t")],
)
def test_the_default_name_is_made_of_the_file_name(
    run: Run, model: Path, tmp_path: Path, file: str, stem: str
) -> None:
    renamed = model.rename(tmp_path / file)
    run("emit-c", renamed, "-o", tmp_path / "c")
    assert (tmp_path / "c" / f"{stem}.c").exists()


@pytest.mark.parametrize("name", ["int", "2fast", "a-b", "a/b", "", "x" * 40, "class"])
def test_a_name_that_c_cannot_take_is_refused(
    refused: Refused, model: Path, tmp_path: Path, name: str
) -> None:
    refused("emit-c", model, "-o", tmp_path / "c", "--name", name)
    assert not (tmp_path / "c").exists()


def test_existing_files_need_force_and_others_stay(
    run: Run, refused: Refused, model: Path, tmp_path: Path
) -> None:
    (tmp_path / "main.c").write_text("mine")
    run("emit-c", model, "-o", tmp_path)
    assert "--force" in refused("emit-c", model, "-o", tmp_path)
    run("emit-c", model, "-o", tmp_path, "--force")
    assert (tmp_path / "main.c").read_text() == "mine"


def test_a_budget_that_fits_is_no_hindrance(run: Run, model: Path, tmp_path: Path) -> None:
    run("emit-c", model, "-o", tmp_path / "c", "--max-flash", "64k", "--max-ram", "1K")


@pytest.mark.parametrize(("option", "word"), [("--max-flash", "flash"), ("--max-ram", "RAM")])
def test_a_budget_that_is_exceeded_is_exit_code_1(
    run: Run, refused: Refused, model: Path, tmp_path: Path, option: str, word: str
) -> None:
    """The message names a sufficient budget, and it suffices."""
    line = refused("emit-c", model, "-o", tmp_path / "c", option, "10", code=1)
    said = rf"no kernel fits in 10 bytes of {word}; the kernel '(\w+)' needs (?:about )?(\d+) bytes"
    match = re.match(said, line)
    assert match
    assert not (tmp_path / "c").exists()
    family, enough = match[1], int(match[2])
    options = ["-o", tmp_path / "c", "--kernel", family, option]
    refused("emit-c", model, *options, int(0.95 * enough), code=1)
    run("emit-c", model, *options, int(1.05 * enough))


def test_a_budget_chooses_among_layouts(
    run_json: RunJson, model: Path, tmp_path: Path, bare: None
) -> None:
    """Another layout of the kernel, where the first one does not fit."""
    options = ["--kernel", "packed", "--optimize", "speed"]
    fast = run_json("emit-c", model, "-o", tmp_path / "fast", *options)
    flash = fast["resources"]["flash"] - 1
    found = run_json("emit-c", model, "-o", tmp_path / "c", *options, "--max-flash", flash)
    assert found["resources"]["flash"] <= flash
    assert found["layout"] != fast["layout"]
    assert found["candidates"] == fast["candidates"]
    assert " that fit of " in found["reason"]


def test_what_was_compared_is_told_the_best_first(
    run: Run, run_json: RunJson, model: Path, tmp_path: Path
) -> None:
    options = ["emit-c", model, "-o", tmp_path / "c", "--kernel", "packed", "--optimize", "size"]
    found = run_json(*options)
    compared = found["candidates"]
    assert len(compared) > 1
    assert (compared[0]["kernel"], compared[0]["layout"]) == ("packed", found["layout"])
    assert compared == sorted(compared, key=lambda each: (each["flash"], each["instructions"]))
    assert found["reason"] == f"least flash of {len(compared)} layouts"
    said = run(*options, "--force").stdout
    assert f"packed: {found['layout']} ({found['reason']})" in said


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--package", "tar"], "is not one of 'plain', 'cmake', 'arduino', "),
        (
            ["--package", "cmake", "--name", "test"],
            "in package 'cmake'",
        ),
        (["--target", "all"], "generic C builds for all targets; leave out --target"),
        (["--target", "toaster"], "is not one of"),
        (["--with", "stream", "--kernel", "lanes"], "use --kernel plain"),
        (["--optimize", "fast"], "is not one of 'balanced', 'size', 'speed'"),
        (["--kernel", "swar"], "is not one of 'plain', "),
        (["--max-flash", "lots"], "is not a number of bytes"),
        (["-o", "no/such/place"], "create it first"),
    ],
)
def test_what_this_version_cannot_do_is_one_line(
    refused: Refused, model: Path, tmp_path: Path, options: list[str], message: str
) -> None:
    assert message in refused("emit-c", model, "-o", tmp_path / "c", *options)
    assert not (tmp_path / "c").exists()


@pytest.mark.parametrize(
    "options",
    [
        *(["--package", package] for package in PACKAGES),
        *(["--target", target] for target in TARGETS if target != "all"),
        *(["--optimize", optimize] for optimize in OPTIMIZE),
    ],
)
def test_more_may_be_said(run: Run, model: Path, tmp_path: Path, options: list[str]) -> None:
    run("emit-c", model, "-o", tmp_path / "c", *options)


@pytest.mark.parametrize("optimize", OPTIMIZE)
@pytest.mark.parametrize("family", FAMILIES)
def test_every_kernel_may_be_named(
    run_json: RunJson, refused: Refused, model: Path, tmp_path: Path, family: str, optimize: str
) -> None:
    """The named kernel is emitted, unless none of its layouts is safe for the model."""
    program = optimize_program(program_of(load_model(model)))[0]
    options = ["-o", tmp_path / "c", "--kernel", family, "--optimize", optimize]
    if any(FAMILIES[family](program)):
        found = run_json("emit-c", model, *options)
        assert found["kernel"] == family
    else:
        assert "name another or none" in refused("emit-c", model, *options)


def test_provable_code_has_a_target_and_a_kernel_of_proofs(
    run: Run, run_json: RunJson, refused: Refused, tmp_path: Path
) -> None:
    """The option is part of the command that the header names."""
    model = tmp_path / "m.bncc"
    save_model(int32_thresholds(), model)
    words = ("emit-c", model, "-o", tmp_path / "c", "--provable", "--optimize", "speed")
    found = run_json(*words, "--target", "rv32")
    assert found["kernel"] != "bit-slice"
    assert "bit-slice" not in {each["kernel"] for each in found["candidates"]}
    assert "--provable" in (tmp_path / "c" / "m.h").read_text()
    run(*words, "--force")
    assert "leave out --kernel or --provable" in refused(*words, "--force", "--kernel", "bit-slice")
    refusal = refused(*words, "--force", "--constant-time")
    assert "leave out --provable or --constant-time" in refusal
    assert "proofs do not cover x86 yet" in refused(*words, "--force", "--target", "x86")


def test_a_kernel_without_a_safe_layout_is_refused(
    refused: Refused, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    none = replace(choose.FAMILIES["plain"], layouts=lambda program: iter(()))
    monkeypatch.setitem(choose.FAMILIES, "plain", none)  # type: ignore[index]
    said = "the kernel 'plain' has no safe layout for this model; name another or none"
    assert refused("emit-c", model, "-o", tmp_path / "c", "--kernel", "plain") == said
    assert not (tmp_path / "c").exists()
    for command in ("verify", "bench"):
        assert refused(command, model, "--target", "all", "--kernel", "plain") == said


def test_a_model_too_large_for_its_target_is_not_written(
    run: Run, refused: Refused, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(avr, "MOST_IN_ALL", 10)
    said = refused("emit-c", model, "-o", tmp_path / "c", "--target", "avr")
    assert said.startswith("the model does not fit avr: ")
    assert not (tmp_path / "c").exists()
    run("emit-c", model, "-o", tmp_path / "c")


def test_a_self_test_has_as_many_inputs_as_one_asks_for(
    run: Run, refused: Refused, model: Path, tmp_path: Path
) -> None:
    run("emit-c", model, "-o", tmp_path, "--vectors", 7)
    assert "#define SENSOR_N_VECTORS 7U" in (tmp_path / "sensor_vectors.h").read_text()
    for n in (0, 256):
        said = refused("emit-c", model, "-o", tmp_path / "c", "--vectors", n)
        assert "is not in the range 1<=x<=255" in said


def test_a_self_test_takes_its_inputs_from_readings(
    run: Run, refused: Refused, model: Path, readings: Path, tmp_path: Path
) -> None:
    """The vectors in the C are the rows of the file; the class is not needed."""
    run("emit-c", model, "-o", tmp_path / "c", "--data", readings, "--vectors", 9)
    text = (tmp_path / "c" / "sensor_vectors.h").read_text()
    colors = load_model(model).features[2].categories
    rows = [line.split(",")[:3] for line in readings.read_text().splitlines()[1:]]
    known = {f"{{ {a}, {float(b)}F, {colors.index(c)}U }}," for a, b, c in rows}
    lines = [line.strip() for line in text.splitlines() if "F, " in line]
    assert len(lines) == 9
    assert set(lines) <= known
    options = ["-o", tmp_path / "d", "--data", "none.csv"]
    assert "'none.csv' does not exist" in refused("emit-c", model, *options)
    said = run("emit-c", model, "-o", tmp_path / "e", "--class", "class").stderr
    assert "--class and --fold have no effect without --data" in said


@pytest.mark.cc
def test_the_self_test_passes(run: Run, require_tool: Tool, model: Path, tmp_path: Path) -> None:
    gcc = require_tool("gcc")
    run("emit-c", model, "-o", tmp_path, "--with", "scores")
    sources = ["sensor.c", "sensor_selftest.c"]
    subprocess.run([gcc, "-std=c99", *sources, "-o", "selftest"], cwd=tmp_path, check=True)
    subprocess.run([tmp_path / "selftest"], check=True, timeout=60)


@pytest.mark.parametrize(
    ("target", "said"),
    [
        (None, "instructions per decision on Cortex-M0"),
        ("host", "instructions per decision on x86" if is_x86() else "decision on Cortex-M0"),
        ("avr", "cycles per decision on avr"),
    ],
)
def test_an_estimate_names_the_machine_that_was_priced(run, model, tmp_path, target, said) -> None:
    options = ["--target", target] if target else []
    assert said in run("emit-c", model, "-o", tmp_path / "c", *options).stdout


def test_an_estimate_names_what_it_stands_for(run: Run, tmp_path: Path) -> None:
    """A layout that compares readings is estimated by predict_raw, whichever function is priced."""
    save_model(products_of_sensors(3, 4), tmp_path / "m.bncc")
    options = ("emit-c", tmp_path / "m.bncc", "-o", tmp_path / "c", "--force")
    readings = ("--compare", "readings")
    assert "(predict_raw and labels), " in run(*options, *readings).stdout
    out = run(*options, *readings, "--entry", "trusted", "--entry", "predict").stdout
    assert "(predict_raw and labels, as an estimate of predict_trusted and predict), " in out
    out = run(*options, "--entry", "predict", "--compare", "states").stdout
    assert "(all functions), " in out


def test_the_times_of_a_front_are_a_mean_and_a_worst_case(
    run: Run, tmp_path: Path, bare: None
) -> None:
    said = {}
    for name, of in (("front", sum_with_front), ("plain", sum_of_tables)):
        save_model(of(), tmp_path / f"{name}.bncc")
        said[name] = run("emit-c", tmp_path / f"{name}.bncc", "-o", tmp_path / name).stdout
    assert "per decision in the worst case on" in said["front"]
    assert re.search(r"about [\d,]+ instructions on average, [\d,]+ in the worst", said["front"])
    assert "worst case" not in said["plain"]
