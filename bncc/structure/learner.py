"""Structure learners: a function of a problem, its name, and the options it reads."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from bncc._types import IntArray
from bncc.data.splits import SplitRule
from bncc.progress import Progress, silence
from bncc.structure.graph import Structure
from bncc.structure.options import Options

Reader = Callable[[Options], object]
"""Parser of an option's value among all options; raises `OptionError` on failure."""


@dataclass(frozen=True, eq=False)
class Problem:
    """Input of every learner."""

    X: IntArray  # (n_samples, n_features) int: States
    y: IntArray  # (n_samples,) int: Class indices
    n_states: Sequence[int]  # Cardinality of each feature
    n_classes: int  # C
    # The user's structure options, with checked keys and values
    options: Options = field(default_factory=dict)
    seed: int = 0  # Random seed
    tell: Progress = silence  # Progress callback of slow learners
    # (n_samples,) int or None: Original row of each sample, where weights repeat rows; None without
    # copies. Validation splits keep all copies of a row on one side.
    origin: IntArray | None = None
    # Method of choosing validation rows among the original rows; None for random
    split: SplitRule | None = None

    @property
    def data(self) -> tuple[IntArray, IntArray, Sequence[int], int]:
        """The arguments shared by all learners, in order."""
        return self.X, self.y, self.n_states, self.n_classes


@dataclass(frozen=True)
class OptionText:
    """Help text of a ``--structure-option`` of a structure."""

    values: str  # Choices separated by ``|``, or a metavariable
    default: str  # In the option's own notation, or in words if the default depends on others
    text: str
    is_literal: bool = True  # True if the default can be typed


@dataclass(frozen=True)
class Learner:
    """A structure learner."""

    name: str  # Name in ``--structure``
    learn: Callable[[Problem], Structure]  # From a problem to a structure
    # Parser by option key
    readers: Mapping[str, Reader] = field(default_factory=dict)
    # Options that require a value of another option: by key, that other option and the required
    # value
    needs: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    # text and option_texts: Help of ``bncc structures``, the latter by option key; the texts of
    # older learners are in `bncc.train.structure_texts`
    text: str = ""
    option_texts: Mapping[str, OptionText] = field(default_factory=dict)

    def idle(self, options: Options) -> tuple[str, ...]:
        """Return a sentence for each given option that another option disables."""
        return tuple(
            f"structure option {key} has no effect without {other}={value}"
            for key, (other, value) in self.needs.items()
            if key in options and self.readers[other](options) != value
        )
