"""
Error, flash and time of what a budget search chooses, on twenty data sets in 1, 4 and 16 KB.

    python -m benchmarks.accuracy.twenty_sets --data ../shared/data -o twenty

The model is the result of ``bncc train --max-flash BYTES --target cortex-m4``, called with
readings. It is compared with the best tree and the best forest of at most its flash and 1.5 times
its instructions (`benchmarks.peers.limited_forests`), and with what commit d593a37 chose
(`benchmarks.accuracy.earlier_choice`). Test rows select nothing. What was measured stays in
``benchmarks/accuracy/twenty.jsonl``, with the commit of each search, so that the tables grow from
run to run; ``--again`` measures the named sets and budgets again. The folder of ``-o`` has
baselines, which do not depend on bncc. Two runs with different ``--sets`` can share both. It takes
a day; ``--write`` updates ``docs/twenty.md`` and the README.

With ``--prefer error``, the most accurate models of eight sets are searched in seven budgets, for
the flash at equal error, without baselines.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import product
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
    dependent_rows,
    earlier_rows,
    equal_rows,
    set_rows,
    summary,
)
from benchmarks.peers import equal_resources
from benchmarks.peers.chosen_model import chosen
from benchmarks.peers.limited_forests import KINDS, N_TIMED, LimitedForests, Limits
from benchmarks.shared.decisions import Figures, packed
from benchmarks.shared.markdown import renew
from benchmarks.shared.memory import Memory, commit
from benchmarks.shared.sensor_sets import FIRST_ROWS, MORE_SETS, SETS, parts
from bncc.data.dataset import Dataset
from bncc.device.cross import find_toolchain
from bncc.errors import BnccError, BudgetError
from bncc.resources import PREFERENCES, Budget, Preference
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
RESULTS = ROOT / "benchmarks" / "accuracy" / "twenty.jsonl"


@dataclass(frozen=True)
class Asked:
    """Sets and budgets of a run, and what it measures."""

    names: tuple[str, ...]
    budgets: tuple[int, ...]
    has_baselines: bool = True
    again: bool = False  # Search also where a result is known
    prefer: Preference = "balanced"

    def compares(self, budget: int) -> bool:
        """Tell if baselines are measured within this budget."""
        return self.has_baselines and self.prefer == "balanced" and budget in self.budgets

    def ours(self, name: str) -> tuple[int, ...]:
        """Return the budgets to search for a set."""
        if self.prefer == "balanced":
            return self.budgets
        few = EQUAL_BUDGETS if name in FEW_CLASSES else ()
        return (
            few if self.budgets == BUDGETS else tuple(each for each in few if each in self.budgets)
        )


@dataclass(frozen=True)
class Known:
    """Results of a set in a budget: a line of the file."""

    n_classes: int
    commit: str  # Version of bncc that searched
    ours: dict[str, Any] | None  # `Figures`; None if nothing fits
    forms: dict[str, Any]  # What `benchmarks.accuracy.paying_forms.without_each` found
    others: dict[str, dict[str, Any] | None]  # Measured baselines; None if none is within limits

    def figures(self, kind: str = "") -> Figures | None:
        """Return the figures of ours or of a baseline, None if there are none."""
        values = self.others.get(kind) if kind else self.ours
        return None if values is None else Figures(**values)


class Results:
    """Results of this and of earlier runs, and baselines in a folder."""

    def __init__(self, folder: Path, path: Path) -> None:
        self._known = Memory(path)
        self.baselines = Memory(folder / "baselines.jsonl")

    def measure(self, data: Path, name: str, asked: Asked) -> None:
        """Search and measure what is missing for a set, or all of it again."""
        if not asked.again and all(
            self._is_complete(name, each, asked) for each in asked.ours(name)
        ):
            return
        both = train, test = parts(data, name)
        (bench,) = find_toolchain(find_target(TARGET))
        forests = LimitedForests(name, both, SETTINGS.seed, bench, self.baselines)
        for budget in asked.ours(name):
            one = self.known(name, budget, asked.prefer)
            if asked.again or one is None:
                ours, forms = _ours(train, test, budget, asked.prefer)
                one = Known(len(train.classes), commit(), ours, forms, {})
                self._keep(name, budget, one, asked.prefer)
            figures = one.figures()
            print(name, budget, _brief(figures), flush=True)
            if figures is None or not asked.compares(budget):
                continue
            limits = Limits(figures.flash, SLOWER * figures.learned)
            for kind in (each for each in KINDS if each not in one.others):
                one = replace(one, others=one.others | {kind: _or_none(forests.best(kind, limits))})
                self._keep(name, budget, one)
                print(name, budget, kind, _brief(one.figures(kind)), flush=True)

    def known(self, name: str, budget: int, prefer: Preference = "balanced") -> Known | None:
        """Return what is known, None if the search did not run."""
        key = _key(name, budget, prefer)
        return Known(**self._known[key]) if key in self._known else None

    def forms(self, names: Sequence[str], budgets: Sequence[int]) -> dict[tuple[str, int], Any]:
        """Return by set and budget what `benchmarks.accuracy.paying_forms.without_each` found."""
        keys = product(names, budgets)
        return {key: one.forms for key in keys if (one := self.known(*key))}

    def rows(self, names: Sequence[str], budgets: Sequence[int]) -> Iterator[Row]:
        """Yield the known results."""
        before = earlier()
        for name in names:
            for budget in budgets:
                one = self.known(name, budget)
                if one and (ours := one.figures()):
                    others = {kind: one.figures(kind) for kind in KINDS}
                    last = before.get((name, budget))
                    yield Row(
                        name, one.n_classes, budget, ours, earlier=last, commit=one.commit, **others
                    )

    def equals(self, names: Sequence[str]) -> Iterator[Equal]:
        """Yield the flash at equal error of sets of few classes, by the most accurate models."""
        before = earlier()
        for name in (each for each in FEW_CLASSES if each in names):
            lasts = {each: before[name, each] for each in EQUAL_BUDGETS if (name, each) in before}
            known = [one for each in EQUAL_BUDGETS if (one := self.known(name, each, "error"))]
            every = [ours for one in known if (ours := one.figures())]
            for budget in lasts if every else ():
                yield at_equal_error(name, budget, lasts, every)

    def compact(self) -> None:
        """Keep the last result of each set and budget in the file."""
        self._known.compact()

    def _is_complete(self, name: str, budget: int, asked: Asked) -> bool:
        one = self.known(name, budget, asked.prefer)
        has_all = one is not None and (one.ours is None or set(one.others) == set(KINDS))
        return has_all or (one is not None and not asked.compares(budget))

    def _keep(self, name: str, budget: int, one: Known, prefer: Preference = "balanced") -> None:
        self._known.put(_key(name, budget, prefer), asdict(one))


def _key(name: str, budget: int, prefer: Preference) -> str:
    return f"{name} {budget}" if prefer == "balanced" else f"{name} {budget} {prefer}"


def _ours(
    train: Dataset, test: Dataset, budget: int, prefer: Preference
) -> tuple[dict[str, Any] | None, dict[str, Any]]:
    """Return the figures of a search's result, None if nothing fits, and the forms that pay."""
    (bench,) = find_toolchain(find_target(TARGET))
    try:
        one = chosen(
            train, test, SETTINGS, Budget(TARGET, flash=budget), bench, N_TIMED, prefer=prefer
        )
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


