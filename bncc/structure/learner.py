"""What a structure learner is: a function of a problem, its name, and the options it reads."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from bncc._types import IntArray
from bncc.data.splits import SplitRule
from bncc.progress import Progress, silence
from bncc.structure.graph import Structure
from bncc.structure.options import Options

Reader = Callable[[Options], object]
"""Reads the value of an option among all; raises `OptionError` where it cannot be read."""


@dataclass(frozen=True, eq=False)
class Problem:
    """What every learner is given."""

    X: IntArray  # (n_samples, n_features) int: States
    y: IntArray  # (n_samples,) int: Class indices
    n_states: Sequence[int]  # Cardinality of each feature
    n_classes: int  # C
    # The user's structure options, their keys and values already checked
    options: Options = field(default_factory=dict)
    seed: int = 0  # Seed of everything random
    tell: Progress = silence  # Told of progress by learners that take their time
    # (n_samples,) int or None: Which row each sample copies, where rows that count more are there
    # more than once; None where none is. Who holds rows out holds out all copies.
    origin: IntArray | None = None
    # How rows are held out, of those that samples copy; None for at random
    split: SplitRule | None = None

    @property
    def data(self) -> tuple[IntArray, IntArray, Sequence[int], int]:
        """The arguments that learners share, in their order."""
        return self.X, self.y, self.n_states, self.n_classes


@dataclass(frozen=True)
class OptionText:
    """Help text of a ``--structure-option`` of a structure."""

    values: str  # Choices separated by ``|``, or a metavariable
    default: str  # In the option's own notation, or in words if the default depends on others
    text: str
    is_literal: bool = True  # Whether the default can be typed


@dataclass(frozen=True)
class Learner:
    """A structure learner."""

    name: str  # What ``--structure`` calls it
    learn: Callable[[Problem], Structure]  # From a problem to a structure
    # By the key of each option that it knows, what reads its value
    readers: Mapping[str, Reader] = field(default_factory=dict)
    # By the key of an option that has an effect with one value of another alone, that other one and
    # its value
    needs: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    # text and option_texts: Help of ``bncc structures``, the latter by option key; the texts of
    # older learners are in `bncc.train.structure_texts`
    text: str = ""
    option_texts: Mapping[str, OptionText] = field(default_factory=dict)

    def idle(self, options: Options) -> tuple[str, ...]:
        """Return a sentence for each option given that has no effect because of another."""
        return tuple(
            f"structure option {key} has no effect without {other}={value}"
            for key, (other, value) in self.needs.items()
            if key in options and self.readers[other](options) != value
        )
