"""Results of classifiers of windows, and the tables that compare them."""

import csv
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from benchmarks.shared.decisions import packed, unpacked
from benchmarks.shared.markdown import NOTHING, table
from bncc._types import BoolArray, IntArray


@dataclass(frozen=True)
class Result:
    """A classifier on the test windows of a split, those of all folds together."""

    set: str
    split: str
    model: str
    labels: tuple[str, ...]
    confusion: tuple[tuple[int, ...], ...]  # By true label, then by decision
    misses: str  # Test windows in error, see `packed`; in the order of recordings, then of time
    costs: Mapping[str, float]  # Bytes, instructions and the like, by name

    @property
    def n_test(self) -> int:
        """Number of test windows."""
        return sum(map(sum, self.confusion))

    @property
    def missed(self) -> BoolArray:
        """Test windows in error, (n_test,) bool."""
        return unpacked(self.misses, self.n_test)

    @property
    def error(self) -> float:
        """Test error in percent."""
        right = sum(row[k] for k, row in enumerate(self.confusion))
        return 100 * (1 - right / self.n_test)

    @property
    def macro_f1(self) -> float:
        """Mean of the F1 scores of all labels that occur or are decided, 0 .. 1."""
        said = [sum(column) for column in zip(*self.confusion, strict=True)]
        both = [sum(row) + n for row, n in zip(self.confusion, said, strict=True)]
        return fmean(2 * self.confusion[k][k] / n for k, n in enumerate(both) if n)

    @property
    def recalls(self) -> dict[str, float | None]:
        """Share of the windows of each label that are decided right, None without windows."""
        rows = zip(self.labels, self.confusion, strict=True)
        return {
            label: row[k] / sum(row) if sum(row) else None for k, (label, row) in enumerate(rows)
        }


def result_of(
    names: tuple[str, str, str],
    labels: Sequence[str],
    y: IntArray,
    said: IntArray,
    costs: Mapping[str, float],
) -> Result:
    """Return the result of decisions; the names are of the set, the split and the classifier."""
    confusion = np.zeros((len(labels), len(labels)), dtype=np.int64)
    np.add.at(confusion, (y, said), 1)
    counts = tuple(tuple(row) for row in confusion.tolist())
    return Result(*names, tuple(labels), counts, packed(said != y), costs)


@dataclass(frozen=True)
class Shown:
    """Columns of a classifier in a table."""

    model: str
    costs: tuple[str, ...] = ()  # Names of `Result.costs`


def comparison(results: Iterable[Result], shown: Sequence[Shown]) -> str:
    """Return a table with a row for each set and split; every classifier has some columns."""
    found: dict[tuple[str, str], dict[str, Result]] = {}
    for one in results:
        found.setdefault((one.set, one.split), {})[one.model] = one
    head = ["set", "split", "windows"]
    for each in shown:
        head += [f"{each.model} {what}" for what in ("error", "F1", *each.costs)]
    lines = []
    for (name, split), of in found.items():
        n_test = {one.n_test for one in of.values()}
        if len(n_test) > 1:
            raise ValueError(f"the classifiers of '{name}', {split}, have different test windows")
        cells = [name, split, f"{n_test.pop():,}"]
        for each in shown:
            cells += _cells(of.get(each.model), each)
        lines.append(cells)
    return table(head, lines)


def _cells(one: Result | None, shown: Shown) -> list[str]:
    if one is None:
        return [NOTHING] * (2 + len(shown.costs))
    costs = [f"{one.costs[name]:,.0f}" for name in shown.costs]
    return [f"{one.error:.2f}", f"{one.macro_f1:.3f}", *costs]


def recalls(results: Iterable[Result], name: str) -> str:
    """Return a table of the recall of each label of a set in percent, a row for each classifier."""
    some = [one for one in results if one.set == name]
    lines, head = [], [name, "split"]
    for one in some:
        counts = zip(one.labels, map(sum, one.confusion), strict=True)
        head = [name, "split", *(f"{label} ({n:,})" for label, n in counts)]
        cells = [
            NOTHING if share is None else f"{100 * share:.1f}" for share in one.recalls.values()
        ]
        lines.append([one.model, one.split, *cells])
    return table(head, lines)


HEAD = ("set", "split", "model", "error", "macro_f1", "labels", "confusion", "misses", "costs")


def write(path: Path, results: Iterable[Result]) -> None:
    """Write results as CSV."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, HEAD, lineterminator="\n")
        writer.writeheader()
        for one in results:
            facts: dict[str, Any] = asdict(one)
            facts |= {name: json.dumps(facts[name]) for name in ("labels", "confusion", "costs")}
            figures = {"error": f"{one.error:.2f}", "macro_f1": f"{one.macro_f1:.4f}"}
            writer.writerow(facts | figures)


def read(path: Path) -> list[Result]:
    """Read the results of `write`."""
    with path.open(encoding="utf-8", newline="") as stream:
        return [
            result_from(
                {name: json.loads(row[name]) for name in ("labels", "confusion", "costs")}
                | {name: row[name] for name in ("set", "split", "model", "misses")}
            )
            for row in csv.DictReader(stream)
        ]


def result_from(facts: Mapping[str, Any]) -> Result:
    """Return a result from its JSON object."""
    confusion = tuple(tuple(row) for row in facts["confusion"])
    return Result(**{**facts, "labels": tuple(facts["labels"]), "confusion": confusion})
