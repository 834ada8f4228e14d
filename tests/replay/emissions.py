"""The emitted C: of every kind of model, for every target, by every kernel, with every entry."""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import cycle
from pathlib import Path
from unittest.mock import patch

from bncc.emit.emitter import ENTRIES, EmitOptions, emit_c
from bncc.emit.packages import PACKAGES
from bncc.emit.rust import RUST
from bncc.emit.textbook import misfit, textbook_c
from bncc.lower.cut_conditions import COMPARED
from bncc.lower.kernels.families import FAMILIES, FOR_CUTS, FOR_TREES
from bncc.model.file import load_model, save_model
from bncc.model.model import Model
from bncc.model.rules import EXTRAS, RULES, with_stand_ins
from bncc.program.ir import Program
from bncc.program.pipeline import FLOWS, program_of
from bncc.program.text import print_program
from bncc.targets import TARGETS
from tests import cut_programs, tree_programs
from tests import models as hand
from tests.agreement import discretizer_ways as ways
from tests.agreement import test_direct_readings as direct
from tests.agreement import test_mixed_readings as mixed
from tests.agreement.large import LARGE
from tests.ranged import ranged
from tests.replay.session import (
    ROOT,
    Files,
    Task,
    as_json,
    facts,
    masked,
    model_text,
    no_tools,
    said,
    session,
)
from tests.unknown import ruled

AIMS = ("balanced", "size", "speed")
_EXAMPLES = {path.stem: path for path in sorted(ROOT.glob("firmware_examples/*/*.bncc"))}
MODELS: dict[str, Callable[[], Model]] = {
    **hand.NAMED,
    **LARGE,
    **hand.TREES,
    **hand.FRONTS,
    **hand.DIFFERENCES,
    "tables_of_floats": partial(direct.model_of, "float32"),
    "tables_of_more_floats": lambda: mixed.doubled_model_of(
        mixed.floats_of(mixed.number("float32", 0), 6), 4
    ),
    "tables_of_int16": partial(direct.model_of, "int16"),
    "tables_of_codes": lambda: mixed.model_of(mixed.MIXES["codes"], 9),
    **{name: partial(load_model, path) for name, path in _EXAMPLES.items()},
    "ranged": lambda: ranged(hand.category_with_missing()),
    "ranged_tables": lambda: ranged(hand.sum_of_tables()),
}
"""Every handwritten model, the random ones of a realistic size, and the trained examples."""
_RULED = {"ruled": lambda: with_stand_ins(ruled("naive", "int16", "int16"), RULES)}
"""A trained model with all rules for decisions."""
WHOLE = (*hand.NAMED, *hand.TREES, *hand.FRONTS, *hand.DIFFERENCES, *_EXAMPLES, "ranged")
"""Models small enough for the whole search for near ties, which the self-test begins with."""
VARIED = (
    "naive_integer", "tan_float", "general_network", "pseudo_tan", "sum_of_tables", "wide_states",
    "mixed_kinds", "ten_classes_2_bits", "robot", "rooms",
)  # fmt: skip
"""One or two of each structure and type of reading."""
_FEW = ("tan_float", "sum_of_tables", "general_network", "mixed_kinds", "robot")
_COMPARING = (
    "sum_of_tables", "tables_of_floats", "tables_of_more_floats", "tables_of_int16",
    "tables_of_codes", "differences_of_bytes",
)  # fmt: skip
"""Tables of cuts of mixed types, of ones that may be converted once, line by line and in a loop,
of integers, of codes, and of differences."""
_UNUSED = ("sum_of_tables", "one_tree", "one_state_feature", "general_network")
"""Models with a feature that decisions do not depend on, and one without."""


