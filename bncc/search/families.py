"""Families that a search for a budget tries, given the options of the user."""

from bncc.errors import OptionError
from bncc.search.budget_search import FAMILIES, NETWORKS
from bncc.train.settings import TrainSettings

_SEARCHED = ("tables", "rows", "features", "dictionary")


def refuse_searched(settings: TrainSettings) -> None:
    """Raise an OptionError where an option is set of which a search tries several values."""
    given = {
        "--bits": settings.bits is not None,
        "--int-bits": settings.int_bits is not None,
        "--float": settings.float_,
    }
    if settings.is_boosted:
        options = settings.structure_options
        given |= {f"--structure-option {key}": key in options for key in _SEARCHED}
    for option, is_given in given.items():
        if is_given:
            raise OptionError(f"a search for a budget has no use for {option}; leave it out")


def families_of(
    settings: TrainSettings, named: str | None, extras: frozenset[str] = frozenset()
) -> tuple[tuple[str, ...], str | None]:
    """
    Return the structures to try, only the one that is named if any, and a note on others.

    `extras` are the entry points that are emitted, as in ``--with``. Boosted tables are left out
    where they have no use for an option; the note says so.
    """
    if named is not None:
        return (named,), None
    of_networks = {
        f"--parameters {settings.parameters}": settings.parameters != "hybrid",
        f"--engine {settings.engine}": settings.engine == "torch",
        "--with missing": "missing" in extras,
    }
    for option, is_given in of_networks.items():
        if is_given:
            return NETWORKS, f"boosted tables are not tried, as they do not support {option}"
    return FAMILIES, None
