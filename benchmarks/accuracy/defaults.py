"""
Test error of ``bncc train --effort``, compared with that of the papers' searches.

Each cell is a data set of the papers, a structure and a number of bits. The model is trained by
``train_model``, as ``bncc train`` does, on the training rows of the papers' split; satimage has
five splits. With ``--validation`` the last of five parts of the training rows takes the place of
the test rows: that mode chose the recipe, and the test rows decided nothing. The searched errors
are those of docs/results.md, which has none for tan-subset with few bits. The command resumes:

    nice .venv/bin/python -m benchmarks.accuracy.defaults --data ../shared/data -o defaults.jsonl

All cells take a quarter of an hour with ``--effort default``; ``--write`` updates the table of
docs/structures.md with every effort whose results are in the file.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from time import perf_counter, process_time
from typing import Any

import click
import numpy as np

from benchmarks.shared.markdown import renew, table
from benchmarks.shared.memory import Memory
from bncc.data.dataset import Dataset
from bncc.data.readers import read_table
from bncc.data.splits import stratified_folds
from bncc.data.target import fold_parts
from bncc.train.options import EFFORTS
from bncc.train.settings import TrainSettings
from bncc.train.train_model import train_model

FOLDS = {"letter": 1, "satimage": 5, "usps": 1}
STRUCTURES = ("naive", "chow-liu", "tan-subset")
BITS = (2, 4, 8)
N_PARTS = 5
SEARCHED: Mapping[tuple[str, str], tuple[float, float, float]] = {
    ("letter", "naive"): (20.22, 14.04, 13.01),
    ("letter", "chow-liu"): (10.77, 8.80, 8.91),
    ("satimage", "naive"): (11.00, 10.69, 10.61),
    ("satimage", "chow-liu"): (10.28, 10.54, 10.44),
    ("usps", "naive"): (4.51, 4.37, 4.15),
    ("usps", "chow-liu"): (4.26, 3.39, 3.31),
}
"""Test errors of the searches in percent, by bits: docs/results.md, S3's figures 3 and 6."""
ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "structures.md"


@dataclass(frozen=True)
class Cell:
    """One training task of the table."""

    name: str
    structure: str
    bits: int

    @property
    def searched(self) -> float | None:
        """Test error of the search in percent, if there is one."""
        found = SEARCHED.get((self.name, self.structure))
        return None if found is None else found[BITS.index(self.bits)]


def parts(data: Path, name: str, fold: int, *, is_validation: bool) -> tuple[Dataset, Dataset]:
    """Return training rows, and test rows or the last part of the training rows."""
    train, test = fold_parts(read_table(data / "paper" / f"{name}.npz", fold=fold), fold=fold)
    assert test is not None
    if not is_validation:
        return train, test
    part = stratified_folds(train.y, N_PARTS, 0)
    rest, held = (
        train.take(
            np.flatnonzero(part == N_PARTS - 1) if is_last else np.flatnonzero(part != N_PARTS - 1)
        )
        for is_last in (False, True)
    )
    return rest, held


def measured(data: Path, cell: Cell, effort: str, seed: int, *, is_validation: bool) -> Any:
    """Train once for each split: error in percent over all rows, and mean seconds of one."""
    wrong, n, seconds, cpu = 0.0, 0, [], []
    for fold in range(1, 1 + (1 if is_validation else FOLDS[cell.name])):
        train, test = parts(data, cell.name, fold, is_validation=is_validation)
        settings = TrainSettings(structure=cell.structure, bits=cell.bits, effort=effort, seed=seed)
        begin, begin_cpu = perf_counter(), process_time()
        model = train_model(train, settings, test=test).model
        seconds.append(perf_counter() - begin)
        cpu.append(process_time() - begin_cpu)
        wrong += model.training["error_test"] * test.n_rows
        n += test.n_rows
    return {
        "error": 100 * wrong / n, "n": n, "seconds": fmean(seconds), "cpu": fmean(cpu),
        "load": os.getloadavg()[0],
    }  # fmt: skip


def rows_of(found: Mapping[tuple[Cell, str], Any], efforts: Sequence[str]) -> list[list[str]]:
    """Return the rows of the table, one per data set and structure and number of bits."""
    rows = []
    for cell in dict.fromkeys(cell for cell, _ in found):
        searched = cell.searched
        cells = [f"{cell.name}, {cell.structure}", str(cell.bits)]
        cells.append("" if searched is None else f"{searched:.2f}")
        for effort in efforts:
            one = found.get((cell, effort))
            if one is None:
                cells += ["", "", ""]
                continue
            ratio = "" if searched is None else f"{one['error'] / searched:.3f}"
            cells += [f"{one['error']:.2f}", ratio, f"{one['cpu']:.0f}"]
        rows.append(cells)
    means = ["mean of the ratios", "", ""]
    for effort in efforts:
        ratios = [
            one["error"] / cell.searched
            for (cell, of), one in found.items()
            if of == effort and cell.searched is not None
        ]
        mean = f"**{fmean(ratios):.3f}** of {len(ratios)}" if ratios else ""
        means += ["", mean, ""]
    return [*rows, means]


@click.command(help=__doc__)
@click.option("--data", type=click.Path(path_type=Path), required=True)
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True)
@click.option("--effort", "efforts", multiple=True, type=click.Choice(EFFORTS))
@click.option("--set", "names", multiple=True, type=click.Choice(tuple(FOLDS)))
@click.option("--structure", "structures", multiple=True, type=click.Choice(STRUCTURES))
@click.option("--bits", "widths", multiple=True, type=int)
@click.option("--seed", type=int, default=0)
@click.option("--validation", "is_validation", is_flag=True)
@click.option("--write", is_flag=True)
def main(
    data: Path,
    output: Path,
    efforts: tuple[str, ...],
    names: tuple[str, ...],
    structures: tuple[str, ...],
    widths: tuple[int, ...],
    seed: int,
    *,
    is_validation: bool,
    write: bool,
) -> None:
    """Measure what is missing, and print or write the table."""
    if write and is_validation:
        raise click.UsageError("--write is for test errors; leave out --validation")
    known = Memory(output)
    found: dict[tuple[Cell, str], Any] = {}
    every = (
        Cell(name, structure, bits) for name in FOLDS for structure in STRUCTURES for bits in BITS
    )
    for cell in every:
        is_asked = (
            cell.name in (names or FOLDS)
            and cell.structure in (structures or STRUCTURES)
            and cell.bits in (widths or BITS)
        )
        for effort in EFFORTS:
            rows = "validation" if is_validation else "test"
            key = f"{rows}, {cell.name}, {cell.structure}, {cell.bits}, {effort}, seed {seed}"
            if key not in known and is_asked and effort in (efforts or EFFORTS[:2]):
                one = measured(data, cell, effort, seed, is_validation=is_validation)
                known.put(key, one)
                click.echo(f"{key}: {one['error']:.2f} % ({cell.searched}), {one['cpu']:.1f} s")
            if key in known:
                found[cell, effort] = known[key]
    shown = [effort for effort in EFFORTS if any(of == effort for _, of in found)]
    head = ["set, structure", "bits", "searched"]
    head += [text for effort in shown for text in (effort, "ratio", "CPU s")]
    text = table(head, rows_of(found, shown))
    if write:
        renew(PAGE, {"defaults": text})
    else:
        click.echo(text)


if __name__ == "__main__":
    main()
