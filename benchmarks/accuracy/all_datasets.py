"""
Benchmark of every classification set of ../shared/data by the command line, as a Markdown table.

For each set and each of ``naive`` and ``chow-liu``, tables by counting: split the rows 2/3 to 1/3,
then ``bncc train``, ``evaluate``, ``emit-c`` and ``verify``, each a process of its own. A failed
set shows the error line of bncc. Takes about half an hour on two cores:

    .venv/bin/python -m benchmarks.accuracy.all_datasets --data ../shared/data

Finished sets are kept below build/; run the command again to resume. ``--page FILE`` writes the
table as a page of the documentation.
"""

import argparse
import csv
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from bncc.data.dataset import Column, Dataset
from bncc.data.readers import read_table
from bncc.data.splits import stratified_holdout
from bncc.data.target import dataset_of
from bncc.errors import BnccError

STRUCTURES = ("naive", "chow-liu")
LIMIT = 600.0
"""Timeout of a command, in seconds."""


@dataclass(frozen=True)
class Set:
    """A data file and its class column, from the manifest."""

    file: str
    class_name: str


def sets_of(data: Path) -> Iterator[Set]:
    """Return the classification sets below ``raw`` and ``uci`` that the manifest lists."""
    with (data / "manifest.csv").open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            file = row["file"]
            is_table = file.startswith(("raw/", "uci/")) and row["class_column"] not in ("", "-")
            if is_table and row["classes"].isdigit():
                yield Set(file, row["class_column"])


def bncc(*args: str) -> dict[str, Any]:
    """Run one command with ``--json``; raise its one line of stderr on failure."""
    command = [sys.executable, "-m", "bncc", *args, "--json"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=LIMIT, check=False, env=environment
    )
    if done.returncode not in (0, 1) or not done.stdout:
        raise RuntimeError(done.stderr.strip().removeprefix("bncc: error: ") or "no output")
    found = json.loads(done.stdout)
    assert isinstance(found, dict)
    return found


def write_rows(dataset: Dataset, path: Path) -> None:
    """Write rows as Parquet, so that a column is of the same type in both parts."""

    def array(column: Column) -> pa.Array:
        if column.kind == "category":
            return pa.array(column.values, pa.string(), mask=column.missing).dictionary_encode()
        kind = pa.float64() if column.kind == "float" else pa.int64()
        return pa.array(column.values, kind, mask=column.missing)

    arrays = [array(column) for column in dataset.table.columns]
    labels = pa.array([dataset.classes[c] for c in dataset.y], pa.string())
    names = [*dataset.table.names, dataset.class_name]
    pq.write_table(pa.Table.from_arrays([*arrays, labels], names), path)


def measure(data: Path, one: Set, folder: Path) -> dict[str, Any]:
    """Run all commands on one set; return a row of the table."""
    folder.mkdir(parents=True, exist_ok=True)
    begin = perf_counter()
    row: dict[str, Any] = {**asdict(one), "error": {}, "bytes": {}, "verified": {}, "said": ""}
    try:
        dataset = dataset_of(read_table(data / one.file), one.class_name)
        row |= {
            "rows": dataset.n_rows,
            "features": len(dataset.table.columns),
            "classes": len(dataset.classes),
        }
        kept, held = stratified_holdout(dataset.y, 1 / 3, 0)
        write_rows(dataset.take(kept), folder / "train.parquet")
        write_rows(dataset.take(held), folder / "test.parquet")
        for structure in STRUCTURES:
            _one_way(folder, one.class_name, structure, row)
    except (RuntimeError, BnccError, subprocess.TimeoutExpired) as error:
        row["said"] = " ".join(str(error).split())
    return row | {"seconds": round(perf_counter() - begin, 1)}


