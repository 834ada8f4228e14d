"""
Targets of bncc: one file per target or kind of targets, listed here.

Every difference between targets is a field of `bncc.targets.base.Target`. `lower` uses widths and
fitted costs, `toolchain` and `device` use flags and processors, `cli` uses names. This package is
therefore below all of them and imports none.
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
"""Modules with a tuple ``TARGETS``."""

TARGETS: Mapping[str, Target] = {
    target.name: target
    for module in MODULES
    for target in import_module(f"bncc.targets.{module}").TARGETS
}
"""Simulated targets by name."""

GENERIC = "cortex-m0"
"""Target of generic C in estimates."""


def find_target(name: str) -> Target:
    """Return a target by its name."""
    if name not in TARGETS:
        raise OptionError(f"unknown target '{name}'; choose from {', '.join(TARGETS)}")
    return TARGETS[name]


def known_target(name: str | None) -> Target | None:
    """Return a target by its name, None for the host and for generic C."""
    return None if name is None else TARGETS.get(name)


def target_of(name: str) -> str:
    """Return the target that a part is an alias of; any other name unchanged."""
    named = (target.name for target in TARGETS.values() if name.lower() in target.parts)
    return next(named, name)


def fitted_as(name: str | None) -> tuple[str, ...]:
    """Return the targets with applicable fitted costs: itself, a similar one, the generic one."""
    machine = known_target(name)
    alike = machine.alike if machine else None
    return tuple(each for each in (name, alike, GENERIC) if each is not None)
