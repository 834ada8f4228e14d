"""``bncc targets``: the installed tools, and the one command that installs the rest."""

import platform
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from click.testing import Result

from bncc.cli import targets
from bncc.device.cross import find_toolchain
from bncc.device.simulators import simavr
from bncc.errors import ToolchainError
from bncc.targets import TARGETS
from bncc.toolchain.tools import Tool, find_tools

Run = Callable[..., Result]
RunJson = Callable[..., dict[str, Any]]
Install = Callable[..., None]

SIMAVR = Tool("simavr", None, None, ("avr",), "apt install libsimavr-dev libelf-dev", "simulator")
NAMES = [tool.name for tool in (*find_tools(), SIMAVR)]


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Install:
    """Return ``installed(*names)``: a machine, an x86, that has these tools and no other."""
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    monkeypatch.delenv("CC", raising=False)

    def install(*names: str) -> None:
        here = [
            replace(tool, path=f"/usr/bin/{tool.name}", version="1.2")
            if tool.name in names
            else replace(tool, path=None, version=None)
            for tool in (*find_tools(), SIMAVR)
        ]

        def host(choice: str | None = None) -> tuple[Tool, ...]:
            found = [t for t in here if t.is_installed and "host" in t.serves]
            if not found:
                raise ToolchainError("none")
            return tuple(found)

        monkeypatch.setattr(targets, "all_tools", lambda: tuple(here))
        monkeypatch.setattr(targets, "host_compilers", host)

    return install


def test_people_read_versions_and_one_command(run: Run, installed: Install) -> None:
    installed(*(set(NAMES) - {"avr-gcc", "unicorn"}))
    said = run("targets").stdout
    assert "install what is missing:  apt install gcc-avr avr-libc && pip install unicorn" in said
    assert max(map(len, said.splitlines())) <= 100
    lines = [" ".join(line.split()) for line in said.splitlines()]
    assert "gcc compiler 1.2 host, x86" in lines
    assert "avr-gcc compiler no avr" in lines
    assert "qemu-system-arm simulator 1.2 cortex-m*" in lines
    assert "host gcc 1.2 this computer" in lines
    assert "x86 gcc 1.2 - pip install unicorn" in lines
    assert "avr - simavr 1.2 apt install gcc-avr avr-libc" in lines
    assert "cortex-m4 arm-none-eabi-gcc 1.2 qemu-system-arm 1.2" in lines


def test_json_lists_every_tool(run_json: RunJson, installed: Install) -> None:
    installed("gcc")
    tools = {tool["name"]: tool for tool in run_json("targets")["tools"]}
    assert list(tools) == NAMES
    assert tools["gcc"]["installed"] is True
    assert tools["gcc"]["install"] is None
    assert tools["avr-gcc"] == {
        "name": "avr-gcc",
        "role": "compiler",
        "installed": False,
        "version": None,
        "path": None,
        "targets": ["avr"],
        "install": "apt install gcc-avr avr-libc",
    }


def test_json_says_of_every_target_what_serves_it(run_json: RunJson, installed: Install) -> None:
    """System tools come before wheels; the names are those of --compiler and --simulator."""
    installed(*NAMES)
    found = run_json("targets")["targets"]
    assert list(found) == ["host", *TARGETS]
    ready = {"ready": True, "install": None}
    assert found["host"] == {"compiler": "gcc", "simulator": None, **ready}
    assert found["x86"] == {"compiler": "gcc", "simulator": "unicorn", **ready}
    assert found["avr"] == {"compiler": "avr-gcc", "simulator": "simavr", **ready}
    assert found["cortex-m0"] == {"compiler": "arm-none-eabi-gcc", "simulator": "unicorn", **ready}
    assert found["rv32"] == {"compiler": "riscv64-unknown-elf-gcc", "simulator": "qemu", **ready}
    assert found["big-endian"]["simulator"] == "unicorn"


def test_two_wheels_serve_all_but_the_avr(run_json: RunJson, installed: Install) -> None:
    installed("ziglang", "unicorn")
    found = run_json("targets")["targets"]
    assert [name for name, facts in found.items() if not facts["ready"]] == ["avr"]
    assert found["rv32"]["compiler"] == "ziglang"
    assert found["rv32"]["simulator"] == "unicorn"


def test_a_bare_machine_needs_one_command_per_target(run_json: RunJson, installed: Install) -> None:
    """Wheels, because they need no root; the AVR's library is used through a host compiler."""
    installed()
    found = run_json("targets")["targets"]
    assert {(facts["compiler"], facts["ready"]) for facts in found.values()} == {(None, False)}
    assert found["host"]["install"] == "pip install ziglang"
    for name in ("x86", "cortex-m0", "cortex-m7", "rv32", "big-endian"):
        assert found[name]["install"] == "pip install ziglang unicorn"
    avr = "apt install gcc-avr avr-libc libsimavr-dev libelf-dev"
    assert found["avr"]["install"] == f"{avr} gcc"
    installed("gcc")
    assert run_json("targets")["targets"]["avr"]["install"] == avr


