"""Choice of the layout that is emitted: the best kernel within the whole budget."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from bncc.errors import BudgetError, OptionError
from bncc.lower.candidate import Candidate
from bncc.lower.choose import Choice, choose
from bncc.lower.cost_model import LEVELS
from bncc.lower.direct_readings import reads_directly
from bncc.lower.discretizers.choice import choose_discretizers
from bncc.lower.estimate import Estimate, estimate
from bncc.lower.input_check import input_check
from bncc.lower.kernel_budget import KernelBudget
from bncc.lower.layout import EntryPoints, Layout, lay_out
from bncc.lower.missing.plan import plan_missing
from bncc.lower.request import ENTRIES, Request, checked_limits
from bncc.lower.textbook_cost import TextbookCost
from bncc.model.marginal import state_frequencies
from bncc.model.model import Model
from bncc.model.ranges import units_of
from bncc.program.ir import Program
from bncc.resources import Optimize, default_entries

if TYPE_CHECKING:
    from bncc.emit.emitter import Emission

DIRECT = "cut-packed"
"""The kernel that can take readings for states: what finds states would need more flash than any
other kernel saves."""
UNKNOWN = -(2**31)
"""Bytes of all but the kernel before a first layout is priced. Where an estimate is too large, what
is measured may be less than the kernel alone was estimated to be."""
Attempt = tuple[Choice, Layout, Estimate]
"""A kernel, all that is emitted with it, and its estimate."""


def priced_entries(options: Request, entries: EntryPoints) -> tuple[str, ...]:
    """Return the entry points that the budget covers, all of which are emitted."""
    emitted = options.entries | {"predict"} | ({"predict-raw"} if entries.raw else frozenset())
    for entry in options.priced:
        if entry not in emitted:
            raise OptionError(f"a budget for '{entry}' needs that entry point; emit it as well")
    return options.priced or default_entries(has_thresholds=entries.raw, extras=options.entries)


def entry_points(model: Model, options: Request) -> EntryPoints:
    """Return which functions are emitted; refuse names of none."""
    unknown = sorted(options.entries - ENTRIES)
    if unknown:
        raise OptionError(
            f"there is no entry point '{unknown[0]}'; there are {', '.join(sorted(ENTRIES))}"
        )
    return EntryPoints(
        raw=bool({"raw", "checked"} & options.entries) or any(f.thresholds for f in model.features),
        scores="scores" in options.entries,
        stream="stream" in options.entries,
        trusted="trusted" in options.entries,
    )


def fitting(
    programs: Sequence[Program],
    textbook: TextbookCost,
    model: Model,
    options: Request,
    printed: "Callable[[Attempt], Emission]",
) -> "Emission":
    """Choose the best kernel with which all that is emitted is within the budget."""
    entries = entry_points(model, options)
    is_smallest = options.optimize == "size" and entries.raw and not options.demands.is_special
    preferred = DIRECT if is_smallest and all(map(reads_directly, programs)) else None

    def attempted(budget: KernelBudget, discretize: Optimize) -> Attempt:
        choice = choose(
            programs,
            textbook,
            optimize=options.optimize,
            family=options.kernel or preferred,
            target=options.target,
            budget=budget,
            demands=options.demands,
        )
        return choice, *surrounded(choice.chosen, discretize)

    def surrounded(kernel: Candidate, discretize: Optimize) -> tuple[Layout, Estimate]:
        layout = laid_out(model, kernel, entries, options, discretize)
        return layout, estimate(layout, options.target, LEVELS[options.optimize])

    limits = options.budget
    budget = KernelBudget(limits, UNKNOWN, UNKNOWN)
    attempt = attempted(KernelBudget(), options.optimize)
    emission = printed(attempt)
    if not limits.admits(emission.resources):
        # Discretizers give way before a kernel does.
        attempt = attempted(KernelBudget(), "size")
        emission = printed(attempt)
    while not limits.admits(emission.resources):
        # What was tried does not fit beside the rest, so every turn has fewer candidates.
        kernel, found = attempt[0].chosen, emission.resources
        budget = budget.beside(found.flash - kernel.flash, found.ram + found.stack - kernel.ram)
        try:
            attempt = attempted(budget, "size")
        except BudgetError:
            # Kernels differ in how far off their estimates are: the least may fit all the same.
            least = min(attempt[0].candidates, key=lambda each: each.flash)
            choice = Choice(least, attempt[0].candidates, "the least by estimate, and it fits,")
            emission = printed((choice, *surrounded(least, "size")))
            if limits.admits(emission.resources):
                return emission
            raise
        emission = printed(attempt)
    return emission


def laid_out(
    model: Model,
    candidate: Candidate,
    entries: EntryPoints,
    options: Request,
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
        limits=checked_limits(model, options),
        units=units_of(model.features, model.training),
        may_copy=options.optimize == "speed",
        constant_time=options.constant_time,
    )
