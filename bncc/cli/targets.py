"""``bncc targets``: available tools of this computer."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from textwrap import fill
from typing import Any

import click

from bncc.cli.console import Console, table_text
from bncc.cli.options import speaks
from bncc.cli.timing_options import WIDTH
from bncc.device.cross import SIMULATORS
from bncc.device.simulators.simavr import Simavr
from bncc.errors import ToolchainError
from bncc.targets import TARGETS
from bncc.targets.base import KIB, MHZ, Part, Target
from bncc.toolchain.tools import Tool, find_tools, host_compilers, is_x86


@dataclass(frozen=True)
class Readiness:
    """Tools that build and run code for a target."""

    compiler: Tool | None  # compiler and runner: None if none is installed
    simulator: Tool | None
    runner: str | None  # The simulator as ``--simulator`` calls it
    missing: tuple[Tool, ...]  # Tools to install so that both are available


@click.command("targets")
@speaks
def command(console: Console) -> None:
    """List targets, parts, compilers and simulators, and the command that installs missing ones."""
    tools = all_tools()
    machines = {"host": _host(tools)}
    machines |= {name: _readiness(target, tools) for name, target in TARGETS.items()}
    payload = {
        "tools": [_facts(tool) for tool in tools],
        "targets": {name: _machine_facts(machine) for name, machine in machines.items()},
        "parts": {
            name: {
                "target": target.name,
                "clock": part.clock,
                "flash": part.flash,
                "ram": part.ram,
                "timing": None if part.power is None else part.power.core,
            }
            for target in TARGETS.values()
            for name, part in target.parts.items()
        },
        "cores": _cores(),
    }
    console.result(payload, _report(tools, machines), essential=True)


def all_tools() -> tuple[Tool, ...]:
    """Find every tool that bncc knows, the library simavr included."""
    return (*find_tools(), Simavr().tool("avr"))


def install_command(tools: Iterable[Tool]) -> str:
    """Return the command that installs some tools."""
    wanted: dict[str, list[str]] = {}
    for tool in tools:
        if not tool.is_installed:
            installer, _, packages = tool.install_hint.partition(" install ")
            wanted.setdefault(installer, []).append(packages)
    return " && ".join(
        f"{installer} install {' '.join(names)}" for installer, names in wanted.items()
    )


def _host(tools: Sequence[Tool]) -> Readiness:
    """Return the tools that build for the host, which needs no simulator."""
    try:
        return Readiness(host_compilers()[0], None, None, ())
    except ToolchainError:
        return Readiness(None, None, None, _easiest(_of(tools, "compiler", "host")))


def _readiness(target: Target, tools: Sequence[Tool]) -> Readiness:
    """Return the tools of a simulated target, the preferred tools first."""
    by_name = {tool.name: tool for tool in tools if target.name in tool.serves}
    compilers = [by_name[name] for name in target.flags if name in by_name]
    commands = {name: SIMULATORS[name].tool(target.name).name for name in target.simulators}
    runners = {name: by_name[tool] for name, tool in commands.items() if tool in by_name}
    compiler = next((tool for tool in compilers if tool.is_installed), None)
    runner = next((name for name, tool in runners.items() if tool.is_installed), None)
    missing = () if compiler else _easiest(compilers)
    if runner is None:
        missing += _easiest(tuple(runners.values()))
        if "simavr" in runners and not _of(tools, "compiler", "host", is_installed=True):
            missing += (_of(tools, "compiler", "host")[0],)  # builds the runner around the library
    return Readiness(compiler, runners[runner] if runner else None, runner, missing)


def _of(
    tools: Iterable[Tool], role: str, target: str, *, is_installed: bool = False
) -> tuple[Tool, ...]:
    """Return the tools of a role that support a target."""
    return tuple(
        tool
        for tool in tools
        if tool.role == role and target in tool.serves and (tool.is_installed or not is_installed)
    )


def _easiest(tools: Sequence[Tool]) -> tuple[Tool, ...]:
    """Return the tool that can be installed without root access, else the first."""
    return (next((tool for tool in tools if tool.install_hint.startswith("pip ")), tools[0]),)


def _facts(tool: Tool) -> dict[str, Any]:
    return {
        "name": tool.name,
        "role": tool.role,
        "installed": tool.is_installed,
        "version": tool.version,
        "path": tool.path,
        "targets": list(tool.serves),
        "install": None if tool.is_installed else tool.install_hint,
    }


def _machine_facts(machine: Readiness) -> dict[str, Any]:
    return {
        "compiler": machine.compiler.name if machine.compiler else None,
        "simulator": machine.runner,
        "ready": not machine.missing,
        "install": install_command(machine.missing) or None,
    }


def _report(tools: Sequence[Tool], machines: dict[str, Readiness]) -> str:
    rows = [["tool", "is a", "installed", "for"]]
    for tool in tools:
        state = (tool.version or "yes") if tool.is_installed else "no"
        rows.append([tool.name, tool.role, state, _short(tool.serves)])
    lines = [table_text("Tools", rows)]
    everything = install_command(tools)
    if everything:
        lines += [f"to install what is missing:  {everything}"]
    rows = [["target", "built by", "run by", "to install"]]
    for name, machine in machines.items():
        compiler = str(machine.compiler) if machine.compiler else "-"
        runner = "this computer" if name == "host" else str(machine.simulator or "-")
        rows.append([name, compiler, runner, install_command(machine.missing)])
    lines += ["", table_text("Targets", rows)]
    lines += ["", table_text("Parts, aliases of targets", _parts(), right=(2, 3, 4))]
    lines += [
        "",
        fill(
            "--target takes every part. --part takes those whose timing, that of a core and wait "
            f"states, is known, and with --clock the cores {', '.join(_cores())}.",
            WIDTH,
        ),
    ]
    if is_x86():
        lines += [
            "",
            "`bncc verify` runs host and x86 natively; `bncc bench` counts the instructions\nof "
            "both on the simulated x86",
        ]
    return "\n".join(lines)


def _parts() -> list[list[str]]:
    """Return a row per part."""
    rows = [["part", "target", "clock", "flash", "RAM", "timing"]]
    return rows + [
        [
            name,
            target.name,
            f"{part.clock // MHZ} MHz",
            _flash(part),
            f"{part.ram / KIB:g} KB",
            "-" if part.power is None else part.power.core,
        ]
        for target in TARGETS.values()
        for name, part in target.parts.items()
    ]


def _cores() -> dict[str, str]:
    """Return the target of each core that ``--part`` takes."""
    return {core: target.name for target in TARGETS.values() for core in target.cores}


def _flash(part: Part) -> str:
    return "external" if part.flash is None else f"{part.flash // KIB} KB"


def _short(serves: Sequence[str]) -> str:
    """Join target names, the four Cortex-M abbreviated to one word."""
    names = dict.fromkeys("cortex-m*" if name.startswith("cortex-m") else name for name in serves)
    return ", ".join(names)
