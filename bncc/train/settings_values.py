"""The values that options of training may have, and which combinations make sense."""

import re
from math import isfinite
from numbers import Integral, Real
from typing import TYPE_CHECKING

from bncc.errors import OptionError
from bncc.structure.candidates import CANDIDATE_SETS
from bncc.structure.catalog import check_structure_options
from bncc.structure.options import price_of, widths_of
from bncc.train.sum_settings import boost_settings_of, n_bins_of

if TYPE_CHECKING:
    from bncc.train.settings import TrainSettings

DISCRETIZERS = ("mdl", "quantile", "width", "median", "none")
COUNTED = ("ml", "bdeu")
"""Parameters read off counts, without torch."""
MARGIN = "margin"
"""Parameters of S1's maximum margin, which begin with counts."""
REFIT = (*COUNTED, MARGIN)
"""Parameters found in floats once the structure is there, and rounded at the end."""
DESCENDED = ("hybrid", "cross-entropy", "free")
"""Parameters found by gradient descent, in the bits that they are to have."""
PARAMETERS = (*DESCENDED, *REFIT)
ENGINES = ("native", "torch")
"""What computes the steps of gradient descent."""
CLASS_WEIGHTS = ("balanced",)
CHOICES = ("error", "balanced-error", "log-loss")
"""Measures that a search for a budget can minimize on validation rows."""

MIN_BITS, MAX_BITS = 1, 8
DEFAULT_BITS = 6
DEFAULT_SUM_BITS = 3
"""Of a boosted sum: ten costs fill a word."""
MAX_SEED = 2**63 - 1
DEVICE = re.compile(r"cpu|mps|cuda(:\d{1,3})?")

_WHOLE = ("epochs", "batch_size", "threads", "n_bins", "seed", "bits", "int_bits", "frac_bits")
_POSITIVE = ("lr", "eta")
_NOT_NEGATIVE = ("lambda_", "gamma", "size_weight")
_FRACTIONS = ("dropout", "jitter", "average", "quantize_from", "validation")
_REAL = (*_POSITIVE, *_NOT_NEGATIVE, *_FRACTIONS)


def check_settings(settings: "TrainSettings") -> None:
    """Refuse values or combinations that make no sense."""
    _check_kinds(settings)
    _check_names(settings)
    _check_size_weight(settings)
    _check_engine(settings)
    _check_numbers(settings)
    _check_bits(settings)
    _check_table_bits(settings)
    _check_sum(settings)


def option_name(name: str) -> str:
    """Return what the command line calls a setting."""
    return "--" + name.rstrip("_").replace("_", "-")


def _one_of(names: tuple[str, ...]) -> str:
    return f"{', '.join(names[:-1])} or {names[-1]}"


def _check_kinds(settings: "TrainSettings") -> None:
    for names, kind, words in (
        (_WHOLE, Integral, "a whole number"), (_REAL, Real, "a number"),
    ):  # fmt: skip
        for name in names:
            value = getattr(settings, name)
            if value is not None and not isinstance(value, kind):
                raise OptionError(f"{option_name(name)} is {value!r}; it must be {words}")


def _check_names(settings: "TrainSettings") -> None:
    parameters = settings.parameters
    if parameters not in PARAMETERS:
        raise OptionError(f"unknown parameters '{parameters}'; choose {_one_of(PARAMETERS)}")
    if settings.discretize not in (None, *DISCRETIZERS):
        raise OptionError(
            f"unknown discretization '{settings.discretize}'; choose {_one_of(DISCRETIZERS)}"
        )
    if settings.class_weight not in (None, *CLASS_WEIGHTS):
        raise OptionError(
            f"unknown class weight '{settings.class_weight}'; choose balanced, or leave it out"
        )
    extra = ("alpha",) if parameters == "bdeu" else ()
    check_structure_options(settings.structure, settings.structure_options, extra)


def _check_size_weight(settings: "TrainSettings") -> None:
    if settings.size_weight != 0 and not settings.is_joint:
        raise OptionError(
            "--size-weight needs a structure that is learned together with the tables; choose "
            f"--structure {_one_of(tuple(CANDIDATE_SETS))}, or leave it at 0"
        )


