"""Options of ``bncc sweep``, and their interpretation."""

from collections.abc import Sequence

from bncc.cli.bench import machine_of
from bncc.cli.console import Console
from bncc.cli.lowering import usable_machines
from bncc.cli.options import TARGETS
from bncc.device.cross import find_toolchain
from bncc.errors import OptionError, ToolchainError

NO_TARGET = "none"
"""Value of ``--target`` that disables measurements."""
FIRST_TARGET = "cortex-m0"
"""Default target."""


def targets_of(
    named: Sequence[str], known: Sequence[str] | None, console: Console
) -> tuple[str, ...]:
    """Return the targets on which trials are measured."""
    if NO_TARGET in named:
        if len(set(named)) > 1:
            raise OptionError(
                "--target none cannot be combined with another --target; drop one of them"
            )
        return ()
    if named or known is not None:
        machines, skipped = usable_machines(tuple(named), _check) if named else (known or (), {})
        for target in () if named else machines:
            _check(target)
        for target, reason in skipped.items():
            console.note(f"{target}: skipped, {reason}")
        return tuple(machines)
    return _default_target(console)


def _default_target(console: Console) -> tuple[str, ...]:
    for target in (FIRST_TARGET, *(name for name in TARGETS if name not in ("all", FIRST_TARGET))):
        try:
            _check(target)
        except ToolchainError:
            continue
        console.note(f"measuring on {target}; use --target to choose others")
        return (target,)
    console.note("no target has its tools installed, so nothing is measured; see `bncc targets`")
    return ()


def _check(target: str) -> None:
    find_toolchain(machine_of(target))


def toolchains_of(targets: Sequence[str]) -> dict[str, str]:
    """Describe the compilers and simulators of targets."""
    benches = {target: find_toolchain(machine_of(target))[0] for target in targets}
    return {target: f"{bench.compiler}, {bench.place}" for target, bench in benches.items()}
