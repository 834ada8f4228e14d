"""Named constants of the header: features, their numbers of states, and codes of categories."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from bncc.discretize.feature import Feature
from bncc.lower.c.identifiers import constant_name, constant_names

MAX_CONSTANT = 63
"""Characters of a name that every C99 compiler tells apart."""


LARGEST_INT = 2**15 - 1
"""Largest constant of an enumeration where an int has 16 bits; larger ones are left out."""


@dataclass(frozen=True)
class Constants:
    """Named constants of one kind."""

    kind: str  # What their names have behind the model's: ``FEATURE``, ``N_STATES`` or ``CATEGORY``
    comment: str  # What they are
    values: list[tuple[str, int]]  # How their names end, and what they stand for


def feature_constants(features: Sequence[Feature], name: str) -> list[Constants]:
    """Return the constants of features."""
    ends = constant_names((f.name for f in features), longest=longest_end(name, "N_STATES"))
    kinds = (
        Constants("FEATURE", "Feature indices.", [(end, i) for i, end in enumerate(ends)]),
        Constants(
            "N_STATES",
            "Number of states of each feature.",
            [(end, f.n_states) for end, f in zip(ends, features, strict=True)],
        ),
        Constants("CATEGORY", "Codes of categories.", category_constants(features, name)),
    )
    fitting = [
        replace(each, values=[pair for pair in each.values if pair[1] <= LARGEST_INT])
        for each in kinds
    ]
    return [each for each in fitting if each.values]


def longest_end(name: str, kind: str) -> int:
    """Return the most characters behind ``NAME_KIND_`` that every C99 compiler tells apart."""
    return MAX_CONSTANT - len(f"{name}_{kind}_")


def category_constants(features: Sequence[Feature], name: str) -> list[tuple[str, int]]:
    """Return the end of a macro's name and the code of each category."""
    longest = longest_end(name, "CATEGORY")
    most = (longest - 1) // 2  # so that a long name leaves room for labels
    known = [(feature, k) for feature in features for k in range(len(feature.categories))]
    ends = constant_names(
        (
            f"{constant_name(feature.name)[:most]}_{constant_name(feature.categories[k])}"
            for feature, k in known
        ),
        longest=longest,
    )
    return [(end, k) for end, (_, k) in zip(ends, known, strict=True)]
