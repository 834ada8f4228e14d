"""
bncc against emlearn's trees and forests in 4 KB of flash, on `benchmarks.shared.sensor_sets`.

    python -m benchmarks.peers.twelve_sets --data ../shared/data

All classifiers are trained on the same training rows and selected on the same folds,
those of `bncc.search.split_folds`; test rows only evaluate the result. bncc's model is the result
of ``bncc train --max-flash 4k --target cortex-m4`` that `benchmarks.accuracy.twenty_sets` found
and measured. The baselines are the best of the grid of `benchmarks.peers.tree_peers` that fit: a
tree, a forest with one vote per tree, emlearn's default, and a forest of probabilities. All C is
built at -Os for a Cortex-M4 and measured from readings to class. The baselines stay in
``benchmarks/peers/twelve.jsonl``; without that file, the command takes most of an hour.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path

import click
import numpy as np

from benchmarks.accuracy.twenty_sets import RESULTS, Results
from benchmarks.peers.tree_peers import (
    Candidate,
    Grown,
    candidates,
    cost_on,
    error_of,
    finalists,
    flash_on,
    grow,
)
from benchmarks.shared.markdown import renew, table
from benchmarks.shared.sensor_sets import SETS, parts
from bncc.data.dataset import Dataset
from bncc.device.cross import Toolchain, find_toolchain
from bncc.device.measure import bench_rows
from bncc.resources import Budget
from bncc.search.budget_search import HELD
from bncc.search.split_folds import folds_of
from bncc.targets import find_target
from bncc.train.settings import TrainSettings

BUDGET = Budget("cortex-m4", flash=4096)
SETTINGS = TrainSettings(seed=0)
FINALISTS = 10
"""Number of candidates per kind, the best of the first fold that fit, evaluated on all folds."""
OURS = "bncc"
KINDS = ("tree", "forest", "soft forest")
RIVALS = ("tree", "forest", "best of all")
"""Baselines: the forest of lower validation error, and the classifier of lowest test error."""
ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "twelve.md"
BASELINES = ROOT / "benchmarks" / "peers" / "twelve.jsonl"


@dataclass(frozen=True)
class Entry:
    """Result of a classifier on a data set."""

    set: str
    kind: str  # `OURS`, or one of `KINDS`
    words: str  # Description in the table
    held: float | None  # Validation error, 0 .. 1; None for bncc, whose search has it
    wrong: int  # Test rows in error
    n_test: int  # All test rows
    flash: int  # Bytes
    instructions: float  # Per decision from readings, mean over random test rows

    @property
    def error(self) -> float:
        """Test error in percent."""
        return 100 * self.wrong / self.n_test


Found = Mapping[str, Entry]
"""Results of one set, by kind."""


def ours(name: str, results: Results) -> Entry:
    """Return the result of the search, from readings."""
    known = results.known(name, BUDGET.flash or 0)
    one = known.figures() if known else None
    if one is None:
        raise click.ClickException(
            f"{name} is not searched yet; run `python -m benchmarks.accuracy.twenty_sets "
            f"--budgets {BUDGET.flash} --sets {name}`"
        )
    return Entry(name, OURS, one.words, None, one.wrong, one.n_test, one.flash, one.mean)


def theirs(name: str, train: Dataset, test: Dataset, bench: Toolchain) -> Iterator[Entry]:
    """Select a classifier of each kind that emlearn can print, and measure it."""
    first, *others = folds_of(train, replace(SETTINGS, validation=HELD))
    ones = list(candidates(train, first.rest, first.held, SETTINGS.seed))

    def judged(one: Candidate) -> float:
        errors = [error_of(one, fold.rest, fold.held, SETTINGS.seed) for fold in others]
        return float(np.mean([one.error, *errors]))

    for kind in KINDS:
        fitting = finalists(
            (one for one in ones if one.kind == kind),
            lambda one: grow(one, train, SETTINGS.seed),
            lambda grown: flash_on(bench, grown),
            BUDGET.flash or 0,
        )
        held, flash, grown = best_of(islice(fitting, FINALISTS), judged)
        one = grown.candidate
        wrong = int((grown.decide(one.encoding.numbers(test.table)) != test.y).sum())
        timed = one.encoding.numbers(bench_rows(test.table))
        mean = cost_on(bench, grown, timed).mean
        yield Entry(name, kind, words_of(one), held, wrong, test.n_rows, flash, mean)


def best_of(
    ones: Iterable[tuple[Grown, int]], judged: Callable[[Candidate], float]
) -> tuple[float, int, Grown]:
    """Return validation error, bytes and classifier of the lowest error, the smallest of equals."""
    found = [(judged(grown.candidate), flash, grown) for grown, flash in ones]
    return min(found, key=lambda each: each[:2])


def words_of(one: Candidate) -> str:
    """Return the description of a baseline."""
    return f"{one.form.words}; {one.style.method}, {one.style.c_type.removesuffix('_t')}"


def best_forest(found: Found) -> Entry:
    """Return the forest of lower validation error, the smaller of equals."""
    return min(
        (found[kind] for kind in ("forest", "soft forest")), key=lambda one: (one.held, one.flash)
    )


def rivals(found: Found) -> dict[str, Entry]:
    """Return the baselines, by the names of `RIVALS`."""
    best = min((found[kind] for kind in KINDS), key=lambda one: one.wrong)
    return dict(zip(RIVALS, (found["tree"], best_forest(found), best), strict=True))


def outcome(mine: Entry, other: Entry) -> str:
    """Return win, tie or loss of bncc; a tie is an equal number of wrong test rows."""
    if mine.wrong == other.wrong:
        return "tie"
    return "win" if mine.wrong < other.wrong else "loss"


def p_value(differences: Sequence[float]) -> float:
    """Return the two-sided p-value of Wilcoxon's signed-rank test; ties are left out."""
    from scipy.stats import wilcoxon

    if not np.any(differences):
        return 1.0
    return float(wilcoxon(differences).pvalue)


