"""Kernel selection: the proved candidates of every family, and the choice among them."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product

from bncc.errors import BudgetError, OptionError
from bncc.lower.c.constants import MOST_IN_ALL, must_be_divided
from bncc.lower.cost_model import LEVELS, Candidate, TextbookCost, candidate
from bncc.lower.cut_conditions import Compared
from bncc.lower.direct import OF_KEYS, OF_READINGS
from bncc.lower.entry_price import EntryPrices
from bncc.lower.input_check import NARROWEST
from bncc.lower.kernels.base import Kernel
from bncc.lower.kernels.families import FAMILIES, FOR_AVR
from bncc.lower.request import Demands
from bncc.program.ir import Program
from bncc.resources import Budget, Optimize
from bncc.targets import known_target

NO_LIMITS = Budget(None)
KEY_FAMILIES = tuple(name for name in FAMILIES if name in {each.family for each in OF_KEYS})
READING_FAMILIES = tuple(name for name in FAMILIES if name in {each.family for each in OF_READINGS})
"""Families with kernels that can compare keys of readings, and readings."""


@dataclass(frozen=True)
class KernelBudget:
    """Budget of a classifier, and the bytes of it that are not the kernel's."""

    # Limits of the whole classifier, which decide; by default there are none
    limits: Budget = NO_LIMITS
    # other_flash and other_ram: Bytes of everything but the kernel: thresholds, labels, entry
    # points
    other_flash: int = 0
    other_ram: int = 0
    # Likewise by what kernels compare, where known: those of readings need no discretizers
    others: Mapping[Compared | None, tuple[int, int]] = field(default_factory=dict)
    remedy: str = "train with fewer bits, fewer states or as naive Bayes"  # Smaller models

    def with_others(self, kernel: Candidate, flash: int, ram: int) -> "KernelBudget":
        """Return the budget if kernels that compare the same need at least these other bytes."""
        other_flash, other_ram = self._other_bytes(kernel)
        least = max(other_flash, flash), max(other_ram, ram)
        return replace(self, others={**self.others, kernel.compare: least})

    def utilization(self, candidate: Candidate) -> float:
        """Return the largest part of a limit that the classifier with this kernel would use."""
        return self.limits.utilization_of_bytes(*self._whole(candidate))

    def fits(self, candidate: Candidate) -> bool:
        """Return whether the classifier with this kernel is within the budget, by its estimate."""
        return self.utilization(candidate) <= 1

    def refusal(self, others: Sequence[Candidate], *, is_smallest: bool = True) -> BudgetError:
        """Report that no candidate fits, and which comes nearest."""
        nearest = min(others, key=lambda each: max(1.0, self.utilization(each)))
        family, (flash, ram) = nearest.kernel.family, self._whole(nearest)
        if self.fits(nearest):
            needs = self._needs(family, flash, ram, "about ")
            return BudgetError(f"no requested layout fits in {self}, but {needs}")
        return self.exceeded(family, flash, ram, is_smallest=is_smallest, roughly="about ")

    def exceeded(
        self, family: str, flash: int, ram: int, *, is_smallest: bool, roughly: str = ""
    ) -> BudgetError:
        """Report that the nearest classifier, with a kernel of a family, takes too many bytes."""
        cause = f"no kernel fits in {self}; {self._needs(family, flash, ram, roughly)}"
        advice = f"raise the budget, or {self.remedy}"
        smallest = f"{cause}: {advice}"
        message = smallest if is_smallest else f"{cause}: use --optimize size, {advice}"
        return BudgetError(message, self.limits.utilization_of_bytes(flash, ram), smallest)

    def _needs(self, family: str, flash: int, ram: int, roughly: str) -> str:
        limited = (
            None if self.limits.flash is None else flash,
            None if self.limits.ram is None else ram,
        )
        return f"the kernel '{family}' needs {roughly}{_bytes(*limited)}"

    def _other_bytes(self, kernel: Candidate) -> tuple[int, int]:
        return self.others.get(kernel.compare, (self.other_flash, self.other_ram))

    def _whole(self, kernel: Candidate) -> tuple[int, int]:
        flash, ram = self._other_bytes(kernel)
        return kernel.flash + flash, kernel.ram + ram

    def __str__(self) -> str:
        reserve = self.limits.reserve
        reserved = f" with {reserve} reserved" if reserve else ""
        return f"{_bytes(self.limits.room, self.limits.ram)}{reserved}"


def _bytes(flash: int | None, ram: int | None) -> str:
    pairs = ((flash, "flash"), (ram, "RAM"))
    return " and ".join(f"{n} bytes of {what}" for n, what in pairs if n is not None)


EVEN = 1.03
"""Factor over the textbook classifier that a balance accepts, or over the layout that loses least
to it where all lose more. Estimates are no more precise, and a layout of some bytes less may take
many more instructions."""


@dataclass(frozen=True, eq=False)
class Choice:
    """Chosen kernel and the reason."""

    chosen: Candidate  # The best proved layout; margins are those of the program for every input
    # All that were compared, the best first; the chosen one is the first within the budget
    candidates: tuple[Candidate, ...]
    reason: str  # What it is best in

    @property
    def kernel(self) -> Kernel:
        """The layout."""
        return self.chosen.kernel


