"""Conversion of a trial's values to training settings, and to commands that repeat it."""

import shlex
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from bncc.resources import Optimize
from bncc.search.option_domains import (
    BASELINE,
    CLASSIFIER,
    NETWORK,
    OPTIMIZE,
    STRUCTURE_OPTION,
    option_of,
)
from bncc.search.trial_result import Choice, model_name
from bncc.train.options import OPTIONS
from bncc.train.settings import TrainSettings

if TYPE_CHECKING:
    from bncc.timing.timebase import Timebase

Params = Mapping[str, Choice]

_FIELDS = {option.word: option.name for option in OPTIONS.values()}
"""Fields of `TrainSettings` by the names of their options."""
NOT_TRAINED = (OPTIMIZE, CLASSIFIER)
"""Options of a trial that do not affect training."""
DEFAULT_OPTIMIZE: Optimize = "balanced"
"""Default goal of ``bncc bench``."""


def settings_of(params: Params, seed: int) -> TrainSettings:
    """Return the settings of a training."""
    fields: dict[str, Any] = {}
    of_structure: dict[str, str] = {}
    for name, value in params.items():
        key = option_of(name).structure_key
        if key is not None:
            of_structure[key] = _text(value)
        elif name not in NOT_TRAINED:
            fields[_FIELDS[name]] = value
    return TrainSettings(**fields, structure_options=of_structure, seed=seed)


def optimize_of(params: Params) -> Optimize:
    """Return the optimization goal of the C, by default ``balanced``."""
    return cast(Optimize, params.get(OPTIMIZE, DEFAULT_OPTIMIZE))


def train_words(params: Params) -> tuple[str, ...]:
    """Return the options of ``bncc train`` for a trial, which reproduce its values exactly."""
    words: list[str] = []
    for name, value in params.items():
        key = option_of(name).structure_key
        if key is not None:
            words += [f"--{STRUCTURE_OPTION}", f"{key}={_text(value)}"]
        elif isinstance(value, bool):
            words += [f"--{name}"] if value else []
        elif name not in NOT_TRAINED:
            words += [f"--{name}", _text(value)]
    if settings_of(params, 0).descends:
        words += ["--effort", "quick"]
    return tuple(words)


def setting_words(settings: TrainSettings) -> tuple[str, ...]:
    """Return the options of ``bncc train`` that reproduce a training with some settings."""
    words = ["--structure", settings.structure]
    for option in OPTIONS.values():
        value = getattr(settings, option.name)
        if option.kind is Mapping:
            pairs = (f"{key}={each}" for key, each in sorted(value.items()))
            words += [word for pair in pairs for word in (option.flag, pair)]
        elif option.kind is bool:
            words += [option.flag] if value else []
        elif option.name != "structure" and value != option.default:
            words += [option.flag, _text(value)]
    if settings.descends and settings.effort is None:  # the default of a command is another one
        words += ["--effort", "quick"]
    return tuple(words)


def source_words(
    data: str,
    *,
    class_name: str | None = None,
    fold: int | None = None,
    test: str | None = None,
    drop: Sequence[str] = (),
    groups: str | None = None,
    ordered: bool = False,
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the arguments with which the commands of a trial read the same rows."""
    path = f"./{data}" if data.startswith("-") else data
    of_fold = () if fold is None else ("--fold", str(fold))
    of_class = () if class_name is None else ("--class", class_name)
    of_test = () if test is None else ("--test", test)
    dropped = tuple(word for name in drop for word in ("--drop", name))
    of_groups = () if groups is None else ("--groups", groups)
    blocks = ("--ordered",) if ordered else ()
    train = (path, *of_class, *of_fold, *of_test, *dropped, *of_groups, *blocks)
    return train, ("--data", path, *of_fold)


def command_of(
    number: int,
    params: Params,
    *,
    source: Sequence[str],
    bench_source: Sequence[str],
    seed: int,
    repeats: int,
    targets: Sequence[str],
    entries: Sequence[str] = (),
    base: "Timebase | None" = None,
) -> str:
    """Return the command that reproduces a trial's figures."""
    repeated = ("--seed", str(seed), "--repeats", str(repeats))
    machines = [word for target in targets for word in ("--target", target)]
    if params.get(CLASSIFIER, NETWORK) != NETWORK:
        words = ["bncc", "baseline", *source, *baseline_words(params), *repeated, *machines]
        return shlex.join(words)
    model = model_name(number)
    train = ["bncc", "train", *source, *train_words(params), *repeated, "-o", model]
    if not targets:
        return shlex.join(train)
    named = [word for entry in entries for word in ("--entry", entry)]
    if base is not None:
        machines = ["--part", base.part, "--clock", str(base.clock)]
    bench = ["bncc", "bench", model, *bench_source, *machines, *named]
    bench += ["--optimize", optimize_of(params)]
    return f"{shlex.join(train)} && {shlex.join(bench)}"


def baseline_words(params: Params) -> tuple[str, ...]:
    """Return the options of ``bncc baseline`` for a trial, which reproduce its values."""
    words = [str(params[f"{BASELINE}.name"])]
    for name, value in params.items():
        key = option_of(name).key_below(BASELINE)
        if key is None and name != CLASSIFIER:
            words += [f"--{name}", _text(value)]
        elif key not in (None, "name"):
            words += ["--option", f"{key}={_text(value)}"]
    return ("--classifier", *words)


def _text(value: Choice) -> str:
    """Return a value as a command-line argument; floats are exact."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return repr(value) if isinstance(value, float) else str(value)
