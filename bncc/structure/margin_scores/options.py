"""Reading the structure options of the scores."""

from collections.abc import Mapping

from bncc.errors import OptionError
from bncc.structure.learner import Reader
from bncc.structure.margin_scores.held_out import DEFAULT_FOLDS
from bncc.structure.margin_scores.score import KINDS
from bncc.structure.margin_scores.search import Search
from bncc.structure.option_readers import Options, choice_of, count_of, positive_of

LAMBDA_LEAST, LAMBDA_MOST = 1e-3, 1e3
"""Beyond, no margin reaches 1 / lambda nats, or every one does."""


def _kind_of(options: Options) -> str:
    return choice_of(options, "score", KINDS)


def _lambda_of(options: Options) -> float | None:
    if "lambda" not in options:
        return None
    lambda_ = positive_of(options, "lambda", 0.1)
    if not LAMBDA_LEAST <= lambda_ <= LAMBDA_MOST:
        raise OptionError(
            f"structure option lambda={options['lambda']} is not in {LAMBDA_LEAST:g} to "
            f"{LAMBDA_MOST:g}; try lambda=0.1"
        )
    return lambda_


def _folds_of(options: Options) -> int:
    n_folds = count_of(options, "folds", DEFAULT_FOLDS)
    if n_folds < 2:
        raise OptionError(
            f"structure option folds=1 leaves no rows to learn from; try folds={DEFAULT_FOLDS}"
        )
    return n_folds


READERS: Mapping[str, Reader] = {"score": _kind_of, "lambda": _lambda_of, "folds": _folds_of}
"""By the key of each option of the scores, what reads it."""
NEEDS = {"lambda": ("score", "mm")}
"""See `bncc.structure.learner.Learner`."""


def search_of(options: Options) -> Search:
    """Return how trees are scored."""
    return Search(_kind_of(options), _lambda_of(options), _folds_of(options))
