"""Which engine computes the costly steps: C on one core where it can be built, or numpy."""

from collections.abc import Callable
from typing import TypeVar

from bncc.errors import ToolchainError
from bncc.train.boosting.bins import Bins
from bncc.train.boosting.cuts import BestCuts, numpy_best_cuts
from bncc.train.boosting.descent import Pace, SumEngine, SumProblem
from bncc.train.boosting.native.steps import (
    NativeSlopes,
    NativeSumEngine,
    native_best_cuts,
)
from bncc.train.boosting.numpy_engine import NumpySumEngine
from bncc.train.boosting.settings import BoostSettings
from bncc.train.boosting.slopes import NumpySlopes, Slopes
from bncc.train.boosting.sums import Samples, Scores

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
