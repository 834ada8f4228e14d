"""
The rule of a raw feature as steps over integers.

Every reading has an integer: an int16 or int32 is its own, a float32 has its IEEE 754 bits read as
an int32. Along these integers the state changes only at a few bounds, so that one list of steps
holds thresholds and missing readings alike, and comparing integers is all that a discretizer
does. The bits of floats >= 0 increase with the float; those of negative floats, from -0.0, are
below all of them and increase as the float decreases; NaN follows the infinity of its sign. A
threshold below 0 therefore bounds two steps as one above 0 does, but the steps descend.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from bncc._types import FloatArray
from bncc.discretize.feature import LARGEST_INT, Feature
from bncc.discretize.float_order import float_bits

LARGEST = {**LARGEST_INT, "float32": 2**31 - 1}
"""The last integer of each kind of reading."""
FIRST = {kind: -last - 1 if kind != "uint8" else 0 for kind, last in LARGEST.items()}
"""The first integer of each: the marker of a missing one, if there is one."""
KIND_BITS = {kind: (LARGEST[kind] - FIRST[kind]).bit_length() for kind in LARGEST}
"""Width of each kind of reading, and of its thresholds."""
MISSING = "missing"
"""Note of the step of the marker of a missing whole number."""
CERTAIN = 10_000
"""Weight of all steps of a feature together where the frequencies of its states are known."""


@dataclass(frozen=True)
class Step:
    """The integers above the step before it, up to and with `last`: all have one state."""

    last: int  # The largest integer
    state: int  # The state
    note: str  # Readings of the step, for comments; empty where the integer is the reading
    # Expected frequency relative to other steps: 0 for missing readings that have no state of
    # their own, and for others that a sensor hardly gives; else 1 or more
    weight: int


def steps_of(feature: Feature, frequencies: FloatArray | None = None) -> tuple[Step, ...]:
    """
    Return a numeric feature's rule as steps.

    Shapes: `frequencies` (n_states,) float64 or None.
    """
    steps = _float_steps(feature) if feature.kind == "float32" else _whole_steps(feature)
    merged: list[Step] = []
    previous = FIRST[feature.kind] - 1
    for step in steps:
        if step.last == previous:
            continue  # no integer left
        previous = step.last
        if merged and merged[-1].state == step.state:
            before = merged.pop()
            step = Step(step.last, step.state, step.note, before.weight + step.weight)
        merged.append(step)
    return tuple(merged if frequencies is None else _weighted(merged, frequencies))


def _weighted(steps: Sequence[Step], frequencies: FloatArray) -> list[Step]:
    """
    Divide what is expected of each state among its steps, in the ratio of their weights.

    A missing reading that has a state of its own is the last of that state's steps.
    """
    total: dict[int, int] = {}
    last: dict[int, Step] = {}
    for step in steps:
        total[step.state] = total.get(step.state, 0) + step.weight
        last[step.state] = step
    weighted = []
    for step in steps:
        among = total[step.state]
        share = step.weight / among if among else float(step is last[step.state])
        weight = round(CERTAIN * float(frequencies[step.state]) * share)
        weighted.append(replace(step, weight=max(weight, min(step.weight, 1))))
    return weighted


def _whole_steps(feature: Feature) -> list[Step]:
    bounds = [*(int(t) for t in feature.thresholds), LARGEST[feature.kind]]
    steps = [Step(bound, state, "", 1) for state, bound in enumerate(bounds)]
    missing = Step(FIRST[feature.kind], feature.missing_state, MISSING, 0)
    return [missing, *steps] if feature.has_marker else steps


def _float_steps(feature: Feature) -> list[Step]:
    """Return the steps of -0.0 .. -inf, negative NaN, 0.0 .. inf, NaN."""
    n_below = sum(t < 0 for t in feature.thresholds)
    negative, positive = feature.thresholds[:n_below], feature.thresholds[n_below:]
    down = [
        Step(float_bits(t) - 1, k + 1, f"negative, above {t:.9g}", 1)
        for k, t in reversed(list(enumerate(negative)))
    ]
    up = [
        Step(float_bits(t), n_below + k, f"up to {t:.9g}" if t else "zero", 1)
        for k, t in enumerate(positive)
    ]
    # A sensor whose thresholds all have one sign is taken to give readings of that sign.
    any_down, any_up = bool(negative), bool(positive) or not negative
    return [
        *down,
        Step(float_bits(float("-inf")), 0, "negative, not NaN", int(any_down)),
        Step(-1, feature.missing_state, "negative", 0),
        *up,
        Step(float_bits(float("inf")), len(feature.thresholds), "not NaN", int(any_up)),
        Step(LARGEST["float32"], feature.missing_state, "", 0),
    ]
