"""
The self-test runs every line of the emitted C and takes every branch both ways, as gcov counts.

In these models every branch can be taken: each class wins somewhere and several tables are
left after optimization.
"""

import re
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from bncc.discretize.feature import Feature
from bncc.emit.emitter import EmitOptions, emit_c
from bncc.errors import BnccError
from bncc.fixed_point import QFormat
from bncc.lower.kernels.families import FAMILIES
from bncc.model.model import Model
from bncc.model.ranges import READINGS
from bncc.structure.graph import forest
from tests import models as hand
from tests.agreement.large import few_bits, letter_like, mixed_kinds, random_model, sensor
from tests.agreement.test_direct_readings import model_of
from tests.ranged import ranged

pytestmark = pytest.mark.firmware
ALL = frozenset({"raw", "scores", "trusted"})
KERNELS = tuple(FAMILIES)
SMALL: dict[str, Callable[[], Model]] = {
    "general_network": hand.general_network,
    "sum_of_tables": hand.sum_of_tables,
    "ten_classes_2_bits": lambda: few_bits(10),
}
COLUMNS: dict[str, Callable[[], Model]] = {"26_classes_2_bits": lambda: few_bits(26)}
TREES: dict[str, Callable[[], Model]] = {
    "3 trees": partial(hand.trees_of_sensors, 3, 3, kinds=("int16", "int32", "category", "state")),
    "1 tree": partial(hand.trees_of_sensors, 3, 1, kinds=("int16",) * 4),
}
EVERY_KERNEL = [
    *(
        (name, kernel)
        for name in SMALL
        for kernel in KERNELS
        if kernel not in ("columns", "branches")
    ),
    *((name, "columns") for name in COLUMNS),
    *((name, "branches") for name in TREES),
]
"""Columns have no layout for few classes."""
LARGE: dict[str, Callable[[], Model]] = {"mixed_kinds": mixed_kinds, "letter_like": letter_like}


def never_run(folder: Path, gcc: str, files: Mapping[str, str]) -> list[str]:
    """Return the lines of m.c that its self-test does not run, and branches it does not take."""
    for file, text in files.items():
        (folder / file).write_text(text, encoding="utf-8")
    build = (gcc, "-std=c99", "-O0", "--coverage", "m.c", "m_selftest.c", "-o", "test")
    subprocess.run(build, cwd=folder, check=True)
    assert subprocess.run(folder / "test", cwd=folder, check=False).returncode == 0
    count = ("gcov", "-b", "-c", "test-m.gcno")
    subprocess.run(count, cwd=folder, check=True, capture_output=True)
    missed, line, n_branches = [], "", 0
    for row in (folder / "m.c.gcov").read_text("utf-8").splitlines():
        if re.match(r"\s*#####:", row):
            missed.append(row.strip())
        elif row.startswith("branch"):
            n_branches += 1
            if re.match(r"branch\s+\d+ (taken 0|never)", row):
                missed.append(f"{row.partition('(')[0]}: {line}")
        elif not re.match(r"call|function|unconditional", row):
            line = row.strip()
    assert n_branches > 0
    return missed


def covered(
    folder: Path, gcc: str, model: Model, kernel: str | None, **options: object
) -> list[str]:
    try:
        emission = emit_c(model, EmitOptions("m", kernel=kernel, **options))  # type: ignore[arg-type]
    except BnccError as error:
        pytest.skip(str(error))
    return never_run(folder, gcc, emission.files)


@pytest.mark.parametrize(("name", "kernel"), EVERY_KERNEL)
def test_every_line_runs_and_every_branch_is_taken(
    name: str, kernel: str, tmp_path: Path, require_tool: Callable[[str], str]
) -> None:
    """Entry points predict, trusted, scores, and those from readings."""
    gcc, _ = require_tool("gcc"), require_tool("gcov")
    model = (SMALL | COLUMNS | TREES)[name]()
    assert covered(tmp_path, gcc, model, kernel, entries=ALL, optimize="size") == []


def with_ranges(model: Model, **ends: tuple[float, float]) -> Model:
    """Return a model that records these lowest and highest readings of its training."""
    ranges = {name: {"min": low, "max": high} for name, (low, high) in ends.items()}
    return replace(model, training={READINGS: ranges})


