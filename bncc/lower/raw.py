"""The raw entry point: how sensor values become states in the emitted C."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from bncc.discretize.feature import Feature, inputs_of, subtracted
from bncc.discretize.readings import is_array, n_known
from bncc.lower.c.c99 import ArrayText, unsigned
from bncc.lower.c.identifiers import field_names, titled
from bncc.lower.discretizers.choice import Discretizers
from bncc.lower.discretizers.counts import Counts
from bncc.lower.discretizers.functions import (
    StateFunction,
    count_bits,
    cuts_array,
    per_feature,
    state_function,
)
from bncc.lower.discretizers.rates import Search


@dataclass(frozen=True)
class RawField:
    """A feature's reading: a raw input, or the difference of two."""

    field: str  # Member of the raw struct; empty for a difference
    c_type: str  # Its type
    # Which state function reads it: a numeric kind, ``code8`` or ``code16``
    kind: str
    # first and last: Its thresholds are ``cuts[first .. last - 1]``; for codes ``last`` is the
    # number of known codes. Equal where it has a state function of its own.
    first: int
    last: int
    missing_state: int  # State of a missing or unseen value
    comment: str  # Column name or range, and what is missing
    own: str = ""  # What its own state function's name ends with; empty where it shares one
    is_read: bool = True  # False if no table reads its state, which is then 0
    reading: str = ""  # Its C expression


@dataclass(frozen=True)
class RawPlan:
    """Template data for the raw entry point."""

    fields: tuple[RawField, ...]  # One per feature: inputs, then differences
    is_array: bool  # True if all raw inputs share one type and are passed as an array
    is_loop: bool  # True if one loop finds all states, which only an array allows
    search: Search  # How thresholds in arrays are searched
    functions: tuple[StateFunction, ...]  # Those that belong to one feature
    arrays: tuple[ArrayText, ...]  # Thresholds and, for a loop, how many each feature has
    kinds: tuple[str, ...]  # The shared state functions needed
    cut_bits: int  # Width of a threshold's index
    count_bits: int  # Width in which the thresholds of one feature are counted, twice over
    counts: Counts  # Operations that find states, by which the entry point is priced
    code_bytes: int  # Estimated bytes of code that compares readings
    instructions: int  # Estimated instructions, on AVR cycles, that find all states

    @property
    def inputs(self) -> tuple[RawField, ...]:
        """The raw inputs."""
        return tuple(field for field in self.fields if field.field)

    @property
    def has_differences(self) -> bool:
        """True if some features are differences of inputs."""
        return len(self.inputs) < len(self.fields)

    @property
    def has_missing(self) -> bool:
        """True if some value of some input is a missing or unseen reading."""
        return any(field.kind != "uint8" for field in self.inputs)

    @property
    def needs_float_bits(self) -> bool:
        """True if any state is found from a float's bits."""
        own = any(f.kind == "float32" and not f.is_constant for f in self.functions)
        return own or "float32" in self.kinds


def plan_raw(
    features: tuple[Feature, ...],
    state_bits: int,
    chosen: Discretizers,
    name: str,
    units: Sequence[str] = (),
    unread: Collection[int] = (),
) -> RawPlan:
    """Lay out thresholds and raw inputs; some may be unread, not all."""
    names = field_names(feature.name for feature in features)
    readings = _readings(features, names)
    only_subtracted = subtracted(f for i, f in enumerate(features) if i not in unread)
    counts: dict[str, int] = {}
    fields, functions = [], []
    for i, feature in enumerate(features):
        method, tree = chosen.methods[i], chosen.trees[i]
        unit = units[i] if units else ""
        if i in unread and not chosen.is_loop:
            fields.append(_unread_field(feature, names[i], unit, i in only_subtracted))
        elif method is not None and tree is not None:
            own = state_function(feature, names[i], i, name, method, tree)
            functions.append(own)
            fields.append(_numeric_field(feature, names[i], unit, 0, 0, own.suffix))
        elif feature.is_numeric:
            first = counts.get(feature.kind, 0)
            counts[feature.kind] = first + len(feature.thresholds)
            fields.append(_numeric_field(feature, names[i], unit, first, counts[feature.kind]))
        else:
            fields.append(_code_field(feature, names[i]))
        named = "" if feature.difference is not None else names[i]
        fields[i] = replace(fields[i], field=named, reading=readings[i])
    shared = [i for i, field in enumerate(fields) if field.is_read and not field.own]
    kinds = sorted({fields[i].kind for i in shared})
    arrays = [
        cuts_array(kind, [features[i] for i in shared if features[i].kind == kind])
        for kind in counts
    ]
    if chosen.is_loop:
        arrays += per_feature(features, fields[0].kind, state_bits)
    arrays += [array for own in functions for array in own.arrays]
    return RawPlan(
        fields=tuple(fields),
        is_array=is_array(features),
        is_loop=chosen.is_loop,
        search=chosen.search,
        functions=tuple(functions),
        arrays=tuple(arrays),
        kinds=tuple(kinds),
        cut_bits=16 if max(field.last for field in fields) < 2**16 else 32,
        count_bits=count_bits(features),
        counts=chosen.counts,
        code_bytes=max(0, round(chosen.flash) - sum(a.n_bytes for a in arrays)),
        instructions=round(chosen.instructions),
    )


def _readings(features: Sequence[Feature], names: Sequence[str]) -> tuple[str, ...]:
    """
    Return the C expression of each reading.

    The type of a difference holds that of any two readings, so its operands become that type
    first.
    """
    inputs = inputs_of(features)
    of_array = is_array(features)
    found = [f"x[{i}]" if of_array else f"x->{names[i]}" for i in range(len(inputs))]
    for feature in features[len(inputs) :]:
        assert feature.difference is not None
        wide = f"{feature.kind}_t"
        first, second = (f"({wide}){found[k]}" for k in feature.difference)
        # A subtraction of two int16_t is one of int.
        narrow = f"({wide})" if feature.kind == "int16" else ""
        found.append(f"{narrow}({first} - {second})")
    return tuple(found)


def _unread_field(feature: Feature, name: str, unit: str, is_subtracted: bool) -> RawField:
    field = (
        _numeric_field(feature, name, unit, 0, 0)
        if feature.is_numeric
        else _code_field(feature, name)
    )
    use = "read in differences alone" if is_subtracted else "not used"
    return replace(field, last=0, is_read=False, comment=f"{field.comment}; {use}")


def missing_text(kind: str) -> str:
    """Return the C for a missing reading of a numeric kind; empty where all are readings."""
    if kind == "uint8":
        return ""
    return "NaN" if kind == "float32" else f"{kind.upper()}_MIN"


def _numeric_field(
    feature: Feature, name: str, unit: str, first: int, last: int, own: str = ""
) -> RawField:
    c_type = "float" if feature.kind == "float32" else f"{feature.kind}_t"
    missing = missing_text(feature.kind)
    comment = titled(feature.name, unit) + (f"; {missing} when missing" if missing else "")
    return RawField(name, c_type, feature.kind, first, last, feature.missing_state, comment, own)


def _code_field(feature: Feature, name: str) -> RawField:
    known = n_known(feature)
    bits = 8 if known <= 255 else 16
    codes = f"0 .. {known - 1}" if known > 1 else "0"
    comment = f"{feature.kind} {codes}; any other code: missing or unseen"
    if not known:
        comment = f"{feature.kind} without labels; any code: missing or unseen"
    return RawField(name, unsigned(bits), f"code{bits}", 0, known, feature.missing_state, comment)
