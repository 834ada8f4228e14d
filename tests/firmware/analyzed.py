"""The emitted C for static analysis: every kernel, level and discretizer form, in few files."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import product
from pathlib import Path

from bncc.emit.emitter import EmitOptions, emit_c
from bncc.lower.c.identifiers import MAX_NAME
from bncc.lower.kernels.families import FAMILIES, FOR_CUTS, FOR_TREES
from bncc.model.confidence import Confidence
from bncc.model.filter import Filter
from bncc.model.model import Model
from bncc.program.ir import Program
from bncc.program.pipeline import optimize, program_of
from bncc.resources import Optimize
from tests import models as hand
from tests.adapting import ADAPTING
from tests.agreement.test_direct_readings import model_of
from tests.counters import COUNTED
from tests.dwelling import rated, trained, with_transitions
from tests.firmware.machines import ENTRIES, MODELS
from tests.ranged import ranged
from tests.unknown import RULED

STUBS = Path(__file__).parent / "stubs"
"""Folder with declarations of <avr/pgmspace.h> and <zephyr/sys/printk.h> in plain C."""
LEVELS: tuple[Optimize, ...] = ("size", "balanced", "speed")
ROTATED = (
    "tan_float", "wide_costs", "general_network", "hostile_names", "mixed_kinds",
    "category_with_missing", "wide_states",
)  # fmt: skip
"""Models that take turns among kernels and levels: one parent, several, none, floats, a struct,
categories, more than 255 states, two classes."""


@dataclass(frozen=True)
class Analyzed:
    """
    A model, and its emission.

    Parameters
    ----------
    model : str
        A key of `MODELS` or `READ`.
    options : EmitOptions
        Its options.
    has_selftest : bool, default=False
        Whether the self-test and the vectors are read too; they hardly differ between kernels.
    """

    model: str
    options: EmitOptions
    has_selftest: bool = False

    def __str__(self) -> str:
        options = self.options
        time = "constant-time" if options.constant_time else None
        words = (
            self.model, options.kernel, options.compare, options.optimize, options.target, time
        )  # fmt: skip
        return "-".join(word for word in words if word)

    @property
    def sources(self) -> tuple[str, ...]:
        """The files to analyze."""
        parts = ("", "_selftest") if self.has_selftest else ("",)
        return tuple(f"{self.options.name}{part}.c" for part in parts)

    @property
    def files(self) -> Mapping[str, str]:
        """Every file by name."""
        return _emitted(self.model, self.options)


@cache
def few() -> tuple[Analyzed, ...]:
    """Return the emissions that every test run analyzes: kernels and levels with models in turn.

    After them come those that compare readings.

    Each has a name of its own, so that one run of a tool can read them all from one folder.
    """
    turns = []
    families = [family for family in FAMILIES if family not in FOR_CUTS | FOR_TREES]
    for k, (family, best) in enumerate(product(families, LEVELS)):
        models = ROTATED[k % len(ROTATED) :] + ROTATED[: k % len(ROTATED)]
        turns.append(next(a for a in (_with(m, family, best) for m in models) if a is not None))
    return _named((*SPECIAL, *_distinct((*turns, *COMPARING))))


def all_of(model: str) -> tuple[Analyzed, ...]:
    """Return a model with all kernels and levels whose emissions differ, each named."""
    found = (_with(model, *each) for each in product((None, *FAMILIES), LEVELS))
    return _named(_distinct(each for each in found if each is not None))


def planted(defect: str) -> dict[str, str]:
    """
    Return the files of an emission that calls a function with a defect.

    Parameters
    ----------
    defect : str
        The function's statements; it takes nothing and returns an ``int16_t``.

    Returns
    -------
    dict of str to str
        Text by file name.
    """
    files = dict(SPECIAL[0].files)
    entry = "int16_t m_predict(const uint8_t x[M_N_FEATURES])\n{\n"
    assert entry in files["m.c"]
    function = f"static int16_t m_planted(void)\n{{\n    {defect}\n}}\n\n"
    call = "    if (m_planted() != 0) {\n        return M_ERR_STATE;\n    }\n"
    files["m.c"] = files["m.c"].replace(entry, f"{function}{entry}{call}")
    return files


def write(files: Mapping[str, str], folder: Path) -> None:
    """Write files into a folder."""
    for file, text in files.items():
        (folder / file).write_text(text, encoding="utf-8")


def write_all(batch: Iterable[Analyzed], folder: Path) -> tuple[str, ...]:
    """Write emissions of different names into a folder, and return the files to analyze."""
    batch = tuple(batch)
    for analyzed in batch:
        write(analyzed.files, folder)
    return tuple(source for analyzed in batch for source in analyzed.sources)


def blamed(report: str, batch: Iterable[Analyzed] = ()) -> dict[str, list[str]]:
    """Return the findings of a compiler or analyzer by emission, or by file where it is of none.

    A report without the position of any finding is a finding as a whole.
    """
    owners = {file: str(analyzed) for analyzed in batch for file in analyzed.files}
    found: dict[str, list[str]] = defaultdict(list)
    for line in report.splitlines():
        place = re.match(r"(?:.*/)?([\w.]+):\d+(?::\d+)?: (?:fatal )?(?:error|warning): ", line)
        if place:
            found[owners.get(place.group(1), place.group(1))].append(line)
    return dict(found) if found or not report else {"": [report]}


def _with(model: str, family: str | None, best: Optimize) -> Analyzed | None:
    """Return a model with a kernel; None where it has no layout for the model."""
    if family is not None and not _has_layout(model, family):
        return None
    return Analyzed(model, EmitOptions("m", ENTRIES, kernel=family, optimize=best))


@cache
def _program(model: str) -> Program:
    return optimize(program_of(MODELS[model]()))[0]


@cache
def _has_layout(model: str, family: str) -> bool:
    return next(iter(FAMILIES[family](_program(model))), None) is not None


def _distinct(found: Iterable[Analyzed]) -> tuple[Analyzed, ...]:
    return tuple({each.files["m.c"]: each for each in found}.values())


def _named(batch: Iterable[Analyzed]) -> tuple[Analyzed, ...]:
    """Return emissions with names of their own; what has a name that is tested keeps it."""
    return tuple(
        replace(each, options=replace(each.options, name=f"m{k}"))
        if each.options.name == "m" else each
        for k, each in enumerate(batch)
    )  # fmt: skip


@cache
def _emitted(model: str, options: EmitOptions) -> Mapping[str, str]:
    made = (MODELS | READ)[model]()
    return emit_c(ranged(made) if "checked" in options.entries else made, options).files


FILTERED: dict[str, Callable[[], Model]] = {
    **{f"filtered_{switch}": partial(trained, "naive", switch) for switch in (0, 9, 300, 70000)},
    "filtered_transitions": lambda: with_transitions(trained("naive", 9), 40),
    "filtered_wide_transitions": lambda: with_transitions(trained("tables", 9), 70000, 3),
    "filtered_later": lambda: replace(trained("naive", 9), filter=Filter(9, lag=3)),
    "filtered_much_later": lambda: replace(trained("naive", 9), filter=Filter(300, 3, lag=100)),
    "filtered_transitions_later": lambda: with_transitions(trained("naive", 9), 40, lag=4),
}
"""Trained models with filters whose kept costs, sums and prices have each width."""
RATED: dict[str, Callable[[], Model]] = {
    "rated": partial(rated, "naive"),
    "rated_within": partial(rated, "tables", 0.3),
    "rated_alike": lambda: replace(rated("naive"), confidence=Confidence((0,), (80,))),
    "rated_never": lambda: replace(rated("naive"), confidence=Confidence((0,), (80,), 10**9)),
}
"""Models with confidences: trained ones, of one level, and one that accepts nothing."""
SPECIAL = (
    Analyzed("naive_integer", EmitOptions("m"), has_selftest=True),
    Analyzed("tan_float", EmitOptions("m", ENTRIES), has_selftest=True),
    Analyzed("wide_states", EmitOptions("m", ENTRIES), has_selftest=True),
    Analyzed("mixed_kinds", EmitOptions("m", ENTRIES, target="avr"), has_selftest=True),
    Analyzed("letter_like_float", EmitOptions("m", ENTRIES, optimize="size")),
    Analyzed("ten_classes_2_bits", EmitOptions("m", ENTRIES, optimize="speed", target="x86")),
    Analyzed("tan_float", EmitOptions("m", ENTRIES | {"stream"}), has_selftest=True),
    Analyzed("differences_of_bytes", EmitOptions("m", ENTRIES), has_selftest=True),
    Analyzed("differences_in_a_struct", EmitOptions("m", ENTRIES | {"checked"})),
    Analyzed("one_state_feature", EmitOptions("n" * MAX_NAME, ENTRIES)),
    Analyzed("mixed_kinds", EmitOptions("m", ENTRIES, constant_time=True)),
    Analyzed("tan_float", EmitOptions("m", ENTRIES, constant_time=True)),
    Analyzed("sum_65535", EmitOptions("m", ENTRIES, constant_time=True)),
    Analyzed("naive_integer", EmitOptions("m", frozenset({"missing"}))),
    Analyzed("tan_float", EmitOptions("m", ENTRIES | {"missing"}), has_selftest=True),
    Analyzed("wide_states", EmitOptions("m", frozenset({"missing"}))),
    Analyzed("general_network", EmitOptions("m", ENTRIES | {"missing"}), has_selftest=True),
    Analyzed("mixed_kinds", EmitOptions("m", ENTRIES | {"checked"}), has_selftest=True),
    Analyzed("tan_float", EmitOptions("m", ENTRIES | {"checked"})),
    Analyzed("naive_integer", EmitOptions("m", ENTRIES | {"checked"})),
    Analyzed("tan_float", EmitOptions("m", frozenset({"scores-raw"})), has_selftest=True),
    *(Analyzed(name, EmitOptions("m", frozenset({"filter"}))) for name in FILTERED),
    *(Analyzed(name, EmitOptions("m", frozenset({"confidence"}))) for name in RATED),
    *(Analyzed(name, EmitOptions("m", frozenset({"unknown"}))) for name in RULED),
    *(
        Analyzed(name, EmitOptions("m", frozenset({entry})), has_selftest=True)
        for name, entry in (
            ("rated", "confidence"),
            ("ruled", "unknown"),
            ("ruled_tables", "unknown"),
        )
    ),
    *(Analyzed(name, EmitOptions("m", frozenset({"counters"}))) for name in COUNTED),
    Analyzed("counted_mixed", EmitOptions("m", frozenset({"counters", "unknown"}))),
    *(Analyzed(name, EmitOptions("m", frozenset({"adapt"}))) for name in ADAPTING),
    Analyzed("adapting_filtered", EmitOptions("m", frozenset({"adapt", "filter"}))),
)
"""Cases beyond kernels and levels: only the mandatory entry points, rows found by
address, states of two bytes, AVR, 64-bit registers, thresholds that are searched, features one by
one, long names, no branches on inputs, features marginalized in each of three ways, checked
readings, filters over decisions, confidences, unknown readings, counters, adaptations."""
READ: dict[str, Callable[[], Model]] = {
    **hand.TREES,
    **hand.FRONTS,
    **FILTERED,
    **RATED,
    **RULED,
    **COUNTED,
    **ADAPTING,
    "tables_of_floats": partial(model_of, "float32"),
    "tables_of_int16": partial(model_of, "int16", 11),
}
"""Models of which no kernel but those that compare readings is analyzed."""
COMPARING = (
    *(
        Analyzed(name, EmitOptions("m", ENTRIES), has_selftest=True)
        for name in (*hand.TREES, *hand.FRONTS)
    ),
    Analyzed("trees_of_sensors", EmitOptions("m", ENTRIES | {"checked"}, target="avr")),
    *(
        Analyzed(name, EmitOptions("m", ENTRIES, kernel=kernel, compare="readings"))
        for kernel in sorted(FOR_CUTS)
        for name in ("sum_of_tables", "tables_of_floats", "tables_of_int16")
    ),
    Analyzed("tables_of_floats", EmitOptions("m", ENTRIES, kernel="cut-loop", compare="keys")),
    Analyzed("tables_of_floats", EmitOptions("m", ENTRIES, kernel="cut-packed", compare="keys")),
)
"""Decision trees, and tables of cuts of a struct, of floats and of integers."""
