"""Commands: their help, JSON objects, words for people and for errors, models, and the report."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NoReturn
from unittest.mock import patch

from bncc.cli import targets
from bncc.cli.main import COMMANDS
from bncc.data.readers import bundled_path
from bncc.errors import ToolchainError
from bncc.model.file import load_model, save_model
from bncc.network.bif import bif_bytes
from bncc.papers import experiments
from tests import models as hand
from tests import studies
from tests.cli.conftest import HEADER, sensor_rows, write_csv
from tests.cli.sweeping import SPACE
from tests.replay.session import (
    ROOT,
    Files,
    LeftOut,
    Result,
    Run,
    Task,
    facts,
    masked,
    model_text,
    no_tools,
    run_apart,
    said,
    session,
)
from tests.unit.network.networks import drawn

ROOMS = ROOT / "firmware_examples" / "rv32_rooms"
TRAININGS: Mapping[str, tuple[str, ...]] = {
    "default-counts": (),
    "naive": ("--structure", "naive", "--discretize", "quantile", "--n-bins", "5"),
    "forest": ("--structure", "forest", "--structure-option", "alpha=10", "--bits", "3"),
    "random": ("--structure", "random", "--seed", "7", "--discretize", "width"),
    "etan": ("--structure", "etan", "--int-bits", "4", "--frac-bits", "2"),
    "sa-etan": ("--structure", "sa-etan"),
    "network-hill-climb": ("--structure", "network-hill-climb"),
    "tabu": ("--structure", "tabu", "--float"),
    "mmhc": ("--structure", "mmhc", "--repeats", "2"),
    "curriculum": ("--structure", "curriculum"),
    "bdeu": ("--parameters", "bdeu", "--class-weight", "balanced"),
    "groups": ("--groups", "color", "--folds", "3"),
    "ordered": ("--ordered", "--drop", "slope", "--validation", "0.2"),
    "max-flash": ("--max-flash", "600", "--target", "avr", "--with", "checked"),
    "max-flash-naive": ("--max-flash", "400", "--structure", "naive"),
}
"""Options of trainings by counting. Gradients are left out: their sums depend on the processor."""
ERRORS: tuple[tuple[str, ...], ...] = (
    ("train", "absent.csv", "-o", "m.bncc"),
    ("train", "r.csv", "-o", "m.bncc", "--class", "absent"),
    ("train", "r.csv", "-o", "m.bncc", "--structure-option", "absent=1"),
    ("train", "r.csv", "-o", "m.bncc", "--parameters", "ml", "--bits", "99"),
    ("train", "bad.csv", "-o", "m.bncc"),
    ("evaluate", "r.csv", "r.csv"),
    ("predict", "h.bncc", "absent.csv"),
    ("explain", "h.bncc", "r.csv"),
    ("inspect", "absent.bncc"),
    ("inspect", "h.bncc", "--ir", "absent"),
    ("emit-c", "h.bncc", "-o", "c", "--name", "int"),
    ("emit-c", "h.bncc", "-o", "c", "--kernel", "absent"),
    ("emit-c", "h.bncc", "-o", "c", "--max-flash", "10"),
    ("emit-c", "h.bncc", "-o", "c", "--with", "checked"),
    ("emit-c", "h.bncc", "-o", "c", "--spdx", "no license!"),
    ("verify", "h.bncc", "--target", "host", "--kernel", "cuts"),
    ("import-bif", "bad.bif", "--class", "a", "-o", "n.bncc"),
    ("export-bif", "sum.bncc", "-o", "n.bif"),
    ("report", "absent.study"),
    ("reproduce", "absent-table"),
    ("reproduce", "s0-table1", "--data", "absent"),
)
"""Command lines that are refused, by bncc and not by the parser of its options."""
CELLS = (
    {"row": "letter", "column": "NB ML", "paper": 25.89, "ours": 25.891, "n": 6658, "note": None},
    {"row": "mnist", "column": "NB ML", "paper": 17.34, "ours": None, "n": None, "note": "absent"},
)


def tasks() -> Iterator[tuple[str, Task]]:
    """Yield every command by its name."""
    yield "help/bncc", partial(_help)
    for command in COMMANDS:
        yield f"help/{command}", partial(_help, command)
    yield "errors", _errors
    for name, words in TRAININGS.items():
        yield f"train/{name}", partial(_train, *words)
    yield "train/tables", _boosted
    for name in ("ml", "rooms", "tan_float", "sum_of_tables"):
        yield f"use/{name}", partial(_used, name)
    for name in ("asked", "hostile"):
        yield f"bif/{name}", partial(_bif, name)
    yield "report", _report
    yield "reproduce", _reproduced
    yield "targets", _targets
    yield "verify", _verified
    yield "bench", _measured
    yield "sweep", _swept
    yield "baseline", _baseline


def _help(*command: str) -> Files:
    """Return a command's help, one option per line: line breaks depend on click."""
    with session() as run:
        text = said(run(*command, "--help", width=9999))
        return {"help.txt": "\n".join(" ".join(line.split()) for line in text.splitlines())}


