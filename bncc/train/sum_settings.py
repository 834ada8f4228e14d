"""Conversion of the options of ``bncc train`` to those of boosted tables."""

import re
from math import isfinite
from typing import Any

from bncc.boosting.settings import SETTINGS, BoostSettings
from bncc.errors import OptionError
from bncc.train.options import TrainOptions

DEFAULT_CUTS = 255
"""Largest number of cuts of a column in the search, if no discretization is named.

Only cuts used by tables take flash. Validation errors of 60 tables of 8 rows, in percent, means of
three splits:

=======================  =====  =====  =====  =====  =====
most cuts                15     31     63     127    255
=======================  =====  =====  =====  =====  =====
robot_wall_following_24  2.52   1.47   1.01   0.60   0.69
ai4i2020                 3.58   3.23   2.45   2.18   1.95
phoneme                  14.66  14.93  14.19  14.47  14.61
magic04                  14.09  14.26  15.38  13.99  13.87
wisdm_activity           15.97  14.64  15.33  15.24  14.77
har_exercise             6.02   6.02   4.86   6.02   6.25
=======================  =====  =====  =====  =====  =====
"""
SHIFTED_EPOCHS = 4, 12
"""Epochs before and after rounding begins, if each row occurs five times."""


def boost_settings_of(settings: TrainOptions) -> BoostSettings:
    """Return the options of boosting."""
    given: dict[str, Any] = {}
    if shift_of(settings) is not None:
        given |= {"float_epochs": SHIFTED_EPOCHS[0], "quantized_epochs": SHIFTED_EPOCHS[1]}
    named: dict[str, Any] = {"frac_bits": _frac_bits_of(settings)}
    for each in SETTINGS.values():
        if each.key is not None and each.key in settings.structure_options:
            is_whole = isinstance(getattr(BoostSettings, each.name), int)  # by its default
            named[each.name] = (_whole if is_whole else _number)(settings, each.key)
        elif each.option is not None:
            named[each.name] = getattr(settings, each.option)
    given |= {field: value for field, value in named.items() if value is not None}
    return BoostSettings(bits=settings.total_bits, seed=settings.seed, **given)


def _frac_bits_of(settings: TrainOptions) -> int | None:
    """Return the bits after the binary point, if they or those before it are named."""
    if settings.int_bits is not None:
        return settings.total_bits - settings.int_bits
    return settings.frac_bits


def n_bins_of(settings: TrainOptions) -> int:
    """Return the bins of a column, of which boosting tries all bounds."""
    if "cuts" in settings.structure_options:
        return _whole(settings, "cuts") + 1
    return settings.n_bins if settings.discretize is not None else DEFAULT_CUTS + 1


def shift_of(settings: TrainOptions) -> tuple[int, int] | None:
    """
    Return the image shape of the columns, if shifted copies are used for training too.

    Shapes: returns (int, int) or None, height and width in pixels.
    """
    text = settings.structure_options.get("shift")
    if text is None:
        return None
    found = re.fullmatch(r"([1-9]\d{0,4})x([1-9]\d{0,4})", text, re.ASCII)
    if found is None:
        raise OptionError(
            f"structure option shift={text} is not a height and width; try shift=16x16"
        )
    return int(found[1]), int(found[2])


def _whole(settings: TrainOptions, key: str) -> int:
    text = settings.structure_options[key]
    if not (text.isascii() and text.isdigit() and len(text) <= 9):
        raise OptionError(f"structure option {key}={text} is not an integer; try {key}=16")
    return int(text)


def _number(settings: TrainOptions, key: str) -> float:
    text = settings.structure_options[key]
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not isfinite(value):
        raise OptionError(f"structure option {key}={text} is not a number; try {key}=0.3")
    return value
