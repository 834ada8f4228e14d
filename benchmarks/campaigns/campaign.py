"""
Fuzzing campaign: random models compared with Python, and damaged input to every command.

Four parts, each with a seed, so that a failure can be repeated by its number:

- ``models``: random tables of every kind of column, trained or with random costs, through the
  model file to C with a random kernel and goal and all its entry points; two compilers, every fifth
  model with sanitizers too; classes and scores compared with Python.
- ``files``: damaged and forged model files (with correct digests) through five commands.
- ``tables``: hostile tables through ``train``, ``evaluate`` and ``predict``.
- ``studies``: damaged and forged studies through ``report`` and ``sweep``.

The campaign of the release takes some hours on two cores; exit code 70 and a hang over 60 s are
failures:

    .venv/bin/python -m benchmarks.campaigns.campaign models --n 1000 --inputs 100000 --jobs 2
    .venv/bin/python -m benchmarks.campaigns.campaign files --n 23500 --jobs 2
    .venv/bin/python -m benchmarks.campaigns.campaign tables --n 120
    .venv/bin/python -m benchmarks.campaigns.campaign studies --n 50
"""

import argparse
import json
import random
import shutil
import signal
import sqlite3
import string
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any

import numpy as np
from click.testing import CliRunner

from bncc.cli.main import main as command_line
from bncc.data.dataset import Column, Dataset, Table
from bncc.device.agreement import compare
from bncc.device.host import build_harness, build_library
from bncc.device.inputs.cases import Effort, cases
from bncc.device.sources import sources
from bncc.emit.emitter import EmitOptions, emit_c
from bncc.errors import BnccError
from bncc.lower.kernels.families import FAMILIES
from bncc.model.archive import SUMS, pack, unpack, with_sums
from bncc.model.file import from_bytes, to_bytes
from bncc.model.missing import why_not
from bncc.model.model import Model
from bncc.toolchain.tools import host_compilers
from bncc.train.settings import TrainSettings
from bncc.train.train_model import train_model

LIMIT = 60
"""Timeout of a command, in seconds."""
ACCEPTED = (0, 1, 2)
SHARE_FORGED = 3500 / 23500
AIMS = ("balanced", "size", "speed")
EXTREMES: tuple[Any, ...] = (
    -1, 0, 1, 2**31, 2**63, -(2**63), 1e308, float("nan"), float("inf"), None, True, "", "\x1b[31m",
    "a" * 5000, [], {}, [[[]]], "naive", "float32", [1, 2, 3], -0.5,
)  # fmt: skip
TEXTS = (
    "", " ", '"', "'", ",", ";", "\t", "\\", "\x00", "\x1b[2J", "\u202e", "ü", "漢", "NaN", "inf",
    "-inf", "1e400", "1e-400", "0x10", "1_000", "1,5", "?", "NA", "9" * 400, "-" * 80, "*/", "%n",
    "{{ 7*7 }}", "true", "2026-01-01", "a" * 9000,
)  # fmt: skip


@dataclass(frozen=True)
class Outcome:
    """Result of one case: number of compared decisions, and the failure, if any."""

    compared: int = 0
    wrong: str = ""


class TimeLimitError(Exception):
    """A command that took longer than `LIMIT`."""


def model_case(seed: int, n_inputs: int, k: int) -> Outcome:
    """Compare the C of the k-th model with Python."""
    rng = np.random.default_rng([seed, k])
    model = drawn_model(rng)
    model = from_bytes(to_bytes(model), "drawn.bncc")
    options = drawn_options(rng, model)
    try:
        files = emit_c(model, options).files
    except BnccError:  # no layout of this family, or no such entry point
        options = replace(options, kernel=None, constant_time=False)
        files = emit_c(model, options).files
    builds: list[tuple[Callable[..., Any], str, str]] = [
        (build_library, "gcc", "-O2"),
        (build_library, "clang", "-O3"),
    ]
    if k % 5 == 0:
        builds.append((build_harness, "gcc", "-O1"))
    compared = 0
    for build, compiler, level in builds:
        share = n_inputs // 4 if build is build_library else 500
        (tool,) = host_compilers(compiler)
        with build(sources(model, files), compiler=tool, opt_level=level) as machine:
            found = compare(machine, cases(model, None, Effort(share, False, k)))
        compared += found.checked
        if not found.agree:
            what = f"{options.kernel} {options.optimize} {found.toolchain}"
            return Outcome(compared, f"{what}: {found.first_mismatch}")
    return Outcome(compared)


