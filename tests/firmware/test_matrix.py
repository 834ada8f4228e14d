"""
Every kernel, input type and entry point, by every compiler, without a warning.

Types differ by more than their names promise: `uint_fast16_t` has 16 bits under clang for bare
machines, 32 under gcc, 64 on the host.
"""

import os
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from itertools import product

import numpy as np
import pytest

from bncc.discretize.feature import Feature
from bncc.emit.emitter import EmitOptions, emit_c
from bncc.errors import OptionError
from bncc.fixed_point import QFormat
from bncc.lower.kernels.families import FAMILIES, FREE_OF_BRANCHES, STREAMS
from bncc.model.model import Model
from bncc.structure.decision_tables import TableEnsemble
from bncc.structure.graph import forest
from bncc.targets import TARGETS
from bncc.toolchain.tools import STRICT_C_FLAGS, STRICT_FLAGS, find_tools, zig_environment
from tests import models as hand
from tests.agreement.large import mixed_kinds, random_model, sensor
from tests.tree_programs import random_tree

pytestmark = [pytest.mark.cc, pytest.mark.firmware]
C99 = ("-std=c99", *STRICT_FLAGS, *STRICT_C_FLAGS)
BUILDS = tuple(
    (target, compiler)
    for target, compilers in [
        ("host", ("gcc", "clang", "ziglang")),
        *((name, target.flags) for name, target in TARGETS.items()),
    ]
    for compiler in compilers
)
"""Every machine with every compiler that `bncc targets` can name for it."""
KINDS = ("int16", "int32", "float32", "category", "state", "wide", "mixed")
"""Types of readings; `wide` has states of two bytes, `mixed` a struct of every type."""
SLICE = (
    ("cortex-m0", "ziglang"), ("rv32", "ziglang"), ("avr", "avr-gcc"),
    ("cortex-m0", "arm-none-eabi-gcc"),
)  # fmt: skip
"""Machines of the ordinary run: narrow fast types, an int of 16 bits, inline assembly."""


def inputs(kind: str, n: int) -> list[Feature]:
    """Return features of one type; of 300 states where they are wide."""
    if kind in ("int16", "int32", "float32"):
        return [sensor(f"x{i}", kind, 5 + i % 8, seed=i) for i in range(n)]
    labels = tuple(f"v{k}" for k in range(300 if kind == "wide" else 5))
    if kind == "state":
        return [hand.feature(f"x{i}", 5) for i in range(n)]
    first = Feature("x0", "category", len(labels), categories=labels)
    others = [Feature(f"x{i}", "category", 5, categories=labels[:5]) for i in range(1, n)]
    return [first, *others]


def network(kind: str, n_features: int, n_classes: int, bits: int) -> Model:
    """Return naive Bayes or a tree over readings of a type."""
    if kind == "mixed":
        model = mixed_kinds()
        structure, features = model.structure, list(model.features)
    else:
        features = inputs(kind, n_features)
        structure = forest([None, *([0] if bits > 1 else [None]) * (n_features - 1)])
    return random_model(features, structure, n_classes, QFormat(bits, 0))


def sum_of(kind: str) -> Model:
    """Return boosted tables over readings of a type."""
    model = hand.sum_of_tables()
    if kind == "mixed":
        return model  # its readings are a struct as it is
    features = tuple(inputs(kind, model.n_features))
    return replace(model, features=features)


def trees_of(kind: str) -> Model:
    """Return boosted trees over readings of a type."""
    model = hand.trees_of_sensors(4, 3)
    if kind == "mixed":
        return model
    features = tuple(inputs(kind, model.n_features))
    n_states = [each.n_states for each in features]
    rng = np.random.default_rng(0)
    trees = tuple(random_tree(rng, n_states, 10) for _ in range(3))
    tables = tuple(rng.integers(0, 16, (tree.n_rows, 4)) for tree in trees)
    return replace(model, features=features, structure=TableEnsemble(trees), tables=tables)