def _check_engine(settings: "TrainSettings") -> None:
    if settings.engine not in (None, *ENGINES):
        raise OptionError(f"unknown engine '{settings.engine}'; choose {_one_of(ENGINES)}")
    if settings.engine == "native" and settings.device not in (None, "cpu"):
        raise OptionError(
            f"engine 'native' runs on a CPU; leave out --device {settings.device}, or choose "
            "--engine torch"
        )


def _check_numbers(settings: "TrainSettings") -> None:
    at_least = {"epochs": 1, "batch_size": 1, "threads": 1, "n_bins": 2, "seed": 0}
    for name, least in at_least.items():
        value = getattr(settings, name)
        if value is not None and value < least:
            raise OptionError(f"{option_name(name)} is {value}; it must be at least {least}")
    if settings.seed > MAX_SEED:
        raise OptionError(f"--seed is {settings.seed}; it must be at most {MAX_SEED}")
    if not DEVICE.fullmatch(settings.device or "cpu"):
        raise OptionError(f"unknown device '{settings.device}'; choose cpu, cuda, cuda:1 or mps")
    for name in _POSITIVE:
        value = getattr(settings, name)
        if value is not None and not (isfinite(value) and value > 0):
            raise OptionError(f"{option_name(name)} is {value}; it must be a positive number")
    for name in _NOT_NEGATIVE:
        value = getattr(settings, name)
        if value is not None and not (isfinite(value) and value >= 0):
            raise OptionError(f"{option_name(name)} is {value}; it must be a number, 0 or more")
    for name in _FRACTIONS:
        value = getattr(settings, name)
        if value is not None and not 0 <= value < 1:
            raise OptionError(
                f"{option_name(name)} is {value}; it must be a fraction from 0 to below 1"
            )


def _check_bits(settings: "TrainSettings") -> None:
    given = [settings.bits, settings.int_bits, settings.frac_bits]
    if settings.float_ and any(value is not None for value in given):
        raise OptionError("--float trains without quantization; leave out the bits or --float")
    bits, int_bits, frac_bits = given
    if (
        int_bits is not None
        and frac_bits is not None
        and settings.total_bits != int_bits + frac_bits
    ):
        raise OptionError(
            f"--int-bits {int_bits} and --frac-bits {frac_bits} make {int_bits + frac_bits} "
            f"bits, not --bits {bits}; leave one of the three out"
        )
    if not MIN_BITS <= settings.total_bits <= MAX_BITS:
        raise OptionError(
            f"{settings.total_bits} bits per cost were asked for; choose {MIN_BITS} to {MAX_BITS}"
        )
    whole = int_bits if int_bits is not None else settings.total_bits - (frac_bits or 0)
    if not -16 <= whole <= 16:
        raise OptionError(f"{whole} integer bits were asked for; choose -16 to 16")


def _check_table_bits(settings: "TrainSettings") -> None:
    """Refuse to count or bound the bits of tables that have none, or fewer."""
    options = settings.structure_options
    widths = widths_of(options)
    asked = [f"widths={options['widths']}"] if widths else []
    asked += ["price=bits"] if price_of(options) == "bits" else []
    for option in asked if settings.is_joint else []:
        if settings.float_:
            raise OptionError(f"structure option {option} asks for bits; leave it or --float out")
        if settings.is_refit:
            raise OptionError(
                f"structure option {option} needs tables that are trained in their bits; choose "
                f"--parameters {_one_of(DESCENDED)}, or leave it out"
            )
    if widths and widths[-1] > settings.total_bits:
        raise OptionError(
            f"structure option {asked[0]} has more than the {settings.total_bits} bits of a cost; "
            f"choose widths up to {settings.total_bits}, or --bits {widths[-1]}"
        )


def _check_sum(settings: "TrainSettings") -> None:
    """Refuse what a boosted sum cannot be asked for."""
    if not settings.is_boosted:
        return
    if settings.float_:
        raise OptionError("--structure tables is always of integers; leave out --float")
    if settings.parameters != "hybrid":
        raise OptionError("--structure tables fits its tables itself; leave out --parameters")
    if settings.engine == "torch":
        raise OptionError("--structure tables does without torch; leave out --engine")
    boost_settings_of(settings)
    n_bins_of(settings)
