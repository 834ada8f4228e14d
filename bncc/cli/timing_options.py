"""Options ``--part`` and ``--clock``, and cycles, time and energy for people and for JSON."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from textwrap import fill
from typing import TYPE_CHECKING, Any, TypeVar

import click

from bncc.cli.console import Console
from bncc.errors import BudgetError, OptionError, ToolchainError
from bncc.resources import FUNCTIONS, Resources
from bncc.targets import TARGETS
from bncc.targets.base import MHZ

if TYPE_CHECKING:
    from bncc.device.cross import Toolchain
    from bncc.device.meter import Cost
    from bncc.emit.emitter import Emission, EmitOptions
    from bncc.model.model import Model
    from bncc.targets.timing import CountedCore
    from bncc.timing.timebase import Timebase

Command = TypeVar("Command", bound=Callable[..., Any])
WIDTH = 100
"""Line width of the sources for people."""
NO_CORE = "--clock needs a core; add --part, or --target"
_FACTORS = {"": 1, "k": 1000, "K": 1000, "M": MHZ}


def timing_options(function: Command) -> Command:
    """Add ``--part`` and ``--clock``."""
    clock = click.option(
        "--clock",
        callback=_hertz,
        metavar="HZ[k|M]",
        help="Clock in Hz, for cycles and microseconds [default: the highest of --part].",
    )
    part = click.option(
        "--part",
        metavar="NAME",
        help="Part with known timing, or a core such as ibex; see `bncc targets`. Layouts are "
        "compared by its cycles, and figures are also cycles, microseconds and microjoules.",
    )
    return part(clock(function))


LOWEST = 1000
"""Hertz below which a clock is taken for one without its unit."""


def _hertz(ctx: click.Context, param: click.Parameter, value: str | None) -> int | None:
    """Parse a clock such as ``48M``, ``32k`` or ``8000000``."""
    if value is None:
        return None
    match = re.fullmatch(r"(\d{1,10}(?:\.\d{1,6})?)([kKM]?)", value)
    clock = Fraction(match[1]) * _FACTORS[match[2]] if match else Fraction(0)
    if clock < 1 or clock.denominator != 1:
        raise click.BadParameter(f"{value!r} is not a clock such as 48M, 32k or 8000000")
    if clock < LOWEST:
        raise click.BadParameter(f"{value!r} is {clock} Hz; add a unit, as in {value}M")
    return int(clock)


def time_limit_options(function: Command) -> Command:
    """Add ``--max-cycles``, ``--max-microseconds`` and ``--max-microjoules``."""
    where = "of the slowest input tried, with --part or --clock"
    cycles = click.option(
        "--max-cycles", type=click.IntRange(1), metavar="N", help=f"Budget of cycles {where}."
    )
    microseconds, microjoules = (
        click.option(
            f"--max-{unit}",
            type=click.FloatRange(0, min_open=True),
            metavar="X",
            help=f"Budget of {unit} {where}.",
        )
        for unit in ("microseconds", "microjoules")
    )
    return cycles(microseconds(microjoules(function)))


@dataclass(frozen=True)
class TimeLimit:
    """Most cycles of a call, and the option that allows no more."""

    base: "Timebase"
    cycles: float
    option: str  # With its value


def time_limit(
    base: "Timebase | None", cycles: int | None, microseconds: float | None, energy: float | None
) -> TimeLimit | None:
    """Return the strictest of the limits in cycles; None without any."""
    given = {
        "--max-cycles": cycles,
        "--max-microseconds": microseconds,
        "--max-microjoules": energy,
    }
    limits = {option: value for option, value in given.items() if value is not None}
    if not limits:
        return None
    first = next(iter(limits))
    if base is None:
        raise OptionError(f"{first} needs a core with a clock; add --part, or --target and --clock")
    each = {"--max-cycles": 1.0, "--max-microseconds": base.microseconds(1)}
    of_energy = base.microjoules(1)
    if of_energy is None and energy is not None:
        raise OptionError(
            f"no current of {base.part} is known, so --max-microjoules cannot be checked; use "
            "--max-microseconds"
        )
    if of_energy is not None:
        each["--max-microjoules"] = of_energy
    found = {option: value / each[option] for option, value in limits.items()}
    strictest = min(found, key=found.__getitem__)
    if found[strictest] < 1:
        raise OptionError(
            f"{strictest} {limits[strictest]:.12g} is less than one cycle at {base.clock:,} Hz; "
            "raise it or the clock"
        )
    return TimeLimit(base, found[strictest], f"{strictest} {limits[strictest]:.12g}")


def limited_time(
    base: "Timebase | None", instructions: int | None, limit: TimeLimit | None
) -> dict[str, Any]:
    """Return the limit of time of a budget, in its unit, and the core whose cycles it counts."""
    core = None if base is None else base.counted
    if instructions is not None and limit is not None:
        raise OptionError(
            f"--max-instructions and {limit.option} limit the same time; leave out one of them"
        )
    if instructions is not None and core is not None:
        raise OptionError(
            "--max-instructions counts no cycles; use --max-cycles, or leave out --part and --clock"
        )
    return {"instructions": instructions if limit is None else int(limit.cycles), "core": core}


def check_time(
    model: "Model",
    emission: "Emission",
    options: "EmitOptions",
    bench: "Toolchain",
    limit: TimeLimit,
) -> None:
    """Refuse emitted C whose slowest call exceeds a limit over the inputs tried."""
    from bncc.device.measure import bench_inputs
    from bncc.device.meter import METERED
    from bncc.lower.cost_model import LEVELS
    from bncc.on_device import measure_ours

    kept = tuple(METERED[entry] for entry in emission.resources.entries)
    measured = measure_ours(
        model,
        bench,
        bench_inputs(model, some_missing="missing" in kept),
        opt_level=LEVELS[options.optimize],
        emission=emission,
        with_trusted=False,
        kept=kept,
        only_kept=True,
    )
    for entry in emission.resources.entries:
        name = FUNCTIONS[entry]
        spans = timed(measured.costs[METERED[entry]], limit.base)
        if spans["cycles"] is None:
            raise ToolchainError(f"the cycles of {name} are not known; leave out {limit.option}")
        most = spans["cycles"]["max"]
        if most > limit.cycles:
            words = ", ".join(
                f"{_number(spans[unit]['max'])} {unit}"
                for unit in ("cycles", "microseconds", "microjoules")
                if spans[unit] is not None
            )
            raise BudgetError(
                f"{name} takes up to {words} for the inputs tried, which exceeds {limit.option}; "
                "raise the limit or train a smaller model",
                most / limit.cycles,
            )


def target_of_part(target: str | None, part: str | None) -> str | None:
    """Return the target of a command that has one, by default that of its part."""
    named = () if target is None else (target,)
    return next(iter(targets_of(named, part)), None)


def named_timebase(target: str | None, part: str | None, clock: int | None) -> "Timebase | None":
    """Return the time base of a target; None without ``--part`` and ``--clock``."""
    if part is None and clock is None:
        return None
    if target is None:
        raise OptionError(NO_CORE)
    found = timebases((target,), (target,), part, clock, Console())
    return found[target]


def targets_of(targets: tuple[str, ...], part: str | None) -> tuple[str, ...]:
    """Return the targets of a command, by default that of its part; refuse two that contradict."""
    if part is None:
        return targets
    from bncc.timing.timebase import target_of_part

    target = target_of_part(part)
    for other in targets:
        if other != target:
            raise OptionError(
                f"{part} runs the code of {target}, not of {other}; leave out --target, or --part"
            )
    return (target,)


def timebases(
    named: Sequence[str],
    machines: Iterable[str],
    part: str | None,
    clock: int | None,
    console: Console,
) -> dict[str, "Timebase"]:
    """
    Return the time bases of machines by their names; none without ``--part`` and ``--clock``.

    Without named targets, one that has no timing is measured without it, with a note.
    """
    if part is None and clock is None:
        return {}
    from bncc.timing.timebase import require_decoder, timebase

    found = {}
    for machine in machines:
        try:
            found[machine] = timebase(machine, part, clock)
        except OptionError as error:
            if named:
                raise
            console.note(f"{machine} is measured without time: {error}")
    if any(base.cycle_clock is not None for base in found.values()):
        require_decoder()
    return found


def core_of(target: str, part: str | None, clock: int | None) -> "CountedCore | None":
    """Return the core whose cycles layouts are compared by; None for the unit of the target."""
    if part is None and clock is None:
        return None
    from bncc.timing.timebase import require_decoder, timebase

    try:
        found = timebase(target, part, clock).counted
    except OptionError:
        return None
    if found is not None:
        require_decoder()
    return found


def counted_targets(
    targets: tuple[str, ...], part: str | None, clock: int | None, console: Console, *, default: str
) -> tuple[tuple[str, ...], Callable[[str], "CountedCore | None"]]:
    """Return the targets of a command, and the core by whose cycles the C of each is chosen."""
    targets = targets_of(targets, part)
    if clock is not None and not targets and default not in TARGETS:
        raise OptionError(NO_CORE)
    targets = targets or (default,)
    named = () if "all" in targets else targets
    timebases(named, named, part, clock, console)  # Refuses a target whose timing is unknown
    return targets, lambda target: core_of(target, part, clock)


def check_simulator(bases: Mapping[str, "Timebase"], simulator: str | None) -> None:
    """Refuse a simulator that does not count the cycles of a time base."""
    for machine, base in bases.items():
        if base.cycle_clock is not None and simulator not in (None, "unicorn"):
            raise OptionError(
                f"cycles of {machine} are counted on unicorn; leave out --simulator {simulator}"
            )


def counted(base: "Timebase | None") -> dict[str, Any]:
    """Return the options of a measurement that counts cycles; empty where none are to be added."""
    clock = None if base is None else base.cycle_clock
    return {} if clock is None else {"clock": clock, "simulator": "unicorn"}


def timed(cost: "Cost", base: "Timebase | None") -> dict[str, Any]:
    """Return cycles, time and energy of a cost, for JSON; empty without a time base."""
    if base is None:
        return {}
    spans: dict[str, float] | None
    if base.cycle_clock is None:
        spans = {"min": cost.min, "mean": cost.mean, "max": cost.max}
    else:
        spans = None if cost.cycles is None else cost.cycles.to_json()
    return {
        "cycles": spans,
        "microseconds": spans and {key: base.microseconds(n) for key, n in spans.items()},
        "microjoules": spans and _energy(spans, base),
    }


def _energy(spans: Mapping[str, float], base: "Timebase") -> dict[str, float] | None:
    found = {key: base.microjoules(n) for key, n in spans.items()}
    known = {key: each for key, each in found.items() if each is not None}
    return known if len(known) == len(found) else None


def worst_facts(resources: Resources, base: "Timebase | None") -> dict[str, Any]:
    """Return time and energy of the slowest input with their sources, for JSON."""
    if base is None:
        return {}
    most = resources.slowest
    return {
        "microseconds": None if most is None else base.microseconds(most),
        "microjoules": None if most is None else base.microjoules(most),
        "timing_model": base.to_json(),
    }


def worst_words(resources: Resources, base: "Timebase | None") -> list[str]:
    """Return cycles, time and energy of the slowest input, for people; none where unknown."""
    if base is None or resources.slowest is None:
        return []
    most = resources.slowest
    energy = base.microjoules(most)
    parts = [f"{most:,} cycles", f"{_number(base.microseconds(most))} microseconds"]
    parts += [] if energy is None else [f"{_number(energy)} microjoules"]
    return [f"at most {', '.join(parts)} on {base.part} at {base.clock / MHZ:g} MHz"]


def timed_rows(
    name: str, costs: Sequence["Cost | None"], base: "Timebase | None", unit: str
) -> list[list[str]]:
    """Return the lines of a table with cycles, time and energy of one entry point."""
    if base is None:
        return []
    found = [None if cost is None else timed(cost, base) for cost in costs]
    rows = []
    for each in ("cycles", "microseconds", "microjoules"):
        spans = [facts and facts.get(each) for facts in found]
        if each != unit and spans[0]:
            means = [span["mean"] if span else None for span in spans]
            ratio = f"{means[1] / means[0]:.2f}" if len(means) > 1 and means[1] else ""
            rows.append([f"{name}, {each}", *map(_words, spans), ratio])
    return rows


def _words(span: Mapping[str, float] | None) -> str:
    return "" if not span else f"{_number(span['mean'])} ({_ends(span)})"


def _ends(span: Mapping[str, float]) -> str:
    return f"{_number(span['min'])} .. {_number(span['max'])}"


def _number(n: float) -> str:
    """Return a number with about three digits, or with one after the point."""
    if isinstance(n, int):
        return f"{n:,}"
    return f"{n:,.1f}" if n >= 100 else f"{n:.3g}" if n < 1 else f"{n:.2f}"


def timing_words(base: "Timebase") -> str:
    """Return the sources of the figures and their error, for people."""
    facts = base.to_json()
    lines = [
        f"cycles of {facts['name']} at {base.clock / MHZ:g} MHz, by {facts['source']}",
        f"error of cycles: {facts['error']}",
    ]
    if base.power is not None:
        lines.append(f"{base.part}: wait states {base.wait_states}, by {facts['wait_states_from']}")
        if current := facts["current"]:
            lines.append(
                f"energy: typical {current['milliamperes']} mA at {current['volts']} V and "
                f"{current['clock'] / MHZ:g} MHz, for each cycle, without sleep, by "
                f"{facts['current_from']}"
            )
        else:
            lines.append(f"no energy: {facts['current_from']}")
    return "\n".join(fill(line, WIDTH) for line in lines)
