"""Proof of one entry point: a verdict for every input."""

from collections.abc import Iterator
from dataclasses import replace
from time import monotonic
from typing import cast

from bncc.model.model import Model
from bncc.prove.avr_run import AvrRun
from bncc.prove.code import Code
from bncc.prove.deadline import REASON, Deadline
from bncc.prove.decision import Costs
from bncc.prove.diagrams import TRUE, order_of
from bncc.prove.machines import decoder_of, machine_of
from bncc.prove.planes import Planes
from bncc.prove.refute import refute
from bncc.prove.regions import Region, both, count_inputs, meets, without
from bncc.prove.run import Recorder, Run
from bncc.prove.specification import ERROR, Entry, specification
from bncc.prove.state import Content, Fact, Merged, State, read
from bncc.prove.values import (
    WORD,
    AlignmentError,
    Exact,
    UndecidedError,
    Value,
    ViolationError,
    signed,
)
from bncc.prove.verdict import Status, Verdict

SHARE = 0.8
"""Share of the time limit for the proof; the rest is for the search of a counterexample."""
MOST_INPUTS = 1
"""Largest number of inputs of a table for which bits are functions of inputs in all attempts."""
MOST_NODES_AT_FIRST = 1 << 17
"""Largest number of nodes of diagrams if those by rows of tables are tried next."""


def prove(
    model: Model,
    code: Code,
    symbol: str,
    entry: str,
    *,
    time_limit: float | None = None,
    score_size: int = 1,
    recorder: Recorder | None = None,
) -> Verdict:
    """Prove that a function decides as a model for every input, or find out why not."""
    start = monotonic()
    deadline = None if time_limit is None else start + time_limit
    end = None if time_limit is None else start + SHARE * time_limit
    of = model, code, symbol, cast(Entry, entry)
    proof = Proof(*of, Deadline(end), score_size, recorder)
    status, reason, detail = proof.verdict()
    if proof.has_too_few_nodes:
        for by_rows in (True, False):
            other = Proof(*of, Deadline(end), score_size, recorder, by_rows=by_rows, is_last=True)
            answer = other.verdict()
            if answer[0] == "proved":
                proof, (status, reason, detail) = other, answer
                break
    verdict = Verdict(
        status,
        entry,
        code.target.name,
        reason,
        detail,
        instructions=proof.instructions,
        stack=proof.stack,
    )
    if status != "proved":
        carrying = proof.run.algebra.carrying
        found = refute(
            model, code, symbol, cast(Entry, entry), proof.costs, carrying=carrying,
            deadline=deadline, checks_alignment=reason == AlignmentError.code,
        )  # fmt: skip
        verdict = verdict if found is None else found.refuted(verdict)
    return replace(verdict, seconds=monotonic() - start)


