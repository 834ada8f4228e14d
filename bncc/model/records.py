"""JSON records of the parts that a model may have besides its tables, and of their values."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NoReturn

from bncc.errors import ModelFileError, OptionError
from bncc.model.adaptation import Adaptation
from bncc.model.confidence import Confidence
from bncc.model.counters import Counters, Counts
from bncc.model.filter import Filter
from bncc.model.gate import Gate
from bncc.model.unknown import Range, Unknown
from bncc.recordings.front_end import FrontEnd, columns_of_names
from bncc.recordings.recording import sample_format
from bncc.recordings.windows import windows_of

DOCUMENT = "model.json"


def fields(record: Any, keys: Sequence[str]) -> list[Any]:
    """Return the values of a record that has exactly these keys."""
    if type(record) is not dict or record.keys() != set(keys):
        malformed(f"the record of {', '.join(keys)}")
    return [record[key] for key in keys]


def items(value: Any, *kinds: type) -> list[Any]:
    """Return a list whose items are of these types."""
    # `type` and not isinstance: a bool must not pass for an int.
    if type(value) is not list or not all(type(item) in kinds for item in value):
        malformed(f"a list of {' or '.join(kind.__name__ for kind in kinds)}")
    return value


def integer(value: Any) -> int:
    """Return a number that is an integer."""
    if type(value) is not int:
        malformed("a number")
    return value


def malformed(what: str) -> NoReturn:
    """Refuse a file by what is wrong in it."""
    raise ModelFileError(f"{what} is malformed in its {DOCUMENT}")


def gate_from(record: Any) -> Gate:
    """Return a gate."""
    return Gate(*map(integer, fields(record, ("tables", "margin"))))


def _is_rate(text: Any) -> bool:
    return type(text) is str and Fraction(text) > 0 and str(Fraction(text)) == text


def front_end_from(record: Any, inputs: Sequence[str]) -> FrontEnd:
    """Return a front end that computes some inputs, by their names."""
    keys = ("channels", "hop", "rate", "samples", "window")
    names, hop, rate, samples, length = fields(record, keys)
    limits, channels = items(samples, int), tuple(items(names, str))
    if rate is not None and not _is_rate(rate):
        malformed("the rate of its front end")
    if len(limits) != 2:
        malformed("the range of its samples")
    try:
        return FrontEnd(
            sample_format(f"{limits[0]}..{limits[1]}"),
            channels,
            windows_of(integer(length), integer(hop)),
            columns_of_names(inputs, channels),
            None if rate is None else Fraction(rate),
        )
    except OptionError as error:
        raise ModelFileError(f"its front end is unsound: {error}") from error


def filter_from(record: Any) -> Filter:
    """Return a filter."""
    if type(record) is not dict:
        malformed("the record of its filter")
    transitions = None
    if "transitions" in record:
        rows = items(record["transitions"], list)
        transitions = tuple(tuple(items(row, int)) for row in rows)
        record = {key: value for key, value in record.items() if key != "transitions"}
    keys = ("switch", *(key for key in ("hold", "lag") if key in record))
    numbers = dict(zip(keys, map(integer, fields(record, keys)), strict=True))
    return Filter(transitions=transitions, **numbers)


def filter_record(rule: Filter) -> dict[str, Any]:
    """Return the record of a filter; a hold of 1, one price and a lag of 0 are left out."""
    record: dict[str, Any] = {"switch": rule.switch}
    if rule.hold > 1:
        record["hold"] = rule.hold
    if rule.transitions is not None:
        record["transitions"] = [list(row) for row in rule.transitions]
    if rule.lag:
        record["lag"] = rule.lag
    return record


def adaptation_record(adaptation: Adaptation) -> dict[str, Any]:
    """Return the record of an adaptation."""
    return {
        "tables": list(adaptation.tables),
        "step": adaptation.step,
        "margin": adaptation.margin,
        "bound": adaptation.bound,
    }


def adaptation_from(record: Any) -> Adaptation:
    """Return an adaptation."""
    tables, *numbers = fields(record, ("tables", "step", "margin", "bound"))
    return Adaptation(tuple(items(tables, int)), *map(integer, numbers))


def confidence_record(confidence: Confidence) -> dict[str, Any]:
    """Return the record of a confidence."""
    return {
        "margins": list(confidence.margins),
        "percent": list(confidence.percent),
        "least_margin": confidence.least_margin,
    }


def confidence_from(record: Any) -> Confidence:
    """Return a confidence."""
    margins, percent, least = fields(record, ("margins", "percent", "least_margin"))
    return Confidence(tuple(items(margins, int)), tuple(items(percent, int)), integer(least))


def unknown_record(unknown: Unknown) -> dict[str, Any]:
    """Return the record of a rule for unknown readings."""
    ranges = {
        name: [None if of is None else list(of) for of in by_class]
        for name, by_class in unknown.ranges.items()
    }
    return {"ranges": ranges, "weight": unknown.weight, "limit": unknown.limit}


def unknown_from(record: Any) -> Unknown:
    """Return a rule for unknown readings."""
    ranges, weight, limit = fields(record, ("ranges", "weight", "limit"))
    if type(ranges) is not dict:
        malformed("the ranges for unknown readings")
    return Unknown(
        {
            name: tuple(map(_range, items(by_class, list, type(None))))
            for name, by_class in ranges.items()
        },
        integer(weight),
        integer(limit),
    )


def _range(ends: list[Any] | None) -> Range | None:
    if ends is None:
        return None
    if len(items(ends, int, float)) != 2:
        malformed("a range for unknown readings")
    return ends[0], ends[1]


def counters_record(counters: Counters) -> dict[str, Any]:
    """Return the record of counters."""
    held = counters.expected
    return {
        "margins": list(counters.margins),
        "expected": {
            "classes": list(held.classes),
            "margins": list(held.margins),
            "unknown": held.unknown,
            "stays": held.stays,
            "switches": held.switches,
        },
    }


def counters_from(record: Any) -> Counters:
    """Return counters."""
    margins, held = fields(record, ("margins", "expected"))
    keys = ("classes", "margins", "unknown", "stays", "switches")
    classes, bins, *rest = fields(held, keys)
    unknown, stays, switches = (None if n is None else integer(n) for n in rest)
    counts = Counts(tuple(items(classes, int)), tuple(items(bins, int)), unknown, stays, switches)
    return Counters(tuple(items(margins, int)), counts)
