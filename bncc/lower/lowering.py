"""Program to lowered program: every decision about the C, within the budget."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from math import inf

from bncc.errors import BudgetError
from bncc.lower.choose import Choice, KernelBudget, choose
from bncc.lower.cost_model import LEVELS, Candidate, textbook_cost
from bncc.lower.entry_price import EntryPrices
from bncc.lower.estimate import Estimate, estimate, estimated_resources
from bncc.lower.front import FrontPlan
from bncc.lower.gate import gate_plan
from bncc.lower.kernels.base import Kernel
from bncc.lower.layout import Layout, lay_out
from bncc.lower.request import Request
from bncc.lower.surroundings import check_of, discretizers_of
from bncc.model.card import gate_facts
from bncc.model.front import front_facts
from bncc.model.ranges import units_of
from bncc.program.ir import Program, width_of
from bncc.program.pipeline import Optimized, PassReport
from bncc.program.ranges import largest_cost
from bncc.resources import Optimize, Resources
from bncc.structure.decision_tables import BranchingTable, TableEnsemble

UNKNOWN = -(2**31)
"""Bytes of all but the kernel before a first layout is priced. Where an estimate is too large, what
is measured may be less than the kernel alone was estimated to be."""


@dataclass(frozen=True, eq=False)
class Lowered:
    """A program with every decision about its C, which `bncc.emit` prints."""

    request: Request  # Model and options that were asked for
    choice: Choice  # The kernel, and the layouts it was compared with
    layout: Layout  # Discretizers, input check, missing plan, entry points, widths and arrays
    passes: tuple[PassReport, ...]  # Pass reports; empty if a candidate was given
    estimate: Estimate  # Footprint of the whole classifier
    resources: Resources  # Footprint of the entry points in the budget, by the price
    discretize: Optimize  # Goal of the discretizers

    @property
    def program(self) -> Program:
        """The program after all passes."""
        return self.layout.program

    @property
    def kernel(self) -> Kernel:
        """The proved layout of the program."""
        return self.layout.kernel


Price = Callable[[Lowered], Resources]
"""Footprint and time of a lowered program: measured, or by a better estimate."""


def lower(programs: Sequence[Optimized], request: Request, price: Price | None = None) -> Lowered:
    """
    Choose the best kernel with which all that is emitted is within the budget.

    The budget is compared with the price; with the estimate where there is none.
    """
    options, prices = request.options, EntryPrices(request)
    imported = request.program
    textbook = textbook_cost(imported, options.target)
    # A named kernel keeps the layout that it had when decisions from states were priced alone.
    is_kept = options.kernel is not None and options.compare is None
    if not is_kept:
        textbook = prices.textbook(imported, textbook)
    programs = [each._replace(program=with_room(each.program, request)) for each in programs]
    optimized = [each.program for each in programs]

    def attempted(budget: KernelBudget, discretize: Optimize) -> Lowered:
        choice = choose(
            optimized,
            textbook,
            optimize=options.optimize,
            family=options.kernel,
            target=options.target,
            budget=budget,
            demands=options.demands,
            prices=None if is_kept else prices,
        )
        return surrounded(choice, discretize)

    def surrounded(choice: Choice, discretize: Optimize) -> Lowered:
        passes = next(each.passes for each in programs if each.program is choice.chosen.program)
        lowered = _lowered(request, choice, passes, discretize)
        return lowered if price is None else replace(lowered, resources=price(lowered))

    def fitted(lowered: Lowered, discretize: Optimize) -> Lowered:
        """Return a layout that fits, that which was tried first if it does."""
        budget = KernelBudget(limits, UNKNOWN, UNKNOWN, remedy=_remedy(request))
        tried.append(lowered)
        while not limits.admits(lowered.resources):
            # The kernel tried does not fit with the rest, so every turn has fewer candidates.
            kernel, found = lowered.choice.chosen, lowered.resources
            flash, ram = found.flash - kernel.flash, found.ram + found.stack - kernel.ram
            budget = budget.with_others(kernel, flash, ram)
            try:
                lowered = attempted(budget, discretize)
                tried.append(lowered)
            except BudgetError as error:
                # Kernels differ in how far off their estimates are: the least may fit all the same.
                candidates = lowered.choice.candidates
                least = min(candidates, key=lambda each: each.flash)
                choice = Choice(least, candidates, "the least by estimate, and it fits")
                lowered = surrounded(choice, discretize)
                if limits.admits(lowered.resources):
                    return lowered
                tried.append(lowered)
                measured = [each for each in tried if each.resources.how == "measured"]
                if not measured or error.utilization == inf:  # Another kernel may fit
                    raise
                nearest = min(measured, key=lambda each: limits.utilization(each.resources))
                found = nearest.resources
                raise budget.exceeded(
                    nearest.kernel.family, found.flash, found.ram + found.stack,
                    is_smallest=options.optimize == "size",
                ) from None  # fmt: skip
        return lowered

    limits = options.budget
    best = attempted(KernelBudget(), options.optimize)
    if limits.admits(best.resources):
        return best
    tried = [best]
    # Discretizers give way before a kernel does, unless a kernel that compares readings itself is
    # faster than small discretizers are.
    try:
        small = fitted(attempted(KernelBudget(), "size"), "size")
    except BudgetError:
        if options.optimize == "size":
            raise
        return fitted(best, options.optimize)  # Fast discretizers of few thresholds may be smaller
    if options.optimize != "speed" or is_kept:
        return small
    with suppress(BudgetError):
        return min(small, fitted(best, options.optimize), key=_slowest)
    return small


def _remedy(request: Request) -> str:
    """Return what makes a model of the same kind smaller."""
    structure = request.model.structure
    if isinstance(structure, TableEnsemble):
        branches = any(isinstance(table, BranchingTable) for table in structure.tables)
        return f"train with fewer tables or {'leaves' if branches else 'rows'}"
    if all(len(table.features) < 2 for table in request.program.tables):
        return "train with fewer bits or fewer states"
    return KernelBudget.remedy


def _slowest(lowered: Lowered) -> float:
    slowest = lowered.resources.slowest
    return inf if slowest is None else slowest


def lower_candidate(request: Request, candidate: Candidate) -> Lowered:
    """Lower a program with a given kernel, whatever it costs."""
    choice = Choice(candidate, (candidate,), "asked for")
    return _lowered(request, choice, (), request.options.optimize)


def lower_as(request: Request, other: Lowered) -> Lowered:
    """Lower a program by the decisions that were made for other entry points."""
    return _lowered(request, other.choice, other.passes, other.discretize)


def _lowered(
    request: Request, choice: Choice, passes: tuple[PassReport, ...], discretize: Optimize
) -> Lowered:
    options = request.options
    layout = _laid_out(request, choice.chosen, discretize)
    whole = estimate(layout, options.target, LEVELS[options.optimize])
    resources = estimated_resources(
        layout, whole, request.priced,
        target=options.target, optimize=options.optimize, core=options.core,
    )  # fmt: skip
    return Lowered(request, choice, layout, passes, whole, resources, discretize)


def with_room(program: Program, request: Request) -> Program:
    """Return a program whose costs are wide enough for what is added to scores, if returned."""
    added = request.added
    if added is None:
        return program
    largest = largest_cost(program) + added
    return replace(program, cost_bits=max(program.cost_bits, width_of(largest)))


def front_plan(request: Request) -> FrontPlan | None:
    """Return the front, and the share of training rows that its record says it decides."""
    if request.front is None:
        return None
    facts = front_facts(request.model) or {}
    return FrontPlan(request.front, facts.get("answers"))


def _laid_out(request: Request, candidate: Candidate, discretize: Optimize) -> Layout:
    """Lay out a kernel with the discretizers that are best in something."""
    model, options, entries = request.model, request.options, request.entries
    program, kernel = candidate.program, candidate.kernel
    check = check_of(request, program, kernel.rom_bytes)
    discretizers = discretizers_of(request, program, kernel.rom_bytes, discretize)
    return lay_out(
        program,
        kernel,
        entries,
        options.name,
        check,
        discretizers,
        missing=request.missing,
        limits=request.limits,
        units=units_of(model.features, model.training),
        may_copy=options.optimize == "speed",
        constant_time=options.constant_time,
        compare=candidate.compare,
        front=front_plan(request),
        gate=gate_plan(kernel, program.gate, (gate_facts(model) or {}).get("answers")),
        over_time=request.over_time,
        confidence=request.confidence,
        unknown=request.unknown,
        counters=request.counters,
        adaptation=request.adaptation,
    )
