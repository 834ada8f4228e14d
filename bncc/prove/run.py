"""
Abstract run: executes machine code once for all inputs.

A branch on a reading splits the inputs, and paths merge where they meet. A comparison of sums of
many inputs splits the path, with a fact about the order of the two sums.
"""

import heapq
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import count
from typing import Protocol

from bncc.prove.code import Code
from bncc.prove.control import Control
from bncc.prove.deadline import Deadline
from bncc.prove.diagrams import FALSE, TRUE
from bncc.prove.differences import Differences
from bncc.prove.expressions import Expressions
from bncc.prove.flow import Decode
from bncc.prove.instructions import (
    Effect,
    Expr,
    Flags,
    Instruction,
    Jump,
    Load,
    Set,
    Store,
)
from bncc.prove.machines import Machine
from bncc.prove.meeting import Meeting, looks_of
from bncc.prove.memory import Memory
from bncc.prove.regions import Box, Region, both, count_inputs, joined
from bncc.prove.specification import Input, Specification
from bncc.prove.state import ApartError, Content, Draft, Fact, Frame, State, merged, read, within
from bncc.prove.values import (
    AlignmentError,
    Exact,
    OpenOrderError,
    UndecidedError,
    Value,
    ViolationError,
    signed,
)
from bncc.prove.words import Words

MOST_STEPS = 4_000_000
"""Number of executed instructions beyond which a run gives up."""
Ordering = Callable[[Exact, Region], tuple[Fact, ...]]
"""Names what is true in a region where a sum is negative; empty if it compares no two costs."""
Scale = Callable[[Exact, Region], tuple[int, int]]
"""Returns n and k: without its lowest n bits, such a sum is 2^k times a difference of costs."""


class Recorder(Protocol):
    """Records how paths meet, as evidence for what a run shows."""

    def begin(self, algebra: Words, of: Specification, scale: Scale) -> None:
        """
        Begin a run with its algebra and specification, and the scale of its comparisons.

        A proof may be tried several times: what was recorded before is of another run.
        """

    def restart(self) -> None:
        """Forget what was recorded of a run that begins once more."""

    def met(self, one: State, other: State, merged: State) -> State:
        """Return two states as one, with the trails of both."""

    def reached(self, states: list[State]) -> list[State]:
        """Return the states of one place, with trails that begin there if any paths met."""

    def compared(self, state: State, fact: Fact, total: Exact) -> None:
        """Note what a comparison of sums is about, whose difference is given."""


