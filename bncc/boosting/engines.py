"""Which engine computes the costly steps: C on one core where it can be built, or numpy."""

from collections.abc import Callable
from typing import TypeVar

from bncc.boosting.bins import Bins
from bncc.boosting.cuts import BestCuts, numpy_best_cuts
from bncc.boosting.descent import Pace, SumEngine, SumProblem
from bncc.boosting.gradients import NumpySlopes, Slopes
from bncc.boosting.native_engine import (
    NativeSlopes,
    NativeSumEngine,
    native_best_cuts,
)
from bncc.boosting.numpy_engine import NumpySumEngine
from bncc.boosting.settings import BoostSettings
from bncc.boosting.sums import Samples, Scores
from bncc.errors import ToolchainError

T = TypeVar("T")


def best_cuts_for(bins: Bins, settings: BoostSettings, n_classes: int) -> BestCuts:
    """Return what finds the best cuts."""
    return _quicker(
        settings.engine,
        lambda: native_best_cuts(bins, settings.l2, n_classes, settings.rows),
        lambda: numpy_best_cuts(bins, settings.l2),
    )


def slopes_for(samples: Samples, engine: str | None) -> Slopes:
    """Return what finds derivatives of losses."""

    def native() -> Slopes:
        return NativeSlopes(samples)

    def reference() -> Slopes:
        return NumpySlopes(samples)

    return _quicker(engine, native, reference)


def sum_engine_for(problem: SumProblem, start: Scores, pace: Pace, engine: str | None) -> SumEngine:
    """Return what trains a sum."""

    def native() -> SumEngine:
        return NativeSumEngine(problem, start, pace)

    def reference() -> SumEngine:
        return NumpySumEngine(problem, start, pace)

    return _quicker(engine, native, reference)


def _quicker(engine: str | None, native: Callable[[], T], reference: Callable[[], T]) -> T:
    """Return what is asked for, or C where it can be built."""
    if engine != "numpy":
        try:
            return native()
        except ToolchainError:
            if engine == "native":
                raise
    return reference()
