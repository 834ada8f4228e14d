"""Model to C: the whole way from a frozen model to the text of its files."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bncc import __version__
from bncc.compiler.budget import Budget
from bncc.compiler.candidate import Candidate
from bncc.compiler.choose import Choice, Optimize, choose
from bncc.compiler.cost_model import LEVELS
from bncc.compiler.direct_readings import reads_directly
from bncc.compiler.discretizers import choose_discretizers
from bncc.compiler.importer import program_of
from bncc.compiler.input_check import input_check
from bncc.compiler.ir import Program
from bncc.compiler.missing_plan import plan_missing
from bncc.compiler.pipeline import PassReport, optimize_each
from bncc.compiler.state_frequencies import state_frequencies
from bncc.compiler.textbook_cost import TextbookCost, textbook_cost
from bncc.emit.avr import avr_vectors_error
from bncc.emit.bounds import Bounds, bound_lines
from bncc.emit.card import card_lines, class_lines, feature_lines, why_no_probabilities
from bncc.emit.estimate import Estimate, estimate
from bncc.emit.gap_vectors import drawn_gaps
from bncc.emit.identifiers import check_name, constant_names
from bncc.emit.layout import EntryPoints, Layout, lay_out
from bncc.emit.options import ENTRIES, EmitOptions
from bncc.emit.packages import find_package, packaged
from bncc.emit.vector_text import vector_text
from bncc.emit.vectors import drawn_vectors
from bncc.errors import OptionError
from bncc.model.file import model_digest
from bncc.model.missing_form import missing_form_of
from bncc.model.model import Model

__all__ = ["ENTRIES", "Emission", "EmitOptions", "emit_c", "emit_candidate"]

DIRECT = "cut-packed"
"""The kernel that can take readings for states: what finds states would need more flash than any
other kernel saves."""
RELEASE = "1.0.0"
"""Version in manifests of packages, for a model has none; its digest is put behind it."""


@dataclass(frozen=True, eq=False)
class Emission:
    """The emitted files and how they came about.

    Parameters
    ----------
    name : str
        Prefix of every symbol.
    files : mapping of str to str
        Text by path below the output folder.
    choice : Choice
        The kernel, and the layouts it was compared with.
    passes : tuple of PassReport
        What each pass did.
    table_bytes : int
        Bytes of all tables and the prior in flash.
    estimate : Estimate
        Of the whole classifier.
    program : Program
        The program after all passes.
    layout : Layout
        Types and arrays of the C.
    bounds : Bounds or None
        What its header says was measured.
    """

    name: str
    files: Mapping[str, str]
    choice: Choice
    passes: tuple[PassReport, ...]
    table_bytes: int
    estimate: Estimate
    program: Program
    layout: Layout
    bounds: Bounds | None = None

    @property
    def kernel(self) -> str:
        """Name of the kernel."""
        return self.choice.kernel.family


def emit_c(model: Model, options: EmitOptions | None = None) -> Emission:
    """Compile a model to C99.

    Parameters
    ----------
    model : Model
        The integer model.
    options : EmitOptions, optional
        What to emit; the defaults when absent.

    Returns
    -------
    Emission
        The same model and options give the same bytes.

    Raises
    ------
    OptionError
        If the name cannot prefix C symbols, an entry point, package or kernel is unknown, or the
        kernel has no safe layout for the model.
    BudgetError
        If no layout is within the budget.
    IrError
        If a sum could exceed 32 bits.
    ModelError
        If missing features are to be summed out and cannot be.
    """
    options = options or EmitOptions()
    find_package(options.package, check_name(options.name))
    if "missing" in options.entries:
        missing_form_of(model)  # what cannot be is refused before the passes run
    imported = program_of(model)
    flows = optimize_each(imported, options.demands.flows(options.optimize))
    choice, layout, whole = _fitting(
        [program for program, _ in flows],
        textbook_cost(imported, options.target),
        model,
        options,
    )
    passes = next(passes for program, passes in flows if program is layout.program)
    return _printed(model, options, passes, choice, layout, whole)


def emit_candidate(model: Model, candidate: Candidate, options: EmitOptions) -> Emission:
    """Compile a model to C99 with a given kernel, whatever it costs.

    Parameters
    ----------
    model : Model
        The integer model.
    candidate : Candidate
        A layout of a program of that model.
    options : EmitOptions
        What to emit.

    Returns
    -------
    Emission
        As from `emit_c`, had it chosen that candidate; it does not know the passes.
    """
    check_name(options.name)
    choice = Choice(candidate, (candidate,), "asked for")
    layout = _laid_out(model, candidate, _entries(model, options), options, options.optimize)
    whole = estimate(layout, options.target, LEVELS[options.optimize])
    return _printed(model, options, (), choice, layout, whole)


def _entries(model: Model, options: EmitOptions) -> EntryPoints:
    unknown = sorted(options.entries - ENTRIES)
    if unknown:
        raise OptionError(
            f"there is no entry point '{unknown[0]}'; there are {', '.join(sorted(ENTRIES))}"
        )
    return EntryPoints(
        raw="raw" in options.entries or any(f.thresholds for f in model.features),
        scores="scores" in options.entries,
        stream="stream" in options.entries,
        trusted="trusted" in options.entries,
    )


def _printed(
    model: Model,
    options: EmitOptions,
    passes: tuple[PassReport, ...],
    choice: Choice,
    layout: Layout,
    whole: Estimate,
) -> Emission:
    name = layout.name
    inputs = options.vectors or drawn_vectors(model)
    gaps = drawn_gaps(model, inputs) if layout.missing is not None else None
    vectors = vector_text(inputs, layout, gaps)
    fired = [report.name for report in passes if report.fired]
    digest = model_digest(model)[:8]
    context: dict[str, object] = {
        "name": name,
        "NAME": name.upper(),
        "version": __version__,
        "release": f"{RELEASE}+{digest}",
        "card": card_lines(model, layout, name, fired),
        "features": feature_lines(model.features),
        "classes": class_lines(model.classes),
        # A macro of the bounds of NAME_class_name ends in NAME_STACK.
        "class_names": constant_names(model.classes, {"NAME_STACK"}),
        "digest": f"0x{digest.upper()}U",
        "cost": "-ln p" if why_no_probabilities(model) is None else "a score, the least wins,",
        "bounds": bound_lines(options.bounds, name) if options.bounds else [],
        **layout.template_names(),
        "vectors": vectors,
        "avr_vectors_error": avr_vectors_error(layout.rom_bytes, vectors.array_bytes),
    }
    return Emission(
        name=name,
        files=packaged(find_package(options.package, name), context),
        choice=choice,
        passes=passes,
        table_bytes=layout.table_bytes,
        estimate=whole,
        program=layout.program,
        layout=layout,
        bounds=options.bounds,
    )


def _fitting(
    programs: Sequence[Program],
    textbook: TextbookCost,
    model: Model,
    options: EmitOptions,
) -> tuple[Choice, Layout, Estimate]:
    """Choose the best kernel with which all that is emitted is within the budget."""
    entries = _entries(model, options)
    is_smallest = options.optimize == "size" and entries.raw and not options.demands.is_special
    preferred = DIRECT if is_smallest and all(map(reads_directly, programs)) else None

    def laid_out(budget: Budget, discretize: Optimize) -> tuple[Choice, Layout, Estimate]:
        choice = choose(
            programs,
            textbook,
            optimize=options.optimize,
            family=options.kernel or preferred,
            target=options.target,
            budget=budget,
            demands=options.demands,
        )
        layout = _laid_out(model, choice.chosen, entries, options, discretize)
        return choice, layout, estimate(layout, options.target, LEVELS[options.optimize])

    budget = Budget(options.max_flash, options.max_ram)
    choice, layout, whole = laid_out(Budget(), options.optimize)
    if not budget.allows(whole.flash, whole.ram):
        # Discretizers give way before a kernel does.
        choice, layout, whole = laid_out(Budget(), "size")
    while not budget.allows(whole.flash, whole.ram):
        # What was tried does not fit beside the rest, so every turn has fewer candidates.
        budget = budget.beside(whole.flash - choice.chosen.flash, whole.ram - choice.chosen.ram)
        choice, layout, whole = laid_out(budget, "size")
    return choice, layout, whole


def _laid_out(
    model: Model,
    candidate: Candidate,
    entries: EntryPoints,
    options: EmitOptions,
    discretize: Optimize,
) -> Layout:
    """Lay out a kernel with the discretizers that are best in something."""
    program, kernel = candidate.program, candidate.kernel
    check = input_check(
        program.n_states,
        optimize=options.optimize,
        rom_bytes=kernel.rom_bytes,
        target=options.target,
        constant_time=options.constant_time,
    )
    discretizers = choose_discretizers(
        program.features,
        state_frequencies(model),
        optimize=discretize,
        target=options.target,
        other_bytes=kernel.rom_bytes,
        by_number=entries.stream,
        constant_time=options.constant_time,
    )
    return lay_out(
        program,
        kernel,
        entries,
        options.name,
        check,
        discretizers,
        missing=plan_missing(model) if "missing" in options.entries else None,
        may_copy=options.optimize == "speed",
        constant_time=options.constant_time,
    )
