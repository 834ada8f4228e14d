"""
The price of a layout: flash, time and stack of the entry points that are called.

A kernel decides on states. What calls it checks states or finds them from readings first, unless
it compares the readings themselves; all that is in the price, by which layouts are compared.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from bncc.lower.cost_model import LEVELS, Candidate, Level, TextbookCost, candidate
from bncc.lower.cut_conditions import COMPARED, Compared
from bncc.lower.cycle_rates import OTHERS, in_cycles
from bncc.lower.direct import OF_READINGS, can_read, has_keys, is_direct
from bncc.lower.discretizers.choice import Discretizers
from bncc.lower.input_check import InputCheck
from bncc.lower.kernels.base import Kernel
from bncc.lower.kernels.branches.layout import BranchKernel
from bncc.lower.reading_cost import reading_terms
from bncc.lower.request import Request
from bncc.lower.state_cost import STATE_ENTRY, StateTerms, state_terms
from bncc.lower.surroundings import check_of, discretizers_of, unread_features
from bncc.lower.textbook_readings import textbook_of_readings
from bncc.program.ir import Program
from bncc.resources import OF_READINGS as RAW_ENTRIES


@dataclass(frozen=True, eq=False)
class EntryPrices:
    """Prices of the layouts of a request's programs; what surrounds kernels is found once."""

    request: Request
    # Priced layouts by program and family, as long as the programs exist
    known: dict[tuple[int, str], list[Candidate]] = field(default_factory=dict)
    # By the features that a program does not read, and by bytes; all programs have all features
    _discretizers: dict[tuple[frozenset[int], int], Discretizers] = field(default_factory=dict)
    _checks: dict[tuple[frozenset[int], int], InputCheck] = field(default_factory=dict)
    _readable: dict[int, bool] = field(default_factory=dict)

    @property
    def level(self) -> Level:
        """The compiler's level."""
        return LEVELS[self.request.options.optimize]

    def of(self, program: Program, kernel: Kernel) -> Iterator[Candidate]:
        """Yield the layouts of a kernel: from states, from readings, or both."""
        for compare in self._ways(program, kernel):
            yield self.priced(program, kernel, compare)

    def priced(self, program: Program, kernel: Kernel, compare: Compared | None) -> Candidate:
        """Return a layout and the price of the entry points."""
        target = self.request.options.target
        plain = replace(candidate(program, kernel, target, self.level), compare=compare)
        raw = [entry for entry in self.request.priced if entry in RAW_ENTRIES]
        others = [entry for entry in self.request.priced if entry not in RAW_ENTRIES]
        is_read = bool(raw) and is_direct(program, kernel, compare)
        flash = times = ram = 0
        if others or not is_read:
            flash, times, ram = plain.flash, plain.instructions, plain.ram
        if others:
            check = self._checked(program, kernel.rom_bytes)
            is_checked = any(entry != "trusted" for entry in others)
            flash += check.code * is_checked
            times += check.work * is_checked
        if "scores-raw" in others:
            found = self._discretized(program, kernel.rom_bytes)
            flash += round(found.flash) if is_read or not raw else 0  # else counted below
            times += round(found.instructions)
        if is_read:
            terms = reading_terms(program, kernel, compare)
            # Rows are shared with what decides on states, lists of cuts are not.
            constants = terms.own_bytes if others else terms.rom_bytes
            flash += terms.code_bytes(target, self.level) + constants
            times = max(times, terms.instructions(target, self.level))
            ram = max(ram, plain.ram + terms.key_bytes)
        elif raw:
            found = self._discretized(program, kernel.rom_bytes)
            terms_of_states = state_terms(program, kernel, found, may_copy=self.may_copy)
            flash = self._flash_of_states(terms_of_states, flash if others else None)
            finding = terms_of_states.instructions(target, self.level)
            times = max(times, finding) if others else finding
            ram += len(program.features) * (1 if max(program.n_states) <= 255 else 2)
        if self.request.options.core is not None:
            times = round(in_cycles(times, kernel.family, self.request.options.core))
        return replace(plain, instructions=times, flash=flash, ram=ram)

    def textbook(self, program: Program, cost: TextbookCost) -> TextbookCost:
        """Return the textbook classifier's cost with the same check and discretizers."""
        options = self.request.options
        flash = times = 0.0
        if any(entry in RAW_ENTRIES for entry in self.request.priced):
            of_readings = textbook_of_readings(program, self.request.frequencies, options.target)
            flash, times = of_readings.flash, of_readings.instructions
        others = [entry for entry in self.request.priced if entry not in RAW_ENTRIES]
        if others:
            check, is_checked = self._checked(program, round(cost.flash)), others != ["trusted"]
            flash = max(flash, cost.flash) + check.code * is_checked
            times = max(times, cost.instructions + check.work * is_checked)
        return TextbookCost(in_cycles(times, OTHERS, options.core), flash)

    @property
    def may_copy(self) -> bool:
        """True if code may be copied into entry points."""
        options = self.request.options
        return options.optimize == "speed" and not options.constant_time

    def _flash_of_states(self, terms: StateTerms, others: float | None) -> int:
        """Return the bytes of an entry point that finds states, besides others with the kernel."""
        if others is None:
            return terms.rom_bytes + terms.code_bytes(self.request.options.target, self.level)
        finding = terms.finding_bytes(self.request.options.target, self.level)
        return round(others) + STATE_ENTRY + finding + terms.found.rom_bytes

    def _ways(self, program: Program, kernel: Kernel) -> Iterator[Compared | None]:
        """Yield the operands of ``predict_raw`` to be priced: as asked, else all possible ones."""
        options, entries = self.request.options, self.request.entries
        is_called = entries.raw and any(entry in RAW_ENTRIES for entry in self.request.priced)
        can_compare = (
            entries.raw
            and not options.demands.is_special
            and isinstance(kernel, OF_READINGS)
            and self._is_readable(program)
        )
        if options.compare is not None:
            ways: tuple[Compared | None, ...] = (options.compare,)
        elif isinstance(kernel, BranchKernel):
            # Trees compare readings in any case, which has no price where states alone are passed.
            ways = ("readings", "keys") if is_called and can_compare else (None,)
        else:
            ways = COMPARED if is_called else ("states",)
        for way in ways:
            is_of_readings = way in ("readings", "keys")
            if is_of_readings and not can_compare:
                continue
            if way != "keys" or has_keys(program, kernel):
                yield way

    def _is_readable(self, program: Program) -> bool:
        if id(program) not in self._readable:
            self._readable[id(program)] = can_read(program)
        return self._readable[id(program)]

    def _checked(self, program: Program, rom_bytes: int) -> InputCheck:
        key = (unread_features(self.request, program), rom_bytes)
        if key not in self._checks:
            self._checks[key] = check_of(self.request, program, rom_bytes)
        return self._checks[key]

    def _discretized(self, program: Program, rom_bytes: int) -> Discretizers:
        optimize = self.request.options.optimize
        # Other bytes of flash matter for `balanced` alone.
        other_bytes = rom_bytes if optimize == "balanced" else 0
        key = (unread_features(self.request, program), other_bytes)
        if key not in self._discretizers:
            self._discretizers[key] = discretizers_of(self.request, program, rom_bytes, optimize)
        return self._discretizers[key]
