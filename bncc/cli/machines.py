"""Targets that a command runs on: the named ones, or all whose tools are installed."""

from collections.abc import Callable, Sequence

from bncc.cli.options import TARGETS
from bncc.emit.emitter import Emission
from bncc.errors import BnccError, ModelError, ToolchainError
from bncc.lower.c.constants import avr_error

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
        raise ToolchainError(f"no target is usable; {target}: {reason}")
    return machines, skipped


def check_fit(target: str, emission: Emission) -> None:
    """Refuse a model whose constants an AVR cannot read; no other machine is too small."""
    layout = emission.layout
    reason = avr_error(max(array.n_bytes for array in layout.arrays), layout.rom_bytes)
    if target == "avr" and reason:
        raise ModelError(f"the model does not fit avr: {reason}")


def blame(target: str, error: ToolchainError) -> ToolchainError:
    """Return an error of the same kind whose sentence names the machine."""
    return type(error)(f"{target}: {error}")
