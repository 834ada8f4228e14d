"""One finished trial: its settings, its errors, and the resources of its C."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import inf
from typing import Any, Literal, get_args

from bncc.model.error_rates import wilson
from bncc.model.table_levels import TableLevels
from bncc.resources import ENTRIES, Resources, Span

OfPart = Literal["microseconds", "microjoules"]
OF_PART: tuple[OfPart, ...] = get_args(OfPart)
"""Figures of a footprint that need a part or a clock."""
Choice = str | int | float | bool
"""Value of one option."""


@dataclass(frozen=True)
class Rate:
    """Error rate of a setting, over the trainings of a trial."""

    errors: tuple[float, ...]  # Error rates, by seed
    # Number of evaluated rows: for validation the sum over seeds, since each has its own validation
    # rows; for testing the number of test rows
    n: int

    @property
    def mean(self) -> float:
        """Mean over the seeds, 0 .. 1."""
        return sum(self.errors) / len(self.errors)

    @property
    def interval(self) -> tuple[float, float]:
        """95 % confidence interval of the true error: Wilson's interval."""
        return wilson(self.mean, self.n)


@dataclass(frozen=True)
class Footprint:
    """Measured resources of the C on one target."""

    flash: int  # flash, ram, stack: Bytes of the entry points, as ``bncc bench`` reports them
    ram: int
    stack: int
    unit: str  # Unit of time
    mean: float  # Mean per call of the slowest entry point
    most: int  # Maximum over the measured calls
    # Entry points that are counted. Studies of bncc before entry points could be named timed
    # ``predict``, from states, and counted the bytes of ``predict`` and ``predict_raw``.
    entries: tuple[str, ...] = ("predict",)
    # Means of the same call on a part; None without one, or if its current is not known
    microseconds: float | None = None
    microjoules: float | None = None

    @classmethod
    def of(cls, found: Resources) -> "Footprint":
        """Return the footprint with the time of the slowest entry point."""
        span = max(found.spans.values(), key=lambda span: span.max)
        return cls(
            found.flash, found.ram, found.stack, found.unit, span.mean, span.max, found.entries
        )

    def to_json(self) -> dict[str, Any]:
        """Return the figures, without those of a part if there is none."""
        return {key: value for key, value in asdict(self).items() if value is not None}

    def resources(self, target: str) -> Resources:
        """Return the resources to compare with a budget, with the slowest entry point's time."""
        spans = dict.fromkeys(self.entries, Span(0, self.mean, self.most))
        is_cycles = self.unit == "cycles"
        return Resources(
            target, self.flash, self.ram, self.stack, None if is_cycles else spans,
            spans if is_cycles else None, self.entries, "balanced", "-O2", "measured",
        )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Figures:
    """Results of training and measuring a setting; all but errors are those of its first seed."""

    family: str  # Family for comparisons: the name of the structure learner
    validation: Rate  # On validation rows, for the choice of models
    test: Rate | None  # On test rows, if there are any; affects no choice
    entries: int  # Entries of all tables and the prior
    bits: int  # Bits of all entries, before any pass of the compiler
    operations: int  # Additions per decision as S3 counts them, C (D + 1)
    q_format: tuple[int, int] | None  # B_I and B_F; None for a model in floats
    costs: Mapping[str, Footprint | str]  # By target; a text is the reason of a misfit
    parents: tuple[tuple[str, ...], ...]  # Features that are parents, by feature
    # Features and levels of each boosted table as `table_levels` records them, of the first seed;
    # none of other classifiers and in studies of earlier versions
    tables: tuple[TableLevels, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Point(Figures):
    """A finished trial."""

    number: int  # Number in the study
    # Options of the trial, by their names on the command line without dashes
    params: Mapping[str, Choice]
    seconds: float  # Wall time of training and measuring
    command: str  # Command that reproduces the figures; ``-o`` names `model_name`

    @property
    def is_network(self) -> bool:
        """True for a Bayesian network of bncc's, False for a baseline."""
        return self.params.get("classifier", "network") == "network"

    def footprint(self, target: str) -> Footprint | None:
        """Return its footprint on a target, None if it does not fit or was not measured."""
        found = self.costs.get(target)
        return found if isinstance(found, Footprint) else None

    def to_json(self) -> dict[str, Any]:
        """Return JSON values that `from_json` converts back."""
        return {**asdict(self), "costs": _costs(self.costs)}

    @classmethod
    def from_json(cls, facts: Mapping[str, Any]) -> "Point":
        """Restore the return value of `to_json`."""
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
                "tables": tuple(map(_levels, facts.get("tables", ()))),
            }
        )
        if not _makes_sense(point):
            raise ValueError("figures of no trial")
        return point


