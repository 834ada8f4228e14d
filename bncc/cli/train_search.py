"""``bncc train`` with a budget: families and sizes are searched for the best that fits."""

import shlex
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bncc.cli.budget_options import check_reserve
from bncc.cli.checkpointing import EXIT_SIGNAL, tell_of_the_end
from bncc.cli.console import Console, aligned
from bncc.cli.results import error_words, resource_words, trained_confusion
from bncc.data.dataset import Dataset
from bncc.errors import OptionError
from bncc.model.card import model_facts, number_words, search_words, structure_words
from bncc.model.file import save_model
from bncc.resources import DEFAULT_TARGET, Budget, Resources
from bncc.train.interrupts import first_signal_noted
from bncc.train.settings import TrainSettings

if TYPE_CHECKING:  # imported where it is needed: it builds and measures
    from bncc.search.budget_search import Found
    from bncc.search.evaluation import Tried

_OF_REFIT = ("epochs", "lr", "dropout")
_SHOWN = 8
"""Candidates shown to people, the best first."""


def limits_of(
    flash: int | None,
    instructions: int | None,
    target: str | None,
    *,
    reserve: int | None,
    priced: tuple[str, ...],
    entries: tuple[str, ...],
) -> Budget:
    """Return the budget of some options; refuse a reserve that leaves nothing."""
    return Budget(
        target or DEFAULT_TARGET,
        flash,
        instructions,
        reserve=check_reserve(reserve, flash),
        entries=tuple(dict.fromkeys(priced)),
        extras=frozenset(entries),
    )


def refuse_with_budget(settings: TrainSettings, *, folder: str | None, repeats: int) -> None:
    """Refuse options that a search has no use for."""
    from bncc.search.families import refuse_searched

    for option, is_given in {"--checkpoint": folder is not None, "--repeats": repeats > 1}.items():
        if is_given:
            raise OptionError(f"a search for a budget has no use for {option}; leave it out")
    refuse_searched(settings)


def families_to_try(
    console: Console, settings: TrainSettings, named: str | None, budget: Budget
) -> tuple[str, ...]:
    """Return the structures to try, without those that have no use for the user's options."""
    from bncc.search.families import families_of

    families, note = families_of(settings, named, budget.emitted(budget.entries))
    if note is not None:
        console.note(note)
    return families


def train_within(
    console: Console,
    train: Dataset,
    test: Dataset | None,
    settings: TrainSettings,
    budget: Budget,
    families: tuple[str, ...],
    output: str,
    *,
    force: bool,
    choose_by: str | None = None,
) -> None:
    """Search, write the model, and tell of it."""
    from bncc.pricing import with_resources
    from bncc.search.budget_search import search
    from bncc.search.split_folds import default_choice

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
            choose_by=choose_by,
        )
    choose_by = choose_by or default_choice(settings)
    save_model(with_resources(found.result.model, found.price), output, overwrite=force)
    for note in found.result.notes:
        console.note(note)
    facts = {**_facts(found, budget, output), "choose_by": choose_by}
    console.result(facts, _report(found, budget, output, train, test))
    if found.is_short and stop.signal is not None:
        tried = f"{len(found.tried)} candidate" + "s" * (len(found.tried) > 1)
        console.note(f"stopped after {tried}; '{output}' is the best of them")
        raise click.exceptions.Exit(EXIT_SIGNAL + stop.signal)


def _facts(found: "Found", budget: Budget, output: str) -> dict[str, Any]:
    return {
        "model": output,
        **model_facts(found.result.model),
        "seconds": round(found.seconds, 3),
        "budget": {
            "flash": budget.flash,
            "instructions": budget.instructions,
            "target": budget.target,
            **({"reserve": budget.reserve} if budget.reserve else {}),
        },
        "resources": found.price.to_json(),
        "price": _price(found.price),
        "tried": [
            {
                "structure": one.settings.structure,
                "structure_options": dict(one.settings.structure_options),
                "bits": one.settings.total_bits,
                **{name: getattr(one.settings, name) for name in _OF_REFIT},
                "error_validation": one.error,
                "choice": sum(one.choice) / len(one.choice),
                "folds": len(one.errors),
                "price": _price(one.price),
            }
            for one in found.tried
        ],
    }


def _price(price: Resources) -> dict[str, Any]:
    return {
        "flash": price.flash,
        "instructions": price.slowest,
        "optimize": price.optimize,
        "measured": price.how == "measured",
    }


def _report(
    found: "Found", budget: Budget, output: str, train: Dataset, test: Dataset | None
) -> str:
    model, price = found.result.model, found.price
    facts = model.training
    words = {"validation": f"validation ({search_words(facts)})"}
    errors = [
        f"{100 * facts[f'error_{part}']:.2f} % {words.get(part, part)}"
        for part in ("train", "validation", "test")
        if facts[f"error_{part}"] is not None
    ]
    path, folder = shlex.quote(output), shlex.quote(str(Path(output).with_suffix("")))
    options = f"--target {budget.target} --optimize {price.optimize}"
    compared = budget.emitted(budget.entries) - {"raw", "scores", "trusted"}  # these in any case
    verified = [options, *(f"--with {name}" for name in sorted(compared))]
    emitted = [options, *(f"--with {name}" for name in sorted(budget.extras))]
    emitted += [f"--entry {name}" for name in budget.entries]
    takes = resource_words(price)
    if price.how == "estimated":
        takes.append("`bncc targets` shows what can measure it")
    rows = [
        ["rows", f"{train.n_rows}" + (f" and {test.n_rows} for testing" if test else "")],
        ["features", str(model.n_features)],
        ["classes", str(model.n_classes)],
        ["structure", f"{facts['structure']}, {structure_words(model)}"],
        ["numbers", number_words(model)],
        [price.how, takes[0]],
        *(["", line] for line in takes[1:]),
        *([["reserved", f"{budget.reserve:,} bytes of flash"]] if budget.reserve else []),
        ["error", ", ".join(errors)],
        *([["", of_test]] if (of_test := error_words(model_facts(model))) else []),
        ["took", f"{found.seconds:.1f} s"],
        ["wrote", output],
        ["next", f"bncc verify {path} {' '.join(verified)}"],
        ["", f"bncc emit-c {path} -o {folder} {' '.join(emitted)}"],
    ]
    return "\n".join([aligned(rows), *trained_confusion(model), "", *_table(found.tried, price)])


def _table(tried: tuple["Tried", ...], price: Resources) -> list[str]:
    """Return what was tried, the best first."""
    order = sorted(tried, key=lambda one: (-len(one.errors), sum(one.choice), one.price.flash))
    rows = [["tried", "error", "folds", "flash", f"{price.unit}, at most"]]
    rows += [
        [
            one.words,
            f"{100 * one.error:.2f} %",
            f"{len(one.errors)}",
            f"{one.price.flash:,}",
            "-" if one.price.slowest is None else f"{one.price.slowest:,}",
        ]
        for one in order[:_SHOWN]
    ]
    more = len(order) - _SHOWN
    tail = [f"... and {more} more; --json has all"] if more > 0 else []
    return [aligned(rows, right=(1, 2, 3, 4)), *tail]
