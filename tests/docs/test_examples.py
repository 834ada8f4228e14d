"""Every block of code in every document runs, or the page gives the reason why not."""

import re
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import NoReturn

import pytest

from bncc.device.cross import Toolchain
from tests.docs.blocks import Needs, blocks, matches, name_of, pages, parts
from tests.docs.session import Session
from tests.firmware.arduino_core import CORE

PAGES = [path for path in pages() if blocks(path)]


def needs(path: Path) -> str:
    """Return the declared requirements of a page."""
    marks = parts(path.read_text("utf-8"))
    return ", ".join(m.value for m in marks if isinstance(m, Needs))


def page(path: Path) -> object:
    """Return a parameter of a test, marked by the tools that the page needs."""
    wanted = needs(path)
    marks = [pytest.mark.cc] if "gcc" in wanted else []
    if re.search(r"target|avr|arm-none|riscv|qemu", wanted):
        marks.append(pytest.mark.firmware)
    return pytest.param(path, id=name_of(path), marks=marks)


@pytest.fixture
def require(
    missing: Callable[[str], NoReturn],
    require_tool: Callable[[str], str],
    require_bench: Callable[..., Toolchain],
) -> Callable[[str], None]:
    """Return a function that skips the test where a tool of the list is missing."""

    def all_of(wanted: str) -> None:
        for each in re.split(r",\s*", wanted):
            kind, _, name = each.rpartition(" ")
            if kind == "target":
                require_bench(name)
            elif kind == "core":
                CORE.is_dir() or missing("the Arduino core for AVR is not installed")
            elif kind == "module":
                if find_spec(name) is None:
                    missing(f"the module {name} is not installed")
            else:
                require_tool(each)

    return all_of


@pytest.mark.parametrize("path", [page(path) for path in PAGES])
def test_the_examples_of_a_page_run(
    path: Path, tmp_path: Path, require: Callable[[str], None]
) -> None:
    """One after the other, in the order of the page, in one folder."""
    session = Session(tmp_path)
    try:
        for part in parts(path.read_text("utf-8")):
            if isinstance(part, Needs):
                require(part.value)
            elif not part.language.startswith("{"):
                try:
                    session.do(part)
                except AssertionError as error:
                    raise AssertionError(f"{name_of(path)}:{part.line}: {error}") from error
    finally:
        session.close()


def test_text_is_compared_line_by_line() -> None:
    """Only dots match anything."""
    said = "a 1\nb  \nc\nd 27 %\n"
    for shown in ("a 1\nb\n", "a ...\n...\nd ... %\n", "...\nd 27 %\n", "b\nc\n"):
        assert matches(shown, said), shown
    for shown in ("a\n", "a 1\nc\n", "d 2\n", "a 1\n...\nb 2\n"):
        assert not matches(shown, said), shown


@pytest.mark.parametrize(
    "text",
    [
        "```sh\nfalse\n```\n",
        "```sh\ntrue | false | true\n```\n",
        "<!-- exits: 2 -->\n```sh\nexit 1\n```\n",
        "<!-- says: b -->\n```sh\necho a\n```\n",
        "```sh\necho a\n```\n<!-- output -->\n```text\nb\n```\n",
        "```python\nraise ValueError\n```\n",
        "```python\na = 1\n```\n```python\nassert a == 2\n```\n",
        "```text\nanything\n```\n",
        "```\nanything\n```\n",
        "```console\n$ ls\n```\n",
        "```json\n{\n```\n",
        "```yaml\na: [\n```\n",
        "<!-- not run -->\n```text\na\n```\n",
        "<!-- checked by: tests/none.py -->\n```c\nint a;\n```\n",
        "<!-- file: a.txt -->\n```text\na\n```\n<!-- excerpt: a.txt -->\n```text\nb\n```\n",
    ],
)
def test_a_block_that_is_wrong_is_noticed(text: str, tmp_path: Path) -> None:
    """False claims of a page, and blocks that are not checked."""
    session = Session(tmp_path)
    *before, last = parts(text)
    for part in before:
        session.do(part)
    with pytest.raises(AssertionError):
        session.do(last)
    session.close()


@pytest.mark.cc
def test_c_that_does_not_compile_is_noticed(
    tmp_path: Path, require_tool: Callable[[str], str]
) -> None:
    """Both declarations and statements are known."""
    require_tool("gcc")
    (tmp_path / "m.h").write_text("int m_predict(int x);\n")
    session = Session(tmp_path / "page")
    session.folder = tmp_path
    for text in ("int a = m_predict(1);\n(void)a;\n", "int f(void)\n{\n    return 1;\n}\n"):
        (part,) = parts(f"<!-- fragment: m.h -->\n```c\n{text}```\n")
        session.do(part)
    (part,) = parts("<!-- fragment: m.h -->\n```c\nint a = m_predict();\n```\n")
    with pytest.raises(AssertionError, match="too few arguments"):
        session.do(part)
