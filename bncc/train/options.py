"""
The options of training: one table that defines everything about an option.

A row is a field of `TrainOptions`: name, type, default, and an `Option` with the rest. Derived from
it are the command line's options (`bncc.cli.training_options`), the arguments of `BNClassifier` and
their names in messages, the search space of a sweep, the checks of values, the notes about unused
options, and a model's record of its training. Options of gradient descent have a second line, in
`DescentValues`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Annotated, Any, Literal, get_args, get_origin

from bncc.boosting.settings import BoostSettings
from bncc.discretize.fit import READINGS
from bncc.option_ranges import FRACTION, NOT_NEGATIVE, POSITIVE, Range, at_least, at_most
from bncc.structure.catalog import STRUCTURES, SUM

DISCRETIZERS = ("mdl", "quantile", "width", "median", "none")


@dataclass(frozen=True)
class Loss:
    """The loss terms of gradient descent, shared by C and torch."""

    are_free: bool = False  # True if tables need not be probabilities
    # True for the likelihood of the class given the features, False for the joint likelihood
    is_conditional: bool = False
    has_margin: bool = False  # True if S0's hinge is a term


METHODS: Mapping[str, Loss | Literal["counts", "margin"]] = {
    "hybrid": Loss(has_margin=True),
    "ml": "counts",
    "margin": "margin",
    "cross-entropy": Loss(is_conditional=True),
    "free": Loss(are_free=True, is_conditional=True, has_margin=True),
    "bdeu": "counts",
}
"""
Parameter learning methods, in the help's order.

A loss in gradient descent, at the final number of bits. Counts, without torch. S1's maximum margin,
initialized by counts.
"""
LOSSES = {name: how for name, how in METHODS.items() if isinstance(how, Loss)}
COUNTED = tuple(name for name, how in METHODS.items() if how == "counts")
MARGIN = "margin"
REFIT = (*COUNTED, MARGIN)
"""Parameters learned in floats for a given structure, and rounded at the end."""
EFFORTS = ("quick", "default", "thorough")
"""Sources of settings of gradient descent: defaults of few epochs, a recipe, a search."""
ENGINES = ("native", "torch")
"""Engines of gradient descent."""
CLASS_WEIGHTS = ("balanced",)
CHOICES = ("error", "balanced-error", "log-loss")
"""Measures that a budget search can minimize on validation rows."""

MIN_BITS, MAX_BITS = 1, 8
DEFAULT_BITS = 6
DEFAULT_SUM_BITS = BoostSettings.bits
"""Bits of boosted tables by default: ten costs fill a word."""
MAX_SEED = 2**63 - 1

Use = Literal["descent", "tables", "rounding", "hinge", "margin", "boosting"]
"""
Trainings in which an option takes effect.

