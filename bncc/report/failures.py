"""Failed trials of a study, grouped by reason."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bncc.data.files import printable

_FIGURE = re.compile(r"\d[\d,.]*")
"""Reasons that differ in their figures only are the same."""


@dataclass(frozen=True)
class Failure:
    """Failed trials with the same reason."""

    reason: str  # The one of the first trial, without a full stop, fit to be shown
    numbers: tuple[int, ...]  # Trials, ascending
    is_example: bool  # The reasons of the others differ in their figures

    @property
    def sentence(self) -> str:
        """The number of trials, the reason and the trials."""
        n = len(self.numbers)
        example = "for example " if self.is_example else ""
        trials = f"trial{'s' * (n > 1)} {_ranges(self.numbers)}"
        return f"{n:,} {'trial' if n == 1 else 'trials'}: {example}{self.reason} ({trials})"


def failures_of(failed: Mapping[int, str]) -> tuple[Failure, ...]:
    """Group failed trials by reason, the most frequent one first."""
    groups: dict[str, list[int]] = {}
    for number, reason in sorted(failed.items()):
        groups.setdefault(_FIGURE.sub("#", reason), []).append(number)
    found = [
        Failure(
            printable(failed[numbers[0]]).rstrip(".") or "no reason is recorded",
            tuple(numbers),
            len({failed[number] for number in numbers}) > 1,
        )
        for numbers in groups.values()
    ]
    return tuple(sorted(found, key=lambda failure: (-len(failure.numbers), failure.numbers)))


def _ranges(numbers: Sequence[int]) -> str:
    """Return ascending numbers with those in a row as a range, such as "1, 3 to 5"."""
    ends: list[list[int]] = []
    for number in numbers:
        if ends and number == ends[-1][1] + 1:
            ends[-1][1] = number
        else:
            ends.append([number, number])
    return ", ".join(
        f"{a}" if a == b else f"{a}{',' if b == a + 1 else ' to'} {b}" for a, b in ends
    )