def drawn_model(rng: np.random.Generator) -> Model:
    """Return a model of a random table, trained by counting or boosting, or with random costs."""
    dataset = drawn_dataset(rng)
    structure = str(rng.choice(["naive", "chow-liu", "forest", "tables", "tan-heuristic", "etan"]))
    is_counted = structure != "tables"
    settings = TrainSettings(
        structure=structure,
        discretize=str(rng.choice(["mdl", "quantile", "width", "median"])),
        parameters="ml" if is_counted else "hybrid",
        bits=int(rng.integers(1, 9)) if is_counted else int(rng.integers(2, 7)),
        structure_options={} if is_counted else {"tables": str(rng.integers(1, 12))},
        seed=int(rng.integers(1000)),
    )
    try:
        model = train_model(dataset, settings).model
    except BnccError:
        model = train_model(dataset, TrainSettings(structure="naive", parameters="ml")).model
    if rng.random() < 0.5:
        most = int(rng.choice([1, 3, 15, 255, 4095]))
        limit = min(most, 2**model.q_format.bits - 1)
        tables = [rng.integers(0, limit + 1, t.shape).astype(t.dtype) for t in model.tables]
        prior = rng.integers(0, limit + 1, model.prior.shape).astype(model.prior.dtype)
        drawn = replace(model, tables=tuple(tables), prior=prior)
        with suppress(BnccError):  # a table without the class has equal costs
            to_bytes(drawn)
            return drawn
    return model


def drawn_dataset(rng: np.random.Generator) -> Dataset:
    """Return a table of integer, float and text columns with gaps, related to the class."""
    n, n_classes = int(rng.integers(60, 400)), int(rng.integers(2, 9))
    y = rng.integers(0, n_classes, n)
    y[:n_classes] = np.arange(n_classes)
    columns = [drawn_column(rng, f"x{i}", y) for i in range(int(rng.integers(1, 16)))]
    classes = tuple(f"class {c}" for c in range(n_classes))
    return Dataset(Table(tuple(columns)), y, classes, "class")


def drawn_column(rng: np.random.Generator, name: str, y: np.ndarray) -> Column:
    """Return a column of a random kind; a third of the columns have missing cells."""
    signal = y * float(rng.choice([0, 1, 3])) + rng.normal(0, 1, len(y))
    missing = rng.random(len(y)) < (0.1 if rng.random() < 1 / 3 else 0.0)
    kind = str(rng.choice(["int16", "int32", "float", "category"]))
    if kind == "category":
        letters = np.array(list(string.ascii_letters))[: int(rng.integers(2, 30))]
        cells = letters[np.abs(signal * 3).astype(int) % len(letters)].astype(object)
        return Column(name, "category", cells, missing)
    scale = {"int16": 500, "int32": 10**7, "float": 10.0 ** rng.integers(-30, 30)}[kind]
    values = signal * scale
    return Column(name, "float", np.rint(values) if kind != "float" else values, missing)


def drawn_options(rng: np.random.Generator, model: Model) -> EmitOptions:
    """Return emit options with every possible entry point of the model."""
    entries = {"raw", "scores", "trusted"}
    if rng.random() < 0.5:
        entries.add("stream")
    if why_not(model) is None and rng.random() < 0.3:
        entries.add("missing")
    kernel = str(rng.choice(sorted(FAMILIES))) if rng.random() < 0.7 else None
    return EmitOptions(
        "m", frozenset(entries), kernel=kernel, optimize=rng.choice(AIMS),
        constant_time=kernel is None and bool(rng.random() < 0.2),
    )  # fmt: skip


