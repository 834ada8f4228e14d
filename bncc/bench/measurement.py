"""One classifier measured on one target: the one that bncc emits, and the textbook's."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from bncc.build.cross import Bench
from bncc.build.machine import HarnessError
from bncc.build.meter import Cost, Footprint, Inputs, Meter, Metered
from bncc.emit.emitter import Emission, EmitOptions, emit_c
from bncc.emit.textbook import misfit, textbook_c
from bncc.errors import ToolchainError
from bncc.model.model import Model
from bncc.model.reference import costs

SPEED_LEVELS = ("-O2", "-O3")
"""Levels of which the baseline's better one counts for speed; -Os counts for its flash."""
WRITTEN = EmitOptions(name="m")
"""What ``bncc emit-c`` writes when nothing else is asked for."""


@dataclass(frozen=True)
class Measurement:
    """One classifier on one target.

    Parameters
    ----------
    optimization : str
        The compiler's level, for the baseline one per figure.
    flash, ram : int
        Bytes of the classifier with every library routine it pulls in.
    stack : int
        Bytes of the deepest stack of ``predict`` and, where there is one, ``raw``.
    costs : mapping of str to Cost
        By ``predict``, ``trusted`` and, where there is one, ``raw``.
    """

    optimization: str
    flash: int
    ram: int
    stack: int
    costs: Mapping[str, Cost]


def measure_ours(
    model: Model,
    bench: Bench,
    inputs: Inputs,
    *,
    opt_level: str = "-O2",
    options: EmitOptions = WRITTEN,
    emission: Emission | None = None,
    with_trusted: bool = True,
) -> Measurement:
    """Measure the classifier that bncc emits.

    Parameters
    ----------
    model : Model
        The classifier.
    bench : Bench
        Where.
    inputs : Inputs
        From `bench_inputs`.
    opt_level : str
        The compiler's level.
    options : EmitOptions
        How the C is emitted. Where it has no ``trusted``, that is measured in a second emission.
    emission : Emission or None
        What to measure in place of the first emission.
    with_trusted : bool
        Whether ``trusted`` is measured where it takes that second emission.

    Returns
    -------
    Measurement
        Of every entry point.

    Raises
    ------
    OptionError
        If nothing can be emitted as `options` say.
    ToolchainError
        If the C does not fit the target.
    HarnessError
        If a measured decision is not the model's.
    """
    emission = emission or emit_c(model, options)
    kept = _kept(model, emission)
    with Meter(model, emission.files, bench, opt_level) as meter:
        footprint, found = meter.footprint(kept), dict(meter.costs(inputs))
    if with_trusted and "trusted" not in found:
        # In a program of its own: at -Os one entry more is enough for gcc to inline less.
        more = emit_c(model, replace(options, entries=options.entries | {"trusted"}))
        with Meter(model, more.files, bench, opt_level) as meter:
            found["trusted"] = meter.costs(Inputs(inputs.X))["trusted"]
    return _measurement(opt_level, footprint, _checked(found, model, inputs, bench), kept)


def flash_of(model: Model, bench: Bench, opt_level: str, emission: Emission) -> int:
    """Return the flash of the classifier that bncc emits, without running it.

    Parameters
    ----------
    model : Model
        The classifier.
    bench : Bench
        Where.
    opt_level : str
        The compiler's level.
    emission : Emission
        What is built.

    Returns
    -------
    int
        Bytes, as in `Measurement`.

    Raises
    ------
    ToolchainError
        If the C does not fit the target.
    """
    with Meter(model, emission.files, bench, opt_level) as meter:
        return meter.footprint(_kept(model, emission)).flash


def measure_textbook(
    model: Model, bench: Bench, inputs: Inputs
) -> tuple[Measurement | None, str | None]:
    """Measure the textbook classifier of a model, each figure at the level that suits it best.

    Parameters
    ----------
    model : Model
        The classifier.
    bench : Bench
        Where.
    inputs : Inputs
        From `bench_inputs`.

    Returns
    -------
    measured : Measurement or None
        None where it does not fit.
    reason : str or None
        Why it does not.

    Raises
    ------
    HarnessError
        If a measured decision is not the model's.
    """
    reason = misfit(model)
    if reason is not None:
        return None, reason
    kept = _kept(model)
    book = textbook_c(model, "m", raw="raw" in kept)
    if bench.target.name == "avr" and book.avr_misfit:
        return None, book.avr_misfit
    measured = {}
    for level in (*SPEED_LEVELS, "-Os"):
        try:
            with Meter(model, book.files, bench, level) as meter:
                found = _checked(meter.costs(inputs), model, inputs, bench)
                measured[level] = meter.footprint(kept), found
        except HarnessError:
            raise
        except ToolchainError as error:
            return None, str(error)
    footprint, small = measured["-Os"]
    best = {}
    for entry in small:
        means = {level: measured[level][1][entry].mean for level in SPEED_LEVELS}
        best[entry] = min(means, key=means.__getitem__)
    fastest = {entry: measured[level][1][entry] for entry, level in best.items()}
    words = ", ".join(f"{entry} {level}" for entry, level in best.items())
    stack = _measurement("-Os", footprint, small, kept).stack
    return Measurement(f"flash -Os, {words}", footprint.flash, footprint.ram, stack, fastest), None


def _kept(model: Model, emission: Emission | None = None) -> tuple[Metered, ...]:
    """Return the entry points whose bytes are counted.

    Where readings are compared directly, those that take states are another classifier.
    """
    if emission is not None and emission.layout.direct:
        return ("raw",)
    has_raw = any(feature.thresholds for feature in model.features)
    return ("predict", "raw") if has_raw else ("predict",)


def _measurement(
    level: str, footprint: Footprint, found: Mapping[str, Cost], kept: Iterable[Metered]
) -> Measurement:
    stack = max(found[entry].stack for entry in kept)
    return Measurement(level, footprint.flash, footprint.ram, stack, found)


def _checked(
    found: Mapping[str, Cost], model: Model, inputs: Inputs, bench: Bench
) -> Mapping[str, Cost]:
    """Refuse figures of a program that decides otherwise than the model."""
    reference = costs(model, inputs.X).argmin(axis=1)
    for entry, cost in found.items():
        wrong = int((cost.classes != reference).sum())
        if wrong:
            raise HarnessError(
                f"{entry} on {bench.place} decides {wrong} of {len(reference)} inputs otherwise "
                "than the model; run `bncc verify` for this target"
            )
    return found
