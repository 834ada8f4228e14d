"""Time and energy of cycles on a part, and the parts' tables."""

from dataclasses import replace

import pytest

from bncc.errors import OptionError
from bncc.targets import TARGETS
from bncc.targets.base import MHZ, Current, Power
from bncc.targets.timing import CORES
from bncc.timing.blocks import Flash
from bncc.timing.timebase import Timebase, target_of_part, timebase

TIMED = [
    (target.name, name)
    for target in TARGETS.values()
    for name, part in target.parts.items()
    if part.power is not None
]


def test_time_is_cycles_by_the_clock() -> None:
    base = timebase("cortex-m0", None, 48 * MHZ)
    assert base == Timebase("cortex-m0", "cortex-m0", "cortex-m0", 48 * MHZ)
    assert base.microseconds(4800) == 100
    assert base.microjoules(4800) is None
    assert base.wait_states == 0
    assert base.cycle_clock is not None
    assert (base.cycle_clock.core, base.cycle_clock.flash) == ("cortex-m0", Flash(0))


def test_energy_is_voltage_times_charge() -> None:
    """At 3.6 V and 11.4 mA, 48 million cycles take a second, and 41.04 mJ."""
    base = timebase("cortex-m0", "STM32F030", None)
    assert (base.part, base.clock, base.core) == ("stm32f030", 48 * MHZ, "cortex-m0")
    assert base.microseconds(48e6) == 1e6
    assert base.microjoules(48e6) == pytest.approx(3.6 * 11.4e-3 * 1e6)


def test_the_current_is_that_of_the_next_higher_clock() -> None:
    """A current of a lower clock misses what does not depend on the clock."""
    at = {mhz: timebase("cortex-m0", "stm32f030", mhz * MHZ) for mhz in (8, 9, 24, 25, 48)}
    assert at[8].microjoules(8e6) == pytest.approx(3.6 * 2.2e3)
    assert at[9].microjoules(24e6) == pytest.approx(3.6 * 6.2e3)
    assert at[25].microjoules(32e6) == pytest.approx(3.6 * 7.9e3)
    assert [at[mhz].wait_states for mhz in (8, 24, 25, 48)] == [0, 0, 1, 1]
    uno = timebase("avr", "atmega328p", 16 * MHZ)  # Above all clocks with a current
    assert uno.microjoules(8e6) == pytest.approx(5 * 5.2e3)
    assert uno.cycle_clock is None


def test_the_model_names_its_sources_and_its_error() -> None:
    facts = timebase("cortex-m0", "stm32f030", 48 * MHZ).to_json()
    assert facts["name"] == "Arm Cortex-M0"
    assert "DDI 0432C" in facts["source"]
    assert "Table 3-1" in facts["source"]
    assert facts["error"].startswith("exact without wait states")
    assert "With wait states" in facts["error"]
    assert facts["current"] == {"milliamperes": 11.4, "volts": 3.6, "clock": 48 * MHZ}
    assert "Table 23" in facts["current_from"]
    assert facts["wait_states"] == 1
    slow = timebase("cortex-m0", "stm32f030", 24 * MHZ).to_json()
    assert "With wait states" not in slow["error"]
    alone = timebase("rv32", "ibex", 50 * MHZ).to_json()
    assert "no difference from the RTL in 50 programs" in alone["error"]
    assert alone["current"] is alone["current_from"] is alone["wait_states_from"] is None
    assert timebase("avr", None, MHZ).to_json()["error"].startswith("exact: the simulator")
    assert timebase("avr", "avr", MHZ) == timebase("avr", None, MHZ)
    rp2040 = timebase("cortex-m0", "rp2040", None)
    assert rp2040.core == "cortex-m0plus"
    assert rp2040.microjoules(1) is None
    assert rp2040.to_json()["current"] is None


REFUSED = {
    ("cortex-m0", "stm32f030", 60 * MHZ): "stm32f030 runs at 48 MHz at most; lower --clock 60M",
    ("cortex-m7", None, MHZ): "no timing of cortex-m7 is known.*use --target avr, cortex-m0",
    ("rv32", None, MHZ): "cores of rv32 differ in their timing; add --part ibex or picorv32",
    ("rv32", "ibex", None): "ibex is a core, which runs at any clock; add --clock, as in 48M",
    ("rv32", "esp32c3", None): "use --target esp32c3 instead of --part, or choose from ibex,",
    ("cortex-m4", "rp2040", None): "'rp2040' is no part or core of cortex-m4; choose from nrf5",
    ("cortex-m7", "stm32h743", None): "use --target stm32h743 instead of --part$",
    ("avr", "avr", None): "avr is a core, which runs at any clock; add --clock, as in 48M",
    ("avr", "z80", None): "'z80' is no part or core of avr; choose from atmega328p, avr$",
}


@pytest.mark.parametrize(("target", "part", "clock"), REFUSED)
def test_what_has_no_time_is_refused_with_a_remedy(
    target: str, part: str | None, clock: int | None
) -> None:
    with pytest.raises(OptionError, match=REFUSED[target, part, clock]):
        timebase(target, part, clock)


def test_a_part_or_a_core_names_its_target() -> None:
    found = {"nrf52832": "cortex-m4", "RP2040": "cortex-m0", "picorv32": "rv32"}
    assert {name: target_of_part(name) for name in found} == found
    assert target_of_part("cortex-m0plus") == "cortex-m0"
    with pytest.raises(
        OptionError, match="there is no part 'z80'; choose from atmega328p, avr, rp2"
    ):
        target_of_part("z80")


@pytest.mark.parametrize(("target", "name"), TIMED)
def test_every_part_has_a_timing_up_to_its_highest_clock(target: str, name: str) -> None:
    part = TARGETS[target].parts[name]
    power = part.power
    assert power is not None
    assert power.core in TARGETS[target].cores
    assert power.waits[-1][0] == part.clock
    base = timebase(target, name, None)
    assert base.clock == part.clock
    assert base.to_json()["source"]


def test_every_core_belongs_to_one_target() -> None:
    cores = [core for target in TARGETS.values() for core in target.cores]
    assert sorted(cores) == sorted({*CORES, "avr"})


def test_a_broken_entry_of_a_part_is_refused() -> None:
    good = TARGETS["cortex-m0"].parts["stm32f030"].power
    assert good is not None
    changes = (
        {"waits": ()},
        {"waits": ((48, 0), (24, 1))},
        {"waits": ((24, 1), (48, 0))},
        {"waits": ((24, -1),)},
        {"waits_from": ""},
        {"current_from": ""},
        {"currents": good.currents[::-1]},
    )
    for change in changes:
        with pytest.raises(ValueError, match="not in order"):
            replace(good, **change)
    for wrong in ((0, 3, 1), (1, 0, 1), (1, 3, -1)):
        with pytest.raises(ValueError, match="no current of a running part"):
            Current(*wrong)
    assert Power("avr", ((1, 0),), "a", current_from="b").current(1) is None
