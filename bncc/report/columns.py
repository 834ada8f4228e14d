"""The trials of some studies by columns, as the page carries them."""

from collections.abc import Mapping, Sequence
from typing import Any

from bncc.report.axes import axes_of, targets_of, time_unit
from bncc.report.fronts import families_of, steps_of
from bncc.report.marks import marks_of
from bncc.report.panels import cost_limits, error_limits
from bncc.report.words import kinds
from bncc.search.trial_result import Choice, Footprint, Point, Study, model_name

Columns = dict[str, Any]


def page_data(studies: Sequence[Study], target: str | None) -> Columns:
    """Return JSON values that hold all that the page's scripts need."""
    points = [point for study in studies for point in study.points]
    of = [k for k, study in enumerate(studies) for _ in study.points]
    families = families_of(points)
    targets = targets_of(points)
    return {
        "studies": [study.name for study in studies],
        "kind": kinds(points)[0],
        "families": [vars(mark) for mark in marks_of(families)],
        "targets": list(targets),
        "target": target,
        "columns": {
            "study": of,
            "number": [point.number for point in points],
            "family": [families.index(point.family) for point in points],
            "error": [round(point.validation.mean, 6) for point in points],
            "low": [round(point.validation.interval[0], 5) for point in points],
            "high": [round(point.validation.interval[1], 5) for point in points],
            "test": [None if p.test is None else round(p.test.mean, 6) for p in points],
            "format": [_format(point) for point in points],
            "bits": [point.bits for point in points],
            "operations": [point.operations for point in points],
            "seconds": [round(point.seconds, 1) for point in points],
        },
        "params": _params(points),
        "costs": {target: _costs(points, target) for target in targets},
        "axes": {target or "": _axes(studies, target) for target in (targets or (None,))},
        "commands": _commands(points),
    }


def _format(point: Point) -> str:
    return "float" if point.q_format is None else "{}.{}".format(*point.q_format)


def _params(points: Sequence[Point]) -> dict[str, Columns]:
    """Return each option's values as text, those that are often the same by their index."""
    names = dict.fromkeys(name for point in points for name in point.params)
    return {
        name: packed(
            [word(point.params[name]) if name in point.params else None for point in points]
        )
        for name in names
    }


def word(value: Choice) -> str:
    """Return a value as it stands in a command, numbers to the last bit."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def packed(texts: Sequence[str | None]) -> Columns:
    """Return texts as ``values`` and the ``index`` of each row's, -1 for none."""
    values = {text: k for k, text in enumerate(dict.fromkeys(t for t in texts if t is not None))}
    return {
        "values": list(values),
        "index": [-1 if text is None else values[text] for text in texts],
    }


def _costs(points: Sequence[Point], target: str) -> Columns:
    costs = [point.costs.get(target) for point in points]

    def column(name: str) -> list[Any]:
        return [getattr(c, name) if isinstance(c, Footprint) else None for c in costs]

    means = column("mean")
    return {
        "unit": time_unit(points, target),
        "flash": column("flash"),
        "ram": column("ram"),
        "stack": column("stack"),
        "mean": [None if mean is None else round(mean, 1) for mean in means],
        "most": column("most"),
        "why": packed([cost if isinstance(cost, str) else None for cost in costs]),
    }


def _axes(studies: Sequence[Study], target: str | None) -> list[Columns]:
    """Return each plot: its scales for each study and for all, and the fronts by rows."""
    points = [point for study in studies for point in study.points]
    some = [study.points for study in studies if study.points]
    found = []
    for axis in axes_of(points, target):
        scales: list[Columns | None] = []
        for group in (points, *some):
            if all(axis.of(point) is None for point in group):
                scales.append(None)
                continue
            x, y = cost_limits(group, axis), error_limits(group, target)
            scales.append({"x": vars(x), "y": vars(y)})
        found.append(
            {
                "key": axis.key,
                "noun": axis.noun,
                "title": axis.title,
                "scales": scales,
                "fronts": [
                    front for k in range(len(studies)) for front in _fronts(studies, k, axis)
                ],
            }
        )
    return found


def _fronts(studies: Sequence[Study], k: int, axis: Any) -> list[Columns]:
    """Return the fronts of a study, of all families (-1) and of each."""
    first = sum(len(study.points) for study in studies[:k])
    points = studies[k].points
    rows = {point.number: first + j for j, point in enumerate(points)}
    families = families_of([point for study in studies for point in study.points])
    found = []
    for f in range(-1, len(families)):
        members = [p for p in points if f < 0 or p.family == families[f]]
        steps = steps_of(members, axis)
        if steps:
            found.append(
                {
                    "study": k,
                    "family": f,
                    "rows": [rows[step.point.number] for step in steps],
                    "sure": [int(step.sure) for step in steps],
                }
            )
    return found


def _commands(points: Sequence[Point]) -> Columns:
    """Return commands as templates: a trial's number and options are columns already."""
    return packed([template_of(point) for point in points])


def template_of(point: Point) -> str:
    r"""Return a point's command with its model's name and options replaced by holes."""
    holes = _holes(point.params)
    model = model_name(point.number)
    words: list[str] = []
    for text in point.command.split(" "):
        option = words[-1] if words else ""
        words.append(
            "\x01\x01" if text == model else holes.get((option, text), text.replace("\x01", "?"))
        )
    return " ".join(words)


def _holes(params: Mapping[str, Choice]) -> dict[tuple[str, str], str]:
    holes = {}
    for name, value in params.items():
        option, _, key = name.partition(".")
        before = f"{key}=" if key else ""
        holes[f"--{option}", before + word(value)] = f"{before}\x01{name}\x01"
    return holes
