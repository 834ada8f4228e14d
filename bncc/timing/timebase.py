"""The core, clock and currents of a part, by which cycles become time and energy."""

from collections.abc import Iterable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from bncc.errors import OptionError, ToolchainError, extra_command
from bncc.targets import TARGETS, known_target, target_of
from bncc.targets.base import MHZ, Power, Target
from bncc.targets.timing import CORES, CountedCore
from bncc.timing.clock import CycleClock
from bncc.toolchain.tools import load_decoder

AVR = "avr"
"""The core whose simulator counts cycles itself."""
_OF_AVR = {
    "name": "AVR",
    "source": "simavr, which follows the AVR Instruction Set Manual, Atmel-0856",
    "error": "exact: the simulator counts every cycle, and the flash has no wait states",
}


@dataclass(frozen=True)
class Timebase:
    """A core at a clock, and the part that has it, if one was named."""

    target: str
    part: str  # Name of the part, or of the core alone
    core: str  # Key of `bncc.targets.timing.CORES`, or `AVR`
    clock: int  # Hz
    power: Power | None = None  # None for a core alone: memory without wait states, no energy

    @property
    def sentence(self) -> str:
        """Core, clock, source and error of the cycles, for a header."""
        facts = self.to_json()
        return (
            f"Cycles of {facts['name']} at {self.clock / MHZ:g} MHz ({self.part}, wait states "
            f"{self.wait_states}), by {facts['source']}. Their error: {self.error}"
        )

    @property
    def wait_states(self) -> int:
        """Wait states of the flash at the clock."""
        return 0 if self.power is None else self.power.states(self.clock)

    @property
    def error(self) -> str:
        """Error of the cycles, for display."""
        of_core = _OF_AVR["error"] if self.core == AVR else CORES[self.core].error
        if not self.wait_states:
            return of_core
        return (
            f"{of_core}. With wait states the fewest cycles have none of them, and the most have "
            "them for each word of code, loaded word and word fetched past a jump"
        )

    @property
    def counted(self) -> CountedCore | None:
        """The core with its wait states; None where the simulator counts cycles itself."""
        if self.core == AVR:
            return None
        has_prefetch = self.power is None or self.power.has_prefetch
        return CountedCore(self.core, self.wait_states, has_prefetch)

    @property
    def cycle_clock(self) -> CycleClock | None:
        """The clock of simulated runs; None where the simulator counts cycles itself."""
        return None if self.counted is None else CycleClock.of(self.counted)

    def microseconds(self, cycles: float) -> float:
        """Return the time of cycles."""
        return cycles * 1e6 / self.clock

    def microjoules(self, cycles: float) -> float | None:
        """Return the typical energy of cycles, without sleep; None if no current is known."""
        current = None if self.power is None else self.power.current(self.clock)
        if current is None:
            return None
        at_its_clock = cycles * 1e6 / current.clock
        return current.volts * current.milliamperes * at_its_clock / 1e3

    def to_json(self) -> dict[str, Any]:
        """Return the JSON object of the command line's contract."""
        if self.core == AVR:
            facts: dict[str, Any] = dict(_OF_AVR)
        else:
            timing = CORES[self.core]
            facts = {"name": timing.title, "source": timing.source}
        current = None if self.power is None else self.power.current(self.clock)
        return {
            **facts,
            "error": self.error,
            "part": self.part,
            "core": self.core,
            "clock": self.clock,
            "wait_states": self.wait_states,
            "wait_states_from": None if self.power is None else self.power.waits_from,
            "current": current
            and {
                "milliamperes": current.milliamperes,
                "volts": current.volts,
                "clock": current.clock,
            },
            "current_from": None if self.power is None else self.power.current_from,
        }


def timebase(target: str, part: str | None, clock: int | None) -> Timebase:
    """
    Return the time base of a target for ``--part`` and ``--clock``, at least one of them given.

    Without a part, memory has no wait states. Without a clock, the part runs at its highest.
    """
    machine = known_target(target)
    if machine is None:
        raise _no_timing(target)
    if part is None:
        assert clock is not None
        return Timebase(machine.name, _only_core(machine), _only_core(machine), clock)
    name = part.lower()
    if name in machine.cores:
        if clock is None:
            raise OptionError(f"{name} is a core, which runs at any clock; add --clock, as in 48M")
        return Timebase(machine.name, name, name, clock)
    if name not in machine.parts:
        raise OptionError(
            f"'{part}' is no part or core of {machine.name}; choose from {_known([machine])}"
        )
    known = machine.parts[name]
    if known.power is None:
        raise OptionError(
            f"the wait states and currents of {name} are not known; use --target {name} instead of "
            f"--part{_instead(machine)}"
        )
    if clock is not None and clock > known.clock:
        raise OptionError(
            f"{name} runs at {known.clock / MHZ:g} MHz at most; lower --clock {clock / MHZ:g}M"
        )
    return Timebase(machine.name, name, known.power.core, clock or known.clock, known.power)


def target_of_part(part: str) -> str:
    """Return the target whose code a part or a core runs."""
    name = part.lower()
    found = next((each.name for each in TARGETS.values() if name in each.cores), target_of(name))
    if found not in TARGETS:
        raise OptionError(f"there is no part '{part}'; choose from {_known(TARGETS.values())}")
    return found


def require_decoder() -> None:
    """Refuse to count cycles without capstone."""
    if find_spec("capstone") is None:
        raise ToolchainError(
            "counting cycles needs capstone, which decodes machine code; run "
            + extra_command("prove")
        )
    load_decoder()


def _only_core(machine: Target) -> str:
    """Return the core of a target that has one by default, or refuse the target."""
    if not machine.cores:
        raise _no_timing(machine.name)
    if machine.name in machine.cores:
        return machine.name
    raise OptionError(
        f"cores of {machine.name} differ in their timing; add --part {' or '.join(machine.cores)}"
    )


def _no_timing(target: str) -> OptionError:
    """Return the refusal of a clock for a target without timing."""
    names = ", ".join(each.name for each in TARGETS.values() if each.cores)
    return OptionError(
        f"no timing of {target} is known, so --clock cannot give a time; use --target {names}, or "
        "leave out --clock"
    )


def _known(machines: Iterable[Target]) -> str:
    """Return the names for ``--part`` of some targets."""
    names: list[str] = []
    for each in machines:
        names += [name for name, found in each.parts.items() if found.power is not None]
        names += each.cores
    return ", ".join(names) or "none: no timing of it is known; leave out --part"


def _instead(machine: Target) -> str:
    """Return the names for ``--part`` of a target as the end of a remedy."""
    return f", or choose from {_known([machine])}" if machine.cores else ""
