"""``bncc inspect``: contents of a model."""

import shlex
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import click

from bncc.cli.console import Console, aligned, printable
from bncc.cli.inspect_leaves import leaf_lists
from bncc.cli.options import force_option, model_argument, speaks
from bncc.cli.output import check_free, write_file
from bncc.cli.results import (
    error_mark,
    error_words,
    feature_words,
    resource_words,
    used_facts,
)
from bncc.discretize.feature import Feature
from bncc.emit.provenance import data_line
from bncc.lower.c.c99 import number_text
from bncc.model.card import (
    SURE_FRONT,
    class_parent_names,
    cycle_note,
    decision_rows,
    front_words,
    gate_words,
    given_names,
    model_facts,
    number_words,
    parent_names,
    structure_words,
    table_widths,
)
from bncc.model.file import load_model, model_digest
from bncc.model.front import FRONT
from bncc.model.model import Model
from bncc.model.ranges import ReadingRange, reading_ranges
from bncc.model.training_record import early_end_note, recorded_data, recorded_options, search_words
from bncc.resources import Resources
from bncc.structure.decision_tables import BranchingTable, GridTable, TableEnsemble

_FEW = 6
"""Most thresholds or categories of a feature in the report for people."""
_MOST_FEATURES = 200
"""Most features in the report for people without ``-v``."""


@click.command("inspect")
@model_argument
@click.option("--dot", is_flag=True, help="Print the structure in Graphviz DOT.")
@click.option(
    "--svg",
    metavar="FILE",
    help="SVG file with the structure, or with the tables of boosted tables (all of them with -v).",
)
@click.option(
    "--ir",
    "flow",
    is_flag=False,
    flag_value="default",
    metavar="[FLOW]",
    help="Print the intermediate representation before and after the compiler's passes.",
)
@force_option
@speaks
def command(
    console: Console, model_path: str, dot: bool, svg: str | None, flow: str | None, force: bool
) -> None:
    """Show the summary, structure, tables, thresholds and sizes of MODEL."""
    if svg is not None:
        check_free(svg, force=force, sources=[model_path])
    model = load_model(model_path)
    payload = facts_of(model, model_path)
    reports = []
    if dot:
        from bncc.report.structure_picture import dot_of

        payload["dot"] = dot_of(model)
        reports.append(payload["dot"].rstrip("\n"))
    if flow is not None:
        payload["ir"] = _ir(model, flow)
        reports.append(_ir_report(payload["ir"]))
    if svg is not None:
        from bncc.report.structure_picture import svg_of

        write_file(svg, svg_of(model, show_all=console.verbose).encode("utf-8"), force=force)
        payload["svg"] = svg
        console.note(f"wrote the structure to {svg}")
    if not reports and svg is None:
        reports.append(_card(model, model_path, show_all=console.verbose))
    console.result(payload, "\n".join(reports), essential=bool(reports))


def facts_of(model: Model, path: str) -> dict[str, Any]:
    """Return the JSON object of ``inspect``."""
    return {
        "model": path,
        **model_facts(model),
        **used_facts(model),
        "parents": parent_names(model),
        "class_parents": class_parent_names(model),
        "given": given_names(model),
        "cycle": _cycle(model),
        "tables": _tables(model),
        "n_states": list(model.n_states),
        "table_widths": table_widths(model),
        "features": [feature.name for feature in model.features],
        "readings": _readings(model),
        "classes": list(model.classes),
        "bncc": _version(model),
        "options": recorded_options(model.training),
        "data": recorded_data(model.training),
        "digest": model_digest(model),
    }


def _readings(model: Model) -> dict[str, Any] | None:
    ranges = reading_ranges(model.features, model.training)
    if ranges is None:
        return None
    return {
        feature.name: {"min": seen.low, "max": seen.high, "unit": seen.unit or None}
        for feature, seen in zip(model.features, ranges, strict=True)
        if feature.kind != "category"
    }


def _version(model: Model) -> str | None:
    version = model.training.get("bncc")
    return version if isinstance(version, str) else None


def _cycle(model: Model) -> list[str] | None:
    if isinstance(model.structure, TableEnsemble):
        return None
    return [model.features[i].name for i in model.structure.cycles.first] or None


