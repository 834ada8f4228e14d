"""``bncc targets``: what this machine can build and run with."""

from typing import Any

import click

from bncc.build.toolchain import Tool, find_tools
from bncc.cli.console import Console, aligned
from bncc.cli.options import speaks


@click.command("targets")
@speaks
def command(console: Console) -> None:
    """Show the compilers and simulators that are installed, and how to install the others."""
    tools = find_tools()
    console.result({"tools": [_facts(tool) for tool in tools]}, _report(tools), essential=True)


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


def _report(tools: tuple[Tool, ...]) -> str:
    rows = [["tool", "is a", "for", "installed"]]
    for tool in tools:
        state = (tool.version or "yes") if tool.is_installed else "no"
        rows.append([tool.name, tool.role, ", ".join(tool.serves), state])
    lines = [aligned(rows)]
    hint = _install_command(tools)
    if hint:
        lines += ["", f"install what is missing:  {hint}"]
    lines += ["", "`bncc verify` runs on this machine (host); the other machines arrive later"]
    return "\n".join(lines)


def _install_command(tools: tuple[Tool, ...]) -> str:
    """Return one command line that installs everything missing, grouped by installer."""
    wanted: dict[str, list[str]] = {}
    for tool in tools:
        if not tool.is_installed:
            installer, _, packages = tool.install_hint.partition(" install ")
            wanted.setdefault(f"{installer} install", []).extend(
                p for p in packages.split() if p not in wanted.get(f"{installer} install", [])
            )
    return " && ".join(f"{installer} {' '.join(names)}" for installer, names in wanted.items())
