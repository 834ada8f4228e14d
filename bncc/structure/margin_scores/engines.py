"""Which engine scores trees: C on one core where it can be built, or numpy."""

from bncc._types import IntArray
from bncc.errors import ToolchainError
from bncc.structure.margin_scores.engine import ScoreEngine
from bncc.structure.margin_scores.held_out import HeldOut
from bncc.structure.margin_scores.native.engine import NativeScoreEngine
from bncc.structure.margin_scores.numpy_engine import NumpyScoreEngine
from bncc.structure.margin_scores.score import Score


def score_engine_for(
    held_out: HeldOut, score: Score, joint: IntArray, engine: str | None = None
) -> ScoreEngine:
    """
    Return what scores trees.

    Shapes: `joint` (n_samples, n_classes) int32.
    """
    if engine != "numpy":
        try:
            return NativeScoreEngine(held_out, score, joint)
        except ToolchainError:
            if engine == "native":
                raise
    return NumpyScoreEngine(held_out, score, joint)
