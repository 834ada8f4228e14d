"""From the options of ``bncc train`` to those of a sum of tables."""

import re
from math import isfinite
from typing import TYPE_CHECKING

from bncc.errors import OptionError
from bncc.train.boosting.settings import BoostSettings

if TYPE_CHECKING:  # settings are checked by what is made of them here
    from bncc.train.settings import TrainSettings

DEFAULT_CUTS = 31
"""Most cuts of a column that are tried, where the user names no discretization."""
SHIFTED_EPOCHS = 4, 12
"""Before and after rounding begins, where each row comes five times."""


def boost_settings_of(settings: "TrainSettings") -> BoostSettings:
    """Return the options of boosting.

    Parameters
    ----------
    settings : TrainSettings
        With the structure ``tables``; its structure options are ``tables``, ``rows``,
        ``features``, ``dictionary``, ``rate`` (of boosting), ``decay`` (of weights) and ``shift``.

    Returns
    -------
    BoostSettings
        Defaults where nothing is said.

    Raises
    ------
    OptionError
        If a value cannot be read or is out of its range.
    """
    whole = {"n_tables": "tables", "rows": "rows", "features": "features"}
    options = settings.structure_options
    given: dict[str, object] = {
        field: _whole(settings, key)
        for field, key in {**whole, "dictionary": "dictionary"}.items()
        if key in options
    }
    broken = {"eta": "rate", "weight_decay": "decay"}
    given |= {field: _number(settings, key) for field, key in broken.items() if key in options}
    if shift_of(settings) is not None:
        given |= {"float_epochs": SHIFTED_EPOCHS[0], "quantized_epochs": SHIFTED_EPOCHS[1]}
    named = {
        "quantized_epochs": settings.epochs,
        "batch_size": settings.batch_size,
        "lr": settings.lr,
        "dropout": settings.dropout,
        "frac_bits": _frac_bits_of(settings),
        "engine": settings.engine,
    }
    given |= {field: value for field, value in named.items() if value is not None}
    return BoostSettings(bits=settings.total_bits, seed=settings.seed, **given)  # type: ignore[arg-type]


def _frac_bits_of(settings: "TrainSettings") -> int | None:
    """Return the bits after the binary point, where they or those before it are named."""
    if settings.int_bits is not None:
        return settings.total_bits - settings.int_bits
    return settings.frac_bits


def n_bins_of(settings: "TrainSettings") -> int:
    """Return the bins of a column, of which boosting tries all bounds.

    Parameters
    ----------
    settings : TrainSettings
        With the structure ``tables``; its structure option ``cuts`` counts bounds.

    Returns
    -------
    int
        Bins.

    Raises
    ------
    OptionError
        If ``cuts`` is no whole number.
    """
    if "cuts" in settings.structure_options:
        return _whole(settings, "cuts") + 1
    return settings.n_bins if settings.discretize is not None else DEFAULT_CUTS + 1


def shift_of(settings: "TrainSettings") -> tuple[int, int] | None:
    """Return the image that columns are, if its moved copies are to be learned from too.

    Parameters
    ----------
    settings : TrainSettings
        With the structure ``tables``; its structure option ``shift`` names height and width.

    Returns
    -------
    (int, int) or None
        Height and width in pixels.

    Raises
    ------
    OptionError
        If ``shift`` is no such pair.
    """
    text = settings.structure_options.get("shift")
    if text is None:
        return None
    found = re.fullmatch(r"([1-9]\d{0,4})x([1-9]\d{0,4})", text, re.ASCII)
    if found is None:
        raise OptionError(f"structure option shift={text} is no height and width; try shift=16x16")
    return int(found[1]), int(found[2])


def _whole(settings: "TrainSettings", key: str) -> int:
    text = settings.structure_options[key]
    if not (text.isascii() and text.isdigit() and len(text) <= 9):
        raise OptionError(f"structure option {key}={text} is not a whole number; try {key}=16")
    return int(text)


def _number(settings: "TrainSettings", key: str) -> float:
    text = settings.structure_options[key]
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not isfinite(value):
        raise OptionError(f"structure option {key}={text} is not a number; try {key}=0.3")
    return value
