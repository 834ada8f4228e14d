"""Baselines in a sweep: their search space, and their settings."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isqrt
from pathlib import Path
from typing import TYPE_CHECKING

from bncc.errors import OptionError
from bncc.search.option_domains import BASELINE, BASELINES, CLASSIFIER, NETWORK, option_of
from bncc.search.space import Case, Domain, Space, space_of
from bncc.search.trial_result import Choice
from bncc.train.gradient.engines import check_torch

if TYPE_CHECKING:
    from bncc.baselines.learn import BaselineSettings

NAME = f"{BASELINE}.name"
"""The option that names the baseline."""
NEURAL = frozenset({"dnn", "cnn"})
"""Baselines that are trained in torch."""
LEAST_PIXELS = 64
"""Smallest number of pixels of an image that ``all`` convolves."""
SHARED = ("discretize", "n-bins")
"""Options of networks and baselines: all learn from the same states."""


def named_baselines(text: str, n_features: int) -> tuple[str, ...]:
    """Parse the value of ``--baselines``."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    unknown = [name for name in names if name not in (*BASELINES, "all")]
    if unknown or not names:
        what = f"unknown baseline '{unknown[0]}'" if unknown else "--baselines names no baseline"
        raise OptionError(f"{what}; choose from {', '.join(BASELINES)}, all")
    is_image = isqrt(n_features) ** 2 == n_features and n_features >= LEAST_PIXELS
    if "cnn" in names and not is_image:
        raise OptionError(
            f"{n_features} features do not form a square image; remove cnn from --baselines"
        )
    asked = (name for name in BASELINES if name in names or "all" in names)
    found = tuple(name for name in asked if name != "cnn" or is_image)
    if not NEURAL.isdisjoint(found):
        check_torch("--baselines with dnn or cnn")
    return found


def with_baselines(space: Space, names: Sequence[str]) -> Space:
    """Return a space that contains baselines in addition to its own values."""
    if CLASSIFIER in space.options:
        raise OptionError("the space already samples the classifier; drop --baselines")
    preset = Path(__file__).with_name("spaces") / "baselines.toml"
    theirs = space_of(preset.read_text("utf-8"), "baselines").options
    options = {CLASSIFIER: theirs[CLASSIFIER]}
    for name, cases in space.options.items():
        options[name] = cases if name in SHARED else tuple(map(_only_ours, cases))
    options[NAME] = (replace(theirs[NAME][0], domain=Domain(tuple(names))),)
    for name, cases in theirs.items():
        kept = tuple(each for case in cases for each in _of(case, names))
        if kept:
            options[name] = kept
    return Space(options)


def is_baseline(params: Mapping[str, Choice]) -> bool:
    """Return whether values are those of a baseline."""
    return params.get(CLASSIFIER, NETWORK) != NETWORK


def baseline_settings(params: Mapping[str, Choice], seed: int) -> "BaselineSettings":
    """Return the settings of a baseline."""
    from bncc.baselines.learn import BaselineSettings

    n_bins = params.get("n-bins", 8)
    method = params.get("discretize")
    return BaselineSettings(
        family=str(params[NAME]),
        options=_own(params),
        discretize=None if method is None else str(method),
        n_bins=int(n_bins),
        seed=seed,
    )


def _own(params: Mapping[str, Choice]) -> dict[str, Choice]:
    """Return the options of a baseline except its name, by their keys."""
    keys = {name: option_of(name).key_below(BASELINE) for name in params if name != NAME}
    return {key: params[name] for name, key in keys.items() if key is not None}


def _only_ours(case: Case) -> Case:
    return replace(case, when={CLASSIFIER: (NETWORK,), **case.when})


def _of(case: Case, names: Sequence[str]) -> tuple[Case, ...]:
    """Return a case restricted to the requested baselines, empty if there are none."""
    wanted = tuple(name for name in case.when.get(NAME, ()) if name in names)
    return (replace(case, when={NAME: wanted}),) if wanted else ()
