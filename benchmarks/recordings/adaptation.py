"""
Errors on the persons of HAPT before and after a model has adapted to each, and of personal models.

    python -m benchmarks.recordings.adaptation --data ../shared/data -o adapted --write

Each person in turn is left out. A model of boosted tables is trained on the others, and their
held-out decisions, of two folds of persons, choose how it adapts. One half of the person's windows
is labeled: at most 20 of each class are learned, once, and a personal model is trained on all of
them alone. Both decide on the other half, which nothing else has seen. There are three ways
to halve:

- ``runs``: the first half of each activity is labeled, and what follows after a window is judged,
  so that no sample is in windows of both halves;
- ``others``: every second time that the person does something is labeled, the others are judged;
- ``recordings``: the first recording is labeled, the second one, with the phone put on again, is
  judged.

Results stay in the folder of ``-o``, so the command can resume; a person takes about half a minute.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click
import numpy as np

from benchmarks.recordings.sets import find_set, load
from benchmarks.shared.markdown import renew, table
from benchmarks.shared.memory import Memory
from bncc._types import IntArray
from bncc.data.dataset import Dataset
from bncc.discretize.feature import states_of
from bncc.model.adaptation import LabeledHalf, in_turn, judged, labeled_halves, rows_of
from bncc.model.reference import predict, scores
from bncc.recordings.labeled import dataset_of_windows
from bncc.recordings.signals import signals_of
from bncc.recordings.table import columns_of, feature_table, narrowed
from bncc.train.adaptation_choice import with_adaptation
from bncc.train.repeats import held_out_scores
from bncc.train.settings import TrainSettings
from bncc.train.train_model import train_model

PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "adapt.md"
N_FOLDS = 2
"""Folds of persons, fewer than a training has by default: a model for each person is trained."""
POINT = 0.01
"""Increase of an error that a person notices."""
HALVES = {
    "runs": "the start of each activity",
    "others": "every second time",
    "recordings": "the first recording",
}
"""Rows of the table by key: what is labeled."""
Halve = Callable[[IntArray, IntArray], LabeledHalf]
"""Classes and recordings of a person's windows, (n,) int64 each, to both halves."""


def by_runs(y: IntArray, recording: IntArray) -> LabeledHalf:
    """Label the first half of each run of a class."""
    return next(iter(labeled_halves(y, np.zeros(len(y), dtype=np.int64))))


def by_others(y: IntArray, recording: IntArray) -> LabeledHalf:
    """Label every second run of each class."""
    ends = np.flatnonzero((np.diff(y) != 0) | (np.diff(recording) != 0)) + 1
    is_judged, n_runs = np.zeros(len(y), dtype=np.bool_), dict[int, int]()
    for run in np.split(np.arange(len(y)), ends):
        label = int(y[run[0]])
        is_judged[run] = n_runs.get(label, 0) % 2
        n_runs[label] = n_runs.get(label, 0) + 1
    return _halved(y, np.flatnonzero(~is_judged), np.flatnonzero(is_judged))


def by_recordings(y: IntArray, recording: IntArray) -> LabeledHalf:
    """Label the first recording."""
    is_first = recording == recording.min()
    return _halved(y, np.flatnonzero(is_first), np.flatnonzero(~is_first))


def _halved(y: IntArray, labeled: IntArray, others: IntArray) -> LabeledHalf:
    return LabeledHalf(labeled, in_turn(labeled, y), others)


WAYS: Mapping[str, Halve] = {"runs": by_runs, "others": by_others, "recordings": by_recordings}


def windows(data: Path) -> tuple[Dataset, IntArray]:
    """Return the windows of all persons, and the recording of each."""
    one = find_set("hapt")
    recordings = load(data, one)
    columns = columns_of(
        None, signals_of(None, recordings.channels), recordings.channels, one.windows
    )
    found = narrowed(feature_table(recordings, columns, one.windows))
    return dataset_of_windows(found), found.recording


