"""
Rich float features of windows: those that TSFEL computes by default, without the slowest six.

    PYTHON -P benchmarks/recordings/rich_features.py WINDOWS.npy FEATURES.npy RATE

Runs in any interpreter that has TSFEL, whose requirements are not those of bncc; so it imports
nothing else but numpy. ``rich_features.json`` names the version and every feature with its
parameters; another version is refused. They are the default features of the statistical, the
temporal and the spectral domain, except wavelets and MFCC: these six take over 1 ms each, more than
the other 54 together. Some 5 ms per window and channel.
"""

import json
import sys
import warnings
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

PATH = Path(__file__).with_suffix(".json")
DECORATED = ("kurtosis", "skew", "median_abs_deviation")
"""Functions of scipy that take longer to check axes than to compute; TSFEL passes one signal."""


def listed(rate: float, path: Path = PATH) -> list[tuple[str, dict[str, Any]]]:
    """Return the name of each function, and its parameters at a rate in Hz."""
    facts = json.loads(path.read_text("utf-8"))
    found = []
    for one in facts["features"]:
        parameters = dict(one["parameters"])
        if "fs" in parameters:
            parameters["fs"] = rate
        found.append((one["function"], parameters))
    return found


def functions(names: Sequence[str], path: Path = PATH) -> list[Callable[..., Any]]:
    """Return functions of the version of TSFEL that the list names."""
    wanted, found = json.loads(path.read_text("utf-8"))["version"], version("tsfel")
    if found != wanted:
        raise SystemExit(f"TSFEL is {found}, but the features are those of {wanted}; install it")
    from scipy import stats
    from tsfel.feature_extraction import features

    for name in DECORATED:
        function = getattr(stats, name)
        setattr(stats, name, getattr(function, "__wrapped__", function))
    return [getattr(features, name) for name in names]


def numbers(value: Any) -> list[float]:
    """Return what a function found, one number or several."""
    values = value["values"] if isinstance(value, dict) else value
    return list(values) if isinstance(values, tuple | list | np.ndarray) else [values]


def rich_features(windows: Any, rate: float) -> Any:
    """
    Return the features of every window, channel by channel; 0 for those that are not finite.

    Shapes: `windows` (n, length, n_channels) int; the result (n, n_features) float32.
    """
    features = listed(rate)
    pairs = list(zip(functions([name for name, _ in features]), features, strict=True))
    rows = []
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # constant windows, and windows shorter than it advises
        for window in windows:
            signals = [np.ascontiguousarray(each, dtype=np.float64) for each in window.T]
            rows.append(
                [
                    number
                    for signal in signals
                    for function, (_, parameters) in pairs
                    for number in numbers(function(signal, **parameters))
                ]
            )
    found, limit = np.array(rows, dtype=np.float64), float(np.finfo(np.float32).max)
    found[~np.isfinite(found)] = 0
    return np.clip(found, -limit, limit).astype(np.float32)


if __name__ == "__main__":
    source, target, rate = sys.argv[1:]
    np.save(target, rich_features(np.load(source), float(rate)))