def command(*words: object) -> str:
    """Run one command line in this process; return the failure, if any."""

    def too_long(number: int, frame: FrameType | None) -> None:
        raise TimeLimitError

    before = signal.signal(signal.SIGALRM, too_long)
    signal.alarm(LIMIT)
    try:
        result = CliRunner().invoke(command_line, [str(word) for word in words])
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    if isinstance(result.exception, TimeLimitError) or "TimeLimitError" in result.stderr:
        return f"{words[0]}: over {LIMIT} s"
    if result.exit_code not in ACCEPTED:
        return f"{words[0]}: exit {result.exit_code}: {result.stderr[-300:]}"
    if result.exit_code == 2 and len(result.stderr.splitlines()) != 1:
        return f"{words[0]}: no single line: {result.stderr[-300:]}"
    return ""


@cache
def originals() -> tuple[bytes, ...]:
    """Return some intact model files."""
    return tuple(to_bytes(drawn_model(np.random.default_rng(k))) for k in range(12))


def file_case(seed: int, k: int) -> Outcome:
    """Run a command on the k-th damaged or forged model file."""
    rng = random.Random(f"{seed} {k}")
    whole = rng.choice(originals())
    is_forged = rng.random() < SHARE_FORGED
    data = forged(whole, rng) if is_forged else damaged(whole, rng)
    with TemporaryDirectory(prefix="bncc-") as name:
        folder = Path(name)
        (folder / "m.bncc").write_bytes(data)
        (folder / "d.csv").write_text("x0,x1,x2,class\n1,2,a,class 0\n-5,,b,class 1\n")
        commands: list[tuple[object, ...]] = [
            ("inspect", folder / "m.bncc"),
            ("inspect", folder / "m.bncc", "--ir", "--json"),
            ("predict", folder / "m.bncc", folder / "d.csv", "--scores"),
            ("evaluate", folder / "m.bncc", folder / "d.csv", "--json"),
            ("explain", folder / "m.bncc", folder / "d.csv", "--row", 1),
            ("emit-c", folder / "m.bncc", "-o", folder / "c", "--with", "scores"),
        ]
        chosen = commands if is_forged else [rng.choice(commands)]
        wrong = next(filter(None, (command(*words) for words in chosen)), "")
    return Outcome(len(chosen), wrong)


def damaged(data: bytes, rng: random.Random) -> bytes:
    """Flip, cut, insert, repeat or blank some bytes."""
    at, n = rng.randrange(len(data)), rng.choice([1, 1, 2, 8, 64, 1000])
    kind = rng.choice(["flip", "cut", "drop", "insert", "repeat", "blank"])
    if kind == "flip":
        return data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :]
    if kind == "cut":
        return data[:at]
    middle = {
        "drop": b"", "insert": rng.randbytes(n) + data[at : at + n],
        "repeat": data[at : at + n] * 2, "blank": bytes(len(data[at : at + n])),
    }[kind]  # fmt: skip
    return data[:at] + middle + data[at + n :]


def forged(data: bytes, rng: random.Random) -> bytes:
    """Change values of a model's description or bytes of its arrays, and correct the digests."""
    entries = {name: content for name, content in unpack(data).items() if name != SUMS}
    for _ in range(rng.choice([1, 1, 2, 4])):
        described = [name for name in entries if name.endswith(".json")]
        name = rng.choice([*entries, *described * 2])
        if name.endswith(".json") and rng.random() < 0.95:
            with suppress(ValueError):  # damaged in an earlier round
                entries[name] = json.dumps(changed(json.loads(entries[name]), rng)).encode()
        elif entries[name]:
            entries[name] = damaged(entries[name], rng)
    return pack(with_sums(entries))