def measured(every: Dataset, recording: IntArray, person: int, n_tables: int) -> dict[str, Any]:
    """Return the errors on a person of models that have not seen the person."""
    settings = TrainSettings(structure="tables", structure_options={"tables": str(n_tables)})
    is_person = every.split.groups == person
    others, own = every.take(np.flatnonzero(~is_person)), every.take(np.flatnonzero(is_person))
    held = held_out_scores(others, settings, N_FOLDS)
    assert held is not None
    model = with_adaptation(train_model(others, settings), held).model
    assert model.adaptation is not None
    assert model.classes == own.classes
    X = states_of(model.features, own.table)
    of_rows, rows = scores(model, X), rows_of(model.lookups, model.adaptation.tables, X)
    found: dict[str, Any] = {
        "tables": list(model.adaptation.tables),
        "step": model.adaptation.step,
        "margin": model.adaptation.margin,
        "frac_bits": model.q_format.frac_bits,
    }
    for way, halve in WAYS.items():
        half = halve(own.y, recording[is_person])
        orders = [half, half.in_time_order]
        turn, time = judged(model.adaptation, orders, rows, of_rows, own.y)
        personal = train_model(own.take(half.labeled), settings).model
        said = predict(personal, states_of(personal.features, own.table))[half.judged]
        found[way] = {
            "learned": len(half.learned),
            "n": len(half.judged),
            "plain": float(turn.before.mean()),
            "adapted": float(turn.after.mean()),
            "in_time_order": float(time.after.mean()),
            "personal": float((said != own.y[half.judged]).mean()),
        }
    return found


def rows_of_page(found: list[dict[str, Any]]) -> list[list[str]]:
    """Return a row for each way to halve, of means over persons."""
    rows = []
    for way, words in HALVES.items():
        plain, adapted, in_time, personal = (
            np.array([of[way][key] for of in found])
            for key in ("plain", "adapted", "in_time_order", "personal")
        )
        gap = plain.mean() - personal.mean()
        closed = f"{100 * (plain.mean() - adapted.mean()) / gap:.0f} %" if gap > 0 else "-"
        more, more_in_time = adapted - plain, in_time - plain
        rows.append(
            [
                words,
                *(f"{100 * error.mean():.1f}" for error in (plain, adapted, in_time, personal)),
                closed,
                f"{100 * more.max():+.1f}, {100 * more_in_time.max():+.1f}",
                f"{(more > POINT).sum()}, {(more_in_time > POINT).sum()}",
                f"{(more < -POINT).sum()}, {(more_in_time < -POINT).sum()}",
            ]
        )
    return rows


@click.command()
@click.option("--data", type=Path, default="../shared/data", help="Folder with `streams`.")
@click.option("-o", "--output", type=Path, default="adapted", help="Folder of the results.")
@click.option("--persons", default=0, help="First persons that are measured; 0 for all.")
@click.option("--tables", "n_tables", default=30, show_default=True, help="Boosted tables.")
@click.option("--write", is_flag=True, help="Update the page.")
def main(data: Path, output: Path, persons: int, n_tables: int, write: bool) -> None:
    """Measure what is missing, and print the table."""
    known = Memory(output / "adaptation.jsonl")
    every, recording = windows(data)
    groups = every.split.groups
    assert groups is not None
    chosen = np.unique(groups).tolist()[: persons or None]
    found = []
    for person in chosen:
        found.append(
            known.get(
                f"{person}, {n_tables}",
                lambda person=person: measured(every, recording, person, n_tables),
            )
        )
        print(person, found[-1], flush=True)
    head = [
        "labeled half", "model", "adapted", "in time order", "personal", "gap closed",
        "worst person", "worse by over a point", "better by over a point",
    ]  # fmt: skip
    text = table(head, rows_of_page(found))
    print(text)
    if write:
        renew(PAGE, {"adaptation": text})


if __name__ == "__main__":
    main()
