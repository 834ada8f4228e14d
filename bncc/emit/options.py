"""What may be asked of an emission."""

from dataclasses import dataclass, field

from bncc.compiler.choose import Optimize
from bncc.compiler.demands import Demands
from bncc.emit.bounds import Bounds
from bncc.emit.vectors import Vectors
from bncc.errors import OptionError
from bncc.model.checked import DEFAULT_MARGIN, Limits, limits_of
from bncc.model.model import Model
from bncc.resources import Budget

ENTRIES = frozenset({"checked", "missing", "raw", "scores", "stream", "trusted"})
"""Entry points that can be asked for beside ``predict``."""


@dataclass(frozen=True)
class EmitOptions:
    """
    What to emit.

    Parameters
    ----------
    name : str, default="model"
        Prefix of every symbol and of the file names.
    entries : frozenset of str, default=frozenset()
        Entry points beside ``predict``, of `ENTRIES`; ``raw`` is always there when the model has
        thresholds. ``checked`` needs a model that records the ranges of its training readings.
        ``stream`` needs a kernel that adds rows one by one, ``missing`` a network, see
        `bncc.model.missing.why_not`.
    package : str, default="plain"
        A key of `bncc.emit.packages.PACKAGES`: what is put around the C.
    kernel : str or None, default=None
        A key of `bncc.compiler.choose.FAMILIES`; None for the best.
    optimize : {"balanced", "size", "speed"}, default="balanced"
        What is best.
    target : str or None, default=None
        The machine to choose for; None for generic C.
    max_flash, max_ram : int or None, default=None
        Bytes of the classifier; None for any number.
    reserve : int, default=0
        Bytes of `max_flash` kept for the caller's own code.
    priced : tuple of str, default=()
        Entry points that the budget covers, keys of `bncc.resources.FUNCTIONS`; empty for
        `bncc.resources.default_entries`.
    vectors : Vectors or None, default=None
        Inputs and answers of the self-test; None for some that are drawn.
    is_bounded : bool, default=False
        Whether the number of these vectors bounds what else the self-test tries.
    constant_time : bool, default=False
        Whether no branch may depend on a reading or on a state in range.
    bounds : Bounds or None, default=None
        What the same C was found to take; for the header.
    spdx : str or None, default=None
        SPDX license expression that every file is tagged with; None for no tag.
    command : tuple of str, default=()
        The command line that emits the same from the model's file; for the header.
    range_margin : float, default=10.0
        Percent of a feature's trained span by which ``checked`` lets a reading exceed it.
    """

    name: str = "model"
    entries: frozenset[str] = field(default_factory=frozenset)
    package: str = "plain"
    kernel: str | None = None
    optimize: Optimize = "balanced"
    target: str | None = None
    max_flash: int | None = None
    max_ram: int | None = None
    reserve: int = 0
    priced: tuple[str, ...] = ()
    vectors: Vectors | None = None
    is_bounded: bool = False
    constant_time: bool = False
    bounds: Bounds | None = None
    spdx: str | None = None
    command: tuple[str, ...] = ()
    range_margin: float = DEFAULT_MARGIN

    @property
    def demands(self) -> Demands:
        """What is asked of a kernel."""
        return Demands("stream" in self.entries, self.constant_time)

    @property
    def budget(self) -> Budget:
        """Limits of the classifier."""
        return Budget(
            self.target,
            self.max_flash,
            ram=self.max_ram,
            reserve=self.reserve,
            entries=self.priced,
            extras=self.entries,
        )


def checked_limits(model: Model, options: EmitOptions) -> tuple[Limits, ...] | None:
    """Return within which limits readings are decided on; None where they are not checked."""
    if "checked" not in options.entries:
        return None
    if options.constant_time:
        raise OptionError(
            "entry point 'checked' returns at the first wrong reading, so its time depends on the "
            "readings; leave it out, or do not ask for constant time"
        )
    return limits_of(model, options.range_margin)


WRITTEN = EmitOptions(name="m")
"""Options of ``bncc emit-c`` without arguments."""
