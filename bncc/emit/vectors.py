"""Test vectors that travel with the emitted C: inputs and the answers that Python gave."""

from dataclasses import dataclass

import numpy as np

from bncc._types import IntArray
from bncc.compiler.ir import width_of
from bncc.emit.c99 import unsigned, wrap
from bncc.model.model import Model
from bncc.model.reference import predict

MAX_VECTORS = 32
MAX_ENTRIES = 4096
"""States in all vectors together, so that they fit the flash of a small device."""


@dataclass(frozen=True, eq=False)
class Vectors:
    """Inputs and expected classes.

    Parameters
    ----------
    states : (n_vectors, n_features) int64
        Inputs.
    classes : (n_vectors,) int64
        The reference evaluator's decisions.
    """

    states: IntArray
    classes: IntArray

    def n_bytes(self, state_bits: int) -> int:
        """Return the bytes of all vectors whose states have 8 or 16 bits."""
        return self.states.size * state_bits // 8 + len(self.classes)

    def template_names(self) -> dict[str, object]:
        """Return the names that the templates of vectors and self-test use."""
        return {
            "n_vectors": len(self.states),
            "n_vector_states": self.states.size,
            "state_lines": [line for row in self.states.tolist() for line in wrap(row)],
            "class_lines": wrap(self.classes.tolist()),
            "index_type": unsigned(max(16, width_of(self.states.size))),
        }


def make_vectors(model: Model) -> Vectors:
    """Draw inputs from a fixed seed, preferring an equal share of each class.

    Parameters
    ----------
    model : Model
        The integer model.

    Returns
    -------
    Vectors
        At most 32 inputs; the same model gives the same ones. The first has every state 0, the
        second every state at its largest.
    """
    n = int(np.clip(MAX_ENTRIES // model.n_features, 4, MAX_VECTORS))
    n_states = np.array(model.n_states)
    random = np.random.default_rng(0).integers(0, n_states, size=(16 * n, model.n_features))
    pool = np.concatenate([np.zeros_like(n_states)[None], n_states[None] - 1, random])
    classes = predict(model, pool)
    seen: dict[int, int] = {}
    turn = []
    for label in classes.tolist():
        turn.append(seen.get(label, 0))
        seen[label] = turn[-1] + 1
    turn[0] = turn[1] = -1
    chosen = np.sort(np.argsort(np.array(turn), kind="stable")[:n])
    return Vectors(pool[chosen], classes[chosen])
