"""What a structure learner is: a function of a problem, its name, and the options it reads."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from bncc._types import IntArray
from bncc.data.splits import SplitRule
from bncc.structure.graph import Structure
from bncc.structure.option_readers import Options

Reader = Callable[[Options], object]
"""Reads the value of an option among all; raises `OptionError` where it cannot be read."""
Tell = Callable[[float, str], None]
"""Told of the share that is done, and of what was found."""


def silence(share: float, words: str) -> None:
    """Tell nobody.

    Parameters
    ----------
    share, words
        See `Tell`.
    """


@dataclass(frozen=True, eq=False)
class Problem:
    """What every learner is given.

    Parameters
    ----------
    X : (n_samples, n_features) int
        States.
    y : (n_samples,) int
        Class indices.
    n_states : sequence of int
        Cardinality of each feature.
    n_classes : int
        C.
    options : mapping of str to str
        The user's structure options, their keys and values already checked.
    seed : int
        Seed of everything random.
    tell : callable
        Told of progress by learners that take their time.
    origin : (n_samples,) int or None
        Which row each sample copies, where rows that count more are there more than once; None
        where none is. Who holds rows out holds out all copies.
    split : SplitRule or None
        How rows are held out, of those that samples copy; None for at random.
    """

    X: IntArray
    y: IntArray
    n_states: Sequence[int]
    n_classes: int
    options: Options = field(default_factory=dict)
    seed: int = 0
    tell: Tell = silence
    origin: IntArray | None = None
    split: SplitRule | None = None

    @property
    def data(self) -> tuple[IntArray, IntArray, Sequence[int], int]:
        """The arguments that learners share, in their order."""
        return self.X, self.y, self.n_states, self.n_classes


@dataclass(frozen=True)
class Learner:
    """A structure learner.

    Parameters
    ----------
    name : str
        What ``--structure`` calls it.
    learn : callable
        From a problem to a structure.
    readers : mapping of str to callable
        By the key of each option that it knows, what reads its value.
    needs : mapping of str to (str, str)
        By the key of an option that has an effect with one value of another alone, that other one
        and its value.
    """

    name: str
    learn: Callable[[Problem], Structure]
    readers: Mapping[str, Reader] = field(default_factory=dict)
    needs: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    def idle(self, options: Options) -> tuple[str, ...]:
        """Return a sentence for each option given that has no effect because of another.

        Parameters
        ----------
        options : mapping of str to str
            Structure options, their keys and values already checked.

        Returns
        -------
        tuple of str
            For the user.
        """
        return tuple(
            f"structure option {key} has no effect without {other}={value}"
            for key, (other, value) in self.needs.items()
            if key in options and self.readers[other](options) != value
        )