def tasks() -> Iterator[tuple[str, Task]]:
    """Yield every emission by its name."""
    for k, name in enumerate(MODELS):
        yield f"model/{name}", partial(_model, name)
        if name in WHOLE:
            yield f"emit/{name}", partial(_emitted, name, whole=True)
        for aim in AIMS if name not in LARGE else (AIMS[k % 3],):
            yield f"aim/{aim}/{name}", partial(_with_all_entries, name, "--optimize", aim)
    aims = cycle(AIMS)
    for target in TARGETS:
        for name in VARIED:
            words = ("--target", target, "--optimize", next(aims))
            yield f"target/{target}/{name}", partial(_emitted, name, *words)
    for family in FAMILIES:
        others = (*VARIED, "letter_like", "letter_like_1_bit")
        for name in hand.TREES if family in FOR_TREES else others:
            words = ("--kernel", family, "--optimize", next(aims))
            yield f"kernel/{family}/{name}", partial(_emitted, name, *words)
    for name in _FEW:
        for entry in sorted(ENTRIES - EXTRAS.keys()):
            yield f"entry/{entry}/{name}", partial(_emitted, name, "--with", entry)
        yield f"constant-time/{name}", partial(_emitted, name, "--constant-time")
        yield f"textbook/{name}", partial(_textbook, name)
    yield from _compared()
    for name in _UNUSED:
        yield f"inputs/{name}", partial(_with_all_entries, name, "--inputs", "used")
    yield "entry/checked/ranged", partial(_emitted, "ranged", "--with", "checked")
    for package in (*PACKAGES, RUST):
        for name in ("tan_float", "wide_states", "hostile_names"):
            words = ("--package", package, "--name", "m")
            yield f"package/{package}/{name}", partial(_emitted, name, *words, whole=True)
    for title, words in _OPTIONS.items():
        yield f"option/{title}", partial(_emitted, "rooms", *words, whole=True)
    every = tuple(word for rule in sorted(RULES) for word in ("--with", rule))
    for rule in sorted(RULES):
        yield f"rule/{rule}", partial(_emitted, "ruled", "--with", rule, whole=True)
    yield "rule/all", partial(_emitted, "ruled", *every, whole=True)
    for size in ("300", "2k"):
        yield f"rule/max-flash {size}", partial(_emitted, "ruled", "--max-flash", size, *every)
    for features in ways.FEATURES:
        yield f"discretizer/{features}", partial(_ways, features)
    for name, program in _PROGRAMS.items():
        yield name, partial(_layouts, program)


def _compared() -> Iterator[tuple[str, Task]]:
    """Yield emissions whose ``predict_raw`` compares what is asked; of trees, for targets too."""
    for way in COMPARED:
        for name in (*_COMPARING, "trees_of_sensors", "tan_float"):
            yield f"compare/{way}/{name}", partial(_emitted, name, "--compare", way)
        for family in sorted(FOR_CUTS):
            for name in _COMPARING:
                words = ("--kernel", family, "--compare", way)
                yield f"compare/{way}/{family}/{name}", partial(_with_all_entries, name, *words)
    for target in TARGETS:
        yield f"target/{target}/trees", partial(_emitted, "trees_of_sensors", "--target", target)
    for name in hand.TREES:
        yield f"constant-time/{name}", partial(_emitted, name, "--constant-time")
        yield f"textbook/{name}", partial(_textbook, name)


_OPTIONS = {
    "max-flash": ("--max-flash", "900"),
    "max-flash-too-small": ("--max-flash", "100"),
    "max-ram": ("--max-ram", "100", "--target", "avr"),
    "reserve": ("--max-flash", "2k", "--reserve", "700", "--entry", "trusted"),
    "part": ("--target", "atmega328p"),
    "vectors": ("--vectors", "5"),
    "data": ("--data", ROOT / "firmware_examples/rv32_rooms/data/test.csv.gz"),
    "spdx": ("--spdx", "MIT"),
    "name": ("--name", "other_name"),
}
"""Options of `bncc emit-c` that need one emission each."""
_PROGRAMS: dict[str, Callable[[], Program]] = {
    "cuts/letter_like": partial(cut_programs.letter_like, n_tables=9),
    "cuts/usps_like": partial(cut_programs.usps_like, n_tables=9),
    "cuts/satimage_like": partial(cut_programs.satimage_like, n_tables=9),
    "trees/letter_like": partial(tree_programs.tree_program, 16, 16, 26, 8, 32),
    "trees/two_classes": partial(tree_programs.tree_program, 40, 255, 2, 12, 8),
    "trees/one": partial(tree_programs.tree_program, 40, 16, 6, 1, 64),
}
"""Programs of tables as boosting grows them, whose layouts are printed without a choice."""


