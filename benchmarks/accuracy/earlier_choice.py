r"""
Result of commit d593a37's budget search: decisions on test rows, flash and instructions.

    git worktree add ../earlier d593a37
    PYTHONPATH=../earlier .venv/bin/python -P benchmarks/accuracy/earlier_choice.py \
        --data ../shared/data -o ../earlier_choice

Runs the code of that commit, whose modules have other names than today's; so all its imports are
in functions. Each search has the seed and the rows of `benchmarks.accuracy.twenty_sets`, whose
tables compare a later choice with it; `benchmarks.accuracy.earlier_figures` collects the results.
A search takes half a minute to some minutes; results stay in the folder, so the command can resume.
For each set and budget the folder has ``SET.BYTES.json`` (the figures; null if nothing fits),
``SET.BYTES.npz`` (the decisions and the classes of all test rows) and ``SET.BYTES.bncc`` (the
model).
"""

import json
import os
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from unittest.mock import patch

import click
import numpy as np

SENSORS = (
    "banknote", "wifi_localization", "htru2", "phoneme", "robot_wall_following_24", "ai4i2020",
    "har_exercise", "occupancy", "optdigits", "dry_bean", "wisdm_activity", "magic04",
)  # fmt: skip
UCI = ("kr.vs.kp", "vowel", "nursery", "page.blocks", "waveform5000")
SETS = (*SENSORS, "mammography", *UCI, "krkopt", "madelon")
"""The sets in the order of the runs."""
FEW_CLASSES = (
    "banknote", "wifi_localization", "htru2", "phoneme", "robot_wall_following_24", "ai4i2020",
    "occupancy", "magic04",
)  # fmt: skip
"""Sets of at most four classes, whose flash at equal error is compared."""
EQUAL_BUDGETS = (512, 768, 1024, 1536, 2048, 3072, 4096)
"""Budgets of these sets."""
RUNS = (
    *((name, 4096) for name in SETS),
    *((name, size) for size in EQUAL_BUDGETS for name in FEW_CLASSES),
    *((name, size) for size in (1024, 16384) for name in SETS),
)
N_TIMED = 1000
"""Test rows over which instructions are counted, at random."""


def parts(data: Path, name: str):
    """Return the training and the test rows of a set."""
    from benchmarks.sensor_sets import SEED, TESTED
    from benchmarks.sensor_sets import parts as of_raw

    from bncc.data.readers import read_table
    from bncc.data.splits import stratified_holdout
    from bncc.data.target import dataset_of

    if name not in UCI:
        return of_raw(data, name)
    whole = dataset_of(read_table(data / "uci" / f"{name}.arff.gz"))
    kept, held = stratified_holdout(whole.y, TESTED, SEED)
    return whole.take(kept), whole.take(held)


def choose(data: Path, name: str, n_bytes: int):
    """Search, and return the model, its decisions on the test rows, their classes and figures."""
    from bncc.bench.measurement import WRITTEN, measure_ours
    from bncc.bench.on_target import bench_inputs
    from bncc.build.cross import find_bench
    from bncc.build.targets import find_target
    from bncc.compiler.cost_model import LEVELS
    from bncc.search.budget import Budget
    from bncc.search.search import Tried, search

    from bncc.discretize.feature import states_of
    from bncc.model.reference import costs
    from bncc.train.settings import TrainSettings

    train, test = parts(data, name)
    budget = Budget("cortex-m4", flash=n_bytes)
    begin = perf_counter()
    found = search(train, TrainSettings(seed=0), budget, test=test)
    seconds = perf_counter() - begin
    model, price = found.result.model, found.price
    said = costs(model, states_of(model.features, test.table)).argmin(axis=1)
    wrong = int((said != test.y).sum())
    assert wrong == round(model.training["error_test"] * test.n_rows)
    (bench,) = find_bench(find_target(budget.target))
    with permitted_warnings():
        measured = measure_ours(
            model, bench, bench_inputs(model, test.table, n_rows=N_TIMED),
            opt_level=LEVELS[price.optimize],
            options=replace(WRITTEN, optimize=price.optimize, target=budget.target),
            with_trusted=False,
        )  # fmt: skip
    # A model of categories alone has no entry point for readings: its states are what it is given.
    called = measured.costs.get("raw", measured.costs["predict"])
    figures = {
        "set": name,
        "budget": n_bytes,
        "words": Tried(found.settings, (), price).words,
        "wrong": wrong,
        "n_test": test.n_rows,
        "n_classes": len(train.classes),
        "flash": measured.flash,
        "mean": called.mean,
        "worst": called.max,
        "seconds": round(seconds, 1),
    }
    return model, said, test.y, figures


def permitted_warnings():
    """
    Return a context in which C is measured even if the compiler warns.

    The search of that commit estimates such C, as that of kr.vs.kp, instead of measuring it.
    """
    from bncc.build import image

    run = image.run

    def tolerant(command, folder):
        return run([word for word in command if word != "-Werror"], folder)

    return patch.object(image, "run", tolerant)


def keep(folder: Path, model, said, y, figures) -> None:
    """Write the results of a search; the figures last, whose file marks it as complete."""
    from bncc.model.file import save_model

    stem = f"{figures['set']}.{figures['budget']}"
    save_model(model, folder / f"{stem}.bncc", overwrite=True)
    np.savez_compressed(
        folder / f"{stem}.npz", said=said.astype(np.int16), y=np.asarray(y).astype(np.int16)
    )
    finish(folder, stem, figures)


def finish(folder: Path, stem: str, figures) -> None:
    """Write the figures in one step."""
    partial = folder / f"{stem}.part{os.getpid()}"
    partial.write_text(json.dumps(figures, indent=1) + "\n", "utf-8")
    partial.replace(folder / f"{stem}.json")


def run(data: Path, folder: Path, name: str, n_bytes: int) -> None:
    """Search one set with one budget, and write the results."""
    from bncc.errors import BudgetError

    try:
        *results, figures = choose(data, name, n_bytes)
    except BudgetError as error:
        print(f"{name} {n_bytes}: {error}", flush=True)
        finish(folder, f"{name}.{n_bytes}", None)
        return
    keep(folder, *results, figures)
    print(json.dumps(figures), flush=True)


@click.command()
@click.option("--data", type=Path, default="../shared/data", help="Folder with `raw` and `uci`.")
@click.option("-o", "--output", type=Path, required=True, help="Folder of the results.")
@click.option("--sets", default="", help="Only these sets, separated by commas.")
@click.option("--budgets", default="", help="Only these budgets in bytes, separated by commas.")
def main(data: Path, output: Path, sets: str, budgets: str) -> None:
    """Run the missing searches, one after the other."""
    output.mkdir(parents=True, exist_ok=True)
    for name, n_bytes in dict.fromkeys(RUNS):
        is_named = not sets or name in sets.split(",")
        is_asked = not budgets or str(n_bytes) in budgets.split(",")
        if is_named and is_asked and not (output / f"{name}.{n_bytes}.json").exists():
            run(data, output, name, n_bytes)


if __name__ == "__main__":
    main()
