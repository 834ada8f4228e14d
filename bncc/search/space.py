"""Search space of a sweep: a domain per option, some of them under conditions."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from bncc.errors import OptionError
from bncc.search.option_domains import BASELINE, STRUCTURE_OPTION, Drawable, option_of
from bncc.search.trial_result import Choice

PRESETS = ("default", "s0-setting-1", "s0-setting-2")
"""Spaces included in the package."""
MOST_BYTES = 1_000_000
"""Limit on the bytes of a file."""

Facts = Mapping[str, Any]


@dataclass(frozen=True)
class Domain:
    """The values that an option may take: some choices, or all from `low` to `high`."""

    # Equally likely; a single one is a fixed value. Empty for a range.
    choices: tuple[Choice, ...] = ()
    # low and high: Ends of a range, both included. Integers are sampled if both are integers.
    low: float | int | None = None
    high: float | int | None = None
    log: bool = False  # True if small values are as likely as large ones

    def rounded(self, value: Choice) -> Choice:
        """
        Return a float from the range with four significant digits, and all else as it is.

        Rounding makes no material difference, and keeps commands readable.
        """
        if self.low is None or self.high is None or not isinstance(value, float):
            return value
        return min(max(float(f"{value:.4g}"), self.low), self.high)

    def to_json(self) -> dict[str, Any]:
        """Return its JSON values, as `Space.to_json` shows them."""
        if self.choices:
            return {"choices": list(self.choices)}
        return {"low": self.low, "high": self.high, "log": self.log}


@dataclass(frozen=True)
class Case:
    """A domain, with its condition."""

    domain: Domain  # The values
    # Options sampled before, each with the values of which one is required
    when: Mapping[str, tuple[Choice, ...]]

    def holds(self, drawn: Mapping[str, Choice]) -> bool:
        """Return whether the condition holds; an option that was not sampled has no value."""
        return all(name in drawn and drawn[name] in values for name, values in self.when.items())


@dataclass(frozen=True)
class Space:
    """The complete search space."""

    # By the option's name on the command line without dashes, structure options as
    # ``structure-option.parents``; in sampling order. The first case that holds is used; if none
    # holds, the option is left out.
    options: Mapping[str, tuple[Case, ...]]

    def draw(self, ask: Callable[[str, Domain], Choice]) -> dict[str, Choice]:
        """Sample one trial."""
        drawn: dict[str, Choice] = {}
        for name, cases in self.options.items():
            case = next((case for case in cases if case.holds(drawn)), None)
            if case is not None:
                drawn[name] = case.domain.rounded(ask(name, case.domain))
        return drawn

    def to_json(self) -> dict[str, Any]:
        """Return JSON values that describe it completely: a list of cases by option."""
        return {
            name: [
                case.domain.to_json()
                | ({"when": {k: list(v) for k, v in case.when.items()}} if case.when else {})
                for case in cases
            ]
            for name, cases in self.options.items()
        }

    @property
    def digest(self) -> str:
        """SHA-256 of the space, whatever the order of its options."""
        text = json.dumps(self.to_json(), sort_keys=True, separators=(",", ":"))
        return sha256(text.encode()).hexdigest()


def read_space(name_or_path: str) -> Space:
    """Read a space."""
    if name_or_path in PRESETS:
        preset = Path(__file__).with_name("spaces") / f"{name_or_path}.toml"
        return space_of(preset.read_text("utf-8"), name_or_path)
    path = Path(name_or_path)
    if not path.is_file():
        known = ", ".join(PRESETS)
        raise OptionError(f"space '{path}' does not exist; choose {known}, or name a TOML file")
    try:
        if path.stat().st_size > MOST_BYTES:
            raise OptionError(f"'{path}' is too large for a space; name a TOML file of options")
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        raise OptionError(f"'{path}' cannot be read as text; name a TOML file") from None
    return space_of(text, str(path))


def space_of(text: str, name: str) -> Space:
    """Read a space from TOML."""
    import tomllib

    try:
        facts = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # the former also of numbers too long
        raise OptionError(f"'{name}' is not valid TOML: {_one_line(error)}; fix it there") from None
    options: dict[str, tuple[Case, ...]] = {}
    try:
        for key, found in _tables(facts):
            option = option_of(key)
            cases = found if isinstance(found, list) and found else [found]
            options[key] = tuple(_case(option, case, tuple(options)) for case in cases)
        if not options:
            raise OptionError("it names no option; start with a table such as [bits]")
    except OptionError as error:
        raise OptionError(f"space '{name}': {error}") from None
    return Space(options)


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())


def _tables(facts: Facts) -> Iterator[tuple[str, Any]]:
    """Yield options and their descriptions, those in a group by their whole names."""
    for key, found in facts.items():
        if key not in (STRUCTURE_OPTION, BASELINE):
            yield key, found
            continue
        if not isinstance(found, dict):
            raise OptionError(f"{key} needs a key; write a table such as [{key}.parents]")
        for inner, said in found.items():
            yield f"{key}.{inner}", said


def _case(option: Drawable, facts: object, earlier: tuple[str, ...]) -> Case:
    name = option.name
    if not isinstance(facts, dict):
        raise OptionError(f"{name} is not a table; write [{name}] and below it value = ...")
    unknown = sorted(facts.keys() - {"value", "choices", "low", "high", "log", "when"})
    if unknown:
        raise OptionError(
            f"{name} has the unknown key '{unknown[0]}'; write value, choices, or low and high, "
            "log, when"
        )
    return Case(_domain(option, facts), _when(name, facts.get("when", {}), earlier))


def _domain(option: Drawable, facts: Facts) -> Domain:
    name = option.name
    forms = [form for form in ("value", "choices", "low") if form in facts]
    if ("high" in facts and "low" not in facts) or ("low" in facts and "high" not in facts):
        raise OptionError(f"{name} has one end of a range; write both low and high")
    if len(forms) != 1:
        raise OptionError(f"{name} needs one of value, choices, or low and high; write one of them")
    if "log" in facts and forms != ["low"]:
        raise OptionError(f"{name} has a log without a range; write low and high, or drop log")
    if forms == ["value"]:
        return Domain((option.value(facts["value"]),))
    if forms == ["choices"]:
        return Domain(_choices(option, facts["choices"]))
    low, high, log = (
        option.value(facts["low"]),
        option.value(facts["high"]),
        facts.get("log", False),
    )
    if isinstance(low, str | bool) or isinstance(high, str | bool):
        raise OptionError(f"{name} has a range that is not numeric; write choices")
    if not isinstance(log, bool):
        raise OptionError(f"{name} has log = {log!r}; write true or false")
    if low > high:
        raise OptionError(f"{name} has an empty range, {low} to {high}; write low before high")
    if log and low <= 0:
        raise OptionError(f"{name} has a logarithmic range from {low}; use a low above 0")
    if isinstance(low, float) or isinstance(high, float):
        low, high = float(low), float(high)
    return Domain(low=low, high=high, log=log)


def _choices(option: Drawable, found: object) -> tuple[Choice, ...]:
    if not isinstance(found, list) or not found:
        raise OptionError(f"{option.name} has no list of choices; write choices = [...]")
    values = tuple(option.value(value) for value in found)
    if len(set(values)) < len(values):
        raise OptionError(f"{option.name} has a choice twice; write each once")
    return values


def _when(name: str, facts: object, earlier: tuple[str, ...]) -> dict[str, tuple[Choice, ...]]:
    if not isinstance(facts, dict):
        raise OptionError(f"{name} has a 'when' that is not a table; write when = {{ bits = [2] }}")
    conditions = {}
    for key, found in _tables(facts):
        if key not in earlier:
            raise OptionError(
                f"{name} depends on {key}, which is not sampled before it; move it up"
            )
        values = found if isinstance(found, list) else [found]
        conditions[key] = _choices(option_of(key), values)
    return conditions
