"""Snapshots of a descent between two epochs, with the full state of all later epochs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from bncc._types import AnyArray
from bncc.errors import CheckpointError
from bncc.fixed_point import QFormat
from bncc.train.maximum_likelihood import LogTables

_REMEDY = "use another --checkpoint to start over"


class Resumable(Protocol):
    """An engine whose state can be saved and restored."""

    kind: str

    def quantize(self, fmt: QFormat) -> None:
        """Compute with quantized prior and tables from now on."""
        ...

    def state(self) -> dict[str, AnyArray]:
        """Return copies of all numbers that steps change."""
        ...

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        """Restore the numbers of `state`, after `quantize` if they were quantized."""
        ...


@dataclass(frozen=True, eq=False)
class TrainingState:
    """State of a descent between two epochs."""

    engine: str  # Engine: ``native`` or ``torch``, which round differently
    epoch: int  # Epochs done, >= 1
    fmt: QFormat | None  # Format of quantized computation, once it has begun
    chance: Mapping[str, Any]  # State of the random generator; JSON values
    arrays: Mapping[str, AnyArray]  # State of the engine
    # Average of prior and tables over the epochs, if there is one
    average: LogTables | None = None


def moment_of(
    engine: Resumable,
    epoch: int,
    fmt: QFormat | None,
    rng: np.random.Generator,
    average: LogTables | None,
) -> TrainingState:
    """Save the state of a descent."""
    return TrainingState(engine.kind, epoch, fmt, rng.bit_generator.state, engine.state(), average)


def go_on(
    moment: TrainingState | None,
    engine: Resumable,
    rng: np.random.Generator,
    tables: Callable[[], LogTables],
) -> tuple[int, QFormat | None, LogTables | None]:
    """Restore a descent at its start to a saved state, so that both end with the same bits."""
    if moment is None:
        return 0, None, None
    if moment.engine != engine.kind:
        raise CheckpointError(
            f"the checkpoint was written by engine '{moment.engine}', which rounds differently "
            f"from '{engine.kind}'; resume with --engine {moment.engine}"
        )
    if _shapes(moment.arrays) != _shapes(engine.state()):
        raise CheckpointError(
            f"the checkpoint's arrays differ from those of this training; {_REMEDY}"
        )
    if moment.fmt is not None:
        engine.quantize(moment.fmt)
    engine.restore(moment.arrays)
    try:
        rng.bit_generator.state = moment.chance
    except (ValueError, TypeError, KeyError, OverflowError) as error:
        raise CheckpointError(f"the checkpoint's random state is corrupt; {_REMEDY}") from error
    if moment.average is not None and _sizes(moment.average) != _sizes(tables()):
        raise CheckpointError(
            f"the checkpoint's tables differ from those of this training; {_REMEDY}"
        )
    return moment.epoch, moment.fmt, moment.average


def _shapes(arrays: Mapping[str, AnyArray]) -> dict[str, tuple[tuple[int, ...], str]]:
    return {name: (array.shape, array.dtype.str) for name, array in arrays.items()}


def _sizes(tables: LogTables) -> list[tuple[int, ...]]:
    return [table.shape for table in (tables[0], *tables[1])]
