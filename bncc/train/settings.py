"""The options of one training: their consequences, and their invalid combinations."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real

from bncc.errors import OptionError
from bncc.fixed_point import QFormat
from bncc.structure.candidates import CANDIDATE_SETS
from bncc.structure.catalog import check_structure_options
from bncc.structure.options import alpha_of, one_of, price_of, widths_of
from bncc.train.options import (
    COUNTED,
    LOSSES,
    MARGIN,
    MAX_BITS,
    MIN_BITS,
    OPTIONS,
    REFIT,
    Option,
    TrainOptions,
    Use,
)
from bncc.train.sum_settings import boost_settings_of, cut_bits_of, differences_of, n_bins_of

FLOAT_FORMAT = QFormat(8, 16)
"""Format of --float models: 24 bits, rounding below 2**-17 nats, so that everything after training
still works on integers."""
DEVICE = re.compile(r"cpu|mps|cuda(:\d{1,3})?")


@dataclass(frozen=True)
class TrainSettings(TrainOptions):
    """The options of ``bncc train``, checked."""

    def __post_init__(self) -> None:
        _check_each(self, _check_kind)
        _check_each(self, _check_choice)
        extra = ("alpha",) if self.parameters == "bdeu" else ()
        check_structure_options(self.structure, self.structure_options, extra)
        _check_size_weight(self)
        _check_device(self)
        _check_each(self, _check_range)
        _check_bits(self)
        _check_table_bits(self)
        _check_sum(self)

    @property
    def is_counted(self) -> bool:
        """True if tables come from counts."""
        return self.parameters in COUNTED

    @property
    def is_refit(self) -> bool:
        """True if tables are learned for a given structure, and rounded at the end."""
        return self.parameters in REFIT

    @property
    def is_joint(self) -> bool:
        """True if the structure is learned together with tables."""
        return self.structure in CANDIDATE_SETS

    @property
    def descends(self) -> bool:
        """True for gradient descent on the tables of a network."""
        return not self.is_boosted and (self.is_joint or not self.is_refit)

    @property
    def is_thorough(self) -> bool:
        """True if the settings of gradient descent are searched first, on validation rows."""
        return self.effort == "thorough" and self.descends and not self.is_refit

    @property
    def loss(self) -> str:
        """Loss of gradient descent, if there is any."""
        return "hybrid" if self.is_refit else self.parameters

    @property
    def uses(self) -> frozenset[Use]:
        """Uses of options in this training."""
        if self.is_boosted:
            return frozenset({"boosting"})
        if not self.descends:
            return frozenset({"margin"} if self.parameters == MARGIN else ())
        uses: set[Use] = {"descent"}
        uses |= {"hinge"} if LOSSES[self.loss].has_margin else set()
        uses |= set() if self.is_refit else {"tables"}
        uses |= set() if self.is_refit or self.float_ else {"rounding"}
        return frozenset(uses)

    @property
    def alpha(self) -> float:
        """Equivalent sample size of BDeu, from the structure options."""
        return alpha_of(self.structure_options)


def _check_each(settings: TrainSettings, check: Callable[[Option, object], None]) -> None:
    for option in OPTIONS.values():
        value = getattr(settings, option.name)
        # None is the value of options with that default, and not a choice of others.
        if value is not None or (option.choices and option.default is not None):
            check(option, value)


def _check_kind(option: Option, value: object) -> None:
    kinds: dict[type, tuple[type, str]] = {
        int: (Integral, "a whole number"), float: (Real, "a number"),
    }  # fmt: skip
    if option.kind in kinds:
        kind, words = kinds[option.kind]
        if not isinstance(value, kind):
            raise OptionError(f"{option.flag} is {value!r}; it must be {words}")


def _check_choice(option: Option, value: object) -> None:
    choices = option.choices
    if choices and value not in choices:
        known = one_of(choices) if len(choices) > 1 else f"{choices[0]}, or leave it out"
        raise OptionError(f"unknown {option.noun} '{value}'; choose {known}")


def _check_range(option: Option, value: object) -> None:
    for each in option.within:
        each.check(option.flag, value)


def _check_size_weight(settings: TrainSettings) -> None:
    if settings.size_weight != 0 and not settings.is_joint:
        raise OptionError(
            "--size-weight needs a structure that is learned jointly with the tables; choose "
            f"--structure {one_of(tuple(CANDIDATE_SETS))}, or leave it at 0"
        )


def _check_device(settings: TrainSettings) -> None:
    if settings.engine == "native" and settings.device not in (None, "cpu"):
        raise OptionError(
            f"engine 'native' runs on a CPU only; leave out --device {settings.device}, or "
            "choose --engine torch"
        )
    if not DEVICE.fullmatch(settings.device or "cpu"):
        raise OptionError(f"unknown device '{settings.device}'; choose cpu, cuda, cuda:1 or mps")


def _check_bits(settings: TrainSettings) -> None:
    given = [settings.bits, settings.int_bits, settings.frac_bits]
    if settings.float_ and any(value is not None for value in given):
        raise OptionError("--float trains without quantization; leave out --float, or the bits")
    bits, int_bits, frac_bits = given
    if (
        int_bits is not None
        and frac_bits is not None
        and settings.total_bits != int_bits + frac_bits
    ):
        raise OptionError(
            f"--int-bits {int_bits} and --frac-bits {frac_bits} add up to {int_bits + frac_bits} "
            f"bits, not --bits {bits}; leave out one of the three"
        )
    if not MIN_BITS <= settings.total_bits <= MAX_BITS:
        raise OptionError(
            f"{settings.total_bits} bits per cost are not supported; choose {MIN_BITS} to "
            f"{MAX_BITS}"
        )
    whole = int_bits if int_bits is not None else settings.total_bits - (frac_bits or 0)
    if not -16 <= whole <= 16:
        raise OptionError(f"{whole} integer bits are not supported; choose -16 to 16")


def _check_table_bits(settings: TrainSettings) -> None:
    """Reject penalties or limits on the bits of tables that have no bits, or fewer."""
    options = settings.structure_options
    widths = widths_of(options)
    asked = [f"widths={options['widths']}"] if widths else []
    asked += ["price=bits"] if price_of(options) == "bits" else []
    for option in asked if settings.is_joint else []:
        if settings.float_:
            raise OptionError(
                f"structure option {option} needs quantization; leave out the option, or --float"
            )
        if settings.is_refit:
            raise OptionError(
                f"structure option {option} needs tables that are trained with quantization; "
                f"choose --parameters {one_of(tuple(LOSSES))}, or leave it out"
            )
    if widths and widths[-1] > settings.total_bits:
        raise OptionError(
            f"structure option {asked[0]} has more than the {settings.total_bits} bits of a "
            f"cost; choose widths up to {settings.total_bits}, or --bits {widths[-1]}"
        )


def _check_sum(settings: TrainSettings) -> None:
    """Reject options that boosted tables do not support."""
    if not settings.is_boosted:
        return
    if settings.float_:
        raise OptionError("--structure tables always uses integers; leave out --float")
    if settings.parameters != "hybrid":
        raise OptionError(
            "--structure tables has its own parameter learning; leave out --parameters"
        )
    if settings.engine == "torch":
        raise OptionError("--structure tables does not use torch; leave out --engine")
    boost_settings_of(settings)
    n_bins_of(settings)
    cut_bits_of(settings)
    differences_of(settings)
