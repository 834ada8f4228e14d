"""The self-test decides vectors with gaps, and detects a different table or answer."""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from bncc import BNClassifier
from bncc.emit.emitter import EmitOptions, emit_c
from tests import models as hand

pytestmark = pytest.mark.firmware
OPTIONS = EmitOptions("m", frozenset({"missing"}))
FLAGS = ("-std=c99", "-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror")


def n_wrong(gcc: str, folder: Path, files: dict[str, str]) -> int:
    """Return the failure count of the self-test on the host."""
    for file, text in files.items():
        (folder / file).write_text(text, "utf-8")
    build = (gcc, *FLAGS, "-fsanitize=undefined,address", "-fno-sanitize-recover", "m.c")
    subprocess.run((*build, "m_selftest.c", "-o", "test"), cwd=folder, check=True)
    return subprocess.run(folder / "test", check=False).returncode


@pytest.mark.parametrize("name", ["naive_integer", "tan_float", "general_network", "wide_states"])
def test_all_agree(name: str, tmp_path: Path, require_tool: Callable[[str], str]) -> None:
    """From readings and from states, or from states alone."""
    files = dict(emit_c(hand.NAMED[name](), OPTIONS).files)
    assert n_wrong(require_tool("gcc"), tmp_path, files) == 0


@pytest.mark.parametrize("entry", ["m_predict_missing", "m_predict_raw_missing"])
def test_a_wrong_decision_is_noticed(
    entry: str, tmp_path: Path, require_tool: Callable[[str], str]
) -> None:
    """A change that shows in one entry point alone."""
    files = dict(emit_c(hand.tan_float(), OPTIONS).files)
    pattern = rf"({entry}\([^)]*\)\n\{{.*?)return m_decide_missing\((\w+)\);"
    changed, n = re.subn(pattern, r"\1return 0;", files["m.c"], count=1, flags=re.DOTALL)
    assert n == 1
    files["m.c"] = changed
    assert n_wrong(require_tool("gcc"), tmp_path, files) > 0


def test_another_answer_is_noticed(tmp_path: Path, require_tool: Callable[[str], str]) -> None:
    """A different answer of one vector with gaps."""
    files = dict(emit_c(hand.tan_float(), OPTIONS).files)
    pattern = r"(gap_classes\[\d+\][^{]*\{\s*)(\d)U"
    files["m_vectors.h"], n = re.subn(
        pattern, lambda found: f"{found[1]}{1 - int(found[2] == '1')}U", files["m_vectors.h"]
    )
    assert n == 1
    assert n_wrong(require_tool("gcc"), tmp_path, files) == 1


def test_an_answer_for_checked_readings_is_compared(
    tmp_path: Path, require_tool: Callable[[str], str]
) -> None:
    """A missing range error is detected."""
    model = BNClassifier(bits=4).fit(
        [[float(k % 9), float(k % 7)] for k in range(90)], [k % 2 for k in range(90)]
    ).to_model()  # fmt: skip
    files = dict(emit_c(model, EmitOptions("m", frozenset({"checked", "scores"}))).files)
    assert n_wrong(require_tool("gcc"), tmp_path, files) == 0
    files["m.c"], n = re.subn(r"return M_ERR_RANGE;", "return 0;", files["m.c"])
    assert n >= 1
    assert n_wrong(require_tool("gcc"), tmp_path, files) > 0
