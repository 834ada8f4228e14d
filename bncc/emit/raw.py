"""The raw entry point: how sensor values become states in the emitted C."""

import struct
from dataclasses import dataclass, replace

from bncc.discretize.feature import Feature, FeatureKind
from bncc.emit.c99 import ArrayText, array, unsigned, wrap, wrap_words
from bncc.emit.identifiers import c_comment, field_names

CUT_BITS = {"int16": 16, "int32": 32, "float32": 32}


@dataclass(frozen=True)
class RawField:
    """One raw input.

    Parameters
    ----------
    field : str
        Member of the raw struct.
    c_type : str
        Its type.
    kind : str
        Which state function reads it: ``int16``, ``int32``, ``float32``, ``code8`` or ``code16``.
    first, last : int
        Its thresholds are ``cuts[first .. last - 1]``; for codes ``last`` is the number of known
        codes.
    fallback : int
        State of a missing or unseen value.
    comment : str
        Column name or range, and what is missing.
    """

    field: str
    c_type: str
    kind: str
    first: int
    last: int
    fallback: int
    comment: str


@dataclass(frozen=True)
class RawPlan:
    """What the templates need to print the raw entry point.

    Parameters
    ----------
    fields : tuple of RawField
        One per feature.
    is_array : bool
        Whether all raw inputs share one type and are passed as an array.
    arrays : tuple of ArrayText
        Thresholds and, for an array, where each feature's begin.
    kinds : tuple of str
        The state functions needed.
    cut_bits : {16, 32}
        Width of a threshold's index.
    """

    fields: tuple[RawField, ...]
    is_array: bool
    arrays: tuple[ArrayText, ...]
    kinds: tuple[str, ...]
    cut_bits: int


def float_key(value: float) -> int:
    """Return the integer that orders like a float32.

    Parameters
    ----------
    value : float
        A value of float32, not NaN.

    Returns
    -------
    int
        In int32: the IEEE 754 bits, negative values mirrored, so that ``a < b`` as floats iff
        ``float_key(a) < float_key(b)``, -0.0 just below 0.0.
    """
    bits: int = struct.unpack("<i", struct.pack("<f", value))[0]
    return bits if bits >= 0 else bits ^ 0x7FFFFFFF


def plan_raw(features: tuple[Feature, ...], state_bits: int) -> RawPlan:
    """Lay out thresholds and raw inputs.

    Parameters
    ----------
    features : tuple of Feature
        The classifier's inputs.
    state_bits : {8, 16}
        Width of a state.

    Returns
    -------
    RawPlan
        For the templates.
    """
    cuts: dict[FeatureKind, list[int]] = {"int16": [], "int32": [], "float32": []}
    lines: dict[FeatureKind, list[str]] = {"int16": [], "int32": [], "float32": []}
    fields = []
    for feature, name in zip(features, field_names(f.name for f in features), strict=True):
        if feature.is_numeric:
            mine = cuts[feature.kind]
            first = len(mine)
            mine += _cut_integers(feature)
            lines[feature.kind] += _cut_lines(feature)
            c_type = "float" if feature.kind == "float32" else f"{feature.kind}_t"
            fields.append(
                RawField(name, c_type, feature.kind, first, len(mine), feature.fallback,
                         _numeric_comment(feature))
            )  # fmt: skip
        else:
            fields.append(_code_field(feature, name))
    is_array = len({field.c_type for field in fields}) == 1
    kinds = tuple(sorted({field.kind for field in fields}))
    cut_bits = 16 if max(field.last for field in fields) < 2**16 else 32
    arrays = [
        _cuts_array(kind, values, lines[kind]) for kind, values in cuts.items() if kind in kinds
    ]
    if is_array:
        arrays += _array_bounds(fields, state_bits, cut_bits)
    return RawPlan(tuple(fields), is_array, tuple(arrays), kinds, cut_bits)


def _cut_integers(feature: Feature) -> list[int]:
    if feature.kind == "float32":
        return [float_key(float(t)) for t in feature.thresholds]
    return [int(t) for t in feature.thresholds]


def _code_field(feature: Feature, name: str) -> RawField:
    known = len(feature.categories) if feature.kind == "category" else feature.n_states
    bits = 8 if known <= 255 else 16
    comment = f"{feature.kind} 0 .. {known - 1}; any other number: missing or unseen"
    return RawField(name, unsigned(bits), f"code{bits}", 0, known, feature.fallback, comment)


def _numeric_comment(feature: Feature) -> str:
    missing = "NaN" if feature.kind == "float32" else f"{feature.kind.upper()}_MIN"
    return f"{c_comment(feature.name)}; {missing} when missing"


def _cut_lines(feature: Feature) -> list[str]:
    """Return a feature's thresholds under a heading that gives them in the sensor's own unit."""
    if not feature.thresholds:
        return []
    heading = [f"/* {c_comment(feature.name)}"]
    if feature.kind == "float32":
        heading = [f"{heading[0]}:", *(f"{t:.9g}" for t in feature.thresholds[:12])]
        heading += ["..."] if len(feature.thresholds) > 12 else []
    first, *rest = wrap_words([*heading, "*/"])
    cuts = wrap(_cut_integers(feature), signed=True)
    return [first, *(f" * {line}" for line in rest), *cuts]


def _cuts_array(kind: FeatureKind, values: list[int], lines: list[str]) -> ArrayText:
    comment = "Thresholds of all features, in the sensors' own units."
    if kind == "float32":
        comment = "Thresholds of all features, as the integers that order like the floats."
    plain = array(f"cuts_{kind}", CUT_BITS[kind], values, comment, signed=True)
    return replace(plain, lines=tuple(lines)) if lines else plain


def _array_bounds(fields: list[RawField], state_bits: int, cut_bits: int) -> list[ArrayText]:
    fallback = array(
        "missing_state",
        state_bits,
        [field.fallback for field in fields],
        "State of a missing or unseen reading, per feature.",
    )
    if fields[0].kind.startswith("code"):
        known = [field.last for field in fields]
        bits = 8 if max(known) <= 255 else 16
        return [array("known", bits, known, "Number of known codes, per feature."), fallback]
    ends = [field.last for field in fields]
    return [array("last_cut", cut_bits, ends, "Where each feature's thresholds end."), fallback]
