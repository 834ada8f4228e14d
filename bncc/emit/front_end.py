"""Front end to C: the text of the files that take samples and return features."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from bncc import __version__
from bncc.emit.environment import render, with_terms
from bncc.lower.c.identifiers import c_comment, check_name, field_names
from bncc.lower.counters import CounterPlan
from bncc.lower.filter import FilterPlan
from bncc.lower.sample_estimate import plan_stream
from bncc.lower.sample_shared import SharedStream
from bncc.lower.sample_stream import SampleStream
from bncc.lower.window_features import Output
from bncc.recordings.front_end import FrontEnd

Planner = Callable[[FrontEnd, Sequence[Output], str], SampleStream | SharedStream]


@dataclass(frozen=True)
class Field:
    """A member of the struct of features."""

    c_type: str
    name: str
    comment: str


RATED_BYTES = 2
"""Bytes of the confidence of the last decision, and of whether it is accepted."""
KNOWN_BYTES = 1
"""Bytes of whether the last window is of a known class."""


@dataclass(frozen=True)
class Kept:
    """Members of the state that an adaptation has: the last window, and what was learned."""

    n_classes: int
    cost_bits: int
    n_features: int
    state_bits: int
    n_offsets: int  # Bytes of all offsets

    @property
    def parts(self) -> list[tuple[int, int]]:
        """Bytes of each member and of its numbers: scores, states, offsets and a mark."""
        cost, state = self.cost_bits // 8, self.state_bits // 8
        scores, states = (self.n_classes * cost, cost), (self.n_features * state, state)
        return [scores, states, (self.n_offsets + 1, 1)]


def stream_names(
    samples: SampleStream | SharedStream,
    over_time: FilterPlan | None = None,
    counted: CounterPlan | None = None,
    adapting: Kept | None = None,
    *,
    is_rated: bool = False,
    knows: bool = False,
) -> dict[str, object]:
    """Return the names of the templates for the state between two samples, with its rules."""
    # Bytes of each further member and of its numbers, in the order of the struct
    parts = [(RATED_BYTES * is_rated + KNOWN_BYTES * knows, 1)]
    if adapting is not None:
        parts = [*adapting.parts, *parts]
    if counted is not None:
        parts.insert(0, (counted.n_bytes, 2))
    if over_time is not None:
        parts.insert(0, (over_time.aligned_bytes, over_time.alignment))
    padding = 0 if over_time is None else over_time.aligned_bytes - over_time.n_bytes
    return {
        "samples": samples,
        "stream_bytes": samples.n_bytes + sum(n_bytes for n_bytes, _ in parts) - padding,
        "stream_aligned_bytes": samples.aligned_with(parts),
    }


def front_end_c(front_end: FrontEnd, name: str, plan: Planner = plan_stream) -> Mapping[str, str]:
    """Return the C of a front end without a model, by file name, in the smaller form or another."""
    check_name(name)
    fields = [
        Field(f"{kind}_t", field, f"{c_comment(column.name)}, {low} .. {high}")
        for column, field, kind, (low, high) in zip(
            front_end.columns,
            field_names(column.name for column in front_end.columns),
            front_end.types,
            front_end.bounds,
            strict=True,
        )
    ]
    outputs = [Output(f"x->{field.name}", field.c_type) for field in fields]
    context: dict[str, object] = {
        "name": name,
        "NAME": name.upper(),
        "version": __version__,
        "decides": False,
        "over_time": None,
        "rated": None,
        "novelty": None,
        "counted": None,
        "adapting": None,
        **stream_names(plan(front_end, outputs, name)),
        "fields": fields,
        "features_type": f"{name}_features_t",
    }
    return {
        file: with_terms(file, render(f"lower/sample_stream/front_end{suffix}.j2", **context))
        for suffix in (".h", ".c")
        for file in [f"{name}{suffix}"]
    }
