"""Which machines a command runs on: those that are named, or all for which the tools are here."""

from collections.abc import Callable, Sequence

from bncc.cli.options import TARGETS
from bncc.emit.avr import avr_error
from bncc.emit.emitter import Emission
from bncc.errors import BnccError, ModelError, ToolchainError

Check = Callable[[str], None]
"""Raises a `BnccError` that says why a machine cannot be used."""


def usable_machines(targets: Sequence[str], check: Check) -> tuple[list[str], dict[str, str]]:
    """Return the machines to run on, and those left out.

    Parameters
    ----------
    targets : sequence of str
        Values of ``--target``; ``all`` stands for every machine.
    check : callable
        Says of one machine whether it can be used.

    Returns
    -------
    machines : list of str
        At least one: in the order in which they were named, or in that of the contract.
    skipped : dict of str to str
        Machines that only ``all`` asks for and that cannot be used, with the reason.

    Raises
    ------
    BnccError
        If a machine that was named cannot be used, or no machine can.
    """
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
    """Refuse a model whose constants an AVR cannot read; no other machine is too small.

    Parameters
    ----------
    target : str
        The machine.
    emission : Emission
        What shall run on it.

    Raises
    ------
    ModelError
        If the emitted C refuses to compile there.
    """
    layout = emission.layout
    reason = avr_error(max(array.n_bytes for array in layout.arrays), layout.rom_bytes)
    if target == "avr" and reason:
        raise ModelError(f"the model does not fit avr: {reason}")


def blame(target: str, error: ToolchainError) -> ToolchainError:
    """Return an error of the same kind whose sentence names the machine.

    Parameters
    ----------
    target : str
        The machine as the user knows it.
    error : ToolchainError
        What went wrong on it.

    Returns
    -------
    ToolchainError
        With the exit code of `error`.
    """
    return type(error)(f"{target}: {error}")
