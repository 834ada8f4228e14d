"""The scores' engine by C on one core, see scores.c."""

from typing import Any

import numpy as np

from bncc._types import AnyArray, IntArray
from bncc.structure.margin_scores.held_out import HeldOut
from bncc.structure.margin_scores.score import Score
from bncc.toolchain.library import CParts, native_library

PARTS = CParts("bncc.structure.margin_scores.native", "scores.h", headers=(), sources=("scores.c",))
POINTERS = {"i4": "int32_t *", "u4": "uint32_t *"}


class NativeScoreEngine:
    """
    Scores by C, see `bncc.structure.margin_scores.engine.ScoreEngine`.

    Shapes: `joint` (n_samples, n_classes) int32.
    """

    def __init__(self, held_out: HeldOut, score: Score, joint: IntArray) -> None:
        self._ffi, self._library = native_library(PARTS)
        n_features, n_samples = held_out.n_features, held_out.n_samples
        fold, states = held_out.fold, np.array(held_out.n_states, dtype=np.int32)[:, None]
        self._arrays: dict[str, AnyArray] = {
            "y": held_out.y,
            "joint": joint,
            "order": np.arange(n_samples, dtype=np.uint32),
            "work": np.zeros(held_out.n_classes, dtype=np.int32),
        }
        self._parents = [self._pointer(column) for column in held_out.columns]
        self._columns = held_out.columns, np.asarray(fold * states + held_out.columns)
        self._children = [self._pointer(column) for column in self._columns[1][:n_features]]
        self._n_states = held_out.n_states
        self._scores = self._ffi.new("scores_t *")
        self._scores.n_samples, self._scores.n_classes = joint.shape
        self._scores.kind = getattr(self._library, f"BNCC_{score.kind.upper()}")
        self._scores.most, self._scores.scale = score.most, score.scale
        for name, array in self._arrays.items():
            setattr(self._scores, name, self._pointer(array))

    @property
    def joint(self) -> IntArray:
        """The joint of the present tree; see `ScoreEngine`."""
        return self._arrays["joint"]

    def term(self, child: int, parent: int, values: IntArray, *, by_row: bool) -> Any:
        """Prepare a term; see `ScoreEngine`."""
        term = self._ffi.new("term_t *")
        term.values = self._pointer(values)
        if not by_row:
            term.child, term.parent = self._children[child], self._parents[parent]
            term.n_parent_states = self._n_states[parent]
        return term, values

    def exchange(self, out: Any, into: Any) -> None:
        """Exchange a term of the joint for another; see `ScoreEngine`."""
        self._library.bncc_exchange(self._scores, out[0], into[0])

    def score(self, out: Any, into: Any, at_least: int | None) -> int:
        """Return the score with a term exchanged; see `ScoreEngine`."""
        bound = (0, 0) if at_least is None else (at_least, 1)
        return int(self._library.bncc_score(self._scores, out[0], into[0], *bound))

    def _pointer(self, array: AnyArray) -> Any:
        assert array.flags.c_contiguous
        return self._ffi.cast(POINTERS[array.dtype.str[1:]], array.ctypes.data)
