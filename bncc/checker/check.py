"""Check of a certificate: every path between its states, and every end."""

import gzip
import json
from dataclasses import replace
from hashlib import sha256
from typing import Any

import numpy as np

from bncc.checker.machine import State
from bncc.checker.model import Model, Program
from bncc.checker.riscv import Riscv
from bncc.checker.thumb import Thumb
from bncc.checker.values import UNKNOWN, WORD, RejectedError, SplitError, Term, Value, require

TARGETS = {"rv32": Riscv, **{f"cortex-m{k}": Thumb for k in (0, 3, 4, 7)}}
ENTRIES: dict[str, tuple[int, ...]] = dict.fromkeys(("predict-raw", "predict", "trusted"), (0,))
ENTRIES |= dict.fromkeys(("scores", "scores-raw"), (1, 2, 4))
"""Entry points, and how many bytes their scores may have."""
MOST_WORK = 1 << 17
"""Largest amount of work that a certificate may claim, so that a false amount ends as well."""


def verdict(certificate: bytes, elf: bytes, model: bytes) -> tuple[int, str]:
    """Return an exit code and a sentence about a certificate's file."""
    try:
        require(certificate[:2] == b"\x1f\x8b", "the first file is no certificate of bncc")
        # A number that is no integer is malformed.
        claims = json.loads(gzip.decompress(certificate), parse_float=int, parse_constant=int)
        check(claims, elf, model)
    except RejectedError as error:
        return 1, f"rejected: {error}"
    except Exception as error:  # whatever a malformed file makes the readers raise
        return 1, f"rejected: a wrong or malformed file ({type(error).__name__}: {error})"
    text = "accepted: on {target}, {symbol} decides as {entry} of the model does for every input; "
    text += "bytes of a score: {score_bytes}; " * bool(claims["score_bytes"]) + "{instructions} "
    return 0, (text + "instructions and {stack} bytes of stack at most").format(**claims)


def check(claims: dict[str, Any], elf: bytes, model: bytes) -> None:
    """Raise `RejectedError` unless a certificate proves its claims of a program and a model."""
    require(claims["format"] == 7, "the certificate's format is not 7; run `bncc prove -o` again")
    require(claims["work"] <= MOST_WORK, "the certificate claims more work than any check may take")
    require(claims["target"] in TARGETS and claims["entry"] in ENTRIES, "unknown target or entry")
    require(claims["score_bytes"] in ENTRIES[claims["entry"]], "scores have no size, or others do")
    require(claims["elf"] == sha256(elf).hexdigest(), "the certificate is about another program")
    require(claims["model"] == sha256(model).hexdigest(), "the certificate is about another model")
    own = Check(claims, elf, model)
    require(own.run() == claims["work"], "the claim of work is wrong")
    require(not own.unused, f"no path leads to a state that shall follow: {own.unused}")


