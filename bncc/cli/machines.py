"""Which machines a command runs on: those that are named, or all for which the tools are here."""

from collections.abc import Callable, Sequence

from bncc.cli.options import TARGETS
from bncc.emit.emitter import Emission
from bncc.errors import BnccError, ModelError, ToolchainError
from bncc.lower.c.constants import avr_error
from bncc.targets import known_target

Check = Callable[[str], None]
"""Raises a `BnccError` that says why a machine cannot be used."""


def usable_machines(targets: Sequence[str], check: Check) -> tuple[list[str], dict[str, str]]:
    """Return the machines to run on, and those left out."""
    everything = [target for target in TARGETS if target != "all"]
    machines: list[str] = []
    skipped: dict[str, str] = {}
    for target in everything if "all" in targets else dict.fromkeys(targets):
        try:
            check(target)
        except BnccError as error:
            if target in targets:
                raise
            skipped[target] = str(error)
        else:
            machines.append(target)
    if not machines:
        target, reason = next(iter(skipped.items()))
        raise ToolchainError(f"no machine can be used; for {target}, {reason}")
    return machines, skipped


def check_fit(target: str, emission: Emission) -> None:
    """Refuse a model whose constants an AVR cannot read; no other machine is too small."""
    layout = emission.layout
    reason = avr_error(max(array.n_bytes for array in layout.arrays), layout.rom_bytes)
    machine = known_target(target)
    if machine is not None and machine.address_bits == 16 and reason:
        raise ModelError(f"the model does not fit {target}: {reason}")


def blame(target: str, error: ToolchainError) -> ToolchainError:
    """Return an error of the same kind whose sentence names the machine."""
    return type(error)(f"{target}: {error}")
