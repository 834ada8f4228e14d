"""The part of ``bncc verify`` for models with a front end: decisions on samples."""

from collections.abc import Collection, Sequence
from dataclasses import asdict
from typing import Any

from bncc.cli.console import Console
from bncc.cli.lowering import Emissions, blame
from bncc.cli.recordings import RecordedWindows
from bncc.device.inputs.samples import Part
from bncc.device.sample_agreement import SampleAgreement
from bncc.errors import ToolchainError
from bncc.on_device import hostile_samples, verify_decisions


def facts_of_samples(outcome: SampleAgreement) -> dict[str, Any]:
    """Return the JSON object of the comparison on samples of one target."""
    first = outcome.first_mismatch
    facts = {
        "checked": outcome.samples,
        "windows": outcome.windows,
        "mismatches": outcome.mismatches,
        "toolchain": outcome.toolchain,
    }
    return facts | ({"first_mismatch": asdict(first)} if first is not None else {})


def sample_sentence(target: str, outcome: SampleAgreement, recorded: RecordedWindows | None) -> str:
    """Describe the outcome of the comparison on samples."""
    n_samples, n_windows = (n // outcome.n_builds for n in (outcome.samples, outcome.windows))
    of = "hostile ones" if recorded is None else "hostile ones and those of the recordings"
    what = f"{n_samples:,} samples with {n_windows:,} windows"
    if outcome.agree:
        return f"{target}: the C agrees on {what}, {of}, sample by sample"
    return (
        f"{target}: the C DISAGREES with the Python model on {outcome.mismatches:,} of {what}, "
        f"first {outcome.first_mismatch} ({outcome.toolchain}); this is a bug in bncc or in the "
        "compiler, please report it with the model"
    )


def verify_on_samples(
    emissions: Emissions,
    recorded: RecordedWindows | None,
    machines: Sequence[str],
    native: Collection[str],
    console: Console,
    *,
    sanitize: bool,
    opt_level: str | None,
    **how: Any,
) -> dict[str, SampleAgreement]:
    """Compare decisions on samples on every target; on none without a front end."""
    if emissions.model.front_end is None:
        return {}
    parts: list[Part] = hostile_samples(emissions.model)
    parts += [] if recorded is None else recorded.parts
    found: dict[str, SampleAgreement] = {}
    with console.progress("samples") as advance:
        for k, target in enumerate(machines):
            advance(k / len(machines), target)
            is_native = target in native
            try:
                found[target] = verify_decisions(
                    emissions.model,
                    "host" if is_native else target,
                    parts,
                    emissions.of(target),
                    sanitize=sanitize and is_native,
                    opt_level=opt_level or emissions.level(target),
                    **how,
                )
            except ToolchainError as error:
                raise blame(target, error) from None
    return found