def _with_all_entries(name: str, *words: str) -> Files:
    """Return the C of a model with all entry points that it can have but two, which have others."""
    entries = hand.possible_entries(MODELS[name](), ENTRIES - {"scores-raw", "stream"})
    return _emitted(name, *words, *(w for entry in sorted(entries) for w in ("--with", entry)))


def _emitted(name: str, *words: object, whole: bool = False) -> Files:
    """Return the output of `bncc emit-c` for a model: its C alone, or all files."""
    fewer = () if whole else ("--vectors", "1")
    with session() as run, no_tools():
        save_model({**MODELS, **_RULED}[name](), "m.bncc")
        result = run("emit-c", "m.bncc", "-o", "c", "--json", *fewer, *words)
        if result.exit_code != 0:
            return {"refused.txt": said(result)}
        written = sorted(path for path in Path("c").rglob("*") if path.is_file())
        kept = [path for path in written if whole or path.name in ("m.c", "m.h")]
        files = {str(path.relative_to("c")): masked(path.read_text("utf-8")) for path in kept}
        return {**files, "facts.json": facts(result)}


def _model(name: str) -> Files:
    """Return a model's file, the output of `bncc inspect`, and its program after each pass."""
    with session() as run:
        save_model(MODELS[name](), "m.bncc")
        run("inspect", "m.bncc", "--svg", "m.svg")
        return {
            "m.bncc": model_text("m.bncc", has_bytes=True),
            "inspect.json": facts(run("inspect", "m.bncc", "--json")),
            "inspect.txt": said(run("inspect", "m.bncc")),
            "m.dot": said(run("inspect", "m.bncc", "--dot")),
            "m.svg": Path("m.svg").read_text("utf-8"),
            "passes.ir": _passes(load_model("m.bncc"), name in LARGE),
        }


def _passes(model: Model, is_large: bool) -> str:
    """Return a model's program before and after each pass that changes it, for every flow."""
    imported = program_of(model)
    known = {(): imported}
    texts = [f"as imported\n{print_program(imported, rows=not is_large)}"]
    for flow in ("default", "size") if is_large else FLOWS:
        done = ()
        for step in FLOWS[flow]:
            before, done = known[done], (*done, step)
            if done not in known:
                known[done] = step.rewrite(before)
                if known[done] is not before:
                    text = print_program(known[done], rows=not is_large)
                    texts.append(f"{flow}: {' '.join(each.name for each in done)}\n{text}")
    return "\n".join(texts)


def _textbook(name: str) -> Files:
    """Return the C of the textbook classifier that every figure is compared with."""
    model = MODELS[name]()
    reason = misfit(model)
    if reason is not None:
        return {"refused.txt": reason}
    return {file: masked(text) for file, text in textbook_c(model, "m").files.items()}


def _ways(features: str) -> Files:
    """Return the C of every discretizer form."""
    some, files = ways.FEATURES[features], {}
    for method in ways.METHODS:
        plan = ways.plan(some, method)
        with patch("bncc.lower.surroundings.choose_discretizers", return_value=plan):
            emission = emit_c(ways.model_of(some), EmitOptions("m"))
        files[f"{method}.c"] = masked(emission.files["m.c"])
    return files


def _layouts(make: Callable[[], Program]) -> Files:
    """Return the first and the last layout of every family for a program of cuts or trees."""
    program = make()
    files: dict[str, str] = {}
    kinds: list[list[object]] = []
    for family, layouts in FAMILIES.items():
        found = list(layouts(program))
        kinds += [[family, each.summary, each.rom_bytes, each.largest_sum] for each in found]
        for k in {0, len(found) - 1} if found else ():
            emission = cut_programs.emitted(program, found[k], EmitOptions("m"))
            files[f"{family}-{'last' if k else 'first'}.c"] = masked(emission.files["m.c"])
    return {**files, "layouts.json": as_json(kinds)}
