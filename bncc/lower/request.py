"""Request: what C is asked for, of which target, within which limits."""

from dataclasses import dataclass, field

from bncc.errors import OptionError
from bncc.lower.requirements import Demands
from bncc.model.checked import DEFAULT_MARGIN, Limits, limits_of
from bncc.model.model import Model
from bncc.resources import Budget, Optimize

ENTRIES = frozenset({"checked", "missing", "raw", "scores", "stream", "trusted"})
"""Entry points that can be asked for in addition to ``predict``."""


@dataclass(frozen=True)
class Request:
    """What is lowered, and for which target; fields as in `bncc.emit.options.EmitOptions`."""

    name: str = "model"
    entries: frozenset[str] = field(default_factory=frozenset)
    kernel: str | None = None
    optimize: Optimize = "balanced"
    target: str | None = None
    max_flash: int | None = None
    max_ram: int | None = None
    reserve: int = 0
    priced: tuple[str, ...] = ()
    constant_time: bool = False
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


def checked_limits(model: Model, request: Request) -> tuple[Limits, ...] | None:
    """Return within which limits readings are decided on; None where they are not checked."""
    if "checked" not in request.entries:
        return None
    if request.constant_time:
        raise OptionError(
            "entry point 'checked' returns at the first wrong reading, so its time depends on the "
            "readings; leave it out, or do not ask for constant time"
        )
    return limits_of(model, request.range_margin)
