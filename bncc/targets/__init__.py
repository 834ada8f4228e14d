"""
The machines that bncc builds for and measures on: a file for each, or for each kind, listed here.

Everything that differs between machines is a field of `bncc.targets.base.Target`. The compiler asks
for widths and fitted costs, the simulators for processors and boards, the command line for names;
so this package stands below all of them, and imports none.
"""

from collections.abc import Mapping
from importlib import import_module

from bncc.errors import OptionError
from bncc.targets.base import Target

MODULES = (
    "x86",
    "avr",
    "cortex_m",
    "rv32",
    "big_endian",
)
"""Modules with a tuple ``TARGETS``; a new one is offered once it stands here."""

TARGETS: Mapping[str, Target] = {
    target.name: target
    for module in MODULES
    for target in import_module(f"bncc.targets.{module}").TARGETS
}
"""Every simulated machine by name."""

GENERIC = "cortex-m0"
"""The machine that stands for all where none is named."""


def find_target(name: str) -> Target:
    """Return a machine by its name."""
    if name not in TARGETS:
        raise OptionError(f"there is no target '{name}'; there are {', '.join(TARGETS)}")
    return TARGETS[name]


def known_target(name: str | None) -> Target | None:
    """Return a machine by its name, None for this machine and for generic C."""
    return None if name is None else TARGETS.get(name)


def target_of(name: str) -> str:
    """Return the target that a part is an alias of; any other name as it is."""
    named = (target.name for target in TARGETS.values() if name.lower() in target.parts)
    return next(named, name)


def fitted_as(name: str | None) -> tuple[str, ...]:
    """Return the machines whose fitted costs hold for one, the best first: itself, then others."""
    machine = known_target(name)
    alike = machine.alike if machine else None
    return tuple(each for each in (name, alike, GENERIC) if each is not None)
