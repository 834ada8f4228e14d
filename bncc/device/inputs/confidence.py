"""Scores to try emitted confidences on: of the model, random ones, and at the limits of levels."""

from collections.abc import Iterator

import numpy as np

from bncc.device.inputs.cases import Case, Effort
from bncc.device.inputs.cover import random_states
from bncc.model.confidence import decided, margins_of, required
from bncc.model.model import Model
from bncc.model.reference import scores

ROWS = 400
"""Rows of each kind of scores."""
_KINDS = 3


def confidence_words(effort: Effort) -> str:
    """Describe the rows in words."""
    return f"{effort.n_random + ROWS * _KINDS:,} confidences and decisions"


def confidence_cases(model: Model, largest: int, effort: Effort) -> Iterator[Case]:
    """Generate rows with the results of the reference, no score above `largest`."""
    confidence = required(model.confidence)
    rng = np.random.default_rng(effort.seed)
    shape = (ROWS, model.n_classes)
    limits = np.array([*confidence.margins, confidence.least_margin, largest], dtype=np.int64)
    # The least score and a margin next to a limit, other scores at the same or at the end
    least = rng.choice([0, 0, 1, largest], (ROWS, 1))
    margin = rng.choice(limits, (ROWS, 1)) + rng.integers(-1, 2, (ROWS, 1))
    others = rng.choice([0, 0, 1, largest], shape)
    at_limits = least + np.maximum(margin, 0) + others
    at_limits[np.arange(ROWS), rng.integers(0, model.n_classes, ROWS)] = least[:, 0]
    drawn = [rng.integers(0, largest + 1, shape), rng.integers(0, 3, shape), at_limits]
    if effort.n_random:
        drawn.append(scores(model, random_states(model, effort.n_random, rng)))
    for rows in drawn:
        rows = np.clip(rows, 0, largest)
        percent = confidence.percent_of(margins_of(rows))
        for is_confidence, y in ((0, decided(rows, confidence)), (1, percent)):
            asked = np.full(len(rows), is_confidence)
            x = np.column_stack([asked, rows]).astype(np.int64)
            yield Case("confidence", x, y.astype(np.int16))
