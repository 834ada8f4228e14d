r"""
Carry-save adders: words of bits of equal weight, counted column by column.

Bit c of every word belongs to class c. The sum of level k has bit k of each class's cost; a full
adder takes three words of level k and leaves their sum there and a carry at level k + 1:

.. math:: a + b + c = (a \oplus b \oplus c) + 2\,[ab \lor (a \oplus b)\,c]

so that :math:`\sum_k 2^k (\text{words of level } k)` is the same before and after, in every column.
Nothing is carried out of the highest level: with L levels all columns' sums are below
:math:`2^L`, and a word that is left out could hold zeros alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class RowWord:
    """A word of the row that a table contributes."""

    table: int  # In the kernel's order
    word: int  # Which of the row's words


@dataclass(frozen=True)
class Constant:
    """A word that is the same for every input: zeros, or bits of the prior."""

    value: int


@dataclass(frozen=True)
class UpperHalf:
    """The upper half of a level's sum, moved down, with zeros above it."""

    level: int


Operand = RowWord | Constant | UpperHalf | str
"""A word to add; a string is the name of a variable."""


@dataclass(frozen=True)
class Step:
    """One statement; variables are ``sum0``, ``held1``, ``carry1`` and so on, by level."""

    # The variable that is set: to the carry, to the sum where `into` is the same variable (the
    # highest level, which has no carry), or to the only operand where `into` is None
    target: str
    into: str | None  # The sum that the operands are added to
    operands: tuple[Operand, ...]  # One or two words


class Adders:
    """
    Steps of a sum, in the order in which they were asked for.

    Every level has a sum and holds at most one further word, until a second one arrives.
    """

    def __init__(self, n_levels: int) -> None:
        self.steps: list[Step] = []
        self._is_set = [False] * n_levels
        self._is_held = [False] * n_levels

    def add(self, level: int, operand: Operand, *others: Operand) -> None:
        """Add one or two words to a level, and all carries to those above."""
        top = len(self._is_set) - 1
        name, held = f"sum{level}", f"held{level}"
        if not self._is_set[level]:
            self._set(name, operand)
            self._is_set[level] = True
            for other in others:
                self.add(level, other)
        elif level == top:
            self.steps.append(Step(name, name, (operand, *others)))
        elif others:
            self._carry(level, (operand, *others))
        elif self._is_held[level]:
            self._is_held[level] = False
            self._carry(level, (held, operand))
        else:
            self._set(held, operand)
            self._is_held[level] = True

    def settle(self, level: int) -> None:
        """Add what a level holds, after which its sum is final if those below are."""
        if self._is_held[level]:
            self._is_held[level] = False
            self._carry(level, (f"held{level}",))
        elif not self._is_set[level]:
            self.add(level, Constant(0))

    def join_halves(self, n_levels: int) -> None:
        """
        Add the sums in the upper halves of words, which count twice, to those in the lower.

        The upper halves of sums stay as they are, for what is added to them is zero.
        """
        n_packed = len(self._is_set)
        self._is_set += [False] * (n_levels - n_packed)
        self._is_held += [False] * (n_levels - n_packed)
        for level in range(1, n_levels):
            if level <= n_packed:
                self.add(level, UpperHalf(level - 1))
            self.settle(level)

    def _set(self, name: str, operand: Operand) -> None:
        self.steps.append(Step(name, None, (operand,)))

    def _carry(self, level: int, operands: tuple[Operand, ...]) -> None:
        """Add to a level that is not the highest one and pass its carry on."""
        above = level + 1
        into = f"sum{level}"
        if not self._is_set[above]:
            self._is_set[above] = True
            self.steps.append(Step(f"sum{above}", into, operands))
        elif above < len(self._is_set) - 1 and not self._is_held[above]:
            self._is_held[above] = True
            self.steps.append(Step(f"held{above}", into, operands))
        else:
            self.steps.append(Step(f"carry{above}", into, operands))
            self.add(above, f"carry{above}")


def add_up(n_words: Sequence[int], stride: int, prior: Sequence[int], n_levels: int) -> Adders:
    """Plan the sum of one row of each table."""
    adders = Adders(n_levels)
    for w, value in enumerate(prior):
        if value:
            adders.add(w * stride, Constant(value))
    t, is_alone = 0, not any(prior)
    while t < len(n_words):
        is_pair = not is_alone and t + 1 < len(n_words) and n_words[t] == n_words[t + 1]
        for w in range(n_words[t]):
            adders.add(w * stride, *(RowWord(t + k, w) for k in range(1 + is_pair)))
        t += 1 + is_pair
        is_alone = False
    for level in range(n_levels):
        adders.settle(level)
    return adders