def choose(
    programs: Sequence[Program],
    textbook: TextbookCost,
    *,
    optimize: Optimize = "balanced",
    family: str | None = None,
    target: str | None = None,
    budget: KernelBudget | None = None,
    demands: Demands | None = None,
    prices: EntryPrices | None = None,
) -> Choice:
    """Choose the best proved layout of a program, by decisions from states without `prices`."""
    if family not in (None, *FAMILIES):
        raise OptionError(f"unknown kernel '{family}'; choose from {', '.join(FAMILIES)}")
    demands = demands or Demands()
    suitable = tuple(filter(demands.allows, families_for(target)))
    if family:
        demands.check(family)
    families = (family,) if family else suitable
    found = list(_candidates(programs, families, optimize, target, prices))
    machine = known_target(target)
    if machine is not None and machine.address_bits == 16:
        found = [each for each in found if each.kernel.rom_bytes <= MOST_IN_ALL] or found
    compare = None if prices is None else prices.request.options.compare
    if not found and compare in ("readings", "keys"):
        raise OptionError(_no_comparison(compare, family, demands))
    if not found:
        raise OptionError(
            f"the kernel '{family}' has no safe layout for this model; name another or none"
        )
    budget = budget or KernelBudget()
    even = EVEN
    fitting = [each for each in found if budget.fits(each)]
    if fitting and family is None:
        # Where all that fit lose to the textbook, they are compared with the one that loses least.
        # A named family has the same layout in every version.
        least = min(_lost(each, textbook) for each in fitting)
        even = least * EVEN if least > EVEN else EVEN
    order = _order(optimize, textbook, even)
    if not fitting:
        every = _candidates(programs, suitable, optimize, target, prices)
        raise budget.refusal(sorted(every, key=order), is_smallest=optimize == "size")
    chosen = min(fitting, key=order)
    best = BEST[optimize]
    if optimize == "balanced" and _lost(chosen, textbook) > EVEN:
        best = NEAREST
    if prices is not None and prices.request.options.core is not None:
        best = best.replace("instructions", "cycles")
    found.sort(key=order)
    return Choice(chosen, tuple(found), _reason(best, len(fitting), len(found)))


def families_for(target: str | None) -> tuple[str, ...]:
    """Return the families to choose among on a target if none is named."""
    machine = known_target(target)
    has_bytes = machine is not None and machine.register_bits == 8
    left_out = frozenset[str]() if has_bytes else FOR_AVR
    return tuple(name for name in FAMILIES if name not in left_out)


def layouts_for(program: Program, family: str, target: str | None) -> Iterator[Kernel]:
    """Yield all proved layouts of a family that a target may choose."""
    machine = known_target(target)
    # Addresses of generic C may have 16 bits.
    is_narrow = target is None or (machine is not None and machine.address_bits == 16)
    for kernel in FAMILIES[family](program):
        if not (is_narrow and must_be_divided(kernel.whole_bytes, kernel.rom_bytes)):
            yield kernel
    if machine is not None and machine.register_bits > NARROWEST:
        yield from FAMILIES[family].in_registers(program, machine.register_bits)


def _no_comparison(compare: Compared, family: str | None, demands: Demands) -> str:
    """Describe why nothing is compared with cuts directly."""
    if demands.constant_time or demands.stream:
        cause = "--constant-time" if demands.constant_time else "feature-by-feature input"
        return f"{cause} compares states with cuts; leave out --compare"
    able = KEY_FAMILIES if compare == "keys" else READING_FAMILIES
    if family is not None and family not in able:
        return (
            f"the kernel {family} does not compare {compare} with cuts; choose --kernel from "
            f"{', '.join(able)}, or leave out --compare"
        )
    who = f"the kernel {family} cannot" if family else "no kernel can"
    what, only = "the readings of this model", ""
    if compare == "keys":
        what, only = f"keys of {what}", "; only boosted tables over floats have them"
    return f"{who} compare {what} with cuts{only}; leave out --compare"


def _candidates(
    programs: Sequence[Program],
    families: Iterable[str],
    optimize: Optimize,
    target: str | None,
    prices: EntryPrices | None,
) -> Iterator[Candidate]:
    for program, family in product(programs, families):
        if prices is None:
            for kernel in layouts_for(program, family, target):
                yield candidate(program, kernel, target, LEVELS[optimize])
            continue
        # Layouts of many tables take seconds, and a budget compares them several times.
        key = id(program), family
        if key not in prices.known:
            kernels = layouts_for(program, family, target)
            prices.known[key] = [one for kernel in kernels for one in prices.of(program, kernel)]
        yield from prices.known[key]


def _order(
    optimize: Optimize, textbook: TextbookCost, even: float
) -> Callable[[Candidate], tuple[float, ...]]:
    """Return a sort key that puts the best first; a balance accepts a loss up to ``even``."""
    if optimize == "size":
        return lambda each: (each.flash, each.instructions, each.ram)
    if optimize == "speed":
        return lambda each: (each.instructions, each.flash, each.ram)

    def balance(each: Candidate) -> tuple[float, ...]:
        lost = max(_lost(each, textbook), even)
        # No layout comes before one that is better in one of these and worse in none.
        return (lost, each.instructions * each.flash, each.instructions, each.ram)

    return balance


def _lost(candidate: Candidate, textbook: TextbookCost) -> float:
    """Return the larger of the factors of flash and instructions over the textbook's."""
    flash = candidate.flash / textbook.flash
    return max(flash, candidate.instructions / textbook.instructions)


def _reason(best: str, n_fitting: int, n_candidates: int) -> str:
    if n_candidates == 1:
        return "the only layout"
    within = "" if n_fitting == n_candidates else f" the {n_fitting} that fit of"
    return f"{best} of{within} {n_candidates} layouts"


BEST: Mapping[Optimize, str] = {
    "balanced": "least estimated flash times instructions, neither beyond the textbook's,",
    "size": "least flash",
    "speed": "fewest instructions",
}
"""Criterion by which the first candidate is best."""
NEAREST = "least beyond the textbook's flash or instructions"
"""The criterion for a balance if every layout exceeds the textbook in one of the two."""
