"""Structures that a budget search tries, and options that it leaves no room for."""

from bncc.boosting.settings import SETTINGS
from bncc.errors import ModelError, OptionError
from bncc.model.rules import EXTRAS
from bncc.structure.catalog import SUM
from bncc.train.gradient.engines import descent_lack
from bncc.train.options import OPTIONS
from bncc.train.settings import TrainSettings

NETWORKS = ("naive", "chow-liu")
"""Network structures in the search, each with the most bits that fit."""
FAMILIES = (SUM, *NETWORKS)


def refuse_searched(settings: TrainSettings) -> None:
    """Raise an OptionError if an option is set for which a search tries several values."""
    given = [
        option.flag
        for option in OPTIONS.values()
        if option.is_searched and getattr(settings, option.name) != option.default
    ]
    if settings.is_boosted:
        keys = [each.key for each in SETTINGS.values() if each.is_searched]
        given += [f"--structure-option {key}" for key in keys if key in settings.structure_options]
    if given:
        raise OptionError(f"{given[0]} does not apply to a budget search; leave it out")


def families_of(
    settings: TrainSettings,
    named: str | None,
    extras: frozenset[str] = frozenset(),
    rules: frozenset[str] = frozenset(),
) -> tuple[tuple[str, ...], str | None]:
    """
    Return the structures to try, only the named one if any, and a note on others.

    `extras` are the emitted entry points, as in ``--with``. Boosted tables are left out if they
    do not support an option; the note reports this. Entry points of rules for decisions other than
    `rules`, which are chosen after the model, are refused.
    """
    for name in sorted((EXTRAS.keys() & extras) - rules):
        try:
            EXTRAS[name].required(None)
        except ModelError as reason:
            raise OptionError(f"{reason}, or leave out the entry point {name}") from None
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
    if (lack := descent_lack()) is not None:
        return (SUM,), f"networks are not tried: {lack}"
    return FAMILIES, None