def changed(value: Any, rng: random.Random) -> Any:
    """Change one value somewhere within a value of JSON."""
    if isinstance(value, dict) and value and rng.random() < 0.9:
        key = rng.choice(list(value))
        if rng.random() < 0.1:
            return {k: v for k, v in value.items() if k != key}
        return {**value, key: changed(value[key], rng)}
    if isinstance(value, list) and value and rng.random() < 0.85:
        at = rng.randrange(len(value))
        if rng.random() < 0.2:
            return [*value[:at], *value[at + rng.choice([0, 1]) :], *value[at : at + 1]]
        return [*value[:at], changed(value[at], rng), *value[at + 1 :]]
    if isinstance(value, int) and rng.random() < 0.5:
        return value + rng.choice([-1, 1, 255, 65536])
    return rng.choice(EXTREMES)


def table_case(seed: int, k: int) -> Outcome:
    """Train on the k-th hostile table and use the resulting model."""
    rng = random.Random(f"table {seed} {k}")
    structure = rng.choice(["naive", "chow-liu", "tables", "forest"])
    with TemporaryDirectory(prefix="bncc-") as name:
        folder = Path(name)
        ending = rng.choice(["csv", "csv", "csv", "csv", "tsv", "arff", "npz"])
        data, model = folder / f"d.{ending}", folder / "m.bncc"
        data.write_bytes(hostile_table(rng))
        quick = () if structure == "tables" else ("--parameters", "ml")
        commands: list[tuple[object, ...]] = [
            ("train", data, "-o", model, "--structure", structure, *quick),
        ]
        wrong = command(*commands[0])
        if not wrong and model.exists():
            commands += [
                ("evaluate", model, data),
                ("predict", model, data, "-o", folder / "p.csv"),
                ("explain", model, data, "--row", 1),
                ("verify", model, "--data", data, "--random", 50),
            ]
            wrong = next(filter(None, (command(*words) for words in commands[1:])), "")
    return Outcome(len(commands), wrong)


def hostile_table(rng: random.Random) -> bytes:
    """Return the bytes of a table with many anomalies."""
    n_columns, n_rows = rng.choice([1, 2, 3, 8, 8, 60]), rng.choice([0, 1, 30, 100, 200])

    strange = rng.choice([0.0, 0.002, 0.05])

    def cell(i: int) -> str:
        if rng.random() < strange:
            return rng.choice(TEXTS)
        kinds = (str(rng.randrange(-9, 99)), f"{rng.gauss(0, 1e5):.3g}", rng.choice("abc"))
        return kinds[i % 3]

    names = [rng.choice(TEXTS) if rng.random() < 4 * strange else f"x{i}" for i in range(n_columns)]
    rows = [[*names, "class"]]
    rows += [[*(cell(i) for i in range(n_columns)), rng.choice("pqr")] for _ in range(n_rows)]
    if rng.random() < 0.2 and rows:
        rows[rng.randrange(len(rows))].append("more")
    text = "\n".join(rng.choice([",", ","]).join(row) for row in rows)
    data = text.encode(rng.choice(["utf-8"] * 9 + ["utf-16"]))
    return damaged(data, rng) if data and rng.random() < 0.15 else data


@cache
def study(seed: int) -> bytes:
    """Return the file of an intact study of three trials."""
    with TemporaryDirectory(prefix="bncc-") as name:
        folder = Path(name)
        rng = random.Random(seed)
        rows = [f"{c * 9 + rng.randrange(9)},{rng.randrange(5)},{c}" for c in (0, 1, 2) * 40]
        (folder / "d.csv").write_text("\n".join(["x,y,class", *rows]) + "\n")
        (folder / "s.toml").write_text(
            '[structure]\nvalue = "naive"\n[parameters]\nvalue = "ml"\n[bits]\nlow = 2\nhigh = 6\n'
        )
        options = ("--space", folder / "s.toml", "--trials", 3, "--target", "none", "--seed", 1)
        wrong = command("sweep", folder / "d.csv", "--study", folder / "s.db", *options)
        assert not wrong, wrong
        return (folder / "s.db").read_bytes()