def tables(rows: Sequence[Row], results: Results, names: Sequence[str]) -> dict[str, str]:
    """Return the tables of the page."""
    return {
        "summary": summary(rows),
        "averages": averages(rows),
        **{f"sets-{budget // 1024}": set_rows(rows, budget) for budget in BUDGETS},
        "dependent": dependent_rows(rows, FIRST_ROWS),
        "earlier": earlier_rows(rows),
        "flash": equal_rows(list(results.equals(names))),
        "chosen": chosen_rows(rows, MAIN),
        "forms": form_rows(results.forms(names, BUDGETS)),
    }


@click.command()
@click.option("--data", type=Path, default="../shared/data", help="Folder with `raw` and `uci`.")
@click.option("-o", "--output", type=Path, default="twenty", help="Folder of the baselines.")
@click.option("--sets", default=",".join(ALL), help="Data sets, separated by commas.")
@click.option("--budgets", default="1024,4096,16384", help="Bytes, separated by commas.")
@click.option("--baselines/--no-baselines", default=True, help="Compare with trees and forests.")
@click.option(
    "--prefer", type=click.Choice(PREFERENCES), default="balanced", help="As `bncc train`."
)
@click.option("--again", is_flag=True, help="Measure these sets and budgets again.")
@click.option("--report", is_flag=True, help="Measure nothing; print what is known.")
@click.option("--write", is_flag=True, help="Update the page with all that is known.")
def main(
    data: Path,
    output: Path,
    sets: str,
    budgets: str,
    baselines: bool,
    prefer: Preference,
    again: bool,
    report: bool,
    write: bool,
) -> None:
    """Measure, and print the tables of these sets and budgets."""
    names, sizes = tuple(sets.split(",")), tuple(map(int, budgets.split(",")))
    if unknown := set(names) - set(ALL):
        raise click.UsageError(f"there is no set {unknown.pop()!r}; the sets are {', '.join(ALL)}")
    if again and not baselines:
        raise click.UsageError("--again also measures baselines again; leave out --no-baselines")
    results, failed = Results(output, RESULTS), False
    for name in () if report else names:
        try:
            results.measure(data, name, Asked(names, sizes, baselines, again, prefer))
        except BnccError as error:  # the other sets are measured nevertheless
            print(name, error, flush=True)
            failed = True
    found = tables(list(results.rows(names, sizes)), results, names)
    print("\n".join(f"{name}\n{text}" for name, text in found.items()))
    if failed:
        raise SystemExit("a set failed; fix it, and run the same command again")
    if write:
        results.compact()
        renew(PAGE, tables(list(results.rows(ALL, BUDGETS)), results, ALL))
        equal_resources.write()


if __name__ == "__main__":
    main()
