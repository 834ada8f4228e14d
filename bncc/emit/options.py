"""What may be asked of an emission."""

from dataclasses import dataclass, field

from bncc.compiler.choose import Optimize
from bncc.compiler.demands import Demands
from bncc.emit.bounds import Bounds
from bncc.emit.vectors import Vectors

ENTRIES = frozenset({"missing", "raw", "scores", "stream", "trusted"})
"""Entry points that can be asked for beside ``predict``."""


@dataclass(frozen=True)
class EmitOptions:
    """What to emit.

    Parameters
    ----------
    name : str, default="model"
        Prefix of every symbol and of the file names.
    entries : frozenset of {"missing", "raw", "scores", "stream", "trusted"}, default=frozenset()
        Entry points beside ``predict``; ``raw`` is always there when the model has thresholds.
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
        Bytes that the classifier may take by its estimate; None for any number.
    vectors : Vectors or None, default=None
        Inputs and answers of the self-test; None for some that are drawn.
    constant_time : bool, default=False
        Whether no branch may depend on a reading or on a state in range.
    bounds : Bounds or None, default=None
        What the same C was found to take; for the header.
    """

    name: str = "model"
    entries: frozenset[str] = field(default_factory=frozenset)
    package: str = "plain"
    kernel: str | None = None
    optimize: Optimize = "balanced"
    target: str | None = None
    max_flash: int | None = None
    max_ram: int | None = None
    vectors: Vectors | None = None
    constant_time: bool = False
    bounds: Bounds | None = None

    @property
    def demands(self) -> Demands:
        """What is asked of a kernel."""
        return Demands("stream" in self.entries, self.constant_time)
