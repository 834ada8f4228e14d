"""The self-test of an emission: its inputs, what they cover, and the names its templates use."""

from collections.abc import Sequence

import numpy as np

from bncc.discretize.feature import Feature
from bncc.emit.near_ties import Steps, near_tie_steps
from bncc.emit.options import EmitOptions
from bncc.emit.selftest_rules import rule_vectors
from bncc.emit.selftest_samples import MOST_WINDOWS, sample_vectors
from bncc.emit.vector_text import vector_text
from bncc.emit.vectors import Vectors, drawn_missing, drawn_vectors, end_readings
from bncc.lower.c.constants import MOST_IN_ALL, MOST_IN_ARRAY, avr_vectors_error, crc_of
from bncc.lower.layout import Layout
from bncc.model.model import Model

STEP_BYTES = 2**15
"""Bytes of steps that a self-test may have, or four times what the model's constants take."""
AVR_BYTES = 28 * 1024
"""Bytes of constants that leave room for code on the smaller AVRs; more needs a larger one."""
STEPS_PER_VECTOR = 16
"""Steps per vector, where the number of vectors is given."""
MOST_STEPS = 30000
"""An int of 16 bits counts the steps that go wrong."""


def selftest_names(model: Model, options: EmitOptions, layout: Layout) -> dict[str, object]:
    """Find the inputs of a self-test and print them for the templates."""
    inputs = options.vectors or drawn_vectors(model)
    missing = drawn_missing(model, inputs) if layout.missing is not None else None
    step_bytes = (1 if len(layout.program.features) < 256 else 2) + layout.state_bits // 8 + 1
    most = min(max(STEP_BYTES, 4 * layout.rom_bytes) // step_bytes, MOST_STEPS)
    if options.is_bounded:
        most = STEPS_PER_VECTOR * len(inputs.classes)
    steps = near_tie_steps(model, layout.program, inputs.states, most)
    samples = None
    if model.front_end is not None:
        most_windows = len(inputs.classes) if options.is_bounded else MOST_WINDOWS
        is_filtered = layout.filter is not None
        samples = sample_vectors(model, most_windows, is_filtered=is_filtered)
    rules = rule_vectors(model, inputs, layout)
    sample_bytes: tuple[int, ...] = () if samples is None else (samples.n_windows,)
    sample_bytes += () if rules is None else (rules.n_bytes,)
    without = vector_text(model, inputs, layout, missing)
    other_bytes = layout.rom_bytes + sum(without.array_bytes) + sum(sample_bytes)
    n_avr = avr_steps(other_bytes, step_bytes, len(steps.features))
    vectors = vector_text(model, inputs, layout, missing, steps, n_avr)
    array_bytes = (*vectors.array_bytes, *sample_bytes)
    lines = coverage(model, inputs, steps, layout)
    return {
        "vectors": vectors,
        "sample_vectors": samples,
        "rule_vectors": rules,
        "coverage": lines if samples is None else [*lines, samples.coverage],
        "avr_vectors_error": avr_vectors_error(layout.rom_bytes, array_bytes),
        "constants_crc": f"0x{crc_of(layout.summed, model.classes):08X}U",
    }


def avr_steps(other_bytes: int, step_bytes: int, n_steps: int) -> int:
    """Return how many steps an AVR has room for."""
    room = next(
        (most - other_bytes for most in (AVR_BYTES, MOST_IN_ALL) if most > other_bytes), None
    )
    if room is None:
        return n_steps
    return min(max(room // step_bytes, 1), MOST_IN_ARRAY // 2, n_steps)


def coverage(model: Model, inputs: Vectors, steps: Steps, layout: Layout) -> list[str]:
    """Describe what the inputs of a self-test cover."""
    rows = steps.shown.rows
    X = np.concatenate([inputs.states, steps.inputs(inputs.states[0])])
    n_rows, n_read = len(rows.entries), len(np.unique(rows.of(X)))
    n_bits = rows.entries.size * rows.whole.bit_length()
    n_shown = int(np.bitwise_count(steps.shown.bits).sum(dtype=np.int64))
    lines = [f"{_part(n_read, n_rows)} rows of the tables"]
    if layout.raw is not None:
        n_found, n_ends = _ends(model.inputs, inputs)
        lines.append(f"{_part(n_found, n_ends)} readings at the boundaries of states")
    lines.append(
        f"{_part(n_shown, n_bits)} single-bit errors in table entries, by the predicted class "
        "(some can never change it)"
    )
    if layout.range_check is not None:
        alone = ", and each reading missing alone" if layout.raw and layout.raw.has_missing else ""
        lines.append(f"both sides of every limit of the range check{alone}")
    if layout.entries.scores:
        lines.append("any single-bit error in these rows, by the scores")
    return lines


def _part(n: int, total: int) -> str:
    return f"all {total:,}" if n == total else f"{n:,} of {total:,}"


def _ends(features: Sequence[Feature], inputs: Vectors) -> tuple[int, int]:
    """Return how many readings at ends of states the vectors have, of how many."""
    n_found = n_ends = 0
    for i, feature in enumerate(features):
        ends = np.unique(end_readings(feature))
        n_ends += len(ends)
        n_found += int(np.isin(ends, inputs.readings[:, i]).sum())
        n_found += bool(np.isnan(ends).any() and np.isnan(inputs.readings[:, i]).any())
    return n_found, n_ends