def _errors() -> Files:
    with session() as run, no_tools():
        write_csv(Path("r.csv"), HEADER, sensor_rows())
        Path("bad.csv").write_text("a,b,class\n1,2,x\n1,2\n")
        Path("bad.bif").write_text("network n {}\nvariable a {")
        save_model(hand.naive_integer(), "h.bncc")
        save_model(hand.sum_of_tables(), "sum.bncc")
        return {f"{k:02}.txt": f"bncc {' '.join(w)}\n{said(run(*w))}" for k, w in enumerate(ERRORS)}


def _trained(run: Run, *words: object) -> Result:
    write_csv(Path("r.csv"), HEADER, sensor_rows())
    return run("train", "r.csv", "-o", "m.bncc", "--force", *words)


def _train(*words: str) -> Files:
    counted = () if {"--parameters", "tables"} & {*words} else ("--parameters", "ml")
    with session() as run, no_tools():
        return {
            "train.json": facts(_trained(run, *counted, *words, "--json")),
            "train.txt": said(_trained(run, *counted, *words)),
            "m.bncc": model_text("m.bncc", has_bytes=False),
            "inspect.txt": said(run("inspect", "m.bncc")),
        }


def _boosted() -> Files:
    """Return boosted tables of the engine in numpy, which needs no compiler."""
    small = ("--structure-option", "tables=4", "--structure-option", "rows=8", "--folds", "0")
    with patch("bncc.boosting.native_engine.native_library", _no_tool):
        return _train("--structure", "tables", *small)


def _used(name: str) -> Files:
    """Return the outputs of commands for a model and readings."""
    with session() as run, no_tools():
        data: object = "r.csv"
        if name == "ml":
            _trained(run, "--parameters", "ml")
        elif name == "rooms":
            data = "rooms.csv.gz"
            Path(data).write_bytes((ROOMS / "data" / "test.csv.gz").read_bytes())
            save_model(load_model(ROOMS / "rooms.bncc"), "m.bncc")
        else:
            model = getattr(hand, name)()
            save_model(model, "m.bncc")
            names = [feature.name for feature in model.features]
            _write_readings(Path("r.csv"), names, model.classes)
        marginal = run("evaluate", "m.bncc", data, "--missing", "marginal", "--json")
        predicted = run("predict", "m.bncc", data, "-o", "p.csv", "--scores", "--json")
        explained = run("explain", "m.bncc", data, "--row", 2, "--svg", "e.svg", "--json")
        emitted = run("emit-c", "m.bncc", "-o", "c", "--force", "--vectors", 2)
        return {
            "evaluate.json": facts(run("evaluate", "m.bncc", data, "--json")),
            "evaluate.txt": said(run("evaluate", "m.bncc", data)),
            "marginal.json": facts(marginal),
            "predict.json": facts(predicted),
            "predict.csv": Path("p.csv").read_text("utf-8"),
            "explain.json": facts(explained),
            "explain.txt": said(run("explain", "m.bncc", data, "--row", 2)),
            "explain.svg": Path("e.svg").read_text("utf-8"),
            "emit.txt": said(emitted),
        }


def _write_readings(path: Path, names: list[str], classes: tuple[str, ...]) -> None:
    """Write rows of small numbers, of text where a feature is a category, and gaps."""
    cells = [(k * 7 - 20, k % 5 - 1, "", ("idle", "run", "stop")[k % 3]) for k in range(12)]
    rows = [
        [
            row[3] if name == "mode" else row[2] if (k + i) % 7 == 0 else row[i % 2]
            for i, name in enumerate(names)
        ]
        for k, row in enumerate(cells)
    ]
    labeled = [[*row, classes[k % len(classes)]] for k, row in enumerate(rows)]
    write_csv(path, [*names, "class"], labeled)