class Proof:
    """The abstract run of one entry point, and what it shows."""

    def __init__(
        self,
        model: Model,
        code: Code,
        symbol: str,
        entry: Entry,
        deadline: Deadline | None = None,
        score_size: int = 1,
        recorder: Recorder | None = None,
        *,
        by_rows: bool = False,
        is_last: bool = False,
    ) -> None:
        self._of = specification(model, entry, packed=code.target.packed, score_size=score_size)
        self._entry = code.entry(symbol)
        decoder = decoder_of(code)
        self._machine = machine_of(code)
        n_output = self._of.n_classes * self._of.score_size
        is_avr = code.target.name == "avr"
        runner = AvrRun if is_avr else Run
        self.run = runner(
            code, decoder.decode, self._machine, self._of.inputs, n_output, self._names, deadline,
            recorder, self._of.alignments,
        )  # fmt: skip
        self.run.algebra.register_bits = 8 if is_avr else 32
        self._recorder = recorder
        self._deadline = deadline or Deadline()
        self.costs = Costs(self._of, self.run.algebra)
        self.run.always, self.run.implied = self.costs.always, self.costs.implied
        if recorder is not None:
            recorder.begin(self.run.algebra, self._of, self.costs.scale)
        self._planes = Planes(self.costs, self.run.algebra)
        self.run.algebra.variables = self._planes
        diagrams = self.run.algebra.diagrams
        diagrams.order = order_of(p.scope for p, _ in self.costs.tables)
        self.run.algebra.by_rows = by_rows
        is_wide = any(len(p.scope) > MOST_INPUTS for p, _ in self.costs.tables)
        self._is_first = is_wide and not (by_rows or is_last)
        if self._is_first:
            diagrams.most_nodes = MOST_NODES_AT_FIRST
        self.instructions: int | None = None
        self.stack: int | None = None

    @property
    def has_too_few_nodes(self) -> bool:
        """True if bits of sums were too large as functions of inputs, in a first attempt."""
        return self._is_first and self.run.algebra.diagrams.is_full

    def verdict(self) -> tuple[Status, str, str]:
        """Return status, reason and detail."""
        self.run.algebra.partitions.check_time = self._deadline.check
        try:
            ends = self.run.go(self._entry)
            self.instructions = max(end.steps for end in ends)
            self.stack = -min(end.deepest for end in ends)
            for end in ends:
                self._check_registers(end)
                self._check(end)
        except UndecidedError as reason:
            if self._deadline.is_over:  # Whatever was not done for lack of time
                return "undecided", REASON, "the time limit is reached"
            where = "" if reason.place is None else f" at {reason.place}"
            return "undecided", reason.code, reason.detail + where
        except ViolationError as violation:
            return "undecided", violation.code, str(violation)
        finally:
            self._deadline.lift()
        return "proved", "", ""

    def _names(self, total: Exact, region: Region) -> tuple[Fact, ...]:
        return self.costs.names(total, region)

    def _check_registers(self, end: State) -> None:
        machine = self._machine
        self.run.algebra.region = end.region
        for name in (*machine.kept, machine.stack):
            content = end.registers[name]
            wanted = Value(0, base=f"initial {name}")
            if name == machine.stack:
                wanted = Value(machine.returned, base="stack")
            elif name in machine.constants:
                wanted = Value(machine.constants[name])
            if not read(content, self.run.algebra).equals(wanted):
                raise ViolationError(f"the register {name} is not restored")

    def _check(self, end: State) -> None:
        """Verify the answer of one end."""
        result = self.run.result(end)
        for region in self._refused(end.region):
            self._check_error(result, region)
            self._check_no_scores(end, region)
        decided = both(end.region, self._of.decided)
        if not decided:
            return
        for region, answer in self._answers(result, decided):
            if isinstance(answer, Value) or end.guard != TRUE:
                self._check_bits(end, answer, region)
                continue
            if answer == ERROR and not meets(region, self._of.valid):
                # The state of a feature that no decision depends on may be checked or not.
                self._check_no_scores(end, region)
                continue
            if not 0 <= answer < self._of.n_classes:
                raise UndecidedError("wrong-class", f"the code returns {answer} for valid inputs")
            if not self.costs.is_answer(answer, end.facts, region):
                raise UndecidedError(
                    "sums-differ",
                    f"the code returns class {answer} where the model's costs do not imply it",
                )
            self.run.algebra.region = region
            if self._of.score_size:
                self._check_scores(end, answer, region)

    def _check_bits(self, end: State, answer: Value | int, region: Region) -> None:
        """Verify an answer where what is known of the path are the bits of costs."""
        if self._of.score_size or self._of.gate is not None:
            raise UndecidedError("bits", "scores of a decision by bits, or a decision by a gate")
        value = answer if isinstance(answer, Value) else Value(answer % WORD)
        self._planes.check(end.guard, self.run.algebra.bits(value), region)

    def _check_no_scores(self, end: State, region: Region) -> None:
        """Verify that all scores are zero in an error."""
        for c in range(self._of.n_classes if self._of.score_size else 0):
            for _, number in self._answers(self._score(end, c), region):
                if not isinstance(number, int) or number % (1 << 8 * self._of.score_size):
                    raise UndecidedError(
                        "wrong-error", f"score {c} is not zero for an invalid state"
                    )

    def _check_scores(self, end: State, winner: int, region: Region) -> None:
        """Verify that each score is the cost of its class less that of the winner."""
        n_tables = self.costs.n_summed(winner, end.facts, region)
        if n_tables is None and len(region) > 1:
            for box in region:
                self._check_scores(end, winner, (box,))
            return
        self.run.algebra.region = region
        for c in range(self._of.n_classes):
            value = read(self._score(end, c), self.run.algebra)
            if n_tables is None or not self.costs.is_score(
                value, c, winner, 8 * self._of.score_size, region, n_tables
            ):
                raise UndecidedError(
                    "sums-differ", f"the score of class {c} differs from the model's"
                )

    def _score(self, end: State, c: int) -> Content:
        size = self._of.score_size
        content = self.run.written(end, c * size, size)
        if content is None:
            raise ViolationError(f"score {c} is not written")
        return content

    def _check_error(self, result: Content, region: Region) -> None:
        self.run.algebra.region = region
        for _, answer in self._answers(result, region):
            if answer != ERROR:
                raise UndecidedError(
                    "wrong-error", f"the code returns {answer} for an invalid state"
                )

    def _answers(self, content: Content, region: Region) -> Iterator[tuple[Region, int | Value]]:
        """Yield regions with the number that is returned there; they cover the whole region."""
        full, left = self.run.algebra.full, 0
        for there, number in self._numbers(content, region):
            left += count_inputs(there, full)
            yield there, number
        if left != count_inputs(region, full):
            raise UndecidedError("cells", "a result is not known for some inputs")

    def _numbers(self, content: Content, region: Region) -> Iterator[tuple[Region, int | Value]]:
        if isinstance(content, Merged):
            content.is_apart = True
            for own, part in content.inside(region):
                yield from self._numbers(part, own)
            return
        self.run.algebra.region = region
        # Compilers return the zero of a check that has passed, as class 0.
        value = self.run.algebra.settled(read(content, self.run.algebra))
        if value.number is not None:
            yield region, self._signed(value.const)
            return
        if self.run.algebra.is_word(value):
            yield region, value
            return
        term = self.run.algebra.single(value, "the class that is returned")
        for cell, number in zip(term.partition.cells, term.values, strict=True):
            there = both(cell, region)
            if there:
                yield there, self._signed(int(number))

    def _signed(self, number: int) -> int:
        """Return the number of a result register."""
        return signed(number << 32 - self._machine.result_bits) >> 32 - self._machine.result_bits

    def _refused(self, region: Region) -> Iterator[Region]:
        """Yield where a used state is out of range, by the first such feature."""
        before: tuple[tuple[int, tuple[tuple[int, int], ...]], ...] = ()
        for axis, allowed in self._of.decided[0]:
            refused = without(self._of.inputs[axis].numbers, allowed)
            part = both(region, ((*before, (axis, refused)),))
            before = (*before, (axis, allowed))
            if part:
                yield part
