"""
Baselines on recordings: two float forests and a small convolutional network, by set and split.

    python -m benchmarks.recordings.baselines --data ../shared/data -o baselines --tsfel PYTHON

Needs the shared data, torch, and for the rich features an interpreter with the version of TSFEL
that ``rich_features.json`` names, such as one of its own environment. Everything is on one thread.

- ``forest``: 200 trees of scikit-learn on bncc's default integer features of all signals.
- ``rich forest``: the same on 54 of TSFEL's features of each channel, most of them vectors.
- ``voting forest``: the majority of the last five decisions of the rich forest in a recording.
- ``CNN``: `benchmarks.recordings.network` on samples; some groups of the training part stop it. It
  learns from at most 16,000 training windows, drawn at random; only ``ecg`` has more.

Test windows decide nothing. Results stay in the folder of ``-o``, so the command can resume; it
takes some two hours, most of them for the rich features. With ``--write`` the results are added to
``baselines.csv``, which other tables compare with, instead of those of the same classifiers.
"""

import sys
from collections.abc import Callable, Iterable
from dataclasses import asdict
from pathlib import Path

import click
import numpy as np

from benchmarks.recordings.figures import (
    Result,
    Shown,
    comparison,
    read,
    recalls,
    result_from,
    result_of,
)
from benchmarks.recordings.figures import write as write_results
from benchmarks.recordings.filter import majority
from benchmarks.recordings.sets import SETS, Split, StreamSet, chosen_sets, folds_of, load
from benchmarks.recordings.windowed import Windowed, rich, windowed
from benchmarks.shared.memory import Memory
from bncc._types import BoolArray, FloatArray, IntArray
from bncc.data.splits import SplitRule
from bncc.recordings.recording import Recordings

PATH = Path(__file__).with_name("baselines.csv")
N_TREES = 200
SEED = 0
MOST_WINDOWS = 16_000
"""Training windows of a network, at most."""
VALIDATED = 0.2
"""Share of the training part that stops a network."""
FOREST, RICH, VOTES, CNN = "forest", "rich forest", "voting forest", "CNN"
SHOWN = (Shown(FOREST), Shown(RICH), Shown(CNN, ("int8 bytes", "products")))
"""Columns of the table."""
MODELS = (FOREST, RICH, VOTES, CNN)
RECALLS = ("ecg",)
"""Sets of rare labels, with a table of recalls."""

Decide = Callable[[BoolArray, BoolArray], tuple[IntArray, dict[str, float]]]
"""Training windows and test windows, (n,) bool, to the decisions on these, and costs by name."""


def by_forest(features: IntArray | FloatArray, y: IntArray) -> Decide:
    """Return a forest that learns from features (n, n_features)."""

    def decide(trained: BoolArray, tested: BoolArray) -> tuple[IntArray, dict[str, float]]:
        from sklearn.ensemble import RandomForestClassifier

        forest = RandomForestClassifier(N_TREES, random_state=SEED, n_jobs=1)
        forest.fit(features[trained], y[trained])
        nodes = sum(tree.tree_.node_count for tree in forest.estimators_)
        return forest.predict(features[tested]), {"nodes": nodes}

    return decide


def drawn(rows: IntArray) -> IntArray:
    """Return at most `MOST_WINDOWS` of rows (n,) int64, in their order."""
    shuffled = np.random.default_rng(SEED).permutation(rows)
    return np.asarray(np.sort(shuffled[:MOST_WINDOWS]))


def by_network(found: Windowed, groups: IntArray) -> Decide:
    """Return a network that learns from samples; `groups` is (n,) int64."""

    def decide(trained: BoolArray, tested: BoolArray) -> tuple[IntArray, dict[str, float]]:
        import torch

        from benchmarks.recordings import network

        torch.set_num_threads(1)
        rows = drawn(np.flatnonzero(trained))
        y = found.y[rows]
        _, held = SplitRule(groups[rows]).holdout(y, VALIDATED, SEED)
        validated = np.isin(np.arange(len(rows)), held)
        samples = found.samples[rows]
        one = network.trained(samples, y, validated, len(found.labels), SEED)
        costs = {"int8 bytes": one.n_weights, "products": one.n_products}
        return one.decisions(found.samples[tested]), costs

    return decide


