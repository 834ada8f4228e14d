"""Studies as a sweep might write them: plausible figures of several families, from a seed."""

from dataclasses import replace
from math import exp, log2

import numpy as np

from bncc.search.trial_result import Choice, Footprint, Point, Rate, Study, model_name

FEATURES = ("light", "slope", "hum", "x-axis", "y-axis", "z-axis", "battery", "noise")
TARGETS = ("cortex-m0", "avr")
_LEAST = {"naive": 0.135, "chow-liu": 0.108, "tan-subset": 0.085}
_TEXT = "the tables need 70,112 bytes of flash, and the machine has 32,768"


def study(
    n: int = 120,
    *,
    seed: int = 0,
    name: str = "wifi.study",
    features: tuple[str, ...] = FEATURES,
    targets: tuple[str, ...] = TARGETS,
    test: bool = True,
) -> Study:
    """Return a study of n finished trials."""
    rng = np.random.default_rng(seed)
    points = tuple(_point(k, rng, features, targets, test) for k in range(n))
    facts = {
        "data": f"{name.removesuffix('.study')}.csv",
        "digest": "5c1f0d8e2b7a",
        "class": "room",
        "n_rows": 2000,
        "n_test": 800 if test else 0,
        "n_features": len(features),
        "features": list(features),
        "n_classes": 8,
        "fold": None,
        "seed": seed,
        "repeats": 3,
        "sampler": "random",
        "objectives": ["error", "flash"],
        "targets": list(targets),
        "toolchains": {target: f"{target} GCC 12.2, unicorn 2.1.4" for target in targets},
        "bncc": "0.1.0",
        "space": "default (41f2ab90)",
    }
    return Study(name, facts, points, {n + 1: "bits 9 are more than a table can hold"})


def with_baselines(study: Study, n: int) -> Study:
    """Return a study whose first n trials are trees."""
    params = {"classifier": "baseline", "baseline.name": "tree"}
    trees = (replace(point, family="tree", params=params) for point in study.points[:n])
    return replace(study, points=(*trees, *study.points[n:]))


def _point(
    number: int,
    rng: np.random.Generator,
    features: tuple[str, ...],
    targets: tuple[str, ...],
    test: bool,
) -> Point:
    family = str(rng.choice(sorted(_LEAST)))
    bits, states = int(rng.integers(1, 9)), float(np.exp(rng.uniform(0.7, 3.0)))
    arcs = 0.0 if family == "naive" else float(rng.uniform(0.3, 1.0))
    entries = int(8 * len(features) * states ** (1 + 0.8 * arcs)) + 8
    lost = 0.32 * exp(-0.75 * bits) + 0.3 * exp(-0.35 * states) + float(rng.gamma(1.2, 0.018))
    error = min(0.75, _LEAST[family] + 0.04 * (1 - arcs) * (family != "naive") + lost)
    lr, size = float(np.exp(rng.uniform(-4.6, -1.6))), float(np.exp(rng.uniform(-9, -2)))
    params: dict[str, Choice] = {
        "structure": family,
        "parameters": str(rng.choice(["hybrid", "free"])),
        "bits": bits,
        "discretize": str(rng.choice(["mdl", "quantile", "width"])),
        "n-bins": int(states) + 1,
        "lr": lr,
        "optimize": str(rng.choice(["size", "speed"])),
    }
    if family == "tan-subset":
        params["size-weight"] = size
        params["structure-option.parents"] = 2
    options = [word for key, value in params.items() for word in _words(key, value)]
    model = model_name(number)
    return Point(
        number=number,
        family=family,
        params=params,
        validation=Rate(_seeds(error, 200, rng), 600),
        test=Rate(_seeds(error + 0.004, 800, rng), 800) if test else None,
        entries=entries,
        bits=entries * bits,
        operations=8 * (len(features) + 1),
        q_format=(bits - bits // 2, bits // 2),
        costs={target: _cost(target, entries * bits, len(features), rng) for target in targets},
        parents=_parents(features, arcs, rng),
        seconds=float(rng.uniform(2, 9)),
        command=" ".join(
            ["bncc train wifi.csv --class room --test test.csv", *options]
            + [f"--seed 0 --repeats 3 -o {model} && bncc bench {model} --data test.csv"]
            + [f"--class room --target {target}" for target in targets]
            + ["--optimize", str(params["optimize"])]
        ),
    )


def _words(key: str, value: Choice) -> list[str]:
    if key == "optimize":
        return []
    option, _, sub = key.partition(".")
    return [f"--{option}", f"{sub}={value}" if sub else str(value)]


def _seeds(error: float, n: int, rng: np.random.Generator) -> tuple[float, ...]:
    return tuple(int(wrong) / n for wrong in rng.binomial(n, min(0.9, error), 3))


def _cost(target: str, bits: int, n_features: int, rng: np.random.Generator) -> Footprint | str:
    avr = target == "avr"
    flash = int(bits / 8 * rng.uniform(0.55, 1.0)) + int(rng.integers(130, 260)) * (1 + avr)
    if avr and flash > 3000:
        return _TEXT
    mean = (2 + 3 * avr) * n_features * 8 * float(rng.uniform(0.8, 2.0)) + log2(flash)
    mean += 120 * log2(bits) * float(rng.uniform(0.2, 1))
    unit = "cycles" if avr else "instructions"
    return Footprint(flash, 0, 24 + 8 * int(rng.integers(0, 9)), unit, mean, int(mean * 1.2))


def _parents(
    features: tuple[str, ...], arcs: float, rng: np.random.Generator
) -> tuple[tuple[str, ...], ...]:
    return tuple(
        (features[int(rng.integers(0, i))], "class") if i and rng.random() < arcs else ("class",)
        for i in range(len(features))
    )
