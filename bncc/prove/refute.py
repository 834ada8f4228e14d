"""Search for an input that refutes machine code: directed replay where the proof is open."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from time import monotonic

import numpy as np

from bncc._types import IntArray
from bncc.errors import ToolchainError
from bncc.model.model import Model
from bncc.model.reference import predict, scores
from bncc.prove.call import Call
from bncc.prove.code import Code
from bncc.prove.decision import Costs, Mismatch
from bncc.prove.points import Points
from bncc.prove.replay import Replay
from bncc.prove.specification import ERROR, Entry
from bncc.prove.values import Exact, Value
from bncc.prove.verdict import Verdict

N_CALLS = 6_000
"""Number of calls of a search."""
MOST_INSTRUCTIONS = 4_000_000
"""Number of instructions of a call after which it is taken not to end."""
_N_MISMATCHES = 12


@dataclass(frozen=True)
class Counterexample:
    """An input for which machine code is wrong."""

    reason: str  # ``wrong-answer``, ``memory``, ``registers`` or ``time``
    detail: str
    input: Mapping[str, float | int | str]
    expected: int | str | None = None
    actual: int | str | None = None

    def refuted(self, verdict: Verdict) -> Verdict:
        """Return the verdict that this input refutes the code."""
        return replace(
            verdict,
            status="refuted",
            reason=self.reason,
            detail=self.detail,
            input=self.input,
            expected=self.expected,
            actual=self.actual,
        )


class Search:
    """Calls of one function with inputs that may refute it."""

    def __init__(self, replay: Replay, points: Points) -> None:
        self._replay, self._points = replay, points
        self.n_calls = 0

    def refuting(
        self, groups: Iterable[IntArray], n_calls: int, deadline: float | None = None
    ) -> Counterexample | None:
        """Call the function with groups of points; return the first one that refutes it."""
        for points in groups:
            found = self._first(points[: n_calls - self.n_calls], deadline)
            if found is not None:
                return found
            if self.n_calls >= n_calls or _is_over(deadline):
                return None
        return None

    def _first(self, points: IntArray, deadline: float | None) -> Counterexample | None:
        of = self._points.of
        X, valid = self._points.states(points)
        expected = np.where(valid, predict(self._points.model, X), ERROR).tolist()
        totals = None
        if of.score_size:
            totals = np.where(valid[:, None], scores(self._points.model, X), 0)
        for k, buffer in enumerate(self._points.buffers(points)):
            if not k % 64 and _is_over(deadline):
                return None
            self.n_calls += 1
            n_output = of.n_classes * of.score_size
            call = self._replay.call(buffer, n_output, MOST_INSTRUCTIONS)
            wanted = None if totals is None else totals[k].tolist()
            if call.outcome == ERROR and (points[k] >= self._points.n_numbers).any():
                # An unused state out of range may be refused or not.
                expected[k], wanted = ERROR, [0] * len(wanted or ()) if wanted else None
            found = self._compared(call, points[k], expected[k], wanted)
            if found is not None:
                return found
        return None

    def _compared(
        self, call: Call, point: IntArray, expected: int, wanted: list[int] | None
    ) -> Counterexample | None:
        """Compare a call with what the model says."""
        if call.violation is not None:
            reason = "registers" if "without restoring" in call.violation else "memory"
            return Counterexample(reason, call.violation, self._points.described(point))
        if not call.ended:
            detail = f"the function does not return within {MOST_INSTRUCTIONS:,} instructions"
            return Counterexample("time", detail, self._points.described(point))
        if call.outcome != expected:
            return Counterexample(
                "wrong-answer",
                "the answers differ",
                self._points.described(point),
                expected,
                call.outcome,
            )
        if wanted is None:
            return None
        size = self._points.of.score_size
        found = [
            int.from_bytes(call.scores[at : at + size], "little")
            for at in range(0, len(call.scores), size)
        ]
        if found == wanted:
            return None
        return Counterexample(
            "wrong-answer",
            "the scores differ",
            self._points.described(point),
            f"scores {', '.join(map(str, wanted))}",
            f"scores {', '.join(map(str, found))}",
        )


def refute(
    model: Model,
    code: Code,
    symbol: str,
    entry: Entry,
    costs: Costs,
    *,
    carrying: Sequence[tuple[Value, int]] = (),
    deadline: float | None = None,
    n_calls: int = N_CALLS,
    seed: int = 0,
    checks_alignment: bool = False,
) -> Counterexample | None:
    """
    Search an input for which a function breaks a rule or does not answer as the model does.

    `costs` has the sums of the code that differ from the model's, and the cells that the code tells
    apart; `carrying` the sums with a number of lowest bits that carry for some inputs, as a lane
    that is too narrow does. With `checks_alignment`, an access that is not aligned breaks a rule.
    None if no such input is found within a number of calls and the time, or if no simulator can
    call the function.
    """
    if _is_over(deadline):
        return None
    try:
        replay = Replay(code, symbol, alignments=costs.of.alignments if checks_alignment else None)
    except ToolchainError:
        return None
    points = Points(
        model,
        entry,
        costs.of,
        partitions=tuple(costs.partitions),
        packed=code.target.packed,
        seed=seed,
    )
    search = Search(replay, points)
    # Calls that a stage does not need are left for the last one.
    for share, groups in (
        (0.05, _random(points)),
        (0.15, _carrying(points, carrying)),
        (0.35, points.borders()),
        (0.6, _differing(points, costs.mismatches)),
        (1.0, points.cells()),
    ):
        found = search.refuting(groups, int(n_calls * share), deadline)
        if found is not None or _is_over(deadline):
            return found
    return None


def _random(points: Points) -> Iterator[IntArray]:
    """Yield random points, a part of them invalid where the entry refuses some."""
    while True:
        yield points.mixed(128)


def _differing(points: Points, mismatches: Sequence[Mismatch]) -> Iterator[IntArray]:
    for _ in range(4):
        for mismatch in islice(mismatches, _N_MISMATCHES):
            group = points.differing(mismatch)
            if group is not None:
                yield group


def _carrying(points: Points, sums: Sequence[tuple[Value, int]]) -> Iterator[IntArray]:
    """Yield points where the lowest bits of a sum carry, first those that the code takes apart."""
    known = {(Exact(total.const, total.terms).key(), n): total for total, n in sums}
    for (_, n), total in known.items():
        for sign in (1, -1):
            yield points.extreme(total, n, sign)
    # Code may take bytes apart where lanes have other widths.
    for total in {key: total for (key, _), total in known.items()}.values():
        for n in range(1, 33):
            yield points.extreme(total, n)


def _is_over(deadline: float | None) -> bool:
    return deadline is not None and monotonic() > deadline
