"""Results of ``bncc train``: JSON, and a report for people."""

import shlex
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any

from bncc.cli.console import Console, aligned
from bncc.cli.notes import dropped_front
from bncc.cli.results import (
    error_mark,
    error_words,
    feature_words,
    trained_confusion,
    used_facts,
)
from bncc.data.dataset import Dataset
from bncc.interrupts import StopRequest
from bncc.model.card import decision_rows, model_facts, number_words, structure_words, table_widths
from bncc.model.model import Model
from bncc.model.rules import own_entries
from bncc.train.decision_rules import DecisionRules
from bncc.train.repeats import DEFAULT_FOLDS, Repeats, cross_validated, held_out_scores
from bncc.train.settings import TrainSettings

PARTS = ("train", "validation", "test")
"""Parts of the rows with a reported error rate."""


def facts_of(done: Repeats, path: str, *, with_repeats: bool) -> dict[str, Any]:
    """Return the JSON object of ``train``."""
    model = done.first.model
    facts = {
        "model": path,
        **model_facts(model),
        **used_facts(model),
        **front_end_facts(model),
        **dropped_front(done.notes),
        "seconds": round(done.seconds, 3),
    }
    if not with_repeats:
        return facts
    trained = [result.model.training for result in done.results]
    facts["repeats"] = [
        {"seed": training["seed"], **{f"error_{part}": training[f"error_{part}"] for part in PARTS}}
        for training in trained
    ]
    for part in PARTS[1:]:
        errors = done.errors(part)
        facts[f"error_{part}_mean"] = None if errors is None else sum(errors) / len(errors)
    return facts


def front_end_facts(model: Model) -> dict[str, Any]:
    """Return the windows and features of a model that takes samples, else nothing."""
    if model.front_end is None:
        return {}
    return {
        "window": model.front_end.windows.length,
        "hop": model.front_end.windows.hop,
        "features": [column.name for column in model.front_end.columns],
    }


def judged_on_folds(
    console: Console,
    done: Repeats,
    train: Dataset,
    test: Dataset | None,
    settings: TrainSettings,
    folds: int,
    rules: DecisionRules,
    stop: StopRequest,
) -> Repeats:
    """Cross-validate the first training run, choose its rules, and show progress."""
    begin, first = perf_counter(), done.first
    held = None
    if folds or rules.need_held_out:
        with console.progress("cross-validating") as advance:
            held = held_out_scores(train, settings, folds or DEFAULT_FOLDS, advance, stop)
    if folds:
        first = cross_validated(first, held)
    if not (held is None and rules.need_held_out):
        first = rules.applied(first, train, settings, held=held, test=test)
    done = replace(done, results=(first, *done.results[1:]))
    return done.after(perf_counter() - begin)


def stopped_note(done: Repeats, path: str) -> str:
    """Report that training stopped after the first run."""
    return (
        f"stopped after {len(done.results)} of {done.asked} trainings; '{path}' is the "
        "complete model of the first; repeat the command with --force for the others"
    )


def seen_notes(
    settings: TrainSettings, facts: Mapping[str, Any], *, is_crossed: bool, has_test: bool
) -> list[str]:
    """Return a note if the search of settings used the rows of the validation error."""
    if not settings.is_thorough or is_crossed or facts["error_validation"] is None:
        return []
    note = "the validation rows took part in the choice of settings"
    return [note if has_test else f"{note}; add --folds for an error of unseen rows"]


def report_of(model: Model, facts: dict[str, Any], train: Dataset, test: Dataset | None) -> str:
    """Format the result of the training for people."""
    errors = [
        f"{100 * facts[f'error_{part}']:.2f} % {part}{error_mark(facts, part)}"
        for part in PARTS
        if facts[f"error_{part}"] is not None
    ]
    path = shlex.quote(facts["model"])
    rules = "".join(f" --with {name}" for name in own_entries(model))
    asked = model.training["structure_options"]
    folder = shlex.quote(str(Path(facts["model"]).with_suffix("")))
    rows = [
        ["rows", f"{train.n_rows}" + (f" and {test.n_rows} for testing" if test else "")],
        ["features", feature_words(model)],
        ["classes", f"{model.n_classes} in column '{train.class_name}'"],
        ["structure", f"{facts['structure']}, {structure_words(model)}"],
        ["parameters", str(facts["parameters"])],
        ["numbers", number_words(model)],
        ["tables", table_words(facts)],
        *([["widths", _widths(table_widths(model))]] if "widths" in asked else []),
        ["error", ", ".join(errors) or "not measured"],
        *([["", crossed]] if (crossed := error_words(facts)) else []),
        *decision_rows(model),
        *([["repeats", _repeats(facts)]] if "repeats" in facts else []),
        ["took", f"{facts['seconds']:.1f} s"],
        ["wrote", facts["model"]],
        ["next", f"bncc verify {path}{rules}"],
        ["", f"bncc emit-c {path} -o {folder}{rules}"],
    ]
    return "\n".join([aligned(rows), *trained_confusion(model)])


def table_words(facts: Mapping[str, Any]) -> str:
    """Return the size of a model's tables: their costs alone, before any C is emitted."""
    n_bytes = (facts["table_bits"] + 7) // 8
    return f"{facts['table_entries']} entries, {n_bytes} bytes before compiler passes, without code"


def _widths(bits: list[int]) -> str:
    counts = ((width, bits.count(width)) for width in sorted(set(bits)))
    return ", ".join(
        f"{n} table{'s' * (n != 1)} of {width} bit{'s' * (width != 1)}" for width, n in counts
    )


def _repeats(facts: dict[str, Any]) -> str:
    n = len(facts["repeats"])
    means = [
        f"{100 * facts[f'error_{part}_mean']:.2f} % {part}"
        for part in PARTS[1:]
        if facts[f"error_{part}_mean"] is not None
    ]
    seeds = f"{n} training{'s' * (n != 1)} with seeds from {facts['repeats'][0]['seed']}"
    return ", ".join([seeds, *(f"{mean} on average" for mean in means)])