def _one_way(folder: Path, class_name: str, structure: str, row: dict[str, Any]) -> None:
    model, train, test = (
        str(folder / name) for name in ("m.bncc", "train.parquet", "test.parquet")
    )
    named = ("--class", class_name)
    how = ("--structure", structure, "--parameters", "ml", "--force")
    bncc("train", train, *named, "-o", model, *how)
    row["error"][structure] = bncc("evaluate", model, test, *named)["error"]
    emitted = bncc("emit-c", model, "-o", str(folder / "c"), "--force")
    row["bytes"][structure] = emitted["table_bytes"]
    verified = bncc("verify", model, "--data", test, *named)
    row["verified"][structure] = verified["agree"]


def table_of(rows: list[dict[str, Any]]) -> str:
    """Return the measured rows as Markdown."""
    lines = [
        "| set | rows | features | classes | error naive | error TAN | bytes naive | bytes TAN | "
        "verified | seconds |",
        "|---|--:|--:|--:|--:|--:|--:|--:|---|--:|",
    ]
    for row in sorted(rows, key=lambda row: row["file"]):
        sizes = [str(row.get(key, "")) for key in ("rows", "features", "classes")]
        cells = [f"`{row['file']}`", *sizes]
        cells += [f"{100 * row['error'][s]:.2f}" if s in row["error"] else "" for s in STRUCTURES]
        cells += [f"{row['bytes'][s]}" if s in row["bytes"] else "" for s in STRUCTURES]
        agreed = len(row["verified"]) == 2 and all(row["verified"].values())
        verdict = "both" if agreed else row["said"].replace("|", "\\|") or "NO"
        lines.append("| " + " | ".join([*cells, verdict, f"{row['seconds']}"]) + " |")
    return "\n".join(lines)


def run(data: Path, work: Path, jobs: int, only: str = "") -> list[dict[str, Any]]:
    """Measure every set that has not been measured yet; return all rows."""
    work.mkdir(parents=True, exist_ok=True)
    log = work / "results.jsonl"
    rows = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    done = {row["file"] for row in rows}
    todo = [one for one in sets_of(data) if one.file not in done and only in one.file]
    with ThreadPoolExecutor(jobs) as pool:
        folders = [work / one.file.replace("/", "_") for one in todo]
        for row in pool.map(lambda pair: measure(data, *pair), zip(todo, folders, strict=True)):
            with log.open("a") as stream:
                stream.write(json.dumps(row) + "\n")
            rows.append(row)
            print(table_of([row]).splitlines()[-1], file=sys.stderr, flush=True)
    return rows


def page(rows: list[dict[str, Any]]) -> str:
    """Return the page of the documentation that holds the table."""
    agreed = sum(len(row["verified"]) == 2 and all(row["verified"].values()) for row in rows)
    return f"""# Results on all available data sets

{agreed} of {len(rows)} sets were trained with `--structure naive` and `chow-liu`
(`--parameters ml`, 6 bits), emitted, and verified against Python, by the command line alone. Two
thirds of the rows, stratified with seed 0, are training rows; the errors are percent on the
other third.
Bytes are the tables of the emitted C after the compiler's passes. Seconds are the wall time of all
eight commands, two sets at a time on two shared cores. This command measures the table:

<!-- not run: it needs the papers' data and measures for minutes -->
```sh
.venv/bin/python -m benchmarks.accuracy.all_datasets --data ../shared/data --page docs/datasets.md
```

No column was removed from the files: an identifier that differs in every row (`splice`,
`spectrometer`, `flags`, `zoo`, `cylinder.bands`, `bridges`, `colic.orig`) is a feature like others.
It hardly affects naive Bayes. A TAN that selects it as a parent overfits: it learns tables of rows
that never occur again.

{table_of(rows)}
"""


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--work", type=Path, default=Path("build/all_datasets"))
    parser.add_argument("--page", type=Path)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="", help="sets whose file name contains this text")
    options = parser.parse_args()
    if not (options.data / "manifest.csv").is_file():
        parser.error(f"there is no manifest.csv in '{options.data}'; name the data with --data")
    rows = run(options.data, options.work, options.jobs, options.only)
    if options.page is not None:
        options.page.write_text(page(rows), encoding="utf-8")
    else:
        print(table_of(rows))


if __name__ == "__main__":
    main()
