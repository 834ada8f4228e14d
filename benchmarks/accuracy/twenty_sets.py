"""
Error, flash and time of what a budget search chooses, on twenty data sets in 1, 4 and 16 KB.

    python -m benchmarks.accuracy.twenty_sets --data ../shared/data -o twenty

The model is the result of ``bncc train --max-flash BYTES --target cortex-m4``, called with
readings. It is compared with the best tree and the best forest of at most its flash and 1.5 times
its instructions (`benchmarks.peers.limited_forests`), and with what commit d593a37 chose
(`benchmarks.accuracy.earlier_choice`). Test rows select nothing. Results stay in the folder of
``-o``, so the command can resume: ``chosen.jsonl`` depends on bncc, ``baselines.jsonl`` does not
and serves other versions. Two runs with different ``--sets`` can share a folder. It takes some
hours; with all sets and budgets it updates ``docs/twenty.md``.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click

from benchmarks.accuracy.earlier_choice import EQUAL_BUDGETS, FEW_CLASSES
from benchmarks.accuracy.earlier_figures import earlier
from benchmarks.accuracy.paying_forms import form_rows, without_each
from benchmarks.accuracy.twenty_tables import (
    Equal,
    Row,
    at_equal_error,
    averages,
    chosen_rows,
    earlier_rows,
    equal_rows,
    set_rows,
    summary,
)
from benchmarks.peers.chosen_model import chosen
from benchmarks.peers.limited_forests import KINDS, N_TIMED, LimitedForests, Limits
from benchmarks.shared.decisions import Figures, packed
from benchmarks.shared.markdown import renew
from benchmarks.shared.memory import Memory
from benchmarks.shared.sensor_sets import MORE_SETS, SETS, parts
from bncc.data.dataset import Dataset
from bncc.device.cross import find_toolchain
from bncc.errors import BnccError, BudgetError
from bncc.resources import Budget
from bncc.targets import find_target
from bncc.train.settings import TrainSettings

ALL = (*SETS, *MORE_SETS)
TARGET = "cortex-m4"
SETTINGS = TrainSettings(seed=0)
BUDGETS = (1024, 4096, 16384)
MAIN = 4096
SLOWER = 1.5
"""Largest instructions of a baseline, over ours."""
ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "twenty.md"


@dataclass(frozen=True)
class Asked:
    """Sets and budgets of a run, and what it measures."""

    names: tuple[str, ...]
    budgets: tuple[int, ...]
    has_baselines: bool = True

    def ours(self, name: str) -> tuple[int, ...]:
        """Return the budgets to search for a set."""
        few = EQUAL_BUDGETS if name in FEW_CLASSES and self.budgets == BUDGETS else ()
        return tuple(dict.fromkeys((*self.budgets, *few)))


class Results:
    """Results in a folder."""

    def __init__(self, folder: Path) -> None:
        self._chosen = Memory(folder / "chosen.jsonl")
        self.baselines = Memory(folder / "baselines.jsonl")

    def measure(self, data: Path, name: str, asked: Asked) -> None:
        """Search and measure what is missing for a set."""
        if all(key in self._chosen for key in self._keys(name, asked)):
            return
        both = train, test = parts(data, name)
        (bench,) = find_toolchain(find_target(TARGET))
        forests = LimitedForests(name, both, SETTINGS.seed, bench, self.baselines)
        self._chosen.get(f"{name} classes", lambda: len(train.classes))
        for budget in asked.ours(name):
            self._search(train, test, name, budget)
            print(name, budget, _brief(self.ours(name, budget)), flush=True)
            ours = self.ours(name, budget)
            if ours is None or budget not in asked.budgets or not asked.has_baselines:
                continue
            limits = Limits(ours.flash, SLOWER * ours.learned)
            for kind in KINDS:
                key = f"{name} {budget} {kind}"
                self._chosen.get(key, lambda: _or_none(forests.best(kind, limits)))  # noqa: B023
                print(name, budget, kind, _brief(self._figures(key)), flush=True)

    def _search(self, train: Dataset, test: Dataset, name: str, budget: int) -> None:
        """Search if the result is unknown; remember which forms pay by validation folds."""
        key = f"{name} {budget}"
        if key in self._chosen:
            return
        figures, forms = _ours(train, test, budget)
        self._chosen.get(f"{key} forms", lambda: forms)
        self._chosen.get(key, lambda: figures)

    def forms(self, names: Sequence[str], budget: int) -> dict[str, Any]:
        """Return by set what `benchmarks.accuracy.paying_forms.without_each` found."""
        keys = {name: f"{name} {budget} forms" for name in names}
        return {name: self._chosen[key] for name, key in keys.items() if key in self._chosen}

    def ours(self, name: str, budget: int) -> Figures | None:
        """Return the result of a search; None if it is unknown or nothing fits."""
        return self._figures(f"{name} {budget}")

    def rows(self, names: Sequence[str], budgets: Sequence[int]) -> Iterator[Row]:
        """Yield the known results."""
        before = earlier()
        for name in names:
            for budget in budgets:
                ours = self.ours(name, budget)
                if ours is not None:
                    others = {kind: self._figures(f"{name} {budget} {kind}") for kind in KINDS}
                    n_classes = self._chosen[f"{name} classes"]
                    last = before.get((name, budget))
                    yield Row(name, n_classes, budget, ours, earlier=last, **others)

    def equals(self, names: Sequence[str]) -> Iterator[Equal]:
        """Yield the flash at equal error of sets of few classes, by all known results."""
        before = earlier()
        for name in (each for each in FEW_CLASSES if each in names):
            lasts = {each: before[name, each] for each in EQUAL_BUDGETS if (name, each) in before}
            every = [one for each in EQUAL_BUDGETS if (one := self.ours(name, each))]
            for budget in lasts if every else ():
                yield at_equal_error(name, budget, lasts, every)

    def _figures(self, key: str) -> Figures | None:
        if key not in self._chosen or self._chosen[key] is None:
            return None
        return Figures(**self._chosen[key])

    def _keys(self, name: str, asked: Asked) -> Iterator[str]:
        for budget in asked.ours(name):
            yield f"{name} {budget}"
            is_compared = budget in asked.budgets and asked.has_baselines
            if is_compared and self.ours(name, budget) is not None:
                yield from (f"{name} {budget} {kind}" for kind in KINDS)


def _ours(
    train: Dataset, test: Dataset, budget: int
) -> tuple[dict[str, Any] | None, dict[str, Any]]:
    """Return the figures of a search's result, None if nothing fits, and the forms that pay."""
    (bench,) = find_toolchain(find_target(TARGET))
    try:
        one = chosen(train, test, SETTINGS, Budget(TARGET, flash=budget), bench, N_TIMED)
    except BudgetError:
        return None, {}
    figures = Figures(
        words=one.words, misses=packed(one.said != test.y), n_test=test.n_rows,
        flash=one.flash, mean=one.tested.mean, worst=one.tested.max, learned=one.learned.mean,
    )  # fmt: skip
    assert one.found.chosen is not None
    return asdict(figures), without_each(one.found.tried, one.found.chosen)


