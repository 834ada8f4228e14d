"""simavr: the ATmega with exact cycles, as a `Simulator`."""

from bncc.build.image import Image
from bncc.build.simulators import simavr
from bncc.build.targets import ATMEGA
from bncc.build.toolchain import Tool

CYCLE_LIMIT = 2**40
"""So many cycles take longer than any run may last."""


class Simavr:
    """Runs images on the AVR of simavr."""

    name = "simavr"
    port = "port_doorbell.h"
    defines: tuple[str, ...] = ()

    def tool(self, target: str) -> Tool:
        """Return simavr's library, installed or not."""
        here = simavr.is_available()
        path = "libsimavr" if here else None
        return Tool("simavr", path, simavr.version(), ("avr",), simavr.INSTALL_HINT, "simulator")

    def describe(self, target: str) -> str:
        """Return name, version and processor, for people."""
        return f"{self.tool(target)} {ATMEGA}"

    def per_unit(self, target: str) -> float:
        """Return how far the counter steps at every cycle."""
        return 1.0

    def run(self, image: Image, request: bytes, *, is_metered: bool = False) -> bytes:
        """Run an image to its end.

        Parameters
        ----------
        image : Image
            A program of the harness or the meter.
        request : bytes
            What it reads.
        is_metered : bool
            Cycles are counted in any case.

        Returns
        -------
        bytes
            What it wrote.

        Raises
        ------
        HarnessError
            If it crashed or did not end.
        """
        at = image.symbols["bncc_request"]
        return simavr.run(image.path, ATMEGA, request, at, cycle_limit=CYCLE_LIMIT)
