"""
Confidence of decisions on test rows: calibration, and the error of what is accepted.

    python -m benchmarks.accuracy.confidence --data ../shared/data -o confidence --write

Sets, structures and the largest error were chosen before a result was known: the sets of sensor
readings and of `benchmarks.shared.sensor_sets.MORE_SETS` with about 2,000 test rows or more and a
random split, the trainings that ``bncc train`` makes without further options, and a largest error
of half the error on held-out rows. Confidence and least margin are those of ``--max-error``, chosen
on training rows. Test rows decide nothing. Results stay in the folder of ``-o``; with ``--write``
the tables and the picture on docs/how-to/confidence.md are new.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import click
import numpy as np

from benchmarks.shared.markdown import renew, table
from benchmarks.shared.memory import Memory
from benchmarks.shared.sensor_sets import parts
from bncc.discretize.feature import states_of
from bncc.errors import DataError
from bncc.model.confidence import ConfidenceEffect, effect_of, margins_of
from bncc.model.reference import scores
from bncc.report import curves as chart
from bncc.train.confidence_choice import with_confidence
from bncc.train.repeats import DEFAULT_FOLDS, held_out_scores
from bncc.train.settings import TrainSettings
from bncc.train.train_model import train_model

SETS = (
    "ai4i2020", "dry_bean", "phoneme", "magic04", "htru2", "krkopt", "mammography", "nursery",
)  # fmt: skip
STRUCTURES = ("tables", "naive")
PART = 0.5
"""Largest error of accepted decisions, as a fraction of the error on held-out rows."""
SHARES = np.arange(1, 21) / 20
"""Fractions of accepted rows in the curves of error against coverage."""
DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE, PICTURE = DOCS / "how-to" / "confidence.md", DOCS / "confidence.svg"
DRAWN = ("dry_bean", "magic04", "phoneme", "ai4i2020")
"""Sets in the picture, with boosted tables."""
HEAD = (
    "set", "model", "rows", "error", "calibration error", "largest error", "accepted",
    "error of these", "upper bound",
)  # fmt: skip


@dataclass(frozen=True)
class Result:
    """Calibration and accepted decisions on test rows."""

    max_error: float  # Largest error of accepted decisions; 0 if no margin can show it
    effect: ConfidenceEffect
    curve: list[float]  # Error of each of `SHARES` of the rows, those of the largest margin first


def measured(data: Path, name: str, structure: str) -> Result:
    """Train on the training rows of a set, choose the confidence there, and rate test rows."""
    train, test = parts(data, name)
    settings = TrainSettings(structure=structure, seed=0)
    result = train_model(train, settings)
    held = held_out_scores(train, settings, DEFAULT_FOLDS)
    assert held is not None
    max_error = PART * float((held.decisions != held.y).mean())
    try:
        model = with_confidence(result, held, max_error=max_error).model
    except DataError:
        max_error, model = 0.0, with_confidence(result, held).model
    found = scores(model, states_of(model.features, test.table))
    margins, right = margins_of(found), found.argmin(axis=1) == test.with_classes(model.classes).y
    assert model.confidence is not None
    effect = effect_of(model.confidence, margins, right)
    assert effect is not None
    order = np.argsort(-margins, kind="stable")
    wrong = np.cumsum(~right[order])
    counts = np.ceil(SHARES * len(order)).astype(int)
    return Result(max_error, effect, (wrong[counts - 1] / counts).tolist())


def result_from(value: dict[str, Any]) -> Result:
    """Return a result that was written as JSON."""
    fields = {**value, "effect": ConfidenceEffect(**value["effect"])}
    return Result(**fields)


def row(name: str, structure: str, one: Result) -> list[str]:
    """Return a row of the table."""
    effect = one.effect
    cells = [name, structure, f"{effect.n:,}", f"{100 * effect.error:.2f}"]
    cells.append(f"{100 * effect.calibration_error:.1f}")
    if not one.max_error or effect.error_accepted is None or effect.error_bound is None:
        return [*cells, "-", "-", "-", "-"]
    return [
        *cells,
        f"{100 * one.max_error:.2f}",
        f"{100 * effect.accepted / effect.n:.1f}",
        f"{100 * effect.error_accepted:.2f}",
        f"{100 * effect.error_bound:.2f}",
    ]


def summary(results: Sequence[Result]) -> str:
    """Return what holds over all results, in a sentence."""
    limited = [one for one in results if one.max_error and one.effect.error_accepted is not None]
    within = sum((one.effect.error_accepted or 0.0) <= one.max_error for one in limited)
    bounded = sum((one.effect.error_bound or 0.0) <= one.max_error for one in limited)
    calibration = [100 * one.effect.calibration_error for one in results]
    return (
        f"Calibration error: {fmean(calibration):.1f} points on average, at most "
        f"{max(calibration):.1f}. In {within} of {len(limited)} cases the error of accepted test "
        f"rows is at most the largest one, and in {bounded} its upper 95 % bound is.\n"
    )


def picture(found: Mapping[tuple[str, str], Result]) -> str:
    """Return the error of accepted rows against their fraction as SVG."""
    lines = []
    for name in DRAWN:
        curve = found[name, "tables"].curve
        points = zip((100 * SHARES).tolist(), curve, strict=True)
        lines.append(chart.Line(name, tuple(chart.Point(x, 100 * y) for x, y in points)))
    return chart.svg_of(
        chart.Chart(
            title="Error of the accepted test rows, those of the largest margins",
            x_title="accepted rows, percent",
            y_title="error of these, percent",
            panels=(chart.Panel("", tuple(lines)),),
        )
    )


@click.command(help=__doc__)
@click.option("--data", type=click.Path(path_type=Path), required=True)
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True)
@click.option("--write", is_flag=True)
def main(data: Path, output: Path, *, write: bool) -> None:
    """Measure what is missing, and print or write the tables."""
    known = Memory(output / "confidence.jsonl")
    found: dict[tuple[str, str], Result] = {}
    for name in SETS:
        for structure in STRUCTURES:
            key = f"{name}, {structure}"
            if key not in known:
                known.put(key, asdict(measured(data, name, structure)))
            found[name, structure] = result_from(known[key])
    rows = [row(*names, one) for names, one in found.items()]
    tables = {"confidence": table(HEAD, rows), "summary": summary([*found.values()])}
    if write:
        renew(PAGE, tables)
        PICTURE.write_text(picture(found), encoding="utf-8")
    else:
        print("\n".join(tables.values()))


if __name__ == "__main__":
    main()
