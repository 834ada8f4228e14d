"""``bncc train`` with a budget: families and sizes are searched for the best that fits."""

import shlex
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bncc.cli.console import Console, aligned
from bncc.cli.long_work import EXIT_SIGNAL, tell_of_the_end
from bncc.data.dataset import Dataset
from bncc.errors import OptionError
from bncc.model.card import model_facts, number_words, structure_words
from bncc.model.file import save_model
from bncc.train.interrupts import first_signal_noted
from bncc.train.settings import TrainSettings

if TYPE_CHECKING:  # imported where it is needed: it builds and measures
    from bncc.search.budget import Budget
    from bncc.search.search import Found
    from bncc.search.tried import Tried

DEFAULT_TARGET = "cortex-m0"
_SEARCHED = ("tables", "rows", "features", "dictionary")
_OF_REFIT = ("epochs", "lr", "dropout")
_SHOWN = 8
"""Candidates shown to people, the best first."""


def limits_of(flash: int | None, instructions: int | None, target: str | None) -> "Budget":
    """Return the budget of some options."""
    from bncc.search.budget import Budget

    return Budget(target or DEFAULT_TARGET, flash, instructions)


def refuse_with_budget(settings: TrainSettings, *, folder: str | None, repeats: int) -> None:
    """Refuse options that a search has no use for.

    Parameters
    ----------
    settings : TrainSettings
        With widths and sizes, of which a search tries several.
    folder : str or None
        Of ``--checkpoint``.
    repeats : int
        Trainings asked for.

    Raises
    ------
    OptionError
        If one is given.
    """
    given = {
        "--checkpoint": folder is not None,
        "--repeats": repeats > 1,
        "--bits": settings.bits is not None,
        "--int-bits": settings.int_bits is not None,
        "--float": settings.float_,
    }
    if settings.is_boosted:
        options = settings.structure_options
        given |= {f"--structure-option {key}": key in options for key in _SEARCHED}
    for option, is_given in given.items():
        if is_given:
            raise OptionError(f"a search for a budget has no use for {option}; leave it out")


def families_to_try(
    console: Console, settings: TrainSettings, named: str | None
) -> tuple[str, ...]:
    """Return the structures to try, without those that have no use for the user's options.

    Parameters
    ----------
    console : Console
        Who is told of what is left out.
    settings : TrainSettings
        Options that are not searched.
    named : str or None
        Value of ``--structure``, where the user names one.

    Returns
    -------
    tuple of str
        All that a search knows, unless one is named.
    """
    from bncc.search.search import FAMILIES, NETWORKS

    if named is not None:
        return (named,)
    of_networks = {
        f"--parameters {settings.parameters}": settings.parameters != "hybrid",
        f"--engine {settings.engine}": settings.engine == "torch",
    }
    for option, is_given in of_networks.items():
        if is_given:
            console.note(f"sums of tables are not tried, as they have no {option}")
            return NETWORKS
    return FAMILIES


def train_within(
    console: Console,
    train: Dataset,
    test: Dataset | None,
    settings: TrainSettings,
    budget: "Budget",
    families: tuple[str, ...],
    output: str,
    *,
    force: bool,
) -> None:
    """Search, write the model, and tell of it.

    Parameters
    ----------
    console : Console
        Who is told.
    train, test : Dataset
        Rows to learn from, and rows that nothing is chosen by.
    settings : TrainSettings
        Options that are not searched.
    budget : Budget
        What the classifier may take.
    families : tuple of str
        Structures to try.
    output : str
        The model's file.
    force : bool
        Whether it may be replaced.
    """
    from bncc.search.search import search

    with (
        first_signal_noted(partial(tell_of_the_end, console, "candidate")) as stop,
        console.progress("searching") as advance,
    ):
        found = search(
            train,
            settings,
            budget,
            families=families,
            test=test,
            tell=advance,
            stop=stop,
        )
    save_model(found.result.model, output, overwrite=force)
    for note in found.result.notes:
        console.note(note)
    console.result(_facts(found, budget, output), _report(found, budget, output, train, test))
    if found.is_short and stop.signal is not None:
        tried = f"{len(found.tried)} candidate" + "s" * (len(found.tried) > 1)
        console.note(f"stopped after {tried}; '{output}' is the best of them")
        raise click.exceptions.Exit(EXIT_SIGNAL + stop.signal)


def _facts(found: "Found", budget: "Budget", output: str) -> dict[str, Any]:
    return {
        "model": output,
        **model_facts(found.result.model),
        "seconds": round(found.seconds, 3),
        "budget": {
            "flash": budget.flash,
            "instructions": budget.instructions,
            "target": budget.target,
        },
        "price": _price(found.price),
        "tried": [
            {
                "structure": one.settings.structure,
                "structure_options": dict(one.settings.structure_options),
                "bits": one.settings.total_bits,
                **{name: getattr(one.settings, name) for name in _OF_REFIT},
                "error_validation": one.error,
                "folds": len(one.errors),
                "price": _price(one.price),
            }
            for one in found.tried
        ],
    }


def _price(price: Any) -> dict[str, Any]:
    return {
        "flash": price.flash,
        "instructions": price.instructions,
        "optimize": price.optimize,
        "measured": price.is_measured,
    }


def _report(
    found: "Found", budget: "Budget", output: str, train: Dataset, test: Dataset | None
) -> str:
    model, price = found.result.model, found.price
    facts = model.training
    errors = [
        f"{100 * facts[f'error_{part}']:.2f} % {part}"
        for part in ("train", "validation", "test")
        if facts[f"error_{part}"] is not None
    ]
    path, folder = shlex.quote(output), shlex.quote(str(Path(output).with_suffix("")))
    how = "measured" if price.is_measured else "by estimate; `bncc targets` says what can measure"
    options = f"--target {budget.target} --optimize {price.optimize}"
    rows = [
        ["rows", f"{train.n_rows}" + (f" and {test.n_rows} for testing" if test else "")],
        ["features", str(model.n_features)],
        ["classes", str(model.n_classes)],
        ["structure", f"{facts['structure']}, {structure_words(model)}"],
        ["numbers", number_words(model)],
        [
            "takes",
            f"{price.flash:,} bytes of flash, {price.instructions:,} {_unit(budget)} ({how})",
        ],
        ["error", ", ".join(errors)],
        ["took", f"{found.seconds:.1f} s"],
        ["wrote", output],
        ["next", f"bncc verify {path} {options}"],
        ["", f"bncc emit-c {path} -o {folder} {options}"],
    ]
    return "\n".join([aligned(rows), "", *_table(found.tried)])


def _unit(budget: "Budget") -> str:
    return "cycles" if budget.target == "avr" else "instructions"


def _table(tried: tuple["Tried", ...]) -> list[str]:
    """Return what was tried, the best first."""
    order = sorted(tried, key=lambda one: (-len(one.errors), one.error, one.price.flash))
    rows = [["tried", "error", "folds", "flash", "time"]]
    rows += [
        [
            one.words,
            f"{100 * one.error:.2f} %",
            f"{len(one.errors)}",
            f"{one.price.flash:,}",
            f"{one.price.instructions:,}",
        ]
        for one in order[:_SHOWN]
    ]
    more = len(order) - _SHOWN
    tail = [f"... and {more} more; --json has all"] if more > 0 else []
    return [aligned(rows, right=(1, 2, 3)), *tail]
