"""Conversion of the options of ``bncc train`` to those of boosted tables."""

import re
from math import isfinite
from typing import Any

from bncc.boosting.settings import SETTINGS, TREE_REFIT, BoostSettings
from bncc.errors import OptionError
from bncc.option_ranges import between
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
TREE_BITS, BINARY_TREE_BITS = 4, 8
"""Bits of a leaf's costs if none are named: for more than two classes, and for two."""
PRODUCT_KEYS = ("rows", "features", "dictionary")
"""Options of tables whose rows are combinations of cuts."""
CUT_BITS = ("0", "8", "16")
CUTS = between(1, 65534)
DIFFERENCES = between(0, 1024)
SHIFTED_EPOCHS = 4, 12
"""Epochs before and after rounding begins, if each row occurs five times."""


def boost_settings_of(settings: TrainOptions, n_classes: int | None = None) -> BoostSettings:
    """Return the options of boosting; without a number of classes, those for many."""
    _check_form(settings)
    given: dict[str, Any] = dict(TREE_REFIT) if _leaves_of(settings) else {}
    if shift_of(settings) is not None:
        given |= {"float_epochs": SHIFTED_EPOCHS[0], "quantized_epochs": SHIFTED_EPOCHS[1]}
    bits = _bits_of(settings, n_classes)
    named: dict[str, Any] = {"frac_bits": _frac_bits_of(settings, bits)}
    for each in SETTINGS.values():
        if each.key is not None and each.key in settings.structure_options:
            is_whole = isinstance(getattr(BoostSettings, each.name), int)  # by its default
            named[each.name] = (_whole if is_whole else _number)(settings, each.key)
        elif each.option is not None:
            named[each.name] = getattr(settings, each.option)
    given |= {field: value for field, value in named.items() if value is not None}
    return BoostSettings(bits=bits, seed=settings.seed, **given)


def _leaves_of(settings: TrainOptions) -> int:
    return _whole(settings, "leaves") if "leaves" in settings.structure_options else 0


def _is_single_tree(settings: TrainOptions) -> bool:
    is_one = "tables" in settings.structure_options and _whole(settings, "tables") == 1
    return is_one and _leaves_of(settings) > 0


def _check_form(settings: TrainOptions) -> None:
    """Reject options of product tables and of branching tables together."""
    options, leaves = settings.structure_options, _leaves_of(settings)
    for key in PRODUCT_KEYS if leaves else ():
        if key in options:
            raise OptionError(
                f"structure option {key}={options[key]} does not apply to the trees of "
                f"leaves={leaves}; leave out one of the two"
            )
    if not leaves and "depth" in options and _whole(settings, "depth"):
        raise OptionError(
            f"structure option depth={options['depth']} limits trees; add leaves=16, or leave it "
            "out"
        )
    for form, example in (("front", 32), ("gate", 20)):
        limit = f"{form}-differing"
        if limit in options and not (form in options and _whole(settings, form)):
            raise OptionError(
                f"structure option {limit}={options[limit]} limits a {form}; add "
                f"{form}={example}, or leave it out"
            )


def _bits_of(settings: TrainOptions, n_classes: int | None) -> int:
    """Return the bits of a cost: those that are named, else the default of the form of tables."""
    is_named = settings.bits is not None or None not in (settings.int_bits, settings.frac_bits)
    if is_named or not _leaves_of(settings):
        return settings.total_bits
    return BINARY_TREE_BITS if n_classes == 2 and not _is_single_tree(settings) else TREE_BITS


def _frac_bits_of(settings: TrainOptions, bits: int) -> int | None:
    """Return the bits after the binary point, if they or those before it are named."""
    if settings.int_bits is not None:
        return bits - settings.int_bits
    return settings.frac_bits


def n_bins_of(settings: TrainOptions) -> int:
    """Return the bins of a column, of which boosting tries all bounds."""
    if "cuts" in settings.structure_options:
        n_cuts = _whole(settings, "cuts")
        CUTS.check("cuts", n_cuts)
        return n_cuts + 1
    return settings.n_bins if settings.discretize is not None else DEFAULT_CUTS + 1


def cut_bits_of(settings: TrainOptions) -> int:
    """Return the highest bits of a reading that cuts may depend on; 0 for all."""
    text = settings.structure_options.get("cut-bits", CUT_BITS[0])
    if text not in CUT_BITS:
        raise OptionError(f"structure option cut-bits={text} is unknown; choose 0, 8 or 16")
    return int(text)


def differences_of(settings: TrainOptions) -> int:
    """Return the most differences of two columns that tables may cut."""
    if "differences" not in settings.structure_options:
        return 0
    n = _whole(settings, "differences")
    DIFFERENCES.check("differences", n)
    return n


def inputs_key(settings: TrainOptions) -> tuple[int, ...]:
    """Return the options on which the candidate cuts depend."""
    return n_bins_of(settings), cut_bits_of(settings), differences_of(settings)


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
    if re.fullmatch(r"-?\d{1,9}", text, re.ASCII) is None:
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
