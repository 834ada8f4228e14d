"""CPU time of counting the cycles of a function in a simulator, relative to its instructions."""

from collections.abc import Collection
from dataclasses import replace
from time import process_time

from bncc.device.cross import Toolchain
from bncc.device.meter import Inputs, Meter, Metered
from bncc.device.sources import Sources

REPEATS = 5
"""Number of measurements, of which the fastest counts."""


def counting_words(
    built: Sources, bench: Toolchain, level: str, inputs: Inputs, entries: Collection[Metered]
) -> str:
    """Return the CPU seconds without and with the clock of a toolchain, and their ratio."""
    seconds = []
    for each in (replace(bench, clock=None), bench):
        with Meter(built, each, level) as meter:
            meter.costs(inputs, entries)  # Links, and reads the file once
            taken = []
            for _ in range(REPEATS):
                start = process_time()
                meter.costs(inputs, entries)
                taken.append(process_time() - start)
        seconds.append(min(taken))
    counted, timed = seconds
    ratio = timed / counted
    return f"instructions {counted:.3f} s, cycles too {timed:.3f} s, ratio {ratio:.2f}"