def measured(
    names: tuple[str, str, str],
    found: Windowed,
    folds: IntArray,
    decide: Decide,
    *,
    votes: bool = False,
) -> Result:
    """
    Return the result of a classifier on the test windows of all folds, (n_recordings,) int.

    With votes, each decision is that of the majority of the last ones in its recording.
    """
    of_window = folds[found.recording]
    said, costs = np.full(len(found.y), -1, dtype=np.int64), dict[str, float]()
    for fold in range(folds.max() + 1):
        is_tested = of_window == fold
        alone, more = decide(~is_tested, is_tested)
        said[is_tested] = majority(alone, found.recording[is_tested]) if votes else alone
        costs = {name: max(value, costs.get(name, 0)) for name, value in more.items()}
    some = said >= 0
    return result_of(names, found.labels, found.y[some], said[some], costs)


class Baselines:
    """Results in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._known = Memory(folder / "baselines.jsonl")

    def measure(self, data: Path, one: StreamSet, python: str, models: tuple[str, ...]) -> None:
        """Measure what is missing for a set."""
        missing = [
            (split, model)
            for split in one.splits
            for model in models
            if _key(one, split, model) not in self._known
        ]
        if not missing:
            return
        recordings = load(data, one)
        found = windowed(one, recordings)
        for split, model in missing:
            decide = self._decide(one, split, model, recordings, found, python)
            names, folds = (one.name, split.name, model), folds_of(split, recordings)
            result = measured(names, found, folds, decide, votes=model == VOTES)
            self._known.put(_key(one, split, model), asdict(result))
            print(*names, f"{result.error:.2f} % {result.macro_f1:.3f}", flush=True)

    def _decide(
        self,
        one: StreamSet,
        split: Split,
        model: str,
        recordings: Recordings,
        found: Windowed,
        python: str,
    ) -> Decide:
        if model == FOREST:
            return by_forest(found.integers, found.y)
        if model in (RICH, VOTES):
            folder = self._folder / "rich" / one.name
            return by_forest(rich(folder, found.samples, one.rate, python), found.y)
        names = [split.group_of(each) for each in recordings.recordings]
        groups = np.unique(names, return_inverse=True)[1]
        return by_network(found, groups[found.recording])

    def results(self, sets: list[StreamSet]) -> list[Result]:
        """Return the known results of sets."""
        keys = [_key(one, split, model) for one in sets for split in one.splits for model in MODELS]
        return [result_from(self._known[key]) for key in keys if key in self._known]


def merged(before: Iterable[Result], new: Iterable[Result]) -> list[Result]:
    """Return all results, new ones instead of those before them, in the order of sets."""
    found = {(one.set, one.split, one.model): one for one in (*before, *new)}
    order = [
        (one.name, split.name, model) for one in SETS for split in one.splits for model in MODELS
    ]
    return [found[key] for key in order if key in found]


def _key(one: StreamSet, split: Split, model: str) -> str:
    return f"{one.name}, {split.name}, {model}"


def tables(results: list[Result]) -> str:
    """Return the tables in Markdown."""
    sets = {one.set for one in results}
    found = [
        comparison(results, SHOWN),
        *(recalls(results, name) for name in RECALLS if name in sets),
    ]
    return "\n".join(found)


@click.command()
@click.option("--data", type=Path, default="../shared/data", help="Folder with `streams`.")
@click.option("-o", "--output", type=Path, default="baselines", help="Folder of the results.")
@click.option("--sets", default=",".join(one.name for one in SETS), help="Sets, with commas.")
@click.option("--models", default=",".join(MODELS), help="Baselines, with commas.")
@click.option("--tsfel", default=sys.executable, help="Interpreter with TSFEL.")
@click.option("--report", is_flag=True, help="Measure nothing; print what is known.")
@click.option("--write", is_flag=True, help="Add the results to baselines.csv.")
def main(
    data: Path, output: Path, sets: str, models: str, tsfel: str, report: bool, write: bool
) -> None:
    """Measure, and print the tables."""
    asked, chosen = tuple(models.split(",")), chosen_sets(sets)
    if unknown := [each for each in asked if each not in MODELS]:
        raise click.UsageError(f"there is no baseline {unknown[0]!r}; choose {', '.join(MODELS)}")
    baselines = Baselines(output)
    for one in () if report else chosen:
        baselines.measure(data, one, tsfel, asked)
    results = baselines.results(list(chosen))
    print(tables(results))
    if write:
        write_results(PATH, merged(read(PATH), results))


if __name__ == "__main__":
    main()