def _tables(model: Model) -> list[dict[str, Any]] | None:
    if not isinstance(model.structure, TableEnsemble):
        return None
    return [_table(model, grid) for grid in model.structure.tables]


def _table(model: Model, grid: GridTable) -> dict[str, Any]:
    """Return a boosted table: the cuts of each feature, or the nodes of its decision tree."""
    names = [model.features[f].name for f in grid.features]
    if isinstance(grid, BranchingTable):
        places = {"below": list(grid.below), "above": list(grid.above)}
        return {"features": names, "cuts": list(grid.cuts), **places, "rows": grid.n_rows}
    return {
        "features": names,
        "cuts": [list(cuts) for cuts in grid.cuts],
        "rows": grid.n_rows,
    }


def _ir(model: Model, flow: str) -> dict[str, Any]:
    from bncc.program.pipeline import optimize, program_of
    from bncc.program.text import print_program

    program = program_of(model)
    optimized, passes = optimize(program, flow)
    return {
        "flow": flow,
        "before": print_program(program),
        "passes": [asdict(step) for step in passes],
        "after": print_program(optimized),
    }


def _ir_report(ir: dict[str, Any]) -> str:
    rows = [
        [
            f"; {step['name']}",
            f"{step['bits_before']} -> {step['bits_after']} bits"
            if step["fired"]
            else "nothing to do",
        ]
        for step in ir["passes"]
    ]
    parts = [f"; before\n{ir['before'].rstrip()}", f"; flow '{ir['flow']}'", aligned(rows)]
    return "\n".join([*(p for p in parts if p), f"; after\n{ir['after'].rstrip()}"])


def _card(model: Model, path: str, *, show_all: bool) -> str:
    facts, of_cycle, early = facts_of(model, path), cycle_note(model), early_end_note(model)
    rows = [
        ["model", path],
        ["structure", f"{facts['structure']}, {structure_words(model)}"],
        *([["", of_cycle]] if of_cycle else []),
        *([["front", front]] if (front := front_words(facts)) else []),
        *([] if model.front_end is None else [["samples", model.front_end.words]]),
        *([["gate", gate]] if (gate := gate_words(facts)) else []),
        *decision_rows(model),
        *([["training", early]] if early else []),
        ["parameters", str(facts["parameters"])],
        ["features", feature_words(model)],
        ["classes", f"{model.n_classes}: {_some(model.classes)}"],
        ["numbers", f"{number_words(model)}, in units of 2^{-model.q_format.frac_bits} nats"],
        *([["", f"a probability of 0 has cost {model.veto}"]] if model.veto is not None else []),
        [
            "tables",
            f"{facts['table_entries']} entries = {(facts['table_bits'] + 7) // 8} bytes before "
            f"compiler passes, without code; {facts['free_parameters']} free parameters",
        ],
        *_resources(model),
        ["errors", _errors(model, facts)],
        *([["", words]] if (words := error_words(facts)) else []),
        *_options(facts),
        *([["seed", str(facts["seed"])]] if facts["seed"] is not None else []),
        *([["data", data]] if (data := data_line(model.training)) else []),
        *([["bncc", printable(facts["bncc"])]] if facts["bncc"] else []),
        ["digest", facts["digest"]],
    ]
    table, right = _of_features(model, facts), (2, 4, 5)
    lines = [aligned(rows), "", *_shown(table, "features", right, show_all=show_all)]
    if facts["tables"] is not None:
        lines += ["", *_shown(_of_tables(model, facts), "tables", (0, 1, 2), show_all=show_all)]
        if show_all:
            for leaves in leaf_lists(model):
                lines += ["", leaves]
    return "\n".join(lines)


def _shown(
    table: list[list[str]], what: str, right: tuple[int, ...], *, show_all: bool
) -> list[str]:
    left = 0 if show_all else max(0, len(table) - 1 - _MOST_FEATURES)
    lines = [aligned(table[: len(table) - left], right=right)]
    return [*lines, f"... and {left} more {what}; -v shows all"] if left else lines