def _bif(name: str) -> Files:
    """Return a network's way into a model and back."""
    names = ["above", 'spo"use', "*/ class", "lüft", "far", "lone"] if name == "hostile" else None
    network = drawn([(4,), (0,), (0, 4), (1, 2), (), ()], [2, 3, 3, 2, 2, 2], 3, names=names)
    with session() as run:
        Path("n.bif").write_bytes(bif_bytes(network))
        words = ("import-bif", "n.bif", "--class", network.variables[2].name, "--force", "-o")
        return {
            "import.json": facts(run(*words, "m.bncc", "--json")),
            "import.txt": said(run(*words, "m.bncc", "--keep", "all", "--bits", 5)),
            "m.bncc": model_text("m.bncc", has_bytes=False),
            "export.json": facts(run("export-bif", "m.bncc", "-o", "back.bif", "--json")),
            "back.bif": masked(Path("back.bif").read_text("utf-8")),
        }


def _report() -> Files:
    """Return the report in every format; the page without Vega and its plots' description."""
    study = studies.study(60)
    with (
        session() as run,
        patch("bncc.search.study.read_study", lambda place: (study,)),
        patch("bncc.report.page.vega_script", lambda: ""),
        patch("bncc.report.page.plot_spec", lambda marks: {}),
    ):
        told = run("report", "wifi.study", "-o", "told.html", "--json")
        for form in ("html", "md", "csv", "json", "svg"):
            run("report", "wifi.study", "-o", f"r.{form}", "--format", form)
        files = {f"r.{form}": Path(f"r.{form}") for form in ("html", "md", "csv", "json", "svg")}
        texts = {name: masked(path.read_text("utf-8")) for name, path in files.items()}
        return {**texts, "report.json": facts(told)}


def _reproduced() -> Files:
    """Return the printed cells of an experiment; experiments need the papers' data."""
    with session() as run, patch.object(experiments, "reproduce", lambda *_: CELLS):
        words = ("reproduce", "s0-table1", "--data", "folder")
        return {
            "reproduce.json": facts(run(*words, "--json")),
            "reproduce.txt": said(run(*words)),
        }


def _targets() -> Files:
    """Return the target list of an x86 without any compiler or simulator."""
    with session() as run, patch("platform.machine", lambda: "x86_64"):
        tools = tuple(replace(tool, path=None, version=None) for tool in targets.all_tools())
        patches = {"all_tools": lambda: tools, "host_compilers": _no_tool}
        with patch.multiple("bncc.cli.targets", **patches):
            return {
                "targets.json": facts(run("targets", "--json")),
                "targets.txt": said(run("targets")),
            }


def _no_tool(*_: object) -> NoReturn:
    raise ToolchainError("no compiler is installed")


def _verified() -> Files:
    with session() as run:
        save_model(hand.tan_float(), "m.bncc")
        result = _needs_tools(run("verify", "m.bncc", "--random", 50, "--json"))
        return {"verify.json": facts(result)}


def _measured() -> Files:
    with session() as run:
        save_model(hand.tan_float(), "m.bncc")
        result = run("bench", "m.bncc", "--target", "cortex-m0", "--rows", 2, "--json")
        return {"bench.json": facts(_needs_tools(result), only_structure=True)}


def _needs_tools(result: Result) -> Result:
    if result.exit_code == 2:
        raise LeftOut(result.stderr.strip())
    return result


def _swept() -> Files:
    """Return the object of a sweep without its values: optuna samples them."""
    with session():
        write_csv(Path("r.csv"), HEADER, sensor_rows())
        Path("space.toml").write_text(SPACE)
        words = ("--study", "s.db", "--space", "space.toml", "--target", "none", "--trials", "2")
        found = facts(
            run_apart("sweep", "r.csv", *words, "--repeats", "1", "--json"), only_structure=True
        )
        return {"sweep.json": found}


def _baseline() -> Files:
    """Return the object of a baseline without its values: scikit-learn trains it."""
    words = ("baseline", str(bundled_path("wifi")), "--classifier", "tree")
    with session():
        return {"baseline.json": facts(run_apart(*words, "--json"), only_structure=True)}
