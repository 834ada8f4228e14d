"""
Run all of the papers' experiments, the cheapest first; the same command resumes.

    python -m benchmarks.accuracy.papers_run --data ../shared/data -o papers --jobs 2

prints the hours of each task, from the measured seconds of a quick cell, and then runs the tasks
whose table is not in the folder yet. ``--estimate`` stops after the first part, which takes some
minutes, and writes ``papers_seconds.csv`` next to this file, from which the page has its hours. A
task with a cell of more than twelve hours runs a smaller one, which is marked, or nothing.
"""

import csv
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage

import click

from benchmarks.accuracy.papers_tasks import PER_CELL, Task, tasks

SECONDS = Path(__file__).with_name("papers_seconds.csv")
FASTEST = 0.01
"""Shortest time of a quick cell without its start, in seconds; less is not measured well."""


def call(table: str, options: tuple[str, ...], data: Path, *more: str) -> None:
    """Run ``bncc reproduce``."""
    words = ["reproduce", table, "--data", str(data), *options, *more]
    subprocess.run([sys.executable, "-m", "bncc", *words], check=True, stdout=subprocess.DEVNULL)


def spent() -> float:
    """Return the processor seconds of all finished calls."""
    used = getrusage(RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def quick_seconds(task: Task, data: Path) -> float:
    """
    Return the processor seconds of the quick cell, which other programs hardly change.

    It runs twice with a checkpoint, the second time without any training: the difference is the
    time without the start and the reading of data.
    """
    with tempfile.TemporaryDirectory() as folder:
        kept = ("--checkpoint", f"{folder}/log.jsonl") if task.checkpoint else ()
        took = []
        for _ in range(2 if kept else 1):
            begun = spent()
            call(task.quick[0], task.quick[1:], data / task.folder, *kept)
            took.append(spent() - begun)
    return max(took[0] - (took[1] if kept else 0.0), FASTEST)


def read_seconds(path: Path = SECONDS) -> dict[str, float]:
    """Return measured seconds by quick cell."""
    if not path.is_file():
        return {}
    with path.open(encoding="utf-8", newline="") as file:
        return {row["cell"]: float(row["seconds"]) for row in csv.DictReader(file)}


def write_seconds(seconds: Mapping[str, float], path: Path = SECONDS) -> None:
    """Write measured seconds by quick cell."""
    lines = ["cell,seconds", *(f"{name},{value:.3f}" for name, value in seconds.items())]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def hours_of(task: Task, seconds: float) -> float:
    """Return the estimated hours of a task on one core."""
    return task.ratio * seconds / 3600


def is_too_long(task: Task, seconds: float) -> bool:
    """Return whether a cell of the task would take more than `PER_CELL` hours."""
    return task.largest * hours_of(task, seconds) > PER_CELL


def run(task: Task, seconds: float, data: Path, folder: Path, jobs: int) -> str:
    """Run a task that has no table yet, and return what was done."""
    output = folder / f"{task.name}.csv"
    if output.is_file():
        return "is there"
    options, done = task.options, "done"
    if is_too_long(task, seconds):
        if task.smaller is None:
            return "left out: a cell takes more than twelve hours"
        options, done = task.smaller, "done, a smaller run"
        output = output.with_suffix(".smaller.csv")
        if output.is_file():
            return "is there, a smaller run"
    kept = ("--checkpoint", str(folder / f"{task.checkpoint}.jsonl")) if task.checkpoint else ()
    parallel = ("--jobs", str(jobs)) if task.checkpoint else ()
    call(task.table, options, data / task.folder, *kept, *parallel, "-o", str(output))
    return done


@click.command()
@click.option("--data", type=Path, default="../shared/data", help="Folder of all data sets.")
@click.option("-o", "folder", type=Path, default="papers", help="Folder of results.")
@click.option("--jobs", default=1, help="Processes of each task.")
@click.option("--only", multiple=True, help="Name of a task, repeatable [default: all].")
@click.option("--estimate", is_flag=True, help="Only measure quick cells and print hours.")
def main(data: Path, folder: Path, jobs: int, only: tuple[str, ...], estimate: bool) -> None:
    """Print the hours of all tasks, and run them."""
    chosen = [task for task in tasks() if not only or task.name in only]
    folder.mkdir(parents=True, exist_ok=True)
    place = SECONDS if estimate else folder / SECONDS.name
    seconds = read_seconds(place)
    for task in chosen:
        if task.cell not in seconds:
            seconds[task.cell] = quick_seconds(task, data)
            write_seconds(seconds, place)
        mark = ""
        if is_too_long(task, seconds[task.cell]):
            mark = ", left out" if task.smaller is None else ", a smaller run"
        click.echo(f"{task.name}: {hours_of(task, seconds[task.cell]):.2f} hours{mark}")
    total = sum(hours_of(task, seconds[task.cell]) for task in chosen)
    click.echo(f"all: {total:.1f} hours on one core, about {total / jobs:.1f} with --jobs {jobs}")
    if estimate:
        return
    for task in sorted(chosen, key=lambda each: hours_of(each, seconds[each.cell])):
        click.echo(f"{task.name}: {run(task, seconds[task.cell], data, folder, jobs)}")


if __name__ == "__main__":
    main()
