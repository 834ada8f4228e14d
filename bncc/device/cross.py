"""Emitted C on a simulated target: the choice of tools, and a harness that runs there."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol

from bncc.device.image import Builder, Image, model_object
from bncc.device.machine import Harness
from bncc.device.simulators.qemu import Qemu
from bncc.device.simulators.simavr import Simavr
from bncc.device.simulators.unicorn import Clock, Reading, Unicorn
from bncc.device.sources import Sources, support_file
from bncc.errors import ToolchainError
from bncc.targets.base import Target
from bncc.toolchain.tools import Tool, find_tools


class Simulator(Protocol):
    """Simulator that runs images for some targets."""

    name: str  # Name in `Target.simulators`
    port: str  # The header of ``runtime/`` for communication with it
    defines: tuple[str, ...]  # Macros of that header

    def tool(self, target: str) -> Tool:
        """Return the tool that runs a target, installed or not."""

    def describe(self, target: str) -> str:
        """Return name, version and processor, for display."""

    def per_unit(self, target: str) -> float:
        """Return the increment of the program's counter per instruction or cycle."""

    def run(self, image: Image, request: bytes, *, is_metered: bool = False) -> bytes:
        """Run an image to its end and return its output."""


SIMULATORS: Mapping[str, Simulator] = {s.name: s for s in (Simavr(), Qemu(), Unicorn())}
"""Every simulator by name."""


@dataclass(frozen=True)
class Toolchain:
    """A target with a compiler that builds for it and a simulator that runs it, both installed."""

    target: Target  # The target
    compiler: Tool  # The compiler
    simulator: Simulator  # The simulator
    clock: Clock | None = None  # Counts cycles besides instructions; for unicorn alone

    def run_metered(self, image: Image, request: bytes) -> tuple[bytes, list[Reading]]:
        """Run a metered image; return its output, and the readings of the clock, if any."""
        if self.clock is None:
            return self.simulator.run(image, request, is_metered=True), []
        assert isinstance(self.simulator, Unicorn)
        return self.simulator.run_timed(image, request, self.clock)

    @property
    def place(self) -> str:
        """The simulator with version and processor, for display."""
        return self.simulator.describe(self.target.name)


def find_toolchain(
    target: Target, *, compiler: str | None = None, simulator: str | None = None
) -> tuple[Toolchain, ...]:
    """Return the toolchains for a target."""
    known = {tool.name: tool for tool in find_tools() if target.name in tool.serves}
    builders = [known[name] for name in target.flags if name in known]
    compilers = _choose(target, "compiler", builders, compiler)
    runners = {SIMULATORS[name].tool(target.name): SIMULATORS[name] for name in target.simulators}
    aliases = {tool.name: found.name for tool, found in runners.items()}
    chosen = _choose(target, "simulator", list(runners), simulator, aliases)
    return tuple(
        Toolchain(target, tool, runners[runner]) for tool in compilers for runner in chosen
    )


def _choose(
    target: Target,
    role: str,
    tools: list[Tool],
    choice: str | None,
    aliases: Mapping[str, str] | None = None,
) -> list[Tool]:
    """Return the installed tools that a choice allows."""
    aliases = aliases or {}
    if choice not in (None, "all"):
        named = [tool for tool in tools if choice in (tool.name, aliases.get(tool.name))]
        if not named:
            names = " or ".join(aliases.get(tool.name, tool.name) for tool in tools)
            raise ToolchainError(
                f"the {role} '{choice}' does not support {target.name}; use {names}"
            )
        tools = named
    found = [tool for tool in tools if tool.is_installed]
    if not found:
        hints = " or ".join(f"`{tool.install_hint}`" for tool in tools)
        raise ToolchainError(f"no {role} for {target.name} is installed; run {hints}")
    return found if choice == "all" else found[:1]


class CrossHarness(Harness):
    """A harness built for a simulated target, in a temporary folder that `close` removes."""

    def __init__(self, built: Sources, bench: Toolchain, opt_level: str) -> None:
        self._folder = TemporaryDirectory(prefix="bncc-")
        try:
            builder = Builder(Path(self._folder.name), bench.target, bench.compiler)
            model_at = model_object(builder, built, opt_level)
            self.compiled = builder.folder / model_at
            image = link_program(builder, bench.simulator, "harness", model_at)
        except BaseException:
            self.close()
            raise
        super().__init__(
            built.interface,
            built.entries,
            lambda request: bench.simulator.run(image, request),
            f"{bench.compiler} {opt_level}, {bench.place}",
            packed=bench.target.packed,
            byte_order=bench.target.byte_order,
        )

    def close(self) -> None:
        """Remove the program; no call may follow."""
        self._folder.cleanup()


def link_program(
    builder: Builder, simulator: Simulator, program: str, model: str, *defines: str
) -> Image:
    """Compile ``harness.c`` or ``meter.c`` for a simulator and link it with a model."""
    builder.write(
        {
            "bncc_port.h": support_file(simulator.port),
            "stack_paint.h": support_file("stack_paint.h"),
        }
    )
    main = builder.compile_glue(f"{program}.c", f"{program}.o", "-O2", *simulator.defines, *defines)
    return builder.link(f"{program}.elf", model, main)
