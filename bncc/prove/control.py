"""
Control flow of a run: instructions, the order of steps, and where jumps lead.

A jump by a table, as compilers make of a `switch`, leads where constants say, and a run finds out
at which numbers it reads the table. Until then, such targets are missing in the order of steps, and
a run that has met one must begin once more.
"""

from dataclasses import replace

from bncc.prove.code import Code
from bncc.prove.flow import Decode, Flow, flow_of
from bncc.prove.instructions import Instruction, Jump, UnknownInstruction
from bncc.prove.state import State
from bncc.prove.values import UndecidedError


class Control:
    """Instructions of a program in the order in which a run executes them."""

    def __init__(self, code: Code, decode: Decode, *, has_far_jumps: bool) -> None:
        self.functions = frozenset(code.symbols.values())
        self._plain_decode = decode
        self._has_far_jumps = has_far_jumps
        self._jumps: dict[int, Instruction] = {}
        self._flows: dict[int, Flow] = {}
        self._targets: dict[int, set[int]] = {}  # By the address of a jump by a table
        self._missed: tuple[int, ...] | None = None  # Order of the first jump to an unknown target

    # Targets of jumps by tables

    def restart(self) -> None:
        """Begin once more, with the targets that were found."""
        self._missed = None
        self._flows.clear()

    @property
    def is_complete(self) -> bool:
        """True if all targets of jumps were known."""
        return self._missed is None

    def is_behind(self, order: tuple[int, ...]) -> bool:
        """Return whether a step is behind a jump to an unknown target, and all paths to it."""
        return self._missed is not None and order > self._missed

    def adds(self, state: State, to: int) -> bool:
        """Add a target of a jump for the next run; return False if it is outside the function."""
        entry = state.frames[-1].entry
        if to < entry or any(entry < one <= to for one in self.functions):
            return False
        self._targets.setdefault(state.at, set()).add(to)
        self._missed = self._missed or self.order(state)
        return True

    def is_target(self, at: int, to: int) -> bool:
        """Return whether a target of a jump was found by an earlier run."""
        return to in self._targets.get(at, ())

    # Instructions

    def _decode(self, address: int) -> Instruction:
        """Decode; a call into the middle of a function is a far jump, as Thumb has no other."""
        if address not in self._jumps:
            found = self._plain_decode(address)
            last = found.effects[-1] if found.effects else None
            if (
                self._has_far_jumps
                and isinstance(last, Jump)
                and last.is_call
                and isinstance(last.target, int)
                and last.target not in self.functions
            ):
                effects = (*found.effects[:-1], replace(last, is_call=False))
                found = replace(found, effects=effects)
            self._jumps[address] = found
        return self._jumps[address]

    def decoded(self, address: int) -> Instruction:
        """Return an instruction; undecided if it is unknown."""
        try:
            return self._decode(address)
        except UnknownInstruction as error:
            raise UndecidedError("unknown-instruction", str(error)) from None

    def flow(self, entry: int) -> Flow:
        """Return the order of a function's instructions."""
        if entry not in self._flows:
            flow = flow_of(self._decode, entry, self._targets)
            self._check_targets(flow)
            self._flows[entry] = flow
        return self._flows[entry]

    def _check_targets(self, flow: Flow) -> None:
        """Verify that targets of jumps by tables are instructions, and no parts of others."""
        targets = set().union(*self._targets.values())
        ends = {at: end for at in flow.places if (end := self._end(at))} if targets else {}
        for one in targets & flow.places.keys():
            for at, end in ends.items():
                if at < one < end or one < at < ends.get(one, one):
                    raise UndecidedError("jump", f"a jump to {one:#x}, within an instruction")

    def _end(self, at: int) -> int | None:
        """Return the end of an instruction; None if it is unknown, to which no run may get."""
        try:
            one = self._decode(at)
        except UnknownInstruction:
            return None
        return at + one.size

    def order(self, state: State) -> tuple[int, ...]:
        """Return the order of a step: the place with the iterations of the loops around it."""
        frame = state.frames[-1]
        counts = dict(frame.counts)
        place = self.flow(frame.entry).places[state.at]
        key = list(frame.key)
        for k, position in enumerate(place):
            key.append(position)
            loop = place[: k + 1]
            if loop in counts:
                key.append(counts[loop])
        return tuple(key)

    def moved(self, state: State, to: int) -> State:
        """Return a state at another instruction of the same function."""
        then = self.decoded(state.at).then
        if to != then and (then is not None or self.decoded(to).is_inner):
            # Instructions may overlap: the end of one may be the `it` of others.
            raise UndecidedError("jump", f"a way to {to:#x} into or out of an IT block")
        frame = state.frames[-1]
        flow = self.flow(frame.entry)
        if to not in flow.places:
            raise UndecidedError("jump", f"a jump to {to:#x} leaves the function")
        here, there = flow.places[state.at], flow.places[to]
        if here[:-1] == there[:-1] and len(frame.counts) == len(there) - 1 and there[-1]:
            return state.but(at=to)  # In the same loops, and no iteration of one begins
        counts = dict(frame.counts)
        kept = {}
        for k in range(1, len(there)):
            loop = there[:k]
            if loop not in flow.heads:
                continue
            if here[:k] == loop:
                kept[loop] = counts.get(loop, 0) + (flow.heads[loop] == to)
            else:
                kept[loop] = 0
        changed = tuple(kept.items())
        frames = state.frames
        if changed != frame.counts:
            frames = (*frames[:-1], replace(frame, counts=changed))
        return state.but(at=to, frames=frames)
