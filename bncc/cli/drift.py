"""``bncc drift``: the counters of a device, compared with those to expect after training."""

from dataclasses import asdict
from typing import Any

import click

from bncc.cli.console import Console
from bncc.cli.options import speaks
from bncc.data.csv import read_cells
from bncc.model.counters import required
from bncc.model.drift import Comparison, Drift, drifts_of, read_outs_of
from bncc.model.file import load_model


@click.command("drift")
@click.argument("counters_path", metavar="COUNTERS.csv")
@click.option("--model", "model_path", required=True, metavar="MODEL", help="The model.")
@click.option(
    "--alpha",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.01,
    metavar="A",
    help="Level of significance of all tests together [default: 0.01].",
)
@click.option(
    "--least-distance",
    type=click.FloatRange(0, 1),
    default=0.1,
    metavar="D",
    help="Least total variation distance of a change, a share of decisions [default: 0.1].",
)
@speaks
def command(
    console: Console, counters_path: str, model_path: str, alpha: float, least_distance: float
) -> None:
    """
    Compare the counters that a device has read out with training, and say what changed.

    COUNTERS.csv has a row for each read-out and columns named like the members of the struct
    NAME_counters_t, behind at most one column with a name or a time. The exit code is 1 if shares
    changed, significantly and by at least a distance. Decisions in time depend on each other, so
    that p-values are too small.
    """
    model = load_model(model_path)
    counters = required(model.counters)
    names, rows = read_cells(counters_path)
    read_outs = read_outs_of(counters_path, names, rows, counters)
    found = drifts_of(
        counters, model.classes, read_outs, alpha=alpha, least_distance=least_distance
    )
    for drift in found:
        if not drift.comparisons:
            console.note(f"{drift.read_out.name} has no decisions")
    is_changed = any(drift.changed for drift in found)
    payload = {
        "changed": is_changed,
        "alpha": alpha,
        "least_distance": least_distance,
        "read_outs": [_facts(drift) for drift in found],
    }
    console.result(payload, "\n".join(line for drift in found for line in _lines(drift)))
    click.get_current_context().exit(int(is_changed))


def _facts(drift: Drift) -> dict[str, Any]:
    """Return the JSON object of a read-out."""
    return {
        "name": drift.read_out.name,
        "decisions": drift.read_out.counts.n,
        "changed": drift.changed,
        "comparisons": [asdict(each) for each in drift.comparisons],
    }


def _lines(drift: Drift) -> list[str]:
    """Return what changed in words, the largest change first."""
    read_out = drift.read_out
    n = read_out.counts.n
    head = f"{read_out.name}, {n or 'no'} {'decision' if n == 1 else 'decisions'}: "
    if not drift.comparisons:
        return [f"{head}nothing to compare"]
    if not drift.changed:
        largest = drift.comparisons[0]
        words = f"no change; largest distance {largest.distance:.2f}, of {largest.counters}"
        return [head + words]
    lines = [head + "changed"]
    for each in drift.comparisons:
        if each.changed:
            lines += [f"  {sentence}" for sentence in each.sentences]
            lines.append(f"    distance of {each.counters} {each.distance:.2f}, {_p(each)}")
    return lines


def _p(comparison: Comparison) -> str:
    p = comparison.p_adjusted
    return "p < 0.0001" if p < 0.0001 else f"p = {p:.4f}"
