"""Check of a certificate: every path between its states, and every end."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Any

import numpy as np

from bncc.checker.machine import State
from bncc.checker.model import Model, program_of
from bncc.checker.riscv import Riscv
from bncc.checker.thumb import Thumb
from bncc.checker.values import (
    UNKNOWN,
    WORD,
    Ints,
    RejectedError,
    SplitError,
    Term,
    Value,
    meet,
    minus,
    require,
    restricted,
)

Record = Mapping[str, Any]
ERROR = WORD - 1
TARGETS = {"rv32": Riscv, **{f"cortex-m{k}": Thumb for k in (0, 3, 4, 7)}}
SIZES = (1, 2, 4)
ENTRIES = {"predict-raw": (0,), "predict": (0,), "trusted": (0,), "scores": SIZES}
"""Entry points, and how many bytes their scores may have."""
MOST_WORK = 1 << 17
"""Largest amount of work that a certificate may claim, so that a false amount ends as well."""


def check(claims: Record, elf: bytes, model: bytes) -> None:
    """Raise `RejectedError` unless a certificate proves its claims of a program and a model."""
    require(claims["format"] == 5, "the certificate has not format 5; run `bncc prove -o` again")
    require(claims["work"] <= MOST_WORK, "the certificate claims more work than any check may take")
    require(claims["target"] in TARGETS, "the certificate has an unknown target")
    require(claims["entry"] in ENTRIES, "the certificate has an unknown entry point")
    is_sized = claims["score_bytes"] in ENTRIES[claims["entry"]]
    require(is_sized, "scores have no size, or what has none has one")
    require(len(claims["states"]) > 0, "the certificate has no state")
    require(claims["elf"] == sha256(elf).hexdigest(), "the certificate is about another program")
    require(claims["model"] == sha256(model).hexdigest(), "the certificate is about another model")
    work = Check(claims, elf, model).run()
    require(work == claims["work"], f"the check takes {work} steps, not {claims['work']}")


class Check:
    """The states of a certificate, and the paths between them."""

    def __init__(self, claims: Record, elf: bytes, model_file: bytes) -> None:
        self.claims, self.program, self.work = claims, program_of(elf), 0
        self.model = model = Model(model_file, claims["entry"], claims["axes"])
        self.isa: Any = TARGETS[claims["target"]](self.program, claims["target"])
        self.score_size, self.classes = claims["score_bytes"], range(len(model.prior))
        maps = [(axis, np.array(m)) for axis, m in claims["maps"]]
        are_right = (len(m) == len(model.points[k]) and k >= 0 <= m.min() for k, m in maps)
        require(all(are_right), "the levels of an input are malformed")
        terms = [term([maps[k] for k in own], numbers) for own, numbers in claims["terms"]]
        self.values = [
            Value(c % WORD, tuple(terms[k] for k in own), base) for c, base, own in claims["values"]
        ]
        start = self._start()
        self.states = [[start]]  # For each box one
        for one in claims["states"][1:]:
            state = self._state(one, start)
            boxes = [start.box for _ in one["region"]]
            for n, axis, m in ((n, *maps[k]) for n, own in enumerate(one["region"]) for k in own):
                boxes[n] = restricted(boxes[n], axis, m[::2].repeat(2) == 1)
            self.states.append([replace(state, box=box) for box in boxes])

    def _start(self) -> State:
        """Return the state before the first instruction."""
        model, memory, end = self.model, dict[Any, Any](), 0
        for axis, (size, own) in enumerate(zip(model.sizes, model.points, strict=True)):
            reading = Value(0, (Term({axis: np.arange(len(own))}, own),))
            end += -end % size
            memory |= {("input", end + k): (reading, k) for k in range(size)}
            end += size
        # By region the alignment of its start, and its first and last offset
        self.regions: dict[str | None, tuple[int, int, int]] = {
            "stack": (self.isa.stack_alignment, -WORD, 0),
            "input": (max(model.sizes), 0, end),
            "output": (max(1, self.score_size), 0, self.score_size * len(self.classes)),
        }
        full = tuple(np.ones(len(one), dtype=bool) for one in model.points)
        box = model.valid if self.claims["entry"] == "trusted" else full
        at = self.program.symbols[self.claims["symbol"]]
        registers = {name: Value(0, (), base) for name, base in self.isa.registers.items()}
        margins = np.where(np.eye(len(self.classes), dtype=bool), 0, -WORD)
        orders = self.claims["states"][0]["orders"]
        return State(model.points, box, self, at, registers, memory, margins, orders)

    def _state(self, one: Record, start: State) -> State:
        """Return a state of the certificate, for any inputs."""
        registers = dict.fromkeys(self.isa.registers, UNKNOWN)
        registers |= {name: self.values[k] for name, k in one["registers"].items()}
        memory, margins = dict(start.memory), start.margins.copy()
        for base, offset, size, k in one["memory"]:
            require(base in ("stack", "output") and size in SIZES, "a region of memory is unknown")
            memory |= {(base, offset + byte): (self.values[k], byte) for byte in range(size)}
        for first, second, least in one["facts"]:
            margins[first, second] = least
        claims = {name: one[name] for name in ("at", "steps", "deepest", "orders")}
        return replace(start, registers=registers, memory=memory, margins=margins, **claims)

    # Paths

    def run(self) -> int:
        """Check each state's paths to the states after it; return the amount of work."""
        for k, starts in enumerate(self.states):
            self.unused = {*map(tuple, self.claims["states"][k]["next"])}
            for start in starts:
                self._follow(start, k)
            require(not self.unused, f"from state {k}: no path leads to a state that shall follow")
        return self.work

    def _follow(self, start: State, k: int) -> None:
        """Follow all paths from a state to later ones or to their ends."""
        waiting, after = [start], self.claims["states"][k]["next"]
        while waiting:
            state = waiting.pop()
            place = state.steps - start.steps, state.at
            later = [(n, j) for n, j in after if j > k and (n, self.states[j][0].at) == place]
            try:
                if state.at < 0:
                    self._end(state)
                elif later:
                    waiting += self._rest(state, later)
                else:
                    waiting.append(self._step(state))
            except SplitError as split:
                waiting += [replace(state, **side) for side in split.args]
            except RejectedError as error:
                raise RejectedError(f"from state {k}: {error} at {state.at:#x}") from None

    def _count(self) -> None:
        """Count the execution of an instruction or a comparison of states."""
        self.work += 1
        most = self.claims["work"]
        require(self.work <= most, f"the check takes more than the {most} steps claimed")

    def _step(self, state: State) -> State:
        """Execute one instruction; a state without an address has returned."""
        self._count()
        require(state.steps < self.claims["instructions"], "a path is too long")
        path = replace(state, registers={**state.registers}, memory={**state.memory})
        to = self.isa.execute(path)
        is_return = to.base == "return" and not to.terms and to.const % WORD == 0
        return path.moved(-1 if is_return else path.number(to))

    def _rest(self, state: State, later: Sequence[tuple[int, int]]) -> list[State]:
        """Return what of a path is not within a claimed state that has some of its inputs."""
        for n, k in later:
            for claimed in self.states[k]:
                box = meet(state.box, claimed.box)
                if box is not None and self._is_within(replace(state, box=box), claimed, k):
                    self.unused.discard((n, k))
                    return [replace(state, box=rest) for rest in minus(state.box, box)]
        raise RejectedError("a path is not within the state claimed there")

    def _is_within(self, path: State, claimed: State, k: int) -> bool:
        """Return whether all that is claimed in a state holds on a path in the same box."""
        self._count()
        one, pairs = self.claims["states"][k], []
        for name, n in one["registers"].items():
            pairs.append((self.values[n], path.registers.get(name, UNKNOWN), 4))
        for base, offset, size, n in one["memory"]:
            pairs.append((self.values[n], path.loaded(base, offset, size), size))
        are_bounds = claimed.steps >= path.steps and claimed.deepest <= path.deepest
        are_known = are_bounds and (claimed.margins <= path.margins).all()
        return bool(are_known) and all(path.same(*pair) for pair in pairs)

    # Ends

    def _end(self, end: State) -> None:
        """Confirm the bounds, the registers, the answer and the scores of a path that returns."""
        require(-end.deepest <= self.claims["stack"], "the stack is deeper than claimed")
        ((start,), model, size) = self.states[0], self.model, self.score_size
        for name in self.isa.kept:
            is_kept = end.same(end.registers[name], start.registers[name])
            require(is_kept, f"{name} is not restored")
        answer = end.number(end.registers[self.isa.result])
        is_error = answer == ERROR
        if is_error:
            require(meet(end.box, model.valid) is None, "an error is returned for valid states")
        else:
            are_valid = all((end.box[k] <= model.valid[k]).all() for k in model.used)
            require(are_valid and answer in self.classes, f"{answer} is returned")
        for c in self.classes:
            is_least = is_error or end.holds(answer, c, c < answer)
            require(is_least, f"class {answer} is returned, and {c} may cost less")
            wanted = Value(0) if is_error else model.difference(c, answer)
            fits = not size or end.bounds(wanted)[1] < 1 << 8 * size
            is_score = not size or end.same(wanted, end.loaded("output", c * size, size), size)
            require(fits and is_score, f"score {c} differs")


def term(maps: Sequence[tuple[int, Ints]], numbers: Sequence[int]) -> Term:
    """Return a function of the certificate: levels by point, and numbers by level."""
    levels = dict(sorted(maps))
    grid = np.array(numbers, dtype=np.int64).reshape([1 + m.max() for m in levels.values()])
    require(
        (np.abs(grid.clip(-WORD << 8)) < 1 << 40).all(), "the numbers of a function are too large"
    )
    return Term(levels, grid)
