"""Check of a certificate: every path between its states, and every end."""

from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any

import numpy as np

from bncc.checker.machine import Machine, State
from bncc.checker.model import Model, model_of, program_of, specification
from bncc.checker.terms import UNKNOWN, WORD, Box, RejectedError, Term, UnknownError, Value
from bncc.checker.values import Algebra

ERROR = WORD - 1
ENTRIES = ("predict-raw", "predict", "trusted", "scores")


def check(certificate: Mapping[str, Any], elf: bytes, model: bytes) -> None:
    """Raise `RejectedError` unless a certificate proves its claims of a program and a model."""
    rule = model_of(model)
    if certificate["format"] != 1 or certificate["entry"] not in ENTRIES:
        raise RejectedError("the certificate has an unknown format or entry point")
    if certificate["elf"] != sha256(elf).hexdigest():
        raise RejectedError("the certificate is about another program")
    if certificate["model"] != rule.digest:
        raise RejectedError("the certificate is about another model")
    _Check(certificate, elf, rule).run()


class _Check:
    def __init__(self, certificate: Mapping[str, Any], elf: bytes, rule: Model) -> None:
        self.claims, self._states = certificate, certificate["states"]
        self.entry = certificate["entry"]
        starts = [np.array(one, dtype=np.int64) for one in certificate["axes"]]
        spec = specification(rule, self.entry, starts)
        ends = [
            np.append(own[1:], 1 << 8 * size) - 1
            for own, size in zip(starts, spec.sizes, strict=True)
        ]
        program = program_of(elf)
        self.algebra = Algebra(starts, ends)
        self.valid: Box = tuple(states >= 0 for states in spec.domain)
        self.full = self.valid if self.entry == "trusted" else self.algebra.box
        self.decided: Box = tuple(
            states >= 0 if k in spec.used else np.ones(len(states), dtype=bool)
            for k, states in enumerate(spec.domain)
        )
        self.score_size = certificate["score_bytes"] if self.entry == "scores" else 0
        n_output = self.score_size * len(spec.prior)
        if certificate["target"].startswith("cortex-m"):
            from bncc.checker.thumb import Thumb as Isa
        else:
            from bncc.checker.riscv import Riscv as Isa  # type: ignore[assignment]
        self.machine = Machine(Isa(program), program, spec, self.algebra, n_output)
        self.maps = [np.array(one, dtype=np.int64) for one in certificate["maps"]]
        self.terms = [self._term(*one) for one in certificate["terms"]]
        self.values = [
            Value(int(c) % WORD, tuple(self.terms[k] for k in terms), base)
            for c, base, terms in certificate["values"]
        ]
        self.start = program.symbols[certificate["symbol"]]

    def _term(
        self, axes: Sequence[int], maps: Sequence[int], v: Sequence[int], s: Sequence[int] | None
    ) -> Term:
        levels = tuple(self.maps[k] for k in maps)
        own = [len(self.algebra.starts[axis]) for axis in axes]
        if (
            list(axes) != sorted(set(axes))
            or axes[0] < 0
            or any(len(m) != n or m.min() < 0 for m, n in zip(levels, own, strict=True))
        ):
            raise RejectedError("a term of the certificate is malformed")
        array = np.array(v, dtype=np.int64)
        if len(axes) == 1:
            slopes = None if s is None else np.array(s, dtype=np.int64)[levels[0]]
            return Term(tuple(axes), array[levels[0]], slopes)
        return Term(tuple(axes), array.reshape([m.max() + 1 for m in levels]), None, levels)

    def _boxes(self, one: Mapping[str, Any]) -> list[Box]:
        """Return the boxes of a claimed state."""
        boxes = []
        for restricted in one["region"]:
            box = list(self.full)
            for axis, k in restricted:
                self._is(axis >= 0, "an input of the certificate is malformed")
                box[axis] = box[axis] & (self.maps[k] == 1)
            if all(allowed.any() for allowed in box):
                boxes.append(tuple(box))
        return boxes

    def _state(self, one: Mapping[str, Any], box: Box) -> State:
        self.algebra.box = box
        values = _Normal(self.algebra, self.values)
        flags = {
            part: (kind, tuple(values[k] for k in operands))
            for part, (kind, operands) in one["flags"].items()
        }
        stack, output = (
            {int(at): (size, values[k]) for at, (size, k) in one[name].items()}
            for name in ("stack", "output")
        )
        registers = dict.fromkeys(self.machine.isa.registers, UNKNOWN)
        registers |= {name: values[k] for name, k in one["registers"].items()}
        facts = frozenset((i, j, bool(strict)) for i, j, strict in one["facts"])
        return State(
            one["at"], registers, box, flags, stack, output, facts, one["steps"], one["deepest"]
        )

    def _initial(self) -> State:
        isa = self.machine.isa
        registers = {name: Value(0, (), f"initial {name}") for name in isa.registers}
        registers[isa.stack] = Value(0, (), "stack")
        registers[isa.link] = Value(0, (), "return")
        for name, base in zip(isa.arguments, ("input", "output"), strict=True):
            registers[name] = Value(0, (), base)
        return State(self.start, registers, self.full)

    def run(self) -> None:
        """Check each state's paths to the states after it."""
        states = self._states
        for k, one in enumerate(states):
            starts = [self._initial()]
            if k:
                starts = [self._state(one, box) for box in self._boxes(one)]
            after: dict[int, list[int]] = {}
            for n, target in one["next"]:
                if not k < target < len(states):
                    raise RejectedError(f"state {k} leads to one that is not after it")
                after.setdefault(n, []).append(target)
            self.machine.hints = {
                int(at): [(i, j, bool(strict)) for i, j, strict in facts]
                for at, facts in one["orders"].items()
            }
            try:
                self._used: set[tuple[int, int]] = set()
                for start in starts:
                    self._follow(start, after, one["length"])
                if self._used != {(n, target) for n, target in one["next"]}:
                    raise RejectedError("no path leads to a state that is claimed to follow")
            except RejectedError as error:
                raise RejectedError(f"from state {k}: {error}") from None

    def _follow(self, start: State, after: Mapping[int, Sequence[int]], most: int) -> None:
        waiting = [start]
        while waiting:
            state = waiting.pop()
            n = state.steps - start.steps
            if state.at < 0:
                self._end(state)
                continue
            here = [k for k in after.get(n, ()) if n and self._states[k]["at"] == state.at]
            within = next((k for k in here if self._is_within(state, self._states[k])), None)
            if within is not None:
                self._used.add((n, within))
                continue
            if here:
                raise RejectedError(
                    f"a path to {state.at:#x} is not within the state claimed there"
                )
            if n >= most:
                raise RejectedError(f"a path reaches {state.at:#x} and no state that is claimed")
            waiting += self.machine.step(state)

    def _is_within(self, state: State, one: Mapping[str, Any]) -> bool:
        """Return whether a claimed state covers another."""
        if one["at"] != state.at or one["steps"] < state.steps or one["deepest"] > state.deepest:
            return False
        self.algebra.box = state.box
        left = [state.box]
        for box in self._boxes(one):
            left = [rest for part in left for rest in self.algebra.minus(part, box)]
        claimed = self._state(one, state.box)
        if left or not all(self.machine.holds(fact, state.facts) for fact in claimed.facts):
            return False
        pairs = [(x, state.registers.get(name, UNKNOWN)) for name, x in claimed.registers.items()]
        for own, found in ((claimed.stack, state.stack), (claimed.output, state.output)):
            for at, (size, x) in own.items():
                if x.base != "?" and found.get(at, (0, x))[0] != size:
                    return False
                pairs.append((x, found[at][1] if at in found else UNKNOWN))
        for part, (kind, operands) in claimed.flags.items():
            other = state.flags.get(part, ("", ()))
            if other[0] != kind or len(other[1]) != len(operands):
                return False
            pairs += zip(operands, other[1], strict=True)
        return all(x.base == "?" or self._are_equal(x, y) for x, y in pairs)

    def _are_equal(self, x: Value, y: Value) -> bool:
        if x.base != y.base:
            return False
        try:
            return self.algebra.vanishes(self.algebra.sub(x, y), WORD)
        except UnknownError:
            return False

    # Ends

    def _end(self, end: State) -> None:
        isa, algebra = self.machine.isa, self.algebra
        algebra.box = end.box
        if end.steps > self.claims["instructions"] or -end.deepest > self.claims["stack"]:
            raise RejectedError("a path takes more instructions or stack than claimed")
        for name in isa.kept:
            x, base = end.registers[name], "stack" if name == isa.stack else f"initial {name}"
            if x.base != base or x.const or x.terms:
                raise RejectedError(f"the register {name} is not restored")
        for box in algebra.minus(end.box, self.decided):
            for answer, own in self._answers(end.registers[isa.arguments[0]], box):
                self._is(answer == ERROR, f"{answer} is returned for an invalid state")
                self._check_no_scores(end, own)
        inside = tuple(a & b for a, b in zip(end.box, self.decided, strict=True))
        if not all(allowed.any() for allowed in inside):
            return
        for answer, box in self._answers(end.registers[isa.arguments[0]], inside):
            algebra.box = box
            if answer == ERROR and not all(
                (a & b).any() for a, b in zip(box, self.valid, strict=True)
            ):
                self._check_no_scores(end, box)
                continue
            self._is(answer < len(self.machine.spec.prior), f"{answer} is returned")
            for c in range(len(self.machine.spec.prior)):
                if c != answer and not self.machine.holds((answer, c, c < answer), end.facts):
                    raise RejectedError(f"class {answer} is returned, and {c} may cost less")
            self._check_scores(end, answer, box)

    def _is(self, condition: bool, text: str) -> None:
        if not condition:
            raise RejectedError(text)

    def _answers(self, result: Value, box: Box) -> Iterator[tuple[int, Box]]:
        """Yield what is returned, with the inputs for which it is."""
        self.algebra.box = box
        result = self.algebra.value(result.const, result.terms, result.base)
        if result.base:
            raise RejectedError("what is returned is not known")
        if not result.terms:
            yield result.const, box
            return
        for own in list(self.algebra.boxes_of(result)):
            yield from self._answers(result, own)

    def _score(self, end: State, c: int) -> Value:
        size, x = end.output.get(c * self.score_size, (0, UNKNOWN))
        self._is(size == self.score_size and not x.base, f"score {c} is not written")
        return x

    def _check_no_scores(self, end: State, box: Box) -> None:
        self.algebra.box = box
        for c in range(len(self.machine.spec.prior) if self.score_size else 0):
            zero = self.algebra.vanishes(self._score(end, c), 1 << 8 * self.score_size)
            self._is(zero, f"score {c} is not zero for an invalid state")

    def _check_scores(self, end: State, winner: int, box: Box) -> None:
        self.algebra.box = box
        for c in range(len(self.machine.spec.prior) if self.score_size else 0):
            wanted, bits = self.machine.difference(c, winner), 8 * self.score_size
            difference = self.algebra.exact_sum(0, (self._score(end, c), 1), (wanted, -1))
            fits = self.algebra.bounds(wanted)[1] < 1 << bits
            self._is(fits and self.algebra.vanishes(difference, 1 << bits), f"score {c} differs")


class _Normal:
    """Claimed values in the box of an algebra."""

    def __init__(self, algebra: Algebra, values: Sequence[Value]) -> None:
        self._algebra, self._values = algebra, values
        self._known: dict[int, Value] = {}

    def __getitem__(self, k: int) -> Value:
        if k not in self._known:
            x = self._values[k]
            self._known[k] = self._algebra.value(x.const, x.terms, x.base)
        return self._known[k]