def test_half_of_the_tools_need_the_other_half(run_json: RunJson, installed: Install) -> None:
    installed("arm-none-eabi-gcc", "unicorn", "qemu-system-riscv32")
    found = run_json("targets")["targets"]
    assert found["cortex-m3"]["ready"] is True
    assert found["cortex-m3"]["simulator"] == "unicorn"
    assert found["rv32"] == {
        "compiler": None, "simulator": "qemu", "ready": False, "install": "pip install ziglang",
    }  # fmt: skip


def test_nothing_missing_needs_no_command(run: Run, installed: Install) -> None:
    installed(*NAMES)
    assert "install what is missing" not in run("targets").stdout


def test_the_tools_are_those_that_are_used(run_json: RunJson) -> None:
    """On this machine with its tools: ready targets are those that a build would find."""
    found = run_json("targets")
    assert {"gcc", "clang", "avr-gcc", "simavr"} <= {tool["name"] for tool in found["tools"]}
    for name, target in TARGETS.items():
        facts = found["targets"][name]
        try:
            (tool,) = find_toolchain(target)
        except ToolchainError:
            assert facts["ready"] is False
        else:
            assert facts["ready"] is True
            assert facts["compiler"] == tool.compiler.name
            assert facts["simulator"] == tool.simulator.name


@pytest.mark.parametrize(("here", "version"), [(True, "1.6"), (False, None)])
def test_simavr_is_there_when_its_library_is(
    run_json: RunJson, monkeypatch: pytest.MonkeyPatch, here: bool, version: str | None
) -> None:
    """The command of that name does not count cycles."""
    monkeypatch.setattr(simavr, "is_available", lambda: here)
    monkeypatch.setattr(simavr, "version", lambda: version)
    (tool,) = [tool for tool in run_json("targets")["tools"] if tool["name"] == "simavr"]
    assert tool["installed"] is here
    assert tool["version"] == version
    assert tool["install"] == (None if here else "apt install libsimavr-dev libelf-dev")


def test_an_empty_path_finds_no_command(
    run_json: RunJson, monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    found = run_json("targets")
    wheels = {tool["name"] for tool in found["tools"] if tool["installed"]}
    assert wheels <= {"ziglang", "unicorn", "simavr"}
    assert found["targets"]["avr"]["compiler"] is None


def test_parts_are_shown_with_target_clock_and_memory(run: Run, run_json: RunJson) -> None:
    parts = run_json("targets")["parts"]
    assert parts["nrf52832"] == {
        "target": "cortex-m4", "clock": 64_000_000, "flash": 524_288, "ram": 65_536,
        "timing": "cortex-m4",
    }  # fmt: skip
    assert parts["rp2040"]["flash"] is None
    assert {facts["target"] for facts in parts.values()} <= set(TARGETS)
    lines = [" ".join(line.split()) for line in run("targets").stdout.splitlines()]
    assert "atmega328p avr 20 MHz 32 KB 2 KB avr" in lines
    assert "stm32f103 cortex-m3 72 MHz 64 KB 20 KB -" in lines


def test_the_names_for_part_are_those_with_a_timing(
    run: Run, run_json: RunJson, refused: Callable[..., str]
) -> None:
    """Every other alias is for ``--target`` alone, as its refusal says."""
    pytest.importorskip("capstone", reason="capstone is not installed")
    facts = run_json("targets")
    assert facts["cores"]["cortex-m0plus"] == "cortex-m0"
    timings = {name: part["timing"] for name, part in facts["parts"].items()} | facts["cores"]
    for name, timing in timings.items():
        said = refused("emit-c", "absent.bncc", "-o", "d", "--part", name, "--clock", "8M")
        assert ("'absent.bncc'" if timing else f"use --target {name} instead of --part") in said
    sentence = " ".join(run("targets").stdout.split())
    assert f"--clock the cores {', '.join(facts['cores'])}." in sentence


@pytest.mark.parametrize(
    "command",
    [
        ("train", "d.csv", "-o", "m.bncc"),
        ("emit-c", "m.bncc", "-o", "d"),
        ("verify", "m.bncc"),
        ("bench", "m.bncc"),
        ("sweep", "d.csv", "--study", "s.db"),
        ("baseline", "d.csv", "--classifier", "tree"),
    ],
)
def test_every_command_with_a_target_takes_a_part(
    refused: Callable[..., str], command: tuple[str, ...]
) -> None:
    """The error names the missing file, or the name if no part of it exists."""
    for part in ("nrf52832", "STM32F030", "esp32c3", "atmega328p", "rp2040"):
        assert "does not exist" in refused(*command, "--target", part)
    assert "'esp8266' is not one of" in refused(*command, "--target", "esp8266")
