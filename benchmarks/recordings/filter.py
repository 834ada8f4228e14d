"""
Errors and switches of decisions over time: alone, by majority, and filtered.

    python -m benchmarks.recordings.filter --data ../shared/data -o filtered --write

A model of boosted tables is trained on the training part of the first split of a set. Trainings
without a fold of its groups give the scores on which the price of a switch is chosen, and the
temperature of a float hidden Markov model with a learned transition matrix. The float filter of the
same price sums probabilities where the filter takes the least cost. Test recordings are classified
window by window, those without a label included; errors are those of windows with one.
Results stay in the folder of ``-o``, so the command can resume; a set takes some minutes.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np

from benchmarks.recordings.sets import StreamSet, chosen_sets, load, parts
from benchmarks.shared.markdown import renew, table
from benchmarks.shared.memory import Memory
from bncc._types import FloatArray, IntArray
from bncc.discretize.feature import states_of
from bncc.model.filter import filtered, rows_of_sequences, switches, viterbi
from bncc.model.reference import scores
from bncc.recordings.labeled import dataset_of_windows, front_end_of
from bncc.recordings.recording import Recordings
from bncc.recordings.signals import signals_of
from bncc.recordings.table import columns_of, feature_table, narrowed
from bncc.train.filter_choice import AUTO, with_filter
from bncc.train.repeats import DEFAULT_FOLDS, held_out_scores
from bncc.train.settings import TrainSettings
from bncc.train.train_model import train_model

PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "filter.md"
SETS = "hapt,exercises,pump,bearings"
N_VOTES = 5
"""Last decisions that a majority is of."""
TEMPERATURES = (1, 2, 4, 8, 16, 32, 64, 128)
"""Divisors of scores that the float model chooses from."""
WAYS = {
    "alone": "each window alone",
    "votes": f"majority of the last {N_VOTES}",
    "filter": "filter",
    "same": "float filter, same price",
    "float": "float model, learned matrix",
    "viterbi": "offline path",
}
"""Columns of the table by key: ways from scores to decisions."""


def majority(decisions: IntArray, sequences: IntArray) -> IntArray:
    """Return the most frequent of the last decisions of each row, (n,); the last one on ties."""
    found = np.empty_like(decisions)
    for rows in rows_of_sequences(sequences):
        for k, row in enumerate(rows.tolist()):
            last = decisions[rows[max(0, k - N_VOTES + 1) : k + 1]]
            counts = np.bincount(last)
            found[row] = last[-1] if counts[last[-1]] == counts.max() else counts.argmax()
    return found


def transitions(y: IntArray, sequences: IntArray, n_classes: int) -> FloatArray:
    """Return the share of each next class after a class, each pair counted once more."""
    counts = np.ones((n_classes, n_classes))
    for rows in rows_of_sequences(sequences):
        np.add.at(counts, (y[rows[:-1]], y[rows[1:]]), 1.0)
    return counts / counts.sum(axis=1, keepdims=True)


def one_price(nats: float, n_classes: int) -> FloatArray:
    """Return the transition matrix in which every switch costs the same number of nats."""
    matrix = np.full((n_classes, n_classes), np.exp(-nats))
    np.fill_diagonal(matrix, 1.0)
    return matrix / matrix.sum(axis=1, keepdims=True)


def forward(nats: FloatArray, sequences: IntArray, matrix: FloatArray) -> IntArray:
    """Return the class of largest probability given the rows so far; `nats` (n, n_classes)."""
    found = np.empty(len(nats), dtype=np.int64)
    likelihood = np.exp(-nats)
    for rows in rows_of_sequences(sequences):
        p = np.full(nats.shape[1], 1.0 / nats.shape[1])
        for row in rows.tolist():
            p = (p @ matrix) * likelihood[row]
            p /= p.sum()
            found[row] = p.argmax()
    return found


def measured(one: StreamSet, recordings: Recordings, n_tables: int) -> dict[str, Any]:
    """Return errors and switches per hour of a set, and the price."""
    train, test = next(parts(one.splits[0], recordings))
    columns = columns_of(None, signals_of(None, train.channels), train.channels, one.windows)
    known = narrowed(feature_table(train, columns, one.windows))
    rows = dataset_of_windows(known)
    settings = TrainSettings(structure="tables", structure_options={"tables": str(n_tables)})
    held = held_out_scores(rows, settings, DEFAULT_FOLDS)
    assert held is not None
    assert held.sequences is not None
    result = with_filter(train_model(rows, settings), rows, settings, AUTO, held=held)
    model, front_end = result.model, front_end_of(known)
    assert model.filter is not None

    nats = held.scores / np.exp2(held.frac_bits)[:, None]
    matrix = transitions(held.y, held.sequences, model.n_classes)
    wrong = [int((forward(nats / t, held.sequences, matrix) != held.y).sum()) for t in TEMPERATURES]
    temperature = TEMPERATURES[int(np.argmin(wrong))]

    every = feature_table(test, front_end.columns, one.windows, unlabeled=True)
    found = scores(model, states_of(model.features, front_end.table(every.values)))
    sequences, alone = every.segment, found.argmin(axis=1)
    unit = 2.0**model.q_format.frac_bits
    price = model.filter.switch / unit
    said = {
        "alone": alone,
        "votes": majority(alone, sequences),
        "filter": filtered(found, sequences, model.filter.prices),
        "same": forward(found / unit, sequences, one_price(price, model.n_classes)),
        "float": forward(found / unit / temperature, sequences, matrix),
        "viterbi": viterbi(found, sequences, model.filter.prices),
    }  # fmt: skip
    number = np.array([test.labels.index(label) for label in model.classes])
    is_labeled = every.label >= 0
    hours = len(found) * one.hop / one.rate / 3600
    return {
        "windows": int(is_labeled.sum()),
        "switch": model.filter.switch,
        "largest": int(found.max()),
        "temperature": temperature,
        "differ": 100 * float((said["filter"] != said["same"]).mean()),
        "error": {
            way: 100 * float((number[of] != every.label)[is_labeled].mean())
            for way, of in said.items()
        },
        "switches": {way: switches(of, sequences) / hours for way, of in said.items()},
    }


def rows_of(known: Memory, sets: Sequence[StreamSet], n_tables: int) -> list[list[str]]:
    """Return a row for each set with what is known."""
    found = []
    for one in sets:
        if (key := f"{one.name}, {n_tables}") in known:
            of = known[key]
            cells = [f"{of['error'][way]:.1f}, {of['switches'][way]:,.0f}" for way in WAYS]
            differ = f"{of['differ']:.1f}"
            found.append([one.name, f"{of['windows']:,}", f"{of['switch']:,}", *cells, differ])
    return found


@click.command()
@click.option("--data", type=Path, default="../shared/data", help="Folder with `streams`.")
@click.option("-o", "--output", type=Path, default="filtered", help="Folder of the results.")
@click.option("--sets", default=SETS, show_default=True, help="Sets, with commas.")
@click.option("--tables", "n_tables", default=30, show_default=True, help="Boosted tables.")
@click.option("--write", is_flag=True, help="Update the page.")
def main(data: Path, output: Path, sets: str, n_tables: int, write: bool) -> None:
    """Measure what is missing, and print the table."""
    known, chosen = Memory(output / "filter.jsonl"), chosen_sets(sets)
    for one in chosen:
        found = known.get(
            f"{one.name}, {n_tables}", lambda one=one: measured(one, load(data, one), n_tables)
        )
        print(one.name, found, flush=True)
    head = ["set", "test windows", "price", *WAYS.values(), "differ"]
    text = table(head, rows_of(known, chosen, n_tables))
    print(text)
    if write:
        renew(PAGE, {"filter": text})


if __name__ == "__main__":
    main()