Any gradient descent; one that ends with the tables of the model; one that ends with quantized
tables; S0's hinge; S1's maximum margin after counts; boosted tables.
"""


@dataclass(frozen=True, kw_only=True)
class Option:
    """A row of the table; None or empty is the usual value."""

    # name, kind, default: Those of the field
    name: str = ""
    kind: type = str
    default: Any = None
    help: str | None = None  # May name ``{measured}`` and ``{free}``
    metavar: str | None = None
    flag: str = ""  # On the command line [default: by the name]
    shows_default: bool = False  # True if the help ends with the default
    choices: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()  # The choices in the help's order [default: theirs]
    noun: str = ""  # Noun for a choice, in "unknown noun 'x'"
    within: tuple[Range, ...] = ()  # All of them must hold
    # measured, free: Default of gradient descent for None, and with free tables
    measured: Any = None
    free: Any = None
    uses: tuple[Use, ...] = ()  # Trainings in which it takes effect; empty for all
    is_recorded: bool = True  # True if a record of the descent includes it
    argument: str | None = ""  # Name in `BNClassifier` [default: the name]; None for none
    is_drawn: bool = True  # True if the search space of a sweep may name it
    search: tuple[float, ...] = ()  # Values sampled in searches of papers
    # True if a budget search tries several values, so that none can be named
    is_searched: bool = False

    @property
    def word(self) -> str:
        """Its flag without dashes, as in search spaces of sweeps and trials."""
        return self.flag.removeprefix("--")

    @property
    def key(self) -> str:
        """Its name in a record."""
        return self.name.rstrip("_")

    @property
    def help_text(self) -> str | None:
        """The help with the measured defaults filled in."""
        return self.help and self.help.format(measured=self.measured, free=self.free)

    def measured_of(self, loss: str) -> Any:
        """Return the default of gradient descent on a loss."""
        return self.free if loss == "free" and self.free is not None else self.measured

    def takes_effect(self, uses: frozenset[Use]) -> bool:
        """Return whether a training with these uses reads it."""
        return not self.uses or not uses.isdisjoint(self.uses)


@dataclass(frozen=True)
class TrainOptions:
    """The table: None stands for a default that depends on the other options."""

    structure: Annotated[str, Option(
        choices=STRUCTURES, noun="structure", shows_default=True, metavar="NAME",
        help="Structure of the classifier; `bncc structures` lists all.",
    )] = STRUCTURES[0]  # fmt: skip
    # ``alpha`` also serves ``parameters="bdeu"``
    structure_options: Annotated[Mapping[str, str], Option(
        flag="--structure-option", metavar="K=V",
        help="Option of the structure, repeatable, such as parents=8; see `bncc structures`.",
        is_drawn=False,
    )] = field(default_factory=dict)  # fmt: skip
    # How tables are found: S0's hybrid loss, counts with add-one smoothing, posterior means under a
    # BDeu prior, S1's maximum margin, cross-entropy, or as tables that need not be probabilities,
    # by cross-entropy and S0's margin. A structure that is learned together with the tables
    # descends on the hybrid loss under ``ml``, ``bdeu`` and ``margin``; its tables are then
    # learned again.
    parameters: Annotated[str, Option(
        choices=(*LOSSES, *REFIT), shown=tuple(METHODS), noun="parameters", shows_default=True,
        help="Parameter learning: ml and bdeu estimate from counts, the others minimize a loss.",
    )] = "hybrid"  # fmt: skip
    # None is ``mdl``, except for columns of states, which are kept
    discretize: Annotated[
        str | None,
        Option(
            choices=DISCRETIZERS,
            noun="discretization",
            help="Discretization of numeric columns [default: mdl].",
        ),
    ] = None
    n_bins: Annotated[
        int,
        Option(within=(at_least(2),), help="Bins per column for quantile and width [default: 8]."),
    ] = 8
    # int16 if the training readings of a column fit, else int32; float32 for fractions
    readings: Annotated[str, Option(
        choices=READINGS, noun="type of readings", shows_default=True,
        help="C type of numeric readings: auto is int16 or int32; smallest may be uint8 or int8; "
        "fractions are float32.",
    )] = READINGS[0]  # fmt: skip
    # With fewer than two of the three numbers of bits given, the binary point is chosen on
    # validation rows; boosted tables derive it from the width.
    bits: Annotated[
        int | None,
        Option(
            metavar="B",
            help=f"Bits per cost [default: {DEFAULT_BITS}; tables: {DEFAULT_SUM_BITS}].",
            is_searched=True,
        ),
    ] = None
    int_bits: Annotated[
        int | None,
        Option(metavar="I", help="Bits before the binary point.", is_searched=True),
    ] = None
    frac_bits: Annotated[
        int | None, Option(metavar="F", help="Bits after the binary point; may be negative.")
    ] = None
    float_: Annotated[
        bool, Option(help="Train without quantization.", argument="quantize", is_searched=True)
    ] = False
    # In the loss of a structure that is learned together with the tables (lambda_MS of S3)
    size_weight: Annotated[float, Option(
        metavar="L", within=(NOT_NEGATIVE,),
        help="Regularization weight of a table entry or bit (lambda_MS), for tan-*.",
    )] = 0.0  # fmt: skip
    class_weight: Annotated[str | None, Option(
        choices=CLASS_WEIGHTS, noun="class weight",
        help="balanced: weight rows inversely to the frequency of their class.",
    )] = None  # fmt: skip
    # None is quick, as in sweeps and budget searches; a single training takes default instead, see
    # `bncc.train.effort`
    effort: Annotated[str | None, Option(
        choices=EFFORTS, noun="effort", uses=("descent",), is_recorded=False, is_drawn=False,
        is_searched=True,
        help="Settings of gradient descent that no other option gives: those that this help names "
        "as defaults (quick), a recipe of more epochs with regularization (default), or a search "
        "on validation rows (thorough) [default: default].",
    )] = None  # fmt: skip
    # Fraction of validation rows, to measure ``error_validation``, and to choose the binary point
    # where the effort is quick or there is no descent; 0 for none
    validation: Annotated[
        float,
        Option(
            metavar="FRACTION",
            within=(FRACTION,),
            shows_default=True,
            is_drawn=False,
            help="Fraction of the rows in the validation set.",
        ),
    ] = 0.1
    epochs: Annotated[int | None, Option(
        metavar="N", within=(at_least(1),), measured=60, uses=("descent", "margin", "boosting"),
        help="Training epochs, in each of two passes [default: {measured}]; maximum number of "
        "iterations for margin.",
    )] = None  # fmt: skip
    # By the number of rows, see `hyperparameters_of`
    batch_size: Annotated[int | None, Option(
        metavar="N", within=(at_least(1),), uses=("descent", "boosting"),
        help="Rows per gradient step [default: by number of rows].",
    )] = None  # fmt: skip
    lr: Annotated[float | None, Option(
        metavar="R", within=(POSITIVE,), measured=0.05, uses=("descent", "boosting"),
        help="Initial learning rate of Adam [default: {measured}].",
    )] = None  # fmt: skip
    lambda_: Annotated[float | None, Option(
        metavar="L", within=(NOT_NEGATIVE,), measured=100.0, free=3.0, uses=("hinge", "margin"),
        argument="lam",
        help="Weight of the margin loss [default: {measured:g}; free: {free:g}; margin: chosen].",
    )] = None  # fmt: skip
    gamma: Annotated[float | None, Option(
        metavar="G", within=(NOT_NEGATIVE,), measured=4.0, free=6.0, uses=("hinge",),
        help="Target margin of the hinge loss, in nats [default: {measured:g}; free: {free:g}].",
    )] = None  # fmt: skip
    eta: Annotated[float | None, Option(
        metavar="E", within=(POSITIVE,), measured=10.0, uses=("hinge", "margin"),
        help="Sharpness of the soft maximum in the hinge loss [default: {measured:g}].",
    )] = None  # fmt: skip
    dropout: Annotated[float | None, Option(
        metavar="P", within=(FRACTION,), measured=0.1, uses=("descent", "boosting"),
        help="Dropout rate of features [default: {measured}].",
    )] = None  # fmt: skip
    # The searched values: naive Bayes, free tables, two seeds on five splits of the training rows,
    # a prototype's error in percent with 0, 0.04, 0.08 and 0.12: letter in floats 15.17, 14.99,
    # 15.10, 15.32; letter with 3 bits 17.73, 17.50, 17.80, 18.19; satimage with 2 bits 11.44,
    # 11.50, 11.57, 11.79; usps with 2 bits 5.33, 5.23, 5.37, 5.33. So a small value is worth
    # trying, and a larger one is not. With it in the search space, the lowest validation error of
    # naive Bayes on letter fell from 14.60 to 13.63 (60 runs).
    jitter: Annotated[float | None, Option(
        metavar="P", within=(FRACTION,), measured=0.0, uses=("descent",),
        help="Data augmentation: probability that a number moves to a neighboring bin [default: "
        "{measured:g}].",
        search=(0.0, 0.03, 0.06),
    )] = None  # fmt: skip
    average: Annotated[float | None, Option(
        metavar="W", within=(FRACTION,), measured=0.0, uses=("tables",),
        help="Weight averaging: decay of the average over epochs [default: {measured:g}, none].",
        search=(0.0, 0.7, 0.9),
    )] = None  # fmt: skip
    quantize_from: Annotated[float | None, Option(
        metavar="FRACTION", within=(FRACTION,), measured=0.5, uses=("rounding",),
        help="Fraction of the epochs before quantization starts [default: {measured}].",
    )] = None  # fmt: skip
    # Random seed of validation rows, random structures, shuffling and dropout
    seed: Annotated[int, Option(
        within=(at_least(0), at_most(MAX_SEED)), shows_default=True,
        help="Random seed.", argument="random_state", is_drawn=False,
    )] = 0  # fmt: skip
    device: Annotated[str | None, Option(
        metavar="D", measured="cpu", uses=("descent",), is_recorded=False, argument=None,
        is_drawn=False, help="PyTorch device [default: cpu].",
    )] = None  # fmt: skip
    # A step takes a millisecond or two: a second thread saves little time, and costs tenfold when
    # other work keeps the cores busy.
    threads: Annotated[int | None, Option(
        metavar="N", within=(at_least(1),), measured=1, uses=("descent",), is_recorded=False,
        argument=None, is_drawn=False, help="CPU threads of PyTorch [default: 1].",
    )] = None  # fmt: skip
    engine: Annotated[str | None, Option(
        choices=ENGINES, shown=ENGINES[::-1], noun="engine", uses=("descent", "boosting"),
        is_recorded=False, is_drawn=False,
        help="Engine of gradient descent [default: native on a CPU with a C compiler, else torch].",
    )] = None  # fmt: skip

    @property
    def is_boosted(self) -> bool:
        """True for boosted tables, False for a network's tables."""
        return self.structure == SUM

    @property
    def total_bits(self) -> int:
        """B, the width of a cost."""
        if self.bits is not None:
            return self.bits
        if self.int_bits is not None and self.frac_bits is not None:
            return self.int_bits + self.frac_bits
        return DEFAULT_SUM_BITS if self.is_boosted else DEFAULT_BITS