@dataclass(frozen=True)
class Study:
    """Data of a report."""

    name: str  # For display: the file's name without its folder, or the name in the database
    # Its facts: ``data`` (the file's name), ``digest`` of rows and labels, ``class``, ``n_rows``,
    # ``n_test``, ``n_features``, ``features`` (names), ``n_classes``, ``fold``, ``seed``,
    # ``repeats``, ``sampler``, ``objectives``, ``targets``, ``toolchains`` by target, ``bncc``,
    # ``space``
    facts: Mapping[str, Any]
    points: tuple[Point, ...]  # Finished trials, by number
    failed: Mapping[int, str]  # Reasons of failed trials, by number


def model_name(number: int) -> str:
    """Return the file in which the command of a trial saves its model."""
    return f"trial-{number}.bncc"


def _costs(costs: Mapping[str, Footprint | str]) -> dict[str, Any]:
    return {name: c if isinstance(c, str) else c.to_json() for name, c in costs.items()}


def _footprint(facts: Mapping[str, Any]) -> Footprint:
    entries = tuple(facts.get("entries", Footprint.entries))
    if not entries or not set(entries) <= set(ENTRIES):
        raise ValueError("entry points of no classifier")
    return Footprint(**{**facts, "entries": entries})


def _rate(facts: Mapping[str, Any]) -> Rate:
    errors: Sequence[float] = facts["errors"]
    return Rate(tuple(errors), int(facts["n"]))


def _levels(facts: Sequence[Sequence[Any]]) -> TableLevels:
    return tuple((name, tuple(levels)) for name, levels in facts)


def _makes_sense(point: Point) -> bool:
    """Return whether a report is possible: figures are finite, rates between 0 and 1."""
    rates = [point.validation, *([] if point.test is None else [point.test])]
    found = [cost for cost in point.costs.values() if isinstance(cost, Footprint)]
    counts = [point.number, point.entries, point.bits, point.operations]
    counts += [count for cost in found for count in (cost.flash, cost.ram, cost.stack, cost.most)]
    figures = [point.seconds, *(cost.mean for cost in found)]
    figures += [getattr(cost, key) or 0 for cost in found for key in OF_PART]
    texts = [point.family, point.command, *(name for names in point.parents for name in names)]
    texts += [text for table in point.tables for name, levels in table for text in (name, *levels)]
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
    unit = None if cost is None else cost.unit
    return {
        "number": point.number,
        "family": point.family,
        "params": dict(point.params),
        "error_validation": point.validation.mean,
        "error_validation_interval": list(point.validation.interval),
        "error_test": None if point.test is None else point.test.mean,
        "error_test_interval": None if point.test is None else list(point.test.interval),
        "q_format": point.q_format,
        "bits": point.bits,
        "entries": point.entries,
        "operations": point.operations,
        "flash": None if cost is None else cost.flash,
        "ram": None if cost is None else cost.ram,
        "instructions": cost.mean if cost is not None and unit == "instructions" else None,
        "instructions_max": cost.most if cost is not None and unit == "instructions" else None,
        "cycles": cost.mean if cost is not None and unit == "cycles" else None,
        "cycles_max": cost.most if cost is not None and unit == "cycles" else None,
        "costs": _costs(point.costs),
        "seconds": point.seconds,
        "command": point.command,
    }
