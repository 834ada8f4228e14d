"""One finished trial: how it was trained, how often it errs, and what its C costs."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import inf
from typing import Any

from bncc.model.error_rates import wilson
from bncc.resources import ENTRIES, Resources, Span

Choice = str | int | float | bool
"""Value of one option."""


@dataclass(frozen=True)
class Rate:
    """How often a setting errs, over the trainings of a trial."""

    errors: tuple[float, ...]  # Fraction of wrong decisions, by seed
    # Rows that were judged: of validation the sum over seeds, since each holds out others; of the
    # test rows their number
    n: int

    @property
    def mean(self) -> float:
        """Mean over the seeds, 0 .. 1."""
        return sum(self.errors) / len(self.errors)

    @property
    def interval(self) -> tuple[float, float]:
        """Between which errors the true one lies, with 95 %: Wilson's interval."""
        return wilson(self.mean, self.n)


@dataclass(frozen=True)
class Footprint:
    """Resources of the C on one target, measured."""

    flash: int  # flash, ram, stack: Bytes of the entry points, as ``bncc bench`` reports them
    ram: int
    stack: int
    unit: str  # What a decision is counted in
    mean: float  # Of them per call of the slowest entry point
    most: int  # At most, of the calls that were measured
    # Entry points that are counted. Studies of bncc before entry points could be named timed
    # ``predict``, from states, and counted the bytes of ``predict`` and ``predict_raw``.
    entries: tuple[str, ...] = ("predict",)

    @classmethod
    def of(cls, found: Resources) -> "Footprint":
        """Return the footprint with the time of the slowest entry point."""
        span = max(found.spans.values(), key=lambda span: span.max)
        return cls(
            found.flash, found.ram, found.stack, found.unit, span.mean, span.max, found.entries
        )

    def resources(self, target: str) -> Resources:
        """Return what a budget is compared with; all entry points as slow as the slowest."""
        spans = dict.fromkeys(self.entries, Span(0, self.mean, self.most))
        is_cycles = self.unit == "cycles"
        return Resources(
            target, self.flash, self.ram, self.stack, None if is_cycles else spans,
            spans if is_cycles else None, self.entries, "balanced", "-O2", "measured",
        )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Figures:
    """What training and measuring a setting has shown; all but errors is of its first seed."""

    family: str  # What is compared: the name of the structure learner
    validation: Rate  # Of rows held out of training; what models are chosen by
    test: Rate | None  # Of test rows, where there are any; nothing is chosen by it
    entries: int  # Of all tables, the prior among them
    bits: int  # Of all entries, before any pass of the compiler
    operations: int  # Additions of a decision as S3 counts them, C (D + 1)
    q_format: tuple[int, int] | None  # B_I and B_F; None of a model in floats
    costs: Mapping[str, Footprint | str]  # By target; a text says why the model does not fit there
    parents: tuple[tuple[str, ...], ...]  # Features that are parents, by feature


@dataclass(frozen=True, kw_only=True)
class Point(Figures):
    """A finished trial."""

    number: int  # In the study
    # Options of the trial, by their names on the command line without dashes
    params: Mapping[str, Choice]
    seconds: float  # Wall time of training and measuring
    command: str  # What a user types to get the same figures again; ``-o`` names `model_name`

    @property
    def is_network(self) -> bool:
        """Whether it is a Bayesian network of bncc's, and no baseline."""
        return self.params.get("classifier", "network") == "network"

    def footprint(self, target: str) -> Footprint | None:
        """Return what it costs on a machine, None where it does not fit or was not measured."""
        found = self.costs.get(target)
        return found if isinstance(found, Footprint) else None

    def to_json(self) -> dict[str, Any]:
        """Return JSON values from which `from_json` makes the same point."""
        return asdict(self)

    @classmethod
    def from_json(cls, facts: Mapping[str, Any]) -> "Point":
        """Take up what `to_json` has returned."""
        costs = {
            target: found if isinstance(found, str) else _footprint(found)
            for target, found in facts["costs"].items()
        }
        fmt = facts["q_format"]
        point = cls(
            **{
                **facts,
                "validation": _rate(facts["validation"]),
                "test": None if facts["test"] is None else _rate(facts["test"]),
                "q_format": None if fmt is None else (int(fmt[0]), int(fmt[1])),
                "costs": costs,
                "parents": tuple(tuple(names) for names in facts["parents"]),
            }
        )
        if not _makes_sense(point):
            raise ValueError("figures of no trial")
        return point


@dataclass(frozen=True)
class Study:
    """All that a report is made of."""

    name: str  # For people: the file's name without its folder, or the name in the database
    # Where it comes from: ``data`` (the file's name), ``digest`` of rows and labels, ``class``,
    # ``n_rows``, ``n_test``, ``n_features``, ``features`` (names), ``n_classes``, ``fold``,
    # ``seed``, ``repeats``, ``sampler``, ``objectives``, ``targets``, ``toolchains`` by target,
    # ``bncc``, ``space``
    facts: Mapping[str, Any]
    points: tuple[Point, ...]  # Finished trials, by number
    failed: Mapping[int, str]  # Why trials came to nothing, by number


def model_name(number: int) -> str:
    """Return the file in which the command of a trial leaves its model."""
    return f"trial-{number}.bncc"


def _footprint(facts: Mapping[str, Any]) -> Footprint:
    entries = tuple(facts.get("entries", Footprint.entries))
    if not entries or not set(entries) <= set(ENTRIES):
        raise ValueError("entry points of no classifier")
    return Footprint(**{**facts, "entries": entries})


def _rate(facts: Mapping[str, Any]) -> Rate:
    errors: Sequence[float] = facts["errors"]
    return Rate(tuple(errors), int(facts["n"]))


def _makes_sense(point: Point) -> bool:
    """Return whether reports can be made of it: figures are finite, rates between 0 and 1."""
    rates = [point.validation, *([] if point.test is None else [point.test])]
    found = [cost for cost in point.costs.values() if isinstance(cost, Footprint)]
    counts = [point.number, point.entries, point.bits, point.operations]
    counts += [count for cost in found for count in (cost.flash, cost.ram, cost.stack, cost.most)]
    figures = [point.seconds, *(cost.mean for cost in found)]
    texts = [point.family, point.command, *(name for names in point.parents for name in names)]
    return (
        all(rate.n >= 1 and rate.errors for rate in rates)
        and all(0 <= error <= 1 for rate in rates for error in rate.errors)
        and all(isinstance(count, int) and count >= 0 for count in counts)
        and all(0 <= figure < inf for figure in figures)
        and all(isinstance(text, str) for text in texts)
        and all(isinstance(value, Choice) for value in point.params.values())
        and all(cost.unit in ("instructions", "cycles") for cost in found)
    )


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
