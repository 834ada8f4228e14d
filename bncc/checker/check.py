"""Check of a certificate: every path between its states, and every end."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Any

import numpy as np

from bncc.checker.boxes import Box, Ints, meet, minus, restricted
from bncc.checker.machine import Memory, SplitError, State
from bncc.checker.model import Model, program_of
from bncc.checker.riscv import Riscv
from bncc.checker.thumb import Thumb
from bncc.checker.values import EXACT, UNKNOWN, WORD, Algebra, RejectedError, Term, Value, require

ERROR = WORD - 1
TARGETS = ("cortex-m0", "cortex-m3", "cortex-m4", "cortex-m7", "rv32")
SIZES = (1, 2, 4)
ENTRIES = ("predict-raw", "predict", "trusted", "scores")
MOST_WORK = 1 << 17
"""Largest amount of work that a certificate may claim, so that a false amount ends as well."""


def check(claims: Mapping[str, Any], elf: bytes, model: bytes) -> None:
    """Raise `RejectedError` unless a certificate proves its claims of a program and a model."""
    work = work_of(claims, elf, model)
    require(work == claims["work"], f"the check takes {work} steps, not {claims['work']}")


def work_of(claims: Mapping[str, Any], elf: bytes, model: bytes) -> int:
    """Check all but that no less work is done than claimed; return its amount."""
    require(claims["format"] == 4, "the certificate has not format 4; run `bncc prove -o` again")
    require(claims["work"] <= MOST_WORK, "the certificate claims more work than any check may take")
    require(claims["target"] in TARGETS, "the certificate has an unknown target")
    require(len(claims["states"]) > 0, "the certificate has no state")
    require(claims["entry"] in ENTRIES, "the certificate has an unknown entry point")
    sizes = SIZES if claims["entry"] == "scores" else (0,)
    require(claims["score_bytes"] in sizes, "scores have no size, or what has none has one")
    require(claims["elf"] == sha256(elf).hexdigest(), "the certificate is about another program")
    require(claims["model"] == sha256(model).hexdigest(), "the certificate is about another model")
    return Check(claims, elf, model).run()


class Check:
    """The states of a certificate, and the paths between them."""

    def __init__(self, claims: Mapping[str, Any], elf: bytes, model_file: bytes) -> None:
        self.claims, self.program, entry = claims, program_of(elf), claims["entry"]
        self.model = model = Model(model_file, entry, claims["axes"])
        self.algebra = Algebra(model.points)
        self.full = model.valid if entry == "trusted" else self.algebra.box
        self.score_size = claims["score_bytes"]
        self.classes = range(len(model.prior))
        is_riscv = claims["target"] == "rv32"
        self.isa: Any = (Riscv if is_riscv else Thumb)(self.program, claims["target"])
        # By region the alignment of its start, and the first and the last offset to write at
        self.regions: dict[str | None, tuple[int, int, int]] = {
            "stack": (self.isa.stack_alignment, -WORD, 0),
            "input": (max(model.sizes), 0, 0),
            "output": (max(1, self.score_size), 0, self.score_size * len(self.classes)),
        }
        self.work = 0
        self.maps = [np.array(one, dtype=np.int64).ravel() for one in claims["maps"]]
        terms = [self._term(*one) for one in claims["terms"]]
        self.values = [
            Value(c % WORD, tuple(terms[k] for k in own), base) for c, base, own in claims["values"]
        ]
        start, others = self._start(), claims["states"][1:]
        self.states = [start, *(self._state(one, start) for one in others)]
        self.boxes = [[self.full], *(self._boxes(one) for one in others)]

    def _start(self) -> State:
        """Return the state before the first instruction."""
        bases = {name: f"initial {name}" for name in self.isa.registers}
        bases |= {self.isa.stack: "stack", self.isa.link: "return"}
        bases |= dict(zip(self.isa.arguments, ("input", "output"), strict=True))
        registers = {name: Value(0, (), base) for name, base in bases.items()}
        memory: Memory = {}
        offset = 0
        for axis, (size, own) in enumerate(zip(self.model.sizes, self.model.points, strict=True)):
            reading = Value(0, (Term({axis: np.arange(len(own))}, own),))
            offset += -offset % size
            memory |= {("input", offset + k): (reading, k) for k in range(size)}
            offset += size
        margins = np.where(np.eye(len(self.classes), dtype=bool), 0, -WORD)
        at = self.program.symbols[self.claims["symbol"]]
        require(self.isa.decode(at).at is None, "the function begins within a block")
        return State(self, self.algebra, at, registers, memory, self.full, margins)

    def _term(self, axes: Sequence[int], maps: Sequence[int], numbers: Sequence[int]) -> Term:
        """Return a function of the certificate: levels by point, and numbers by level."""
        levels = {axis: self.maps[k] for axis, k in zip(axes, maps, strict=True)}
        are_right = (k >= 0 <= m.min() and len(m) == len(self.full[k]) for k, m in levels.items())
        require(all(are_right) and [*axes] == sorted(levels), "a function is malformed")
        grid = np.array(numbers, dtype=np.int64).reshape([1 + m.max() for m in levels.values()])
        require((np.abs(grid) < 1 << 40).all(), "the numbers of a function are too large")
        return Term(levels, grid)

    def _state(self, one: Mapping[str, Any], start: State) -> State:
        """Return a state of the certificate, for any inputs."""
        registers = dict.fromkeys(self.isa.registers, UNKNOWN)
        registers |= {name: self.values[k] for name, k in one["registers"].items()}
        memory, margins = dict(start.memory), start.margins
        for base, offset, size, k in one["memory"]:
            require(base in ("stack", "output") and size in SIZES, "a region of memory is unknown")
            memory |= {(base, offset + byte): (self.values[k], byte) for byte in range(size)}
        for fact in one["facts"]:
            margins = closed(margins, *map(int, fact))
        claims = {"at": one["at"], "steps": one["steps"], "deepest": one["deepest"]}
        return replace(start, registers=registers, memory=memory, margins=margins, **claims)

    def _boxes(self, one: Mapping[str, Any]) -> list[Box]:
        """Return the boxes of a state of the certificate."""
        boxes = [self.full for _ in one["region"]]
        for n, restrictions in enumerate(one["region"]):
            for axis, k in restrictions:
                boxes[n] = restricted(boxes[n], axis, np.repeat(self.maps[k] == 1, 2))
        return boxes

    # Paths

    def run(self) -> int:
        """Check each state's paths to the states after it; return the amount of work."""
        for k, state in enumerate(self.states):
            self.unused = {*map(tuple, self.claims["states"][k]["next"])}
            try:
                for box in self.boxes[k]:
                    self._follow(replace(state, box=box), k)
                require(not self.unused, "no path leads to a state that shall follow")
            except RejectedError as error:
                raise RejectedError(f"from state {k}: {error}") from None
        return self.work

    def _follow(self, start: State, k: int) -> None:
        """Follow all paths from a state to later ones or to their ends."""
        waiting, after = [start], self.claims["states"][k]["next"]
        orders = self.claims["states"][k]["orders"]
        while waiting:
            state = waiting.pop()
            place = state.steps - start.steps, state.at
            later = [(n, j) for n, j in after if j > k and (n, self.states[j].at) == place]
            if state.at < 0:
                self._end(state)
            elif later:
                self._cover(state, later)
            else:
                require(state.steps < self.claims["instructions"], "a path is too long")
                waiting += self._step(state, orders.get(str(state.at), ()))

    def _count(self) -> None:
        """Count the execution of an instruction or a comparison of states."""
        self.work += 1
        most = self.claims["work"]
        require(self.work <= most, f"the check takes more than the {most} steps claimed")

    def _step(self, state: State, orders: Sequence[Sequence[int]]) -> list[State]:
        """Execute one instruction; a state without an address has returned."""
        self._count()
        self.algebra.box = state.box
        self.algebra.order = lambda total: self._order(state, total, orders)
        instruction = self.isa.decode(state.at)
        path = replace(state, registers={**state.registers}, memory={**state.memory})
        try:
            to = instruction.action(path) or Value(state.at + instruction.size)
        except SplitError as split:
            sides = (replace(state, **side) for side in split.args)
            return [one for side in sides for one in self._step(side, orders)]
        except RejectedError as error:
            raise RejectedError(f"{error} at {state.at:#x}, {instruction.text}") from None
        is_return = to.base == "return" and to.const % WORD == 0
        require(not to.terms and (is_return or not to.base), "a jump that depends on the input")
        at = -1 if is_return else to.const % WORD
        only = None if is_return else self.isa.decode(at).at
        require(only == instruction.then, f"a jump into or out of a block at {state.at:#x}")
        return [path.moved(at)]

    def _order(self, state: State, total: Value, orders: Sequence[Sequence[int]]) -> bool | None:
        """
        Return whether a sum is negative, by the costs of the model that it compares.

        Without its lowest n bits it is 2^k times the difference of two costs, or less by one.
        """
        a = self.algebra
        for first, second, is_strict, n, k in (map(int, order) for order in orders):
            upper = a.split(total, n)[1] if n else total
            wanted = a.times(self.model.difference(first, second), -1 << k)
            if a.vanishes(a.add(a.add(upper, Value(1 - bool(is_strict))), wanted), EXACT):
                sides = (first, second, bool(is_strict)), (second, first, not is_strict)
                for is_negative, fact in zip((True, False), sides, strict=True):
                    if self._holds(*fact, state.margins):
                        return is_negative
                raise SplitError(*({"margins": closed(state.margins, *fact)} for fact in sides))
        return None

    def _holds(self, first: int, second: int, least: int, margins: Ints) -> bool:
        """Return whether a margin of costs is known, or follows from their bounds in the box."""
        difference = self.model.difference(second, first)
        return max(int(margins[first, second]), self.algebra.bounds(difference)[0]) >= least

    def _cover(self, state: State, later: Sequence[tuple[int, int]]) -> None:
        """Confirm that claimed states have all inputs of a path, and nothing that it has not."""
        for n, k in later:
            for part in self.boxes[k]:
                box = meet(state.box, part)
                if box is not None and self._is_within(replace(state, box=box), k):
                    self.unused.discard((n, k))
                    for rest in minus(state.box, box):
                        self._cover(replace(state, box=rest), later)
                    return
        raise RejectedError(f"a path to {state.at:#x} is not within the state claimed there")

    def _is_within(self, state: State, k: int) -> bool:
        """Return whether all that is claimed in a state holds in another one in the same box."""
        self._count()
        self.algebra.box, claimed, pairs = state.box, self.states[k], []
        for name, n in self.claims["states"][k]["registers"].items():
            pairs.append((self.values[n], state.registers.get(name, UNKNOWN), 4))
        for base, offset, size, n in self.claims["states"][k]["memory"]:
            pairs.append((self.values[n], state.loaded(base, offset, size), size))
        are_bounds = claimed.steps >= state.steps and claimed.deepest <= state.deepest
        are_known = are_bounds and (claimed.margins <= state.margins).all()
        return bool(are_known) and all(self._are_equal(*pair) for pair in pairs)

    def _are_equal(self, x: Value, y: Value, size: int) -> bool:
        """Return whether the lowest bytes of two values are the same for all inputs of the box."""
        are_related, a = x.base == y.base != "?", self.algebra
        return x is y or (are_related and a.vanishes(a.sub(x, y), 1 << 8 * size))

    # Ends

    def _end(self, end: State) -> None:
        """Confirm the bounds, the registers and the answer of a path that returns."""
        self.algebra.box = end.box
        require(-end.deepest <= self.claims["stack"], "the stack is deeper than claimed")
        for name in self.isa.kept:
            is_kept = self._are_equal(end.registers[name], self.states[0].registers[name], 4)
            require(is_kept, f"{name} is not restored")
        for answer, box in self.algebra.cases(end.registers[self.isa.arguments[0]]):
            self.algebra.box = box
            if answer == ERROR:
                require(
                    meet(box, self.model.valid) is None, "an error is returned for valid states"
                )
            else:
                are_valid = all((box[k] <= self.model.valid[k]).all() for k in self.model.used)
                require(are_valid and answer in self.classes, f"{answer} is returned")
            for c in self.classes if answer != ERROR else ():
                is_least = self._holds(answer, c, c < answer, end.margins)
                require(is_least, f"class {answer} is returned, and {c} may cost less")
            self._check_scores(end, answer)

    def _check_scores(self, end: State, answer: int) -> None:
        """Confirm that scores are costs less that of the answer, or zero in an error."""
        size = self.score_size
        for c in self.classes if size else ():
            wanted = Value(0) if answer == ERROR else self.model.difference(c, answer)
            found = end.loaded("output", c * size, size)
            fits = self.algebra.bounds(wanted)[1] < 1 << 8 * size
            require(fits and self._are_equal(wanted, found, size), f"score {c} differs")


def closed(margins: Ints, first: int, second: int, least: int) -> Ints:
    """Return margins with another one and what follows from it."""
    found: Ints = np.maximum(margins, margins[:, [first]] + least + margins[[second]])
    return found
