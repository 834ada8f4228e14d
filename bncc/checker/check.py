"""Check of a certificate: every path between its states, and every end."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Any

import numpy as np

from bncc.checker.machine import Machine, Memory, State, loaded
from bncc.checker.model import Model, program_of
from bncc.checker.riscv import Riscv
from bncc.checker.thumb import Thumb
from bncc.checker.values import (
    UNKNOWN,
    WORD,
    Algebra,
    Box,
    RejectedError,
    Term,
    Value,
    meet,
    minus,
    require,
    restricted,
)

ERROR = WORD - 1
TARGETS = ("cortex-m0", "cortex-m3", "cortex-m4", "cortex-m7", "rv32")
SIZES = (1, 2, 4)
ENTRIES = ("predict-raw", "predict", "trusted", "scores")
MOST_WORK = 1 << 17
"""Largest amount of work that a certificate may claim, so that a false amount ends as well."""


def check(claims: Mapping[str, Any], elf: bytes, model_file: bytes) -> None:
    """Raise `RejectedError` unless a certificate proves its claims of a program and a model."""
    work = work_of(claims, elf, model_file, claims.get("work", 0))
    require(work == claims["work"], f"the check takes {work} steps, not {claims['work']}")


def work_of(claims: Mapping[str, Any], elf: bytes, model_file: bytes, most: int) -> int:
    """Check all but the amount of work, which is returned; reject what takes more than `most`."""
    model = Model(model_file)
    require(claims["format"] == 3, "the certificate has not format 3; run `bncc prove -o` again")
    require(most <= MOST_WORK, "the certificate claims more work than any check may take")
    require(claims["target"] in TARGETS, "the certificate has an unknown target")
    require(len(claims["states"]) > 0, "the certificate has no state")
    require(claims["entry"] in ENTRIES, "the certificate has an unknown entry point")
    require(claims["elf"] == sha256(elf).hexdigest(), "the certificate is about another program")
    require(claims["model"] == model.digest, "the certificate is about another model")
    return _Check(claims, elf, model).run(most)


class _Check:
    def __init__(self, claims: Mapping[str, Any], elf: bytes, model: Model) -> None:
        self.claims, self.model, program = claims, model, program_of(elf)
        sizes = model.sizes(claims["entry"])
        starts = [np.array(one, dtype=np.int64) for one in claims["axes"]]
        limits = [np.append(one, 1 << 8 * n)[1:] for one, n in zip(starts, sizes, strict=True)]
        self.algebra = Algebra(starts, [limit - 1 for limit in limits])
        model.read(claims["entry"], self.algebra.points)
        self.full = model.valid if claims["entry"] == "trusted" else self.algebra.box
        self.score_size = claims["score_bytes"] if claims["entry"] == "scores" else 0
        require(self.score_size in SIZES or claims["entry"] != "scores", "scores have no size")
        self.classes = range(len(model.prior))
        is_thumb = claims["target"] != "rv32"
        self.isa: Thumb | Riscv = Thumb(program, claims["target"]) if is_thumb else Riscv(program)
        n_output = self.score_size * len(self.classes)
        self.machine = Machine(self.isa, program, model, self.algebra, n_output)
        self.machine.alignments |= {"input": max(1, *sizes), "output": max(1, self.score_size)}
        # The state before the first instruction
        names = {name: f"initial {name}" for name in self.isa.registers}
        names |= {self.isa.stack: "stack", self.isa.link: "return"}
        names |= dict(zip(self.isa.arguments, ("input", "output"), strict=True))
        registers = {name: Value(0, (), base) for name, base in names.items()}
        memory: Memory = {}
        offset = 0
        for axis, size in enumerate(sizes):
            reading = Value(0, (self.algebra.line(axis, self.algebra.points[axis]),))
            offset += -offset % size
            memory |= {("input", offset + k): (reading, k) for k in range(size)}
            offset += size
        entry = State(program.symbols[claims["symbol"]], registers, memory, self.full)
        # Those of the certificate
        self.maps = [np.array(one, dtype=np.int64) for one in claims["maps"]]
        terms = [self._term(*one) for one in claims["terms"]]
        self.values = [
            Value(c % WORD, tuple(terms[k] for k in own), base) for c, base, own in claims["values"]
        ]
        self.states = [entry, *(self._state(one, memory) for one in claims["states"][1:])]
        self.boxes = [[self.full], *(self._boxes(one) for one in claims["states"][1:])]

    def _term(self, axes: Sequence[int], maps: Sequence[int], numbers: Sequence[int]) -> Term:
        """Return a function of the certificate: levels by point, and numbers by level."""
        levels = {axis: self.maps[k] for axis, k in zip(axes, maps, strict=True)}
        are_right = (k >= 0 <= m.min() and len(m) == len(self.full[k]) for k, m in levels.items())
        require(all(are_right) and [*axes] == sorted(levels), "a function is malformed")
        grid = np.array(numbers, dtype=np.int64).reshape([1 + m.max() for m in levels.values()])
        require((np.abs(grid) < 1 << 40).all(), "the numbers of a function are too large")
        return Term(levels, grid)

    def _state(self, one: Mapping[str, Any], memory: Memory) -> State:
        """Return a state of the certificate, for the inputs of all its boxes."""
        registers = dict.fromkeys(self.isa.registers, UNKNOWN)
        registers |= {name: self.values[k] for name, k in one["registers"].items()}
        for base, offset, size, k in one["memory"]:
            require(base in ("stack", "output") and size in SIZES, "a region of memory is unknown")
            written = {(base, offset + byte): (self.values[k], byte) for byte in range(size)}
            memory = memory | written
        facts = frozenset((i, j, bool(is_strict)) for i, j, is_strict in one["facts"])
        return State(one["at"], registers, memory, self.full, facts, one["steps"], one["deepest"])

    def _boxes(self, one: Mapping[str, Any]) -> list[Box]:
        """Return the boxes of a state of the certificate."""
        boxes = [self.full for _ in one["region"]]
        for n, restrictions in enumerate(one["region"]):
            for axis, k in restrictions:
                boxes[n] = restricted(boxes[n], axis, np.repeat(self.maps[k] == 1, 2))
        return [box for box in boxes if all(allowed.any() for allowed in box)]

    def run(self, most: int) -> int:
        """Check each state's paths to the states after it; return the amount of work."""
        self.machine.most = most
        for k, one in enumerate(self.claims["states"]):
            self.next, self.used = [*map(tuple, one["next"])], set[tuple[int, int]]()
            self.machine.orders = one["orders"]
            try:
                require(all(to > k for _, to in self.next), "a state leads to one before it")
                for box in self.boxes[k]:
                    self._follow(replace(self.states[k], box=box))
                require(self.used == {*self.next}, "no path leads to a state that shall follow")
            except RejectedError as error:
                raise RejectedError(f"from state {k}: {error}") from None
        return self.machine.work

    def _follow(self, start: State) -> None:
        """Follow all paths from a state to later ones or to their ends."""
        waiting = [start]
        while waiting:
            state = waiting.pop()
            steps = state.steps - start.steps
            here = [k for n, k in self.next if n == steps and self.states[k].at == state.at]
            if state.at < 0:
                self._end(state)
            elif here:
                self._cover(state, here, steps)
            else:
                require(state.steps < self.claims["instructions"], "a path is too long")
                waiting += self.machine.step(state)

    def _cover(self, state: State, here: Sequence[int], steps: int) -> None:
        """Confirm that claimed states have all inputs of a path, and nothing that it has not."""
        for k, part in [(target, part) for target in here for part in self.boxes[target]]:
            box = meet(state.box, part)
            if box is not None and self._is_within(replace(state, box=box), k):
                self.used.add((steps, k))
                for rest in minus(state.box, box):
                    self._cover(replace(state, box=rest), here, steps)
                return
        raise RejectedError(f"a path to {state.at:#x} is not within the state claimed there")

    def _is_within(self, state: State, k: int) -> bool:
        """Return whether all that is claimed in a state holds in another one in the same box."""
        self.machine.count()
        self.algebra.box, one, claimed = state.box, self.claims["states"][k], self.states[k]
        is_bound = claimed.steps >= state.steps and claimed.deepest <= state.deepest
        if not is_bound or not claimed.facts <= state.facts:
            return False
        pairs = [
            (claimed.registers[name], state.registers.get(name, UNKNOWN), WORD)
            for name in one["registers"]
        ]
        for base, offset, size, number in one["memory"]:
            places = [(base, offset + byte) for byte in range(size)]
            if any(claimed.memory[place] != state.memory.get(place) for place in places):
                found = loaded(self.algebra, state.memory, base, offset, size)
                pairs.append((self.values[number], found, 1 << 8 * size))
        return all(x is y or self._are_equal(x, y, modulus) for x, y, modulus in pairs)

    def _are_equal(self, x: Value, y: Value, modulus: int) -> bool:
        return x.base == y.base != "?" and self.algebra.vanishes(self.algebra.sub(x, y), modulus)

    # Ends

    def _end(self, end: State) -> None:
        """Confirm the bounds, the registers and the answer of a path that returns."""
        is_bound = -end.deepest <= self.claims["stack"]
        require(is_bound and end.steps <= self.claims["instructions"], "a bound is exceeded")
        for name in self.isa.kept:
            x, base = end.registers[name], "stack" if name == self.isa.stack else f"initial {name}"
            require((x.base, x.const, x.terms) == (base, 0, ()), f"{name} is not restored")
        decided = end.box
        for axis in self.model.used:
            self._check_answers(end, restricted(decided, axis, ~self.model.valid[axis]), False)
            decided = restricted(decided, axis, self.model.valid[axis])
        self._check_answers(end, decided, True)

    def _check_answers(self, end: State, box: Box, is_decided: bool) -> None:
        """Confirm what is returned for the inputs of a box, whose used states are valid or not."""
        if not all(allowed.any() for allowed in box):
            return
        self.algebra.box = box
        for answer, own in self.algebra.cases(end.registers[self.isa.arguments[0]]):
            self.algebra.box = own
            if answer == ERROR:
                is_right = not is_decided or meet(own, self.model.valid) is None
                require(is_right, "an error is returned for valid states")
            else:
                require(is_decided and answer in self.classes, f"{answer} is returned")
            for c in self.classes if answer != ERROR else ():
                is_least = c == answer or self.machine.holds((answer, c, c < answer), end.facts)
                require(is_least, f"class {answer} is returned, and {c} may cost less")
            self._check_scores(end, answer)

    def _check_scores(self, end: State, answer: int) -> None:
        """Confirm that scores are costs less that of the answer, or zero in an error."""
        most = 1 << 8 * self.score_size
        for c in self.classes if self.score_size else ():
            wanted = Value(0) if answer == ERROR else self.model.difference(c, answer)
            found = loaded(self.algebra, end.memory, "output", c * self.score_size, self.score_size)
            fits = self.algebra.bounds(wanted)[1] < most
            require(fits and self._are_equal(wanted, found, most), f"score {c} differs")