@cache
def shapes(kind: str) -> tuple[Model, ...]:
    """Return models of which every family has a layout for one."""
    return (
        network(kind, 6, 5, 3),
        network(kind, 16, 9, 1),
        network(kind, 20, 26, 3),
        sum_of(kind),
        trees_of(kind),
    )


def options_of(model: Model, family: str, *, few: bool) -> Iterator[EmitOptions]:
    """Yield all entry points in every way; in the slow tests also none, and each alone."""
    possible = hand.possible_entries(model)
    possible -= frozenset() if family in STREAMS else frozenset({"stream"})
    times = (False, True) if family in FREE_OF_BRANCHES else (False,)
    for optimize, constant_time in product(("size", "speed"), times):
        yield EmitOptions("m", possible, optimize=optimize, constant_time=constant_time)
    if not few:
        yield EmitOptions("m")
        yield from (EmitOptions("m", frozenset({entry})) for entry in sorted(possible))


@cache
def sources(family: str, kind: str, *, few: bool) -> Mapping[str, str]:
    """Return the C and headers of a family and an input type, each text once."""
    files: dict[str, str] = {}
    seen: set[str] = set()
    for shape, model in enumerate(shapes(kind)):
        for k, asked in enumerate(options_of(model, family, few=few)):
            name = f"{family.replace('-', '_')}_{kind}_{shape}_{k}"
            options = replace(asked, name=name, kernel=family)
            try:
                emission = emit_c(model, options)
            except OptionError:
                break  # it has no layout for the model
            text = emission.files[f"{name}.c"].replace(name.upper(), "M").replace(name, "m")
            if text not in seen:
                seen.add(text)
                kept = (f"{name}.c", f"{name}.h")
                files |= {file: emission.files[file] for file in kept}
        if few and files:
            break
    return files


def complaints(target, compiler, files, folder, how=("-O2", "-c")) -> str:
    """Return the messages of a compiler for some C under the strict flags."""
    if target == "avr":
        fitting = (file for file, text in files.items() if "defined(__AVR__)\n#error" not in text)
        files = {file: files[file] for file in fitting}
    for file, text in files.items():
        (folder / file).write_text(text, encoding="utf-8")
    names = [file for file in files if file.endswith(".c")]
    assert names
    (tool,) = (tool for tool in TOOLS if tool.name == compiler)
    flags = TARGETS[target].flags[compiler] if target != "host" else ()
    own = zig_environment() if compiler == "ziglang" else {}
    done = subprocess.run(
        (*tool.command, *flags, *C99, *how, *names), cwd=folder, capture_output=True,
        text=True, env={**os.environ, **own}, check=False,
    )  # fmt: skip
    return done.stderr


def require(compiler: str, missing) -> None:
    """Skip where a compiler is not installed."""
    if not any(tool.name == compiler for tool in TOOLS):
        missing(f"{compiler} is not installed")


TOOLS = tuple(tool for tool in find_tools() if tool.is_installed)


@pytest.mark.parametrize(("target", "compiler"), SLICE, ids=str)
@pytest.mark.parametrize("family", FAMILIES)
def test_compilers_of_bare_machines_accept_every_kernel(
    family, target, compiler, missing, tmp_path
):
    """All entry points; input types take turns."""
    require(compiler, missing)
    kind = KINDS[list(FAMILIES).index(family) % len(KINDS)]
    assert complaints(target, compiler, sources(family, kind, few=True), tmp_path) == ""


@pytest.mark.slow
@pytest.mark.parametrize(("target", "compiler"), BUILDS, ids=str)
@pytest.mark.parametrize("family", FAMILIES)
def test_every_compiler_accepts_every_kernel(family, target, compiler, missing, tmp_path):
    """
    Every input type; all entry points for size and speed, in constant time or not, optimized.

    None, and each alone, without optimization: only warnings about types remain.
    """
    require(compiler, missing)
    for kind in KINDS:
        optimized = sources(family, kind, few=True)
        others = {
            file: text
            for file, text in sources(family, kind, few=False).items()
            if file not in optimized
        }
        for files, how in ((optimized, ("-O2", "-c")), (others, ("-O0", "-c"))):
            assert complaints(target, compiler, files, tmp_path, how) == "", kind
