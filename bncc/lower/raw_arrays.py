"""The constant arrays of shared state functions: thresholds, and what they take per feature."""

from collections.abc import Sequence
from dataclasses import replace

from bncc.discretize.feature import Feature
from bncc.discretize.readings import n_known
from bncc.lower.c.c99 import ArrayText, array, number_text, wrap, wrap_words
from bncc.lower.c.identifiers import c_comment
from bncc.lower.discretizers.steps import float_key

CUT_BITS = {"int16": 16, "int32": 32, "float32": 32}


def cuts_array(kind: str, features: Sequence[Feature]) -> ArrayText:
    """Return the thresholds of all features of a kind, each feature's under its name."""
    values = [cut for feature in features for cut in cut_integers(feature)]
    lines = [line for feature in features for line in _cut_lines(feature)]
    comment = "Thresholds of all features, in the sensors' own units."
    if kind == "float32":
        comment = "Thresholds of all features, as the integers that order like the floats."
    plain = array(f"cuts_{kind}", CUT_BITS[kind], values, comment, signed=True)
    return replace(plain, lines=tuple(lines)) if lines else plain


def per_feature(features: Sequence[Feature], kind: str, state_bits: int) -> list[ArrayText]:
    """Return what a loop over features reads beside thresholds and readings."""
    fallback = array(
        "missing_state",
        state_bits,
        [feature.missing_state for feature in features],
        "State of a missing or unseen reading, per feature.",
    )
    if kind.startswith("code"):
        known = [n_known(feature) for feature in features]
        bits = 8 if max(known) <= 255 else 16
        return [array("known", bits, known, "Number of known codes, per feature."), fallback]
    counts = [len(feature.thresholds) for feature in features]
    meaning = "Number of thresholds, per feature."
    return [array("n_cuts", count_bits(features), counts, meaning), fallback]


def count_bits(features: Sequence[Feature]) -> int:
    """Return the width that counts the thresholds of any one feature."""
    most = max(len(feature.thresholds) for feature in features)
    return 8 if most <= 255 else 16 if most <= 32767 else 32


def cut_integers(feature: Feature) -> list[int]:
    """Return the thresholds as integers, those of floats as the keys that order like them."""
    if feature.kind == "float32":
        return [float_key(float(t)) for t in feature.thresholds]
    return [int(t) for t in feature.thresholds]


def _cut_lines(feature: Feature) -> list[str]:
    """Return a feature's thresholds under a heading that gives them in the sensor's own unit."""
    if not feature.thresholds:
        return []
    heading = [f"/* {c_comment(feature.name)}"]
    if feature.kind == "float32":
        heading = [f"{heading[0]}:", *map(number_text, feature.thresholds)]
    first, *rest = wrap_words([*heading, "*/"])
    cuts = wrap(cut_integers(feature), signed=True)
    return [first, *(f" * {line}" for line in rest), *cuts]