def _of_features(model: Model, facts: dict[str, Any]) -> list[list[str]]:
    """Return a row for each feature, with its own table if it has one."""
    has_own = facts["tables"] is None
    head = ["feature", "kind", "states", "parents", "rows", "bits"]
    ranges = reading_ranges(model.features, model.training)
    seen = None if ranges is None else [_seen(each) for each in ranges]
    table = [[*head, *(["in training"] if seen else []), "thresholds or categories"]]
    for i, feature in enumerate(model.features):
        rows = str(len(model.tables[i])) if has_own else ""
        bits = str(facts["table_widths"][i]) if has_own else ""
        parents = ", ".join(facts["parents"][i])
        states = str(feature.n_states)
        known = [] if seen is None else [seen[i]]
        table.append(
            [feature.name, feature.kind, states, parents, rows, bits, *known, _steps(feature)]
        )
    if facts["class_parents"]:
        parents, rows = ", ".join(facts["class_parents"]), str(len(model.tables[-1]))
        bits = str(facts["table_widths"][-1])
        others = [""] * (len(table[0]) - 6)
        table.append(["(class)", "", str(model.n_classes), parents, rows, bits, *others])
    return table


def _seen(of: ReadingRange) -> str:
    """Return the smallest and largest training reading with its unit."""
    if of.low is None or of.high is None:
        return ""
    unit = f" {printable(of.unit)}" if of.unit else ""
    return f"{number_text(of.low)} .. {number_text(of.high)}{unit}"


def _of_tables(model: Model, facts: dict[str, Any]) -> list[list[str]]:
    """Return a row for each boosted table; a cut is the largest reading, or state, below it."""
    table = [["table", "rows", "bits", "cuts"]]
    for t, (lookup, bits) in enumerate(zip(model.lookups, facts["table_widths"], strict=True)):
        cuts = [
            _cuts_of(model.features[f], [state - 1 for state in lookup.states(f)[1:]])
            for f in lookup.read
        ]
        if isinstance(lookup, BranchingTable):
            cuts.insert(0, f"tree of {lookup.n_cuts} nodes, {lookup.depth} deep")
        name = FRONT if t == 0 and SURE_FRONT in facts else str(t)
        table.append([name, str(lookup.n_rows), str(bits), "; ".join(cuts)])
    return table


def _cuts_of(feature: Feature, cuts: Sequence[int]) -> str:
    known, is_known = feature.thresholds, ""
    if cuts[:1] == [0] and feature.has_missing_below:
        cuts, is_known = cuts[1:], f"{feature.name} not missing"
    words = [f"{known[cut]:.6g}" if cut < len(known) else f"state {cut}" for cut in cuts]
    above = f"{feature.name} > {', '.join(words)}" if words else ""
    return ", ".join(filter(None, (is_known, above)))


def _resources(model: Model) -> list[list[str]]:
    """Return the resources that a search recorded in the model, if it did."""
    try:
        found = Resources.from_json(model.training["resources"])
    except (AttributeError, KeyError, TypeError, ValueError):
        return []
    first, *others = resource_words(found)
    return [[found.how, first], *(["", line] for line in others)]


def _options(facts: dict[str, Any]) -> list[list[str]]:
    """Return the options that a search chose, with their use."""
    if facts["options"] is None:
        return []
    use = (
        "`bncc train` learns the same tables with these and the options of the data and of rules",
        "(--class, --groups, --drop, --confidence and others), without a search",
    )
    return [["options", shlex.join(facts["options"])], *(["", line] for line in use)]


def _errors(model: Model, facts: dict[str, Any]) -> str:
    words = search_words(model.training)
    of_search = f" ({words})" if words else ""
    parts = [
        f"{100 * facts[f'error_{part}']:.2f} % {part}{of_search if part == 'validation' else ''}"
        f"{error_mark(facts, part)}"
        for part in ("train", "validation", "test")
        if facts[f"error_{part}"] is not None
    ]
    return ", ".join(parts) or "not recorded"


def _steps(feature: Feature) -> str:
    if feature.kind == "category":
        return _some(feature.categories)
    if feature.is_numeric:
        known = feature.thresholds[feature.has_missing_below :]
        first = ["(not missing)"] if feature.has_missing_below else []
        return _some([*first, *(f"{threshold:.9g}" for threshold in known)])
    return "states as given"


def _some(texts: tuple[str, ...] | list[str]) -> str:
    shown = " ".join(printable(text) for text in texts[:_FEW])
    return shown if len(texts) <= _FEW else f"{shown} ... ({len(texts)})"
