"""Model to C: the whole way from a frozen model to the text of its files."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import ceil

from bncc import __version__
from bncc.emit.card import (
    card_lines,
    class_lines,
    feature_constants,
    feature_lines,
    kind_names,
    why_no_probabilities,
)
from bncc.emit.environment import check_spdx
from bncc.emit.front_end import Kept, stream_names
from bncc.emit.options import EmitOptions, bound_lines
from bncc.emit.packages import find_package, packaged
from bncc.emit.selftest import selftest_names
from bncc.emit.summation import refuse_samples
from bncc.emit.template_names import template_names
from bncc.lower.c.identifiers import check_name, constant_names
from bncc.lower.choose import Choice
from bncc.lower.cost_model import LEVELS, Candidate
from bncc.lower.estimate import Estimate
from bncc.lower.layout import Layout
from bncc.lower.lowering import Lowered, lower, lower_as, lower_candidate
from bncc.lower.request import ENTRIES, Request
from bncc.lower.sample_estimate import estimate_samples, plan_stream
from bncc.lower.sample_stream import outputs_of_model
from bncc.model.file import model_digest
from bncc.model.model import Model
from bncc.model.ranges import reading_ranges
from bncc.program.ir import Program
from bncc.program.pipeline import PassReport, optimize_each
from bncc.resources import Bounds, ProgramFootprint, Resources
from bncc.targets import GENERIC, find_target

__all__ = [
    "ENTRIES",
    "Emission",
    "EmitOptions",
    "emit",
    "emit_as",
    "emit_c",
    "emit_candidate",
]

RELEASE = "1.0.0"
"""Version in manifests of packages, for a model has none; its digest is put behind it."""


@dataclass(frozen=True, eq=False)
class Emission:
    """
    The emitted files and how they came about.

    Parameters
    ----------
    name : str
        Prefix of every symbol.
    files : mapping of str to str
        Text by path below the output folder.
    lowered : Lowered
        The program with every decision about its C.
    bounds : Bounds or None
        What its header says was measured.
    whole : ProgramFootprint or None
        Memory of a model's C with its front end, if it is emitted within a budget.
    """

    name: str
    files: Mapping[str, str]
    lowered: Lowered
    bounds: Bounds | None = None
    whole: ProgramFootprint | None = None

    @property
    def options(self) -> EmitOptions:
        """The options that it was emitted with."""
        options = self.lowered.request.options
        assert isinstance(options, EmitOptions)
        return options

    @property
    def kernel(self) -> str:
        """Name of the kernel."""
        return self.lowered.kernel.family

    @property
    def choice(self) -> Choice:
        """The kernel, and the layouts it was compared with."""
        return self.lowered.choice

    @property
    def passes(self) -> tuple[PassReport, ...]:
        """Reports of the passes."""
        return self.lowered.passes

    @property
    def table_bytes(self) -> int:
        """Bytes of all tables and the prior in flash."""
        return self.layout.table_bytes

    @property
    def estimate(self) -> Estimate:
        """Estimate of the whole classifier."""
        return self.lowered.estimate

    @property
    def program(self) -> Program:
        """The program after all passes."""
        return self.lowered.program

    @property
    def layout(self) -> Layout:
        """Types and arrays of the C."""
        return self.lowered.layout

    @property
    def resources(self) -> Resources:
        """Resources of the entry points that the budget covers: the estimate, or the price."""
        return self.lowered.resources


Price = Callable[[Emission], Resources]
"""Footprint and time of an emission, by measurement or by a better estimate."""


def emit_c(
    model: Model, options: EmitOptions | None = None, price: Price | None = None
) -> Emission:
    """
    Compile a model to C99.

    Parameters
    ----------
    model : Model
        The integer model.
    options : EmitOptions, optional
        What to emit; the defaults when absent.
    price : callable, optional
        What the budget is compared with; the estimate when absent. With a budget it is asked of
        several layouts until one fits.

    Returns
    -------
    Emission
        The same model and options give the same bytes.

    Raises
    ------
    OptionError
        If the name cannot prefix C symbols, an entry point, package or kernel is unknown, the
        kernel has no safe layout for the model, or the SPDX tag is no license expression.
    BudgetError
        If no layout is within the budget.
    IrError
        If a sum could exceed 32 bits.
    ModelError
        If missing features are to be summed out and cannot be, or readings are to be checked and
        their ranges are not known.
    """
    options = options or EmitOptions()
    find_package(options.package, check_name(options.name))
    if options.spdx is not None:
        check_spdx(options.spdx)
    request = Request(model, options)
    request.check()
    if price is None:
        return emit(lower(optimize_each(request.program, request.flows), request))
    printed: dict[Layout, Emission] = {}

    def price_of(lowered: Lowered) -> Resources:
        printed[lowered.layout] = emit(lowered)
        return price(printed[lowered.layout])

    lowered = lower(optimize_each(request.program, request.flows), request, price_of)
    return replace(printed[lowered.layout], lowered=lowered)


def emit_candidate(model: Model, candidate: Candidate, options: EmitOptions) -> Emission:
    """Compile a model to C99 with a given kernel, whatever it costs."""
    check_name(options.name)
    return emit(lower_candidate(Request(model, options), candidate))


def emit_as(model: Model, options: EmitOptions, other: Emission) -> Emission:
    """Compile a model to C99 by the decisions about an emission with other entry points."""
    request = Request(model, options)
    request.check()
    return emit(lower_as(request, other.lowered))


def emit(lowered: Lowered) -> Emission:
    """
    Print a lowered program.

    Parameters
    ----------
    lowered : Lowered
        From `bncc.lower.lowering.lower`, with `EmitOptions` in its request.

    Returns
    -------
    Emission
        The same lowered program gives the same bytes.
    """
    model, options, layout = lowered.request.model, lowered.request.options, lowered.layout
    assert isinstance(options, EmitOptions)
    name = layout.name
    fired = [report.name for report in lowered.passes if report.fired]
    digest = model_digest(model)[:8]
    budget_level = None if options.max_flash is None else LEVELS[options.optimize]
    of_samples = _sample_names(lowered)
    context: dict[str, object] = {
        "name": name,
        "NAME": name.upper(),
        "version": __version__,
        "release": f"{RELEASE}+{digest}",
        **kind_names(model),
        "card": card_lines(
            model,
            layout,
            name,
            fired,
            options.command,
            budget_level,
            _program_words(lowered, of_samples),
        ),
        "budget_level": budget_level,
        "features": feature_lines(
            model.features,
            reading_ranges(model.features, model.training),
            layout.check.unread,
        ),
        "constants": feature_constants(model.features, name),
        "range_margin": f"{options.range_margin:.15g}",
        "classes": class_lines(model.classes),
        # A macro of the bounds of NAME_class_name ends in NAME_STACK.
        "class_names": constant_names(model.classes, {"NAME_STACK"}),
        "digest": f"0x{digest.upper()}U",
        "cost": "-ln p" if why_no_probabilities(model) is None else "a score (the lowest wins)",
        "bounds": bound_lines(options.bounds, name) if options.bounds else [],
        **template_names(layout),
        **of_samples,
    }
    package = find_package(options.package, name)
    if package.more is not None:
        refuse_samples(model, package.name)

    def names() -> dict[str, object]:
        more = {} if package.more is None else package.more(model, options)
        return {**selftest_names(model, options, layout), **more}

    files = packaged(package, context, names, options.spdx)
    return Emission(name, files, lowered, options.bounds)


def _sample_names(lowered: Lowered) -> dict[str, object]:
    """Return the names of the templates for samples."""
    model, layout = lowered.request.model, lowered.layout
    front_end = model.front_end
    if front_end is None:
        return {"samples": None}
    assert layout.raw is not None, "a model of integers takes readings"
    outputs = outputs_of_model(model, layout.raw)
    return {
        "decides": True,
        "features_type": f"{layout.name}_raw_t",
        **stream_names(
            plan_stream(front_end, outputs, layout.name),
            layout.filter,
            layout.counters,
            _kept(layout),
            is_rated=layout.confidence is not None,
            knows=layout.unknown is not None,
        ),
    }


def _program_words(lowered: Lowered, of_samples: Mapping[str, object]) -> str | None:
    """Return the estimated memory of a front end and its classifier; None without a front end."""
    front_end, options = lowered.request.model.front_end, lowered.request.options
    if front_end is None:
        return None
    machine = find_target(options.target or GENERIC)
    state = "stream_bytes" if machine.packed else "stream_aligned_bytes"
    flash = ceil(estimate_samples(front_end, machine).flash) + lowered.estimate.flash
    return (
        f"front end and classifier together: {flash} B of flash and {lowered.estimate.ram} B of "
        f"stack (estimated for {machine.name} at {LEVELS[options.optimize]}, not measured), "
        f"{of_samples[state]} B of state in {lowered.layout.name}_stream_t"
    )


def _kept(layout: Layout) -> Kept | None:
    """Return what the state between two samples keeps for an adaptation, if there is one."""
    if layout.adaptation is None:
        return None
    program = layout.program
    return Kept(
        program.n_classes,
        layout.kernel.sum_bits,
        len(program.features),
        layout.state_bits,
        layout.adaptation.n_bytes,
    )