class Run:
    """The abstract run of one function."""

    _expressions_of: type[Expressions] = Expressions
    _memory_of: type[Memory] = Memory

    def __init__(
        self,
        code: Code,
        decode: Decode,
        machine: Machine,
        inputs: tuple[Input, ...],
        n_output: int,
        ordering: Ordering,
        deadline: Deadline | None = None,
        recorder: Recorder | None = None,
        alignments: Mapping[str, int] | None = None,
    ) -> None:
        self._machine = machine
        self._recorder = recorder
        self._control = Control(code, decode, has_far_jumps=machine.has_far_jumps)
        self._ordering = ordering
        self._deadline = deadline or Deadline()
        self.algebra = Words(tuple(one.numbers for one in inputs), deadline)
        pairs = {axis: one.difference for axis, one in enumerate(inputs) if one.difference}
        self.algebra.differences = Differences(pairs, self.algebra.partitions) if pairs else None
        stored = tuple(one for one in inputs if one.difference is None)
        aligned = {**(alignments or {}), "stack": machine.stack_alignment}
        self._expressions = self._expressions_of(self.algebra)
        self._memory = self._memory_of(code, stored, n_output, self.algebra, aligned)
        self._pending: dict[tuple[object, ...], Meeting] = {}
        self._heap: list[tuple[tuple[int, ...], int, tuple[object, ...]]] = []
        self._ticket = count()
        self.always: frozenset[Fact] = frozenset()  # Facts that hold for every input
        self.implied: Callable[[frozenset[Fact]], frozenset[Fact]] = lambda facts: facts
        self.ends: list[State] = []
        self.n_executed = 0

    def go(self, entry: int) -> list[State]:
        """
        Run a function and return the states in which it returns.

        The order of instructions depends on where jumps by tables lead, which a run finds out: it
        begins once more with those.
        """
        while not self._is_done(entry):
            self._control.restart()
            for known in (self._pending, self._heap, self.ends):
                known.clear()
            if self._recorder is not None:
                self._recorder.restart()
        return self.ends

    def _is_done(self, entry: int) -> bool:
        """Run a function; return whether all targets of its jumps were known."""
        self._push(replace(self._start(entry), facts=self.implied(self.always)))
        while self._heap:
            order, _, place = heapq.heappop(self._heap)
            if self._control.is_behind(order):
                break
            states = self._pending.pop(place).states()
            if self._recorder is not None:
                states = self._recorder.reached(states)
            for state in states:
                self._advance(state, is_alone=len(states) == 1)
        return self._control.is_complete

    def _start(self, entry: int) -> State:
        machine = self._machine
        registers: dict[str, Content] = {
            name: Value(0, base=f"initial {name}") for name in machine.registers
        }
        registers[machine.stack] = Value(0, base="stack")
        registers[machine.link] = Value(0, base="return")
        for name, base in zip(machine.arguments, ("input", "output"), strict=False):
            registers[name] = Value(0, base=base)
        for name, number in machine.constants.items():
            registers[name] = Value(number)
        return State(entry, (Frame(entry, -1, -1, ()),), registers)

    def result(self, end: State) -> Content:
        """Return what a function returns in a state."""
        return end.registers[self._machine.result]

    def written(self, end: State, at: int, size: int) -> Content | None:
        """Return a number in the output; None if it is not written."""
        return self._memory.part(end.output, at, size)

    # Scheduling

    def _push(self, state: State) -> None:
        order = self._control.order(state)
        place = (order, state.at, tuple(frame.after for frame in state.frames))
        meeting = self._pending.get(place)
        if meeting is None:
            meeting = self._pending[place] = Meeting()
            heapq.heappush(self._heap, (order, next(self._ticket), place))
        # Paths that part in an IT block meet behind it: what one of them stores, the other may not.
        is_inner = self._control.decoded(state.at).is_inner
        looks = looks_of(state)
        for number, other in () if is_inner else meeting.candidates(looks):
            one = merged(other, state, self.algebra, self.algebra.full)
            if one is not None:
                if self._recorder is not None:
                    one = self._recorder.met(other, state, one)
                meeting.remove(number)
                meeting.add(one, looks_of(one))
                return
        meeting.add(state, looks)

    def _advance(self, state: State, *, is_alone: bool) -> None:
        """Execute instructions until paths split or another path is behind."""
        while True:
            following = self._step(state)
            if len(following) != 1 or self._heap or not is_alone:
                for one in following:
                    self._push(one)
                return
            state = following[0]

    # Execution

    def _step(self, state: State) -> list[State]:
        self.n_executed += 1
        if self.n_executed > MOST_STEPS:
            raise UndecidedError("steps", "the function runs for too many instructions")
        self._deadline.check()
        instruction = self._control.decoded(state.at)
        self.algebra.region = state.region
        self.algebra.is_negative = lambda total: self._known(state, total)
        try:
            return self._execute(state, instruction)
        except (OpenOrderError, ApartError) as split:
            # All sides take the step at once: apart they would merge here again.
            return [one for side in self._sides(state, split) for one in self._step(side)]
        except UndecidedError as reason:
            raise self._placed(reason, state) from None

    def _placed(self, reason: UndecidedError, state: State) -> UndecidedError:
        """Return a reason with the instruction at which it was found first."""
        if reason.place is None:
            reason.place = f"{state.at:#x}, `{self._control.decoded(state.at).text}`"
        return reason

    def _sides(self, state: State, split: OpenOrderError | ApartError) -> list[State]:
        if isinstance(split, ApartError):
            return self._split_by_regions(state, split)
        return self._split_by_order(state, split.difference)

    def _known(self, state: State, total: Exact) -> bool | None:
        for a, b, is_strict in self._names(state, total):
            if (a, b, True) in state.facts or (not is_strict and (a, b, False) in state.facts):
                return True
            if (b, a, True) in state.facts or (is_strict and (b, a, False) in state.facts):
                return False
        return None

    def _names(self, state: State, total: Exact) -> tuple[Fact, ...]:
        facts = self._ordering(total, state.region) or ((total.key(), "zero", True),)
        if self._recorder is not None:
            for fact in facts:
                self._recorder.compared(state, fact, total)
        return facts

    def _split_by_order(self, state: State, total: Exact) -> list[State]:
        less = more = state.facts
        for a, b, is_strict in self._names(state, total):
            less = closed(less, (a, b, is_strict))
            more = closed(more, (b, a, not is_strict))
        return [state.but(facts=self.implied(one), is_parted=True) for one in (less, more)]

    def _split_by_regions(self, state: State, reason: ApartError) -> list[State]:
        """Return a state of each region; they must cover that of the whole state."""
        full = self.algebra.full
        parts = [joined(r, full) for own in reason.regions if (r := both(own, state.region))]
        n_found = sum(count_inputs(part, full) for part in parts)
        if len(parts) < 2 or n_found != count_inputs(state.region, full):
            raise self._placed(reason, state)
        return [state.but(region=part) for part in parts]

    def _execute(self, state: State, instruction: Instruction) -> list[State]:
        following = instruction.address + instruction.size
        if instruction.condition is not None:
            condition = self._expressions.value(Draft(state), instruction.condition)
            if condition.number is None:
                taken, skipped = self._split(state, condition)
                found = (
                    [] if skipped is None else [self._control.moved(_counted(skipped), following)]
                )
                if taken is not None:
                    self.algebra.region = taken.region
                    found += self._effects(taken, instruction, following)
                return found
            if not condition.const:
                return [self._control.moved(_counted(state), following)]
        return self._effects(state, instruction, following)

    def _effects(self, state: State, instruction: Instruction, following: int) -> list[State]:
        draft = Draft(state)
        for effect in instruction.effects:
            if isinstance(effect, Jump):
                self._check_frame(draft)
                return self._jump(draft, effect, following)
            self._apply(draft, effect)
        self._check_frame(draft)
        return [self._control.moved(_counted(self._checked(draft.state())), following)]

    def _check_frame(self, draft: Draft) -> None:
        """
        Verify that no write was below the stack pointer, where an interrupt would change it.

        Forget for the same reason what was there before the pointer moved up.
        """
        pointer = draft.registers[self._machine.stack]
        if draft.lowest < 0:
            own = read(pointer, self.algebra)
            if own.base != "stack" or draft.lowest < signed(own.const):
                raise ViolationError(
                    f"a write at {draft.lowest:+d} of the stack, below its pointer"
                )
        if pointer is not draft.before.registers[self._machine.stack]:
            draft.forget_below(self._lowest(read(pointer, self.algebra)))

    def _lowest(self, pointer: Value) -> int:
        """
        Return the offset of the stack pointer, which must not depend on the input.

        Where it is above that of the caller, an interrupt would change the caller's stack.
        """
        if pointer.base != "stack" or pointer.terms:
            raise UndecidedError("pointers", "the stack pointer is not a constant of the call")
        at = signed(pointer.const)
        if at > self._machine.returned:
            raise ViolationError(f"the stack pointer is at {at:+d}, above that of the caller")
        return at

    def _check_pointer(self, pointer: Value) -> None:
        """Verify that the stack pointer stays the multiple that the processor makes of it."""
        multiple, at = self._machine.stack_multiple, self._lowest(pointer)
        if at % multiple:
            raise AlignmentError(f"the stack pointer is at {at:+d}, no multiple of {multiple}")

    def _check_read(self, draft: Draft, address: Value) -> None:
        """Verify that no read is below the stack pointer, where an interrupt may have written."""
        if address.base != "stack" or address.terms:
            return
        pointer = draft.before.registers[self._machine.stack]
        if isinstance(pointer, Value) and signed(address.const) < signed(pointer.const):
            at = signed(address.const)
            raise ViolationError(f"a read at {at:+d} of the stack, below its pointer")

    def _checked(self, state: State) -> State:
        """Note the depth of the stack."""
        pointer = state.registers[self._machine.stack]
        if isinstance(pointer, Value) and pointer.base == "stack" and not pointer.terms:
            depth = signed(pointer.const)
            if depth < state.deepest:
                return state.but(deepest=depth)
        return state

    def _apply(self, draft: Draft, effect: Effect) -> None:
        if isinstance(effect, Set):
            content = self._content(draft, effect.value)
            if draft.guard != TRUE:
                content = within(content, draft.guard, self.algebra)
            if effect.register == self._machine.stack and self._machine.stack_multiple > 1:
                self._check_pointer(read(content, self.algebra))
            draft.registers[effect.register] = content
        elif isinstance(effect, Load):
            address = self.algebra.plain(self._expressions.value(draft, effect.address))
            self._check_read(draft, address)
            loaded = self._memory.load(draft, address, effect.size, anywhere=effect.anywhere)
            if effect.is_signed:
                loaded = self.algebra.signed(read(loaded, self.algebra), 8 * effect.size)
            draft.registers[effect.register] = loaded
        elif isinstance(effect, Store):
            address = self.algebra.plain(self._expressions.value(draft, effect.address))
            content = self._content(draft, effect.value)
            self._memory.store(draft, address, effect.size, content, anywhere=effect.anywhere)
        elif isinstance(effect, Flags):
            self._expressions.set_flags(draft, effect)

    def _content(self, draft: Draft, expression: Expr) -> Content:
        """Return the value of an expression; a register is copied, known or not."""
        if isinstance(expression, str):
            return draft.registers[expression]
        low = self._expressions.low_of_address(draft, expression)
        return self._expressions.value(draft, expression) if low is None else low

    def _jump(self, draft: Draft, jump: Jump, following: int) -> list[State]:
        state = _counted(self._checked(draft.state()))  # A call may push its return address
        found: list[State] = []
        if jump.condition is not None:
            condition = self._expressions.value(draft, jump.condition)
            if condition.number is None:
                taken, skipped = self._split(state, condition)
                if skipped is not None:
                    found.append(self._control.moved(skipped, following))
                if taken is None:
                    return found
                state = taken
                self.algebra.region = state.region
            elif not condition.const:
                return [self._control.moved(state, following)]
        target = self.algebra.plain(self._expressions.value(draft, jump.target))
        for one, address in self._by_target(state, target):
            number = address.number
            if jump.keeps_thumb and number is not None and not number & 1:
                raise UndecidedError("jump", "a jump out of Thumb state")
            found += self._land(one, address, jump.is_call, following)
        return found

    def _by_target(self, state: State, target: Value) -> Iterator[tuple[State, Value]]:
        """Yield a state of each address of a jump, which together are the whole state."""
        if target.base is not None or not target.terms:
            yield state, target
            return
        algebra = self.algebra
        term = algebra.single(target, "the address of a jump")
        regions: dict[int, list[Box]] = {}
        for cell, number in zip(term.partition.cells, term.values.tolist(), strict=True):
            regions.setdefault(number, []).extend(both(cell, state.region))
        parts = {k: joined(boxes, algebra.full) for k, boxes in regions.items() if boxes}
        n_found = sum(count_inputs(part, algebra.full) for part in parts.values())
        if n_found != count_inputs(state.region, algebra.full):
            raise UndecidedError("jump", "a jump to an address that is not known for some inputs")
        for number, part in parts.items():
            yield state.but(region=part), Value(number)

    def _land(self, state: State, target: Value, is_call: bool, following: int) -> list[State]:
        if target.base == "return" and not target.terms and target.const == 0:
            if len(state.frames) != 1:
                raise UndecidedError("jump", "a called function returns to the caller's caller")
            self.ends.append(self._checked(state))
            return []
        if target.number is None:
            raise UndecidedError("jump", "a jump to an address that depends on the input")
        to = target.const & ~1
        if self._control.decoded(to).is_inner:
            raise UndecidedError("jump", f"a jump to {to:#x}, into an IT block")
        if is_call:
            order = self._control.order(state)
            frame = Frame(to, following, state.at, order)
            if any(one.entry == to for one in state.frames):
                raise UndecidedError("jump", "recursion")
            return [state.but(at=to, frames=(*state.frames, frame))]
        if len(state.frames) > 1 and to == state.frames[-1].after:
            caller = state.but(frames=state.frames[:-1])
            call = state.frames[-1].call
            return [self._control.moved(caller.but(at=call), to)]
        frame = state.frames[-1]
        is_known = to in self._control.flow(frame.entry).places
        if not is_known and self._may_enter(to):
            # A jump by a register to another function, which returns to this one's caller.
            if any(one.entry == to for one in state.frames):
                raise UndecidedError("jump", "recursion")
            other = Frame(to, frame.after, frame.call, self._control.order(state))
            return [state.but(at=to, frames=(*state.frames[:-1], other))]
        if not is_known:
            if self._control.adds(state, to):
                return []
            if len(state.frames) > 1:
                # A library routine for a `switch` returns to a case behind its call.
                caller = state.but(frames=state.frames[:-1], at=frame.call)
                if self._control.is_target(frame.call, to):
                    return [self._control.moved(caller, to)]
                if self._control.adds(caller, to):
                    return []
        return [self._control.moved(state, to)]

    def _may_enter(self, address: int) -> bool:
        """Return whether a jump by a register may continue in another function."""
        return address in self._control.functions

    def _split(self, state: State, condition: Value) -> tuple[State | None, State | None]:
        """Return the state where a condition holds, and where not."""
        sides: list[State | None] = []
        if self.algebra.is_word(condition):
            return self._split_by_bit(state, self.algebra.bits(condition)[0])
        gate = self.algebra.gate(condition)
        for wanted in (1, 0):
            inside: Region = tuple(
                box
                for cell, value in zip(gate.partition.cells, gate.values, strict=True)
                if value == wanted
                for box in cell
            )
            region = joined(both(inside, state.region), self.algebra.full)
            sides.append(state.but(region=region) if region else None)
        return sides[0], sides[1]

    def _split_by_bit(self, state: State, bit: int) -> tuple[State | None, State | None]:
        diagrams, holds = self.algebra.diagrams, self.algebra.lifted(bit)
        taken, skipped = (
            self._guarded(state, diagrams.both(state.guard, one))
            for one in (holds, diagrams.no(holds))
        )
        return taken, skipped

    def _guarded(self, state: State, guard: int) -> State | None:
        """Return a state where a guard holds, with what it implies; None if nowhere."""
        if guard == FALSE:
            return None
        registers = {
            name: within(content, guard, self.algebra) for name, content in state.registers.items()
        }
        return state.but(registers=registers, guard=guard, is_parted=True)


def _counted(state: State) -> State:
    return state.but(steps=state.steps + 1)


def closed(facts: frozenset[Fact], fact: Fact) -> frozenset[Fact]:
    """Return facts with another one and all that follow from it."""
    a, b, is_strict = fact
    below = [(a, is_strict), *((x, s or is_strict) for x, y, s in facts if y == a)]
    above = [(b, False), *((y, s) for x, y, s in facts if x == b)]
    found = {(x, y, s or t) for x, s in below for y, t in above if x != y}
    # With each the weaker one, which paths that meet may have in common.
    return facts | found | {(x, y, False) for x, y, _ in found}
