"""``bncc inspect``: what a model is made of."""

from dataclasses import asdict
from typing import Any

import click

from bncc.cli.console import Console, aligned, printable
from bncc.cli.options import force_option, model_argument, speaks
from bncc.cli.output import check_free, write_file
from bncc.discretize.feature import Feature
from bncc.model.card import (
    cycle_note,
    early_end_note,
    model_facts,
    parent_names,
    table_widths,
)
from bncc.model.file import load_model, model_digest
from bncc.model.model import Model

_FEW = 6
"""Thresholds or categories of a feature that are shown to people."""
_MOST_FEATURES = 200
"""Features that are listed for people without ``-v``."""


@click.command("inspect")
@model_argument
@click.option("--dot", is_flag=True, help="Print the structure in Graphviz's language.")
@click.option("--svg", metavar="FILE", help="Draw the structure.")
@click.option(
    "--ir",
    "flow",
    is_flag=False,
    flag_value="default",
    metavar="[FLOW]",
    help="Print the program before and after the compiler's passes.",
)
@force_option
@speaks
def command(
    console: Console, model_path: str, dot: bool, svg: str | None, flow: str | None, force: bool
) -> None:
    """Show the card, structure, tables, thresholds and sizes of MODEL."""
    if svg is not None:
        check_free(svg, force=force)
    model = load_model(model_path)
    payload = facts_of(model, model_path)
    reports = []
    if dot:
        from bncc.cli.drawing import dot_of

        payload["dot"] = dot_of(model)
        reports.append(payload["dot"].rstrip("\n"))
    if flow is not None:
        payload["ir"] = _ir(model, flow)
        reports.append(_ir_report(payload["ir"]))
    if svg is not None:
        from bncc.cli.drawing import svg_of

        write_file(svg, svg_of(model).encode("utf-8"), force=force)
        payload["svg"] = svg
        console.note(f"drew the structure into {svg}")
    if not reports and svg is None:
        reports.append(_card(model, model_path, show_all=console.verbose))
    console.result(payload, "\n".join(reports), essential=bool(reports))


def facts_of(model: Model, path: str) -> dict[str, Any]:
    """Return the JSON object of ``inspect``.

    Parameters
    ----------
    model : Model
        A whole model.
    path : str
        Its file.

    Returns
    -------
    dict
        The model fields of ``train``, ``parents`` (names per feature, the class as ``"class"``),
        ``cycle`` (names of features whose arcs form one, None in a Bayesian network),
        ``n_states``, ``table_widths`` (bits per table), ``features``, ``classes`` and ``digest``.
    """
    return {
        "model": path,
        **model_facts(model),
        "parents": parent_names(model),
        "cycle": [model.features[i].name for i in model.structure.cycles.first] or None,
        "n_states": list(model.n_states),
        "table_widths": table_widths(model),
        "features": [feature.name for feature in model.features],
        "classes": list(model.classes),
        "digest": model_digest(model),
    }


def _ir(model: Model, flow: str) -> dict[str, Any]:
    from bncc.compiler.importer import program_of
    from bncc.compiler.pipeline import optimize
    from bncc.compiler.text import print_program

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
        ["structure", f"{facts['structure']}, {model.structure.n_edges} arcs between features"],
        *([["", of_cycle]] if of_cycle else []),
        *([["training", early]] if early else []),
        ["parameters", str(facts["parameters"])],
        ["features", str(model.n_features)],
        ["classes", f"{model.n_classes}: {_some(model.classes)}"],
        ["numbers", f"{model.q_format} (unit 2^{-model.q_format.frac_bits} nats)"],
        [
            "tables",
            f"{facts['table_entries']} entries of {model.q_format.bits} bits = "
            f"{(facts['table_bits'] + 7) // 8} bytes before the compiler's passes; "
            f"{facts['free_parameters']} free parameters",
        ],
        ["errors", _errors(facts)],
        ["seed", str(facts["seed"])],
        ["digest", facts["digest"]],
    ]
    shown = model.n_features if show_all else min(model.n_features, _MOST_FEATURES)
    table = [["feature", "kind", "states", "parents", "rows", "bits", "thresholds or categories"]]
    for i in range(shown):
        feature = model.features[i]
        parents = ", ".join(facts["parents"][i])
        table.append(
            [
                feature.name,
                feature.kind,
                str(feature.n_states),
                parents,
                str(len(model.tables[i])),
                str(facts["table_widths"][i]),
                _steps(feature),
            ]
        )
    lines = [aligned(rows), "", aligned(table, right=(2, 4, 5))]
    if shown < model.n_features:
        lines.append(f"... and {model.n_features - shown} more features; -v shows all")
    return "\n".join(lines)


def _errors(facts: dict[str, Any]) -> str:
    parts = [
        f"{100 * facts[f'error_{part}']:.2f} % {part}"
        for part in ("train", "validation", "test")
        if facts[f"error_{part}"] is not None
    ]
    return ", ".join(parts) or "not recorded"


def _steps(feature: Feature) -> str:
    if feature.kind == "category":
        return _some(feature.categories)
    if feature.is_numeric:
        return _some([f"{threshold:.9g}" for threshold in feature.thresholds])
    return "states as given"


def _some(texts: tuple[str, ...] | list[str]) -> str:
    shown = " ".join(printable(text) for text in texts[:_FEW])
    return shown if len(texts) <= _FEW else f"{shown} ... ({len(texts)})"
