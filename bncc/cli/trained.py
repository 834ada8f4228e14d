"""What ``bncc train`` shows of what it did: JSON, and a report for people."""

import shlex
from pathlib import Path
from typing import Any

from bncc.cli.console import aligned
from bncc.data.dataset import Dataset
from bncc.model.card import model_facts, number_words, structure_words, table_widths
from bncc.model.model import Model
from bncc.train.repeats import Repeats

PARTS = ("train", "validation", "test")
"""Rows of which errors are told."""


def facts_of(done: Repeats, path: str, *, with_repeats: bool) -> dict[str, Any]:
    """Return the JSON object of ``train``.

    Parameters
    ----------
    done : Repeats
        The trainings.
    path : str
        File of the first one's model.
    with_repeats : bool
        Whether to tell of each training.

    Returns
    -------
    dict
        The fields of the command line's contract, of the model that is written; ``seconds`` of all
        trainings. With repeats ``repeats``, errors by seed, ``error_validation_mean`` and
        ``error_test_mean``.
    """
    model = done.first.model
    facts = {"model": path, **model_facts(model), "seconds": round(done.seconds, 3)}
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


def stopped_note(done: Repeats, path: str) -> str:
    """Say that trainings were ended after the first one.

    Parameters
    ----------
    done : Repeats
        Those that were done.
    path : str
        File of the first one's model.

    Returns
    -------
    str
        One sentence.
    """
    return (
        f"stopped after {len(done.results)} of {done.asked} trainings; '{path}' is the whole model "
        "of the first; for the others repeat the command with --force"
    )


def report_of(model: Model, facts: dict[str, Any], train: Dataset, test: Dataset | None) -> str:
    """Lay out for people what was trained.

    Parameters
    ----------
    model : Model
        The model that is written.
    facts : dict
        From `facts_of`.
    train : Dataset
        The training rows.
    test : Dataset or None
        The test rows.

    Returns
    -------
    str
        A line per fact, and the commands that come next.
    """
    errors = [
        f"{100 * facts[f'error_{part}']:.2f} % {part}"
        for part in PARTS
        if facts[f"error_{part}"] is not None
    ]
    path = shlex.quote(facts["model"])
    asked = model.training["structure_options"]
    folder = shlex.quote(str(Path(facts["model"]).with_suffix("")))
    rows = [
        ["rows", f"{train.n_rows}" + (f" and {test.n_rows} for testing" if test else "")],
        ["features", str(model.n_features)],
        ["classes", f"{model.n_classes} in column '{train.class_name}'"],
        ["structure", f"{facts['structure']}, {structure_words(model)}"],
        ["parameters", str(facts["parameters"])],
        ["numbers", number_words(model)],
        ["tables", f"{facts['table_entries']} entries, {(facts['table_bits'] + 7) // 8} bytes"],
        *([["widths", _widths(table_widths(model))]] if "widths" in asked else []),
        ["error", ", ".join(errors) or "not measured"],
        *([["repeats", _repeats(facts)]] if "repeats" in facts else []),
        ["took", f"{facts['seconds']:.1f} s"],
        ["wrote", facts["model"]],
        ["next", f"bncc verify {path}"],
        ["", f"bncc emit-c {path} -o {folder}"],
    ]
    return aligned(rows)


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
    seeds = f"{n} training{'s' * (n != 1)} from seed {facts['repeats'][0]['seed']} on"
    return ", ".join([seeds, *(f"{mean} on average" for mean in means)])
