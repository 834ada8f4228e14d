"""``bncc explain``: contributions of the tables to one decision, and changes that would flip it."""

from typing import Any

import click
import numpy as np

from bncc._types import BoolArray, FloatArray, IntArray
from bncc.cli.console import Console, aligned, printable
from bncc.cli.inputs import rows_to_classify
from bncc.cli.options import (
    class_option,
    data_argument,
    fold_option,
    force_option,
    model_argument,
    speaks,
)
from bncc.cli.output import check_free, write_file
from bncc.data.dataset import Table
from bncc.discretize.feature import Feature, states_of
from bncc.discretize.readings import raw_of_table
from bncc.discretize.state_words import between
from bncc.emit.card import why_no_probabilities
from bncc.errors import DataError
from bncc.lower.c.c99 import counted
from bncc.model.explanation import (
    Flip,
    Margin,
    changes,
    closest_first,
    contributions,
    impossible,
    margins,
    runner_up,
)
from bncc.model.file import load_model
from bncc.model.front import FRONT, front_of
from bncc.model.model import Model
from bncc.model.ranges import units_of
from bncc.report.table_pictures import explanation_svg
from bncc.structure.decision_tables import BranchingTable, Lookup

_MOST_TABLES = 12
"""Most tables shown without ``-v``, the largest contributions first."""


@click.command("explain")
@model_argument
@data_argument
@click.option(
    "--row", "number", type=click.IntRange(1), default=1, help="Row number [default: 1, the first]."
)
@click.option(
    "--svg", metavar="FILE", help="SVG file with the contribution of every table and class."
)
@class_option
@fold_option
@force_option
@speaks
def command(
    console: Console,
    model_path: str,
    data_path: str,
    number: int,
    svg: str | None,
    class_name: str | None,
    fold: int | None,
    force: bool,
) -> None:
    """
    Explain the prediction of MODEL for one row of DATA.

    Each table of the model contributes to the score of each class, in nats, relative to the mean
    over the classes. The class of the largest sum is predicted. For each reading alone, the nearest
    smaller and larger values that change the prediction are found, the closest feature first, by
    the share of its training range.
    """
    if svg is not None:
        check_free(svg, force=force, sources=[model_path, data_path])
    model = load_model(model_path)
    table = rows_to_classify(data_path, class_name, fold, console)
    if number > table.n_rows:
        raise DataError(
            f"row {number} does not exist, as '{data_path}' has {table.n_rows}; choose --row 1 "
            f"to {table.n_rows}"
        )
    row = table.take(np.array([number - 1]))
    x = states_of(model.features, row)[0]
    facts = explanation(model, row, x)
    payload = {"row": number, **facts}
    if svg is not None:
        write_file(svg, explanation_svg(facts).encode("utf-8"), force=force)
        payload["svg"] = svg
        console.note(f"wrote the explanation to {svg}")
    console.result(payload, _report(model, facts, console), essential=True)


def explanation(model: Model, row: Table, x: IntArray) -> dict[str, Any]:
    """
    Return the JSON object of ``explain``, without the row's number.

    Shapes: `x` (n_features,) int.
    """
    said = contributions(model, x[None])[0]
    parts = ["prior", *map(str, range(len(model.lookups)))]
    if front_of(model) is not None:
        parts[1] = FRONT
    reads = [[], *(_reads(model, lookup, x) for lookup in model.lookups)]
    vetoes = impossible(model, x[None])[0]
    decision, second = runner_up(model, x)
    total = said.sum(axis=0)
    has_front = parts[1:2] == [FRONT]
    return {
        "decision": model.classes[decision],
        **({"decided_by": FRONT if said[1].any() else "tables"} if has_front else {}),
        "second": model.classes[second],
        "margin": float(total[decision] - total[second]),
        "readings": {f.name: _reading(row, f) for f in model.features},
        "contributions": [
            _contribution(model, *each) for each in zip(parts, reads, said, vetoes, strict=True)
        ],
        "changes": [
            {
                "feature": model.features[change.feature].name,
                "reading": between(model.features[change.feature], change.state, change.state),
                "decision": model.classes[change.decision],
            }
            for change in changes(model, x)
        ],
        "margins": [
            _margin(model, margin, share)
            for margin, share in closest_first(
                model, margins(model, raw_of_table(model.features, row)[0], x)
            )
        ],
    }


def _margin(model: Model, margin: Margin, share: float | None) -> dict[str, Any]:
    feature = model.features[margin.feature]
    units = units_of(model.features, model.training)
    number = float if feature.kind == "float32" else int

    def said(flip: Flip | None) -> dict[str, Any] | None:
        if flip is None:
            return None
        return {
            "reading": number(flip.reading),
            "change": number(flip.change),
            "decision": model.classes[flip.decision],
        }

    return {
        "feature": feature.name,
        "unit": (units[margin.feature] or None) if units else None,
        "reading": number(margin.reading),
        "down": said(margin.down),
        "up": said(margin.up),
        "share": share,
    }


