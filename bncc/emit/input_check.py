"""The check of an input as C: the conditions that a state is too large."""

from dataclasses import dataclass
from itertools import groupby

from bncc.compiler.input_check import Comparison, InputCheck
from bncc.emit.c99 import wrap_words


@dataclass(frozen=True)
class ConditionText:
    """All comparisons with one limit.

    Parameters
    ----------
    states : str
        How many states the features have, in words.
    lines : tuple of str
        The condition.
    """

    states: str
    lines: tuple[str, ...]


@dataclass(frozen=True)
class CheckText:
    """A check ready to print.

    Parameters
    ----------
    last : str
        What a loop compares with where all features have the same states, else empty.
    conditions : tuple of ConditionText
        Straight-line code; none for a loop.
    has_joint : bool
        Whether states are compared together.
    """

    last: str
    conditions: tuple[ConditionText, ...]
    has_joint: bool


def check_text(check: InputCheck) -> CheckText:
    """Print the check of an input.

    Parameters
    ----------
    check : InputCheck
        What was chosen.

    Returns
    -------
    CheckText
        For the template.
    """
    conditions = []
    for last, comparisons in groupby(check.comparisons, key=lambda each: each.last):
        first, *others = map(_comparison, comparisons)
        lines = wrap_words([first, *(f"|| {other}" for other in others)])
        states = "1 state" if last == 0 else f"{last + 1} states"
        conditions.append(ConditionText(states, tuple(lines)))
    return CheckText(
        last="" if check.last is None else f"{check.last}U",
        conditions=tuple(conditions),
        has_joint=any(len(each.features) > 1 for each in check.comparisons),
    )


def _comparison(comparison: Comparison) -> str:
    states = " | ".join(f"x[{f}]" for f in comparison.features)
    joint = f"({states})" if len(comparison.features) > 1 else states
    return f"{joint} > {comparison.last}U"
