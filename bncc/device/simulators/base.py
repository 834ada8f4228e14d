"""What every simulator offers."""

from typing import Protocol

from bncc.device.image import Image
from bncc.toolchain.tools import Tool


class Simulator(Protocol):
    """Runs images of some targets."""

    name: str  # As `Target.simulators` calls it
    port: str  # The header of ``runtime/`` through which a program speaks to it
    defines: tuple[str, ...]  # Macros of that header

    def tool(self, target: str) -> Tool:
        """Return what runs a target, installed or not."""

    def describe(self, target: str) -> str:
        """Return name, version and processor, for people."""

    def per_unit(self, target: str) -> float:
        """Return how far the program's counter steps at every instruction or cycle."""

    def run(self, image: Image, request: bytes, *, is_metered: bool = False) -> bytes:
        """Run an image to its end and return what it wrote."""