def _contribution(
    model: Model, table: str, reads: list[str], nats: FloatArray, vetoes: BoolArray
) -> dict[str, Any]:
    by_class = dict(zip(model.classes, nats.tolist(), strict=True))
    part: dict[str, Any] = {"table": table, "reads": reads, "nats": by_class}
    if model.veto is not None:
        part["impossible"] = [model.classes[c] for c in np.flatnonzero(vetoes)]
    return part


def _reading(row: Table, feature: Feature) -> str | None:
    (column,) = (column for column in row.columns if column.name == feature.name)
    if column.missing[0]:
        return None
    value = column.values[0]
    return str(value) if isinstance(value, str) else f"{value:.9g}"


def _reads(model: Model, lookup: Lookup, x: IntArray) -> list[str]:
    """Return the states of the features that a table reads, of a tree on the way to the row."""
    if isinstance(lookup, BranchingTable):
        row = int(lookup.rows(x[None])[0])
        region = list(lookup.regions(model.n_states))[row]
        return [between(model.features[f], *states) for f, states in sorted(region.items())]
    words = []
    for f in lookup.features:
        levels = lookup.maps.get(f, tuple(range(model.n_states[f])))
        same = [state for state, level in enumerate(levels) if level == levels[x[f]]]
        words.append(between(model.features[f], same[0], same[-1]))
    return words


def _report(model: Model, facts: dict[str, Any], console: Console) -> str:
    first, second = facts["decision"], facts["second"]
    parts = facts["contributions"]
    ahead = [part["nats"][first] - part["nats"][second] for part in parts]
    order = sorted(range(len(parts)), key=lambda k: -abs(ahead[k]))
    is_by_front = facts.get("decided_by") == FRONT
    if is_by_front:
        order = [k for k in order if parts[k]["table"] == FRONT]
    shown = order if console.verbose else order[:_MOST_TABLES]
    table = [["table", first, second, "ahead", "reads"]]
    for k in shown:
        nats, never = parts[k]["nats"], parts[k].get("impossible", ())
        figures = [
            "impossible" if label in never else f"{nats[label]:+.2f}" for label in (first, second)
        ]
        figures.append(f"{ahead[k]:+.2f}")
        table.append([parts[k]["table"], *figures, "; ".join(parts[k]["reads"])])
    if len(shown) < len(order):
        left = sum(ahead[k] for k in order[len(shown) :])
        words = f"{len(order) - len(shown)} more; -v shows all"
        table.append(["...", "", "", f"{left:+.2f}", words])
    if is_by_front:
        words = f"the prior and {counted(len(parts) - 2, 'table')} behind the front are not read"
        table.append(["others", "", "", "", words])
    else:
        table.append(["all", "", "", f"{facts['margin']:+.2f}", ""])
    ahead_by = f"{facts['margin']:.2f} nats"
    if why_no_probabilities(model) is not None:
        ahead_by = f"a score of {facts['margin']:.2f}"
    head = f"predicted class {printable(first)}, ahead of {printable(second)} by {ahead_by}"
    if is_by_front:
        head = f"predicted class {printable(first)} by a sure leaf of the front"
    return "\n".join(
        [head, "", aligned(table, right=(1, 2, 3)), "", *_turns(facts), *_closest(facts, console)]
    )


def _turns(facts: dict[str, Any]) -> list[str]:
    if not facts["changes"]:
        return ["no single reading would change the prediction"]
    readings = facts["readings"]
    rows = [
        [turn["reading"], f"(now {readings[turn['feature']] or 'missing'})", turn["decision"]]
        for turn in facts["changes"][:_MOST_TABLES]
    ]
    more = len(facts["changes"]) - len(rows)
    tail = [f"... and {more} more features; --json has all"] if more else []
    return ["predicted class after a single change:", aligned(rows), *tail]


def _closest(facts: dict[str, Any], console: Console) -> list[str]:
    """Return the readings nearest to a threshold at which the prediction changes."""
    close = [each for each in facts["margins"] if each["down"] or each["up"]]
    if not close:
        return []
    shown = close if console.verbose else close[:_MOST_TABLES]
    rows = [["reading", "now", "down to", "up to"]]
    for each in shown:
        unit = f" {each['unit']}" if each["unit"] else ""
        rows.append(
            [
                each["feature"],
                f"{each['reading']:.9g}{unit}",
                _flip(each["down"], "-", unit),
                _flip(each["up"], "+", unit),
            ]
        )
    more = len(close) - len(shown)
    tail = [f"... and {more} more features; -v shows all"] if more else []
    return ["", "closest thresholds, for each reading alone:", aligned(rows), *tail]


def _flip(flip: dict[str, Any] | None, sign: str, unit: str) -> str:
    if flip is None:
        return "no change"
    return f"{flip['reading']:.9g} ({sign}{flip['change']:.6g}{unit}): {flip['decision']}"
