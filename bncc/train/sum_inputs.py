"""The inputs of a sum of tables: columns made alike, so that comparisons alone read them."""

from collections.abc import Sequence
from dataclasses import replace

from bncc.discretize.feature import LOWEST, Feature

MOST_OF_A_BYTE = 255
"""Most states of a feature that the C takes in a byte."""


def sum_inputs(features: Sequence[Feature]) -> tuple[Feature, ...]:
    """Prepare fitted features for a sum of tables."""
    return one_range([missing_below(feature) for feature in one_kind(features)])


def one_kind(features: Sequence[Feature]) -> tuple[Feature, ...]:
    """Let numeric columns share a kind, so that readings are an array."""
    narrow = [feature for feature in features if feature.kind == "int16"]
    kinds = {feature.kind for feature in features} - {"int16"}
    if len(kinds) != 1 or 2 * len(narrow) > len(features):
        return tuple(features)
    (kind,) = kinds
    if kind not in LOWEST:
        return tuple(features)
    number = float if kind == "float32" else int
    return tuple(
        replace(feature, kind=kind, thresholds=tuple(map(number, feature.thresholds)))
        for feature in features
    )


def missing_below(feature: Feature) -> Feature:
    """Let missing readings lie below all others."""
    if not feature.is_numeric:
        return feature
    thresholds = feature.thresholds
    has_own = feature.n_states > len(thresholds) + 1
    if has_own and not feature.has_missing_below:
        thresholds = (LOWEST[feature.kind], *thresholds)
    return replace(feature, thresholds=thresholds, n_states=len(thresholds) + 1, fallback=0)


def one_range(features: Sequence[Feature]) -> tuple[Feature, ...]:
    """
    Give all columns of states the range of the widest.

    A sum reads states only by cuts: one beyond those that a column has shown lies above all of
    them. So one limit serves all columns where the C checks its input, in place of one for each.
    """
    given = [feature.n_states for feature in features if feature.kind == "state"]
    most = max((n for n in given if n <= MOST_OF_A_BYTE), default=0)
    return tuple(
        replace(feature, n_states=most)
        if feature.kind == "state" and feature.n_states < most
        else feature
        for feature in features
    )