def _or_none(one: Figures | None) -> dict[str, Any] | None:
    return None if one is None else asdict(one)


def _brief(one: Figures | None) -> str:
    if one is None:
        return "nothing fits"
    return f"{one.error:.2f} % {one.flash:,} B {one.mean:,.0f} instructions; {one.words}"


def tables(rows: Sequence[Row], equals: Sequence[Equal], forms: dict[str, Any]) -> dict[str, str]:
    """Return the tables of the page."""
    return {
        "summary": summary(rows),
        "averages": averages(rows),
        **{f"sets-{budget // 1024}": set_rows(rows, budget) for budget in BUDGETS},
        "earlier": earlier_rows(rows),
        "flash": equal_rows(equals),
        "chosen": chosen_rows(rows, MAIN),
        "forms": form_rows(forms),
    }


@click.command()
@click.option("--data", type=Path, default="../shared/data", help="Folder with `raw` and `uci`.")
@click.option("-o", "--output", type=Path, default="twenty", help="Folder of the results.")
@click.option("--sets", default=",".join(ALL), help="Data sets, separated by commas.")
@click.option("--budgets", default="1024,4096,16384", help="Bytes, separated by commas.")
@click.option("--baselines/--no-baselines", default=True, help="Compare with trees and forests.")
@click.option("--report", is_flag=True, help="Measure nothing; print what is known.")
@click.option("--write", is_flag=True, help="Update the page with a part of the measurements.")
def main(
    data: Path, output: Path, sets: str, budgets: str, baselines: bool, report: bool, write: bool
) -> None:
    """Measure, and print the tables; with all sets and budgets, update the page."""
    names, sizes = tuple(sets.split(",")), tuple(map(int, budgets.split(",")))
    if unknown := set(names) - set(ALL):
        raise click.UsageError(f"there is no set {unknown.pop()!r}; the sets are {', '.join(ALL)}")
    results, failed = Results(output), False
    for name in () if report else names:
        try:
            results.measure(data, name, Asked(names, sizes, baselines))
        except BnccError as error:  # the other sets are measured nevertheless
            print(name, error, flush=True)
            failed = True
    forms = results.forms(names, MAIN)
    found = tables(list(results.rows(names, sizes)), list(results.equals(names)), forms)
    print("\n".join(f"{name}\n{text}" for name, text in found.items()))
    if failed:
        raise SystemExit("a set failed; fix it, and run the same command again")
    if write or ((names, sizes) == (ALL, BUDGETS) and baselines and not report):
        renew(PAGE, found)


if __name__ == "__main__":
    main()