def struct_of_readings() -> Model:
    """Return a model of a struct with readings beyond each limit of every type."""
    features = [
        sensor("a", "int16", 4, seed=1),
        sensor("b", "float32", 4, seed=2),
        Feature("c", "state", 7, missing_state=3),
    ]
    model = random_model(features, forest([None, 0, 0]), 3, QFormat(3, 4))
    return with_ranges(model, a=(-400, 450), b=(-2.0, 2.5), c=(1, 5))


CHECKED: dict[str, Callable[[], Model]] = {
    "integers": lambda: with_ranges(hand.naive_integer(), pressure=(-90, 200), light=(-7, 5)),
    "floats_compared_directly": lambda: ranged(model_of("float32"), seed=3),
    "struct": struct_of_readings,
}


@pytest.mark.parametrize("name", CHECKED)
def test_checked_readings_are_covered(
    name: str, tmp_path: Path, require_tool: Callable[[str], str]
) -> None:
    """Both errors of each type of reading, and either side of each limit."""
    gcc, _ = require_tool("gcc"), require_tool("gcov")
    entries = ALL | {"checked"}
    assert covered(tmp_path, gcc, CHECKED[name](), None, entries=entries, optimize="size") == []


@pytest.mark.parametrize("name", CHECKED)
def test_every_wrong_limit_of_checked_readings_is_noticed(
    name: str, tmp_path: Path, require_tool: Callable[[str], str]
) -> None:
    """A limit of each feature that is one too low or too high."""
    gcc = require_tool("gcc")
    files = dict(emit_c(CHECKED[name](), EmitOptions("m", frozenset({"checked"}))).files)
    for file, text in files.items():
        (tmp_path / file).write_text(text, encoding="utf-8")
    build = (gcc, "-std=c99", "-O0")
    subprocess.run((*build, "-c", "m_selftest.c"), cwd=tmp_path, check=True)
    text = files["m.c"]
    places = [
        number.span()
        for part in re.finditer(
            r"_(?:lowest|highest)\[\d+\] M_ROM = \{[^}]*|_check_\w+\(x->[^;]*", text
        )
        for number in re.compile(r"(?<![\w\[])-?\d+(?=[U,)\n])").finditer(text, *part.span())
    ]
    assert len(places) == 2 * CHECKED[name]().n_features
    for start, stop in places:
        for off in (-1, 1):
            wrong = f"{text[:start]}{int(text[start:stop]) + off}{text[stop:]}"
            (tmp_path / "m.c").write_text(wrong, encoding="utf-8")
            subprocess.run((*build, "m.c", "m_selftest.o", "-o", "test"), cwd=tmp_path, check=True)
            assert subprocess.run(tmp_path / "test", check=False).returncode > 0, (start, off)


@pytest.mark.slow
@pytest.mark.parametrize("is_constant", [False, True])
@pytest.mark.parametrize("optimize", ["size", "speed"])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", [*SMALL, *LARGE])
def test_so_does_code_in_constant_time_and_of_large_models(
    name: str,
    kernel: str,
    optimize: str,
    is_constant: bool,
    tmp_path: Path,
    require_tool: Callable[[str], str],
) -> None:
    """Every optimization goal, with and without branches on the input."""
    gcc, _ = require_tool("gcc"), require_tool("gcov")
    model = (SMALL | LARGE)[name]()
    options = {"entries": ALL, "optimize": optimize, "constant_time": is_constant}
    assert covered(tmp_path, gcc, model, kernel, **options) == []


@pytest.mark.parametrize("name", ["naive_integer", "tan_float", "general_network", "mixed_kinds"])
def test_streams_and_missing_features_are_covered(
    name: str, tmp_path: Path, require_tool: Callable[[str], str]
) -> None:
    """Their errors too."""
    gcc, _ = require_tool("gcc"), require_tool("gcov")
    model = mixed_kinds() if name == "mixed_kinds" else hand.NAMED[name]()
    entries = hand.possible_entries(model)
    assert {"stream", "missing"} <= entries
    assert covered(tmp_path, gcc, model, "plain", entries=entries) == []
