"""Trees and forests as emlearn prints them, with its thresholds repaired."""

import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from math import floor
from types import ModuleType
from typing import Any, Literal

import numpy as np

from bncc._types import FloatArray, IntArray

HEADERS = ("eml_trees.h", "eml_common.h", "eml_log.h")
"""What C of the method ``loadable`` includes."""
_BOUND = re.compile(r"(features\[\d+\] < )(\d+)\.0+f")


@dataclass(frozen=True)
class Style:
    """How emlearn prints trees."""

    c_type: Literal["uint8_t", "int16_t", "float"]  # Of a reading
    # Nested comparisons, or nodes in an array and a loop over them; that only of ``int16_t``
    method: Literal["inline", "loadable"] = "inline"
    leaf_bits: int = 0  # 0 for one vote a tree, 8 for a probability of each class


def trees_text(emlearn: ModuleType, estimator: Any, style: Style) -> str:
    """
    Print a tree or a forest whose function is ``peer_predict``.

    scikit-learn descends to the left where ``x <= t``. emlearn 0.23 compares ``x < t``, of whole
    numbers with t cut toward zero and of others with six decimals. Here each threshold is the
    least number above t of the type that is compared: those two say the same then.
    """
    is_float = style.c_type == "float"
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        wrapped = emlearn.convert(
            estimator, dtype=style.c_type, method=style.method, leaf_bits=style.leaf_bits
        )
        nodes = wrapped.forest_[0]
        thresholds = [float(node[1]) for node in nodes]
        for number, node in enumerate(nodes):
            # Numbers of thresholds pass where thresholds would lose digits.
            node[1] = number if is_float else floor(thresholds[number]) + 1
        text = str(wrapped.save(name="peer", inference=[style.method]))
    if not is_float:
        return text
    return _BOUND.sub(lambda found: f"{found[1]}{_next_float(thresholds[int(found[2])])}", text)


def _next_float(threshold: float) -> str:
    """Return the least float32 above a threshold, as C."""
    near = np.float32(threshold)
    above = near if float(near) > threshold else np.nextafter(near, np.float32(np.inf))
    return f"{float(above).hex()}f"


def elected(trees: Sequence[Any], X: FloatArray | IntArray, leaf_bits: int = 0) -> IntArray:
    """
    Decide as the C of emlearn does, sum by sum.

    Shapes: `X` (n, n_features) float or int; returns (n,) int64, numbers of classes, the smallest
    on ties.
    """
    total = np.zeros((len(X), int(trees[0].n_classes_)), dtype=np.float32)
    for each in trees:
        shares = each.tree_.value[:, 0, :]
        said = _in_bytes(shares) if leaf_bits else np.eye(shares.shape[1])[shares.argmax(axis=1)]
        total += said.astype(np.float32)[each.tree_.apply(X.astype(np.float32))]
    return np.asarray(total.argmax(axis=1), dtype=np.int64)


def _in_bytes(shares: FloatArray) -> FloatArray:
    """Round probabilities to 255 steps, each a byte over 255, as emlearn does."""
    codes = (np.round(shares * 254) / 254 * 255).astype(np.uint8)
    return codes / np.float32(255)
