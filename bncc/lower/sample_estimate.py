"""Estimates of the cost of a front end."""

from collections.abc import Sequence
from dataclasses import dataclass

from bncc.lower.sample_shared import SharedStream, may_share, of_one_channel, plan_shared
from bncc.lower.sample_state import State
from bncc.lower.sample_stream import SampleStream, plan_samples
from bncc.lower.window_features import Output
from bncc.recordings.features import PARTIALS
from bncc.recordings.front_end import FrontEnd
from bncc.targets.base import Target

_PER_SAMPLE, _PER_CHANNEL, _PER_ADDITION = 14, 6, 4
"""Instructions of Thumb code for int16 samples, measured with one and all features of a channel
(``python -m benchmarks.campaigns.streams price --target cortex-m0``)."""
_OF_LIFT = 2
"""Additions for a mean of a pair in a Haar lifting."""
_BYTES, _PER_SIGNAL, _PER_PARTIAL, _PER_FEATURE, _PER_LEVEL = 40, 10, 20, 12, 24
"""Bytes of Thumb code, those of a feature with the narrowing to what a model reads."""
_PER_CALL = 16
_PER_RING, _PER_LAG, _AVR_PER_LAG = 20, 10, 32
"""More bytes for the values before the last one, and for each distance back to them; measured
(``python -m benchmarks.campaigns.streams estimates --target avr``)."""
_OF_RING = 3
"""Additions for the values before the last one."""
_LOGARITHM_BYTES, _PER_RATIO = 60, 200
"""More bytes for logarithms, and instructions per window for each ratio; measured
(``python -m benchmarks.recordings.estimates``)."""
WORTH_FLASH, MOST_STATE = 0.85, 2.0
"""Ratios of flash and state to those of code for each signal, from which on channels share code."""
_OF_TWO_PANES, _OF_PANES = 1.25, 1.5
"""Ratios of code with windows of two panes, and of more, to code with one pane."""
_CYCLES, _AVR_BYTES = 4.0, 2.4
"""Ratios of cycles and bytes on AVR to instructions and bytes of Thumb code."""
_REACH, _FAR = 64, 1.35
"""Bytes of state that AVR reaches from a pointer, and the ratio of code and time beyond them."""


@dataclass(frozen=True)
class SampleEstimate:
    """Estimates of a front end on a target."""

    flash: float  # Bytes of code
    state: int  # Bytes between two samples, exact
    time: float  # Mean instructions or cycles per sample


def shares_code(front_end: FrontEnd) -> bool:
    """Return whether channels share functions: clearly less flash, and not much more state."""
    if not may_share(front_end):
        return False
    straight, shared = _straight(front_end), _shared(front_end)
    return (
        shared.flash < WORTH_FLASH * straight.flash and shared.state < MOST_STATE * straight.state
    )


def estimate_samples(front_end: FrontEnd, target: Target) -> SampleEstimate:
    """Estimate what a front end costs without a model behind it."""
    is_shared, is_avr = shares_code(front_end), target.unit == "cycles"
    per_lag = _AVR_PER_LAG if is_avr else _PER_LAG
    found = (_shared if is_shared else _straight)(front_end, per_lag)
    if not is_avr:
        return found
    far = 1.0 if is_shared or _single_bytes(front_end) <= _REACH else _FAR
    return SampleEstimate(_AVR_BYTES * found.flash * far, found.state, _CYCLES * found.time * far)


def _single_bytes(front_end: FrontEnd) -> int:
    """Return the bytes of state outside of arrays, which have a pointer of their own."""
    members = State(front_end, "f").members.values()
    return sum(member.n_bytes for member in members if not member.length)


def _shared(front_end: FrontEnd, per_lag: int = _PER_LAG) -> SampleEstimate:
    """Estimate a front end whose channels share a function, in Thumb code."""
    n = len(front_end.signals)
    alone = _straight(of_one_channel(front_end), per_lag)
    flash = alone.flash + _PER_CALL * n + _PER_FEATURE * len(front_end.columns)
    return SampleEstimate(flash, n * alone.state, _PER_SAMPLE + n * alone.time)


def _straight(front_end: FrontEnd, per_lag: int = _PER_LAG) -> SampleEstimate:
    """Estimate a front end whose signals have code of their own, in Thumb code."""
    plan, additions, n_partials, n_levels = State(front_end, "f"), 0.0, 0, 0
    rings = 0
    for wave in plan.waves:
        levels = wave.levels
        n_partials += len(wave.partials)
        if levels:
            n_levels += max(levels)
            additions += sum(_OF_LIFT / 2**k for k in range(1, max(levels) + 1))
            additions += sum(3 / 2**k for k in levels)
        names = [(name, k) for name, k in wave.partials if not PARTIALS[name].by_level]
        additions += sum(PARTIALS[name].additions(k) for name, k in names)
        additions += len(wave.signal.channels) - 1
        n_lags = sum(PARTIALS[name].reach(k) > 0 for name, k in wave.partials)
        if n_lags:
            additions += _OF_RING
            rings += _PER_RING + per_lag * n_lags
    time = _PER_SAMPLE + _PER_CHANNEL * len(plan.channels) + _PER_ADDITION * additions
    flash = (
        _BYTES
        + _PER_SIGNAL * len(plan.waves)
        + _PER_PARTIAL * n_partials
        + _PER_FEATURE * len(front_end.columns)
    )
    flash += _PER_LEVEL * n_levels + rings
    n_ratios = sum(column.divisor is not None for column in front_end.columns)
    if front_end.windows.n_panes > 1:
        flash = int(flash * (_OF_TWO_PANES if front_end.windows.n_panes == 2 else _OF_PANES))
    flash += _LOGARITHM_BYTES * (n_ratios > 0)
    time += n_ratios * _PER_RATIO / front_end.windows.hop
    members = plan.members.values()
    state = sum(member.n_bytes for member in members)
    return SampleEstimate(flash, state, time)


def plan_stream(
    front_end: FrontEnd, outputs: Sequence[Output], name: str
) -> SampleStream | SharedStream:
    """Lay out a front end in the smaller of both forms."""
    plan = plan_shared if shares_code(front_end) else plan_samples
    return plan(front_end, outputs, name)