def summary(all_found: Mapping[str, Found]) -> str:
    """Return wins, ties and losses against each baseline."""
    rows = []
    for rival in RIVALS:
        pairs = [(found[OURS], rivals(found)[rival]) for found in all_found.values()]
        outcomes = [outcome(*pair) for pair in pairs]
        counted = [str(outcomes.count(each)) for each in ("win", "tie", "loss")]
        p = p_value([mine.error - other.error for mine, other in pairs])
        rows.append((rival, *counted, f"{p:.4f}"))
    return table(("bncc against", "wins", "ties", "losses", "p"), rows)


def set_rows(all_found: Mapping[str, Found], facts: Mapping[str, tuple[int, int, int]]) -> str:
    """Return a row for each set: its size, the figures of all classifiers, and the outcomes."""
    rows = []
    for name, found in all_found.items():
        mine, against = found[OURS], rivals(found)
        cells = [name, *(f"{fact:,}" for fact in facts[name])]
        for one in (mine, against["tree"], against["forest"]):
            cells += [f"{one.error:.2f}", f"{one.flash:,}", f"{one.instructions:,.0f}"]
        cells += [outcome(mine, against[rival]) for rival in ("tree", "forest")]
        rows.append(cells)
    figures = [f"{of} {what}" for of in (OURS, "tree", "forest") for what in _FIGURES]
    head = ("set", "rows", "features", "classes", *figures, "vs. tree", "vs. forest")
    return table(head, rows)


_FIGURES = ("error", "flash", "instr.")


def chosen_rows(all_found: Mapping[str, Found]) -> str:
    """Return the selected classifiers, and the test errors of forests with both kinds of votes."""
    rows = []
    for name, found in all_found.items():
        forests = [f"{found[kind].error:.2f}" for kind in ("forest", "soft forest")]
        against = rivals(found)
        words = (found[OURS].words, against["tree"].words, best_forest(found).words)
        rows.append((name, *words, *forests))
    head = ("set", "bncc", "tree", "forest", "hard votes", "soft votes")
    return table(head, rows)


def read(path: Path) -> dict[str, dict[str, Entry]]:
    """Return the content of a file of results, by set and kind."""
    found: dict[str, dict[str, Entry]] = {}
    if path.exists():
        for line in path.read_text("utf-8").splitlines():
            entry = Entry(**json.loads(line))
            found.setdefault(entry.set, {})[entry.kind] = entry
    return found


def measure(name: str, train: Dataset, test: Dataset, known: Found) -> Iterator[Entry]:
    """Yield the baselines of a set, if some are missing."""
    if not set(KINDS) <= known.keys():
        (bench,) = find_toolchain(find_target(BUDGET.target))
        yield from theirs(name, train, test, bench)


@click.command()
@click.option("--data", default="../shared/data", help="Folder with `raw`.")
@click.option("-o", "--output", type=Path, default=BASELINES, help="File of the baselines.")
@click.option("--set", "names", multiple=True, type=click.Choice(SETS))
def main(data: str, output: Path, names: tuple[str, ...]) -> None:
    """Measure; with all sets, update the page."""
    facts, results = {}, Results(output.parent, RESULTS)
    for name in names or SETS:
        train, test = parts(Path(data), name)
        n_features, n_classes = len(train.table.columns), len(train.classes)
        facts[name] = (train.n_rows + test.n_rows, n_features, n_classes)
        for entry in measure(name, train, test, read(output).get(name, {})):
            with output.open("a", encoding="utf-8") as file:
                print(json.dumps(asdict(entry)), file=file)
            print(entry, flush=True)
    found = {name: {OURS: ours(name, results), **read(output)[name]} for name in facts}
    tables = {
        "summary": summary(found),
        "sets": set_rows(found, facts),
        "chosen": chosen_rows(found),
    }
    print("\n".join(tables.values()))
    if not names:
        renew(PAGE, tables)


if __name__ == "__main__":
    main()
