"""``bncc targets``: what is installed and the one command that installs the rest."""

from collections.abc import Callable
from typing import Any

import pytest
from click.testing import Result

from bncc.build.toolchain import Tool
from bncc.cli import targets

Run = Callable[..., Result]
RunJson = Callable[..., dict[str, Any]]

TOOLS = (
    Tool("gcc", "/usr/bin/gcc", "12.2.0", ("host",), "apt install gcc"),
    Tool("simavr", "/usr/bin/simavr", None, ("avr",), "apt install simavr", "simulator"),
    Tool("avr-gcc", None, None, ("avr",), "apt install gcc-avr avr-libc"),
    Tool("unicorn", None, None, ("rv32",), "pip install unicorn", "simulator"),
)


@pytest.fixture
def some_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(targets, "find_tools", lambda: TOOLS)


@pytest.mark.usefixtures("some_tools")
def test_people_read_versions_and_one_command(run: Run) -> None:
    said = run("targets").stdout
    assert "12.2.0" in said
    assert "apt install gcc-avr avr-libc && pip install unicorn" in said


@pytest.mark.usefixtures("some_tools")
def test_json_lists_every_tool(run_json: RunJson) -> None:
    tools = run_json("targets")["tools"]
    assert [tool["name"] for tool in tools] == ["gcc", "simavr", "avr-gcc", "unicorn"]
    assert tools[0]["installed"] is True
    assert tools[0]["install"] is None
    assert tools[2] == {
        "name": "avr-gcc",
        "role": "compiler",
        "installed": False,
        "version": None,
        "path": None,
        "targets": ["avr"],
        "install": "apt install gcc-avr avr-libc",
    }


def test_nothing_missing_needs_no_command(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(targets, "find_tools", lambda: TOOLS[:2])
    assert "install what is missing" not in run("targets").stdout


def test_this_machine_can_be_asked(run_json: RunJson) -> None:
    assert {"gcc", "clang", "avr-gcc"} <= {tool["name"] for tool in run_json("targets")["tools"]}
