"""A trial as JSON, in the words of the command line."""

from typing import Any

from bncc.search.trial_result import Point


def trial_facts(point: Point, target: str | None) -> dict[str, Any]:
    """Return the JSON object of a trial, as ``sweep`` and ``report`` show it."""
    cost = None if target is None else point.footprint(target)
    facts = point.to_json()
    unit = None if cost is None else cost.unit
    return {
        "number": point.number,
        "family": point.family,
        "params": dict(point.params),
        "error_validation": point.validation.mean,
        "error_validation_interval": list(point.validation.interval),
        "error_test": None if point.test is None else point.test.mean,
        "error_test_interval": None if point.test is None else list(point.test.interval),
        "q_format": facts["q_format"],
        "bits": point.bits,
        "entries": point.entries,
        "operations": point.operations,
        "flash": None if cost is None else cost.flash,
        "ram": None if cost is None else cost.ram,
        "instructions": cost.mean if cost is not None and unit == "instructions" else None,
        "instructions_max": cost.most if cost is not None and unit == "instructions" else None,
        "cycles": cost.mean if cost is not None and unit == "cycles" else None,
        "cycles_max": cost.most if cost is not None and unit == "cycles" else None,
        "costs": facts["costs"],
        "seconds": point.seconds,
        "command": point.command,
    }