def study_case(seed: int, k: int) -> Outcome:
    """Report the k-th damaged or forged study, and resume it."""
    rng = random.Random(f"study {seed} {k}")
    with TemporaryDirectory(prefix="bncc-") as name:
        folder = Path(name)
        path = folder / "s.db"
        path.write_bytes(study(seed))
        if rng.random() < 0.4:
            path.write_bytes(damaged(path.read_bytes(), rng))
        else:
            forge_study(path, rng)
        copy = folder / "t.db"
        shutil.copy(path, copy)
        (folder / "d.csv").write_text("x,y,class\n1,2,0\n9,1,1\n" * 30)
        commands: list[tuple[object, ...]] = [
            ("report", path, "--format", "json"),
            ("report", path, "-o", folder / "r.html"),
            ("sweep", folder / "d.csv", "--study", copy, "--trials", 4, "--target", "none"),
        ]
        wrong = next(filter(None, (command(*words) for words in commands)), "")
    return Outcome(len(commands), wrong)


def forge_study(path: Path, rng: random.Random) -> None:
    """Change some cells of a study's database."""
    with closing(sqlite3.connect(path)) as database, database:
        tables = [row[0] for row in database.execute("SELECT name FROM sqlite_master "
                                                     "WHERE type = 'table'")]  # fmt: skip
        for _ in range(rng.choice([1, 2, 5])):
            table = rng.choice(tables)
            columns = [row[1] for row in database.execute(f"PRAGMA table_info('{table}')")]
            ids = [row[0] for row in database.execute(f"SELECT rowid FROM '{table}'")]
            if not ids:
                continue
            column, row = rng.choice(columns), rng.choice(ids)
            (old,) = database.execute(
                f"SELECT \"{column}\" FROM '{table}' WHERE rowid = ?", (row,)
            ).fetchone()
            with suppress(sqlite3.IntegrityError):  # the value violates a key
                database.execute(
                    f"UPDATE OR IGNORE '{table}' SET \"{column}\" = ? WHERE rowid = ?",
                    (forged_cell(old, rng), row),
                )


def forged_cell(old: Any, rng: random.Random) -> Any:
    """Return another value for a cell; within JSON if the cell holds JSON."""
    if isinstance(old, str) and old[:1] in ("{", "[") and rng.random() < 0.8:
        return json.dumps(changed(json.loads(old), rng))
    if rng.random() < 0.1:
        return "[" * 100_000
    new = rng.choice(EXTREMES)
    return new if isinstance(new, str | float | None) else json.dumps(new)


PARTS: dict[str, Callable[..., Outcome]] = {
    "models": model_case,
    "files": file_case,
    "tables": table_case,
    "studies": study_case,
}


def run(part: str, n: int, *, seed: int, inputs: int, jobs: int) -> Iterator[tuple[int, Outcome]]:
    """Yield the outcome of every case of a part, in order."""
    case = partial(PARTS[part], seed, *([inputs] if part == "models" else []))
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        yield from enumerate(pool.map(case, range(n), chunksize=4))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--n", type=int, default=20, help="number of cases")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--inputs", type=int, default=100_000, help="inputs compared per model")
    parser.add_argument("--jobs", type=int, default=2)
    return parser.parse_args()


def main() -> int:
    """Run a part, print each failure and a summary, and fail if there is a failure."""
    options = _arguments()
    compared = failed = 0
    limits = {"seed": options.seed, "inputs": options.inputs, "jobs": options.jobs}
    for k, outcome in run(options.part, options.n, **limits):
        compared += outcome.compared
        failed += bool(outcome.wrong)
        if outcome.wrong:
            print(f"{options.part} {k}, seed {options.seed}: {outcome.wrong}", flush=True)
        if (k + 1) % 100 == 0:
            print(f"{k + 1} of {options.n}, {compared:,} compared", file=sys.stderr, flush=True)
    what = "decisions compared" if options.part == "models" else "commands run"
    print(f"{options.part}: {options.n} cases, {compared:,} {what}, {failed} failures")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