@dataclass(frozen=True)
class DescentValues:
    """Settings of gradient descent, with every default filled in."""

    loss: str  # The loss, see `bncc.train.gradient.torch_engine.loss_of`
    epochs: int
    batch_size: int
    lr: float
    lambda_: float
    gamma: float
    eta: float
    dropout: float  # Probability that a feature is dropped from a sample's sum in a step
    # Probability that a state is moved to a neighbor, see `bncc.train.gradient.loop.Jitter`
    jitter: float
    # Weight of the past, < 1, in the average of the tables over the epochs, which is the result of
    # a training; with 0 the result is the tables of the last step
    average: float
    quantize_from: float  # Fraction of the epochs before quantization begins
    seed: int  # Seed of shuffling and dropout
    device: str = "cpu"
    threads: int = 1
    engine: str | None = None  # None for the faster available one


def _row(name: str, hint: Any, default: Any) -> Option:
    """Return a field's option, completed by the field's own properties."""
    annotated: Any
    option: Option
    annotated, option = get_args(hint)
    kind = next((each for each in get_args(annotated) if each is not type(None)), annotated)
    return replace(
        option,
        name=name,
        kind=Mapping if get_origin(annotated) is Mapping else kind,
        default=default,
        flag=option.flag or "--" + name.rstrip("_").replace("_", "-"),
        shown=option.shown or option.choices,
        argument=name if option.argument == "" else option.argument,
    )


OPTIONS: Mapping[str, Option] = {
    each.name: _row(
        each.name,
        each.type,
        each.default_factory() if callable(each.default_factory) else each.default,
    )
    for each in fields(TrainOptions)
}
"""The rows by name, in the table's order."""


def in_record_order(options: Mapping[str, Option]) -> list[Option]:
    """Return options in the order of records and notes: the hinge's late, those of speed last."""
    return sorted(
        options.values(), key=lambda option: (not option.is_recorded, "hinge" in option.uses)
    )