class Check:
    """The states of a certificate, and the paths between them."""

    def __init__(self, claims: dict[str, Any], elf: bytes, model_file: bytes) -> None:
        self.claims, self.program, self.work = claims, Program(elf), 0
        self.model = Model(model_file, claims["entry"], claims["axes"])
        self.isa: Any = TARGETS[claims["target"]](self.program, claims["target"])
        self.score_size, self.classes = claims["score_bytes"], self.model.classes
        self.maps = [(k, np.array(m, int)) for k, own in enumerate(claims["maps"]) for m in own]
        terms, values = [self._term(*one) for one in claims["terms"]], claims["values"]
        self.values = [Value(c % WORD, tuple(terms[k] for k in own), b) for c, b, own in values]
        start = self._start()
        # For each box of a state one
        self.states = [[start], *(self._boxes(one, start) for one in claims["states"][1:])]
        self.unused = {(k, *edge) for k, one in enumerate(claims["states"]) for edge in one["next"]}

    def _term(self, maps: list[int], numbers: list[int]) -> Term:
        """Return a function of the certificate: levels by point, and numbers by level."""
        levels = dict(sorted(self.maps[k] for k in maps))
        grid = np.array(numbers, dtype=np.int64).reshape([1 + m.max() for m in levels.values()])
        require(-1 << 40 < grid.min() <= grid.max() < 1 << 40, "a function has too large numbers")
        return Term(levels, grid)

    def _start(self) -> State:
        """Return the state before the first instruction."""
        model, memory, end = self.model, dict[Any, Any](), 0
        for axis, (size, own) in enumerate(zip(model.sizes, model.points, strict=True)):
            numbers, levels = np.unique(own, return_inverse=True)
            reading = Value(0, (Term({axis: levels}, numbers),))
            end += -end % size + size
            memory |= {("input", end - size + k): (reading, k) for k in range(size)}
        # By region the alignment of its start, and its end
        self.regions = {"stack": (self.isa.stack_alignment, 0), "input": (max(model.sizes), end)}
        self.regions["output"] = max(1, self.score_size), self.score_size * len(self.classes)
        at, claims = self.program.symbols[self.claims["symbol"]], self.claims["states"][0]
        registers = {name: Value(0, (), base) for name, base in self.isa.registers.items()}
        margins = np.where(np.eye(len(model.prior), dtype=bool), 0, -1 << 60)
        return State(model.points, model.domain, self, claims, at, registers, memory, margins)

    def _boxes(self, claims: dict[str, Any], start: State) -> list[State]:
        """Return a state of the certificate for each box of inputs that reach it."""
        registers = dict.fromkeys(self.isa.registers, UNKNOWN)
        registers |= {name: self.values[k] for name, k in claims["registers"].items()}
        own = {name: claims[name] for name in ("at", "steps", "deepest", "gate")}
        own |= {"claims": claims, "memory": {**start.memory}, "margins": start.margins.copy()}
        state = replace(start, registers=registers, **own)
        for base, offset, size, k in claims["memory"]:
            require(size in (1, 2, 4), "a region of memory is unknown")
            state.store(Value(offset, (), base), size, 1, self.values[k])
        for first, second, least in claims["facts"]:
            state.margins[first, second] = max(least, -1 << 60)  # No sum of margins overflows
        masks = [[self.maps[k][1][::2].repeat(2) == 1 for k in own] for own in claims["region"]]
        return [replace(state, box=tuple(map(np.logical_and, start.box, own))) for own in masks]

    # Paths

    def run(self) -> int:
        """Check each state's paths to the states after it; return the amount of work."""
        for k, starts in enumerate(self.states):
            waiting = [*starts]
            while waiting:
                state = waiting.pop()
                try:
                    require(self.work <= self.claims["work"], "it takes more steps than claimed")
                    waiting += self._after(state, k)
                except SplitError as split:
                    waiting += [replace(state, **side) for side in split.args]
                except RejectedError as error:
                    raise RejectedError(f"from state {k}: {error} at {state.at:#x}") from None
        return self.work

    def _after(self, state: State, k: int) -> list[State]:
        """Return what is to follow: nothing where a path ends, or is within a later state."""
        edges = [(k, n, j) for n, j in state.claims["next"] if n == state.steps and j > k]
        later = [(e, x) for e in edges for x in self.states[e[-1]] if x.at == state.at]
        if any(state.meets(x.box) and self._is_within(state, e, x) for e, x in later):
            return []
        return self._end(state) if state.at < 0 else [self._step(state)]

    def _step(self, state: State) -> State:
        """Execute one instruction; a state without an address has returned."""
        self.work += 1
        require(state.steps < self.claims["instructions"], "a path is too long")
        path = replace(state, registers={**state.registers}, memory={**state.memory})
        to = self.isa.execute(path)
        return path.moved(-1 if path.same(to, Value(0, (), "return")) else path.number(to))

    def _is_within(self, path: State, edge: tuple[int, int, int], to: State) -> bool:
        """Return whether all that is claimed in a state holds on a path, or divide its inputs."""
        for axis, inside in enumerate(to.box):
            path.divide(axis, inside)
        self.work += 1
        own = [(path.registers.get(x, UNKNOWN), k, 4) for x, k in to.claims["registers"].items()]
        own += [(path.loaded(base, at, size), k, size) for base, at, size, k in to.claims["memory"]]
        are_bounds = to.steps >= path.steps and to.deepest <= path.deepest
        is_known = to.gate in (0, path.gated()) and bool((to.margins <= path.margins).all())
        found = are_bounds and is_known and all(path.same(x, self.values[k], n) for x, k, n in own)
        self.unused -= {edge} if found else set()
        return found

    # Ends

    def _end(self, end: State) -> list[State]:
        """Confirm the bounds, the registers, the answer and the scores of a path that returns."""
        start, model, size = self.states[0][0], self.model, self.score_size
        require(-end.deepest <= self.claims["stack"], "the stack is deeper than claimed")
        lost = [x for x in self.isa.kept if not end.same(end.registers[x], start.registers[x])]
        require(not lost, f"{lost} are not restored")
        answer = end.number(end.registers[self.isa.result])
        is_error = answer == WORD - 1  # -1
        are_valid = all((end.box[k] <= model.valid[k]).all() for k in model.used)
        is_right = not end.meets(model.valid) if is_error else are_valid and answer in self.classes
        require(is_right, f"{answer:#x} is returned where it must not be")
        # Either all tables decide, or those before the gate; its margin counts if it is unknown
        gate = end.gated()
        own, margin = len(self.classes) * (gate < 1), model.margin * (gate == 0)
        others = [c for c in self.classes if c != answer and not is_error]
        near = [c for c in others if not end.holds(own + answer, own + c, max(margin, c < answer))]
        known = np.argwhere(end.margins > -1 << 59) if near else ()
        is_empty = any(end.holds(b, a, 1 - end.margins[a, b]) for a, b in known)
        require(is_empty or not near, f"class {answer} is returned, and {near} may cost less")
        for c in self.classes if size else ():
            pair = own + c, own + (c if is_error else answer)  # After an error, all scores are 0
            is_score = end.same(model.difference(*pair), end.loaded("output", c * size, size), size)
            require(is_score and end.holds(*pair, 1 - (1 << 8 * size)), f"score {c} differs")
        return []
