"""A machine that runs a schedule of lanes word by word, and stops where a word would overflow."""

import numpy as np

from bncc.lower.kernels.lanes.schedule import Level, Schedule


class LaneError(Exception):
    """Overflow of a lane or of a signed word."""


def run(plan: Schedule, rows, prior):
    """
    Return the costs that the words of some rows sum to.

    `rows` has one row of costs per table, `prior` is added where the result starts. Words are
    Python's integers; every lane is compared with the sum that belongs there after each step.
    """
    n_classes = len(prior)
    words = [[0] * len(level.words) for level in plan.levels]
    meant = [np.zeros(n_classes, dtype=object) for _ in plan.levels]
    top = len(plan.levels) - 1
    start = pack(plan.levels[top], prior)
    for step in plan.steps:
        level = step.level
        if step.is_first:
            words[level], meant[level] = [0] * len(plan.levels[level].words), 0 * meant[level]
            if level == top:
                words[top], meant[top] = list(start), prior.astype(object)
        if step.kind == "row":
            added, more = pack(plan.levels[level], rows[step.number]), rows[step.number]
        else:
            added = split(plan.levels[step.number], plan.levels[level], words[step.number])
            more = meant[step.number]
        words[level] = [a + b for a, b in zip(words[level], added, strict=True)]
        meant[level] = meant[level] + more
        check(plan, level, words[level], meant[level])
    return costs(plan.levels[top], words[top], n_classes)


def pack(level: Level, row) -> list[int]:
    """Return the words of one row."""
    return [int(word) for word in level.pack(np.asarray(row)[None])[0]]


def split(below: Level, above: Level, words) -> list[int]:
    """Return the words of the level above that a level's sums make."""
    sums = costs(below, words, sum(len(word.classes) for word in below.words))
    return pack(above, np.array(sums))


def costs(level: Level, words, n_classes):
    """Return the content of the lanes of some words, by class."""
    found = [0] * n_classes
    for word, value in zip(level.words, words, strict=True):
        for lane, c in enumerate(word.classes):
            moved = value >> (lane * level.lane_bits)
            is_last = lane == len(word.classes) - 1
            found[c] = moved if is_last else moved & ((1 << level.lane_bits) - 1)
    return found


def check(plan: Schedule, level: int, words, meant) -> None:
    """Refuse words that a register cannot hold, and lanes that have carried."""
    at = plan.levels[level]
    is_top = level == len(plan.levels) - 1
    for w, value in enumerate(words):
        is_biased = is_top and plan.is_biased[w]
        bits = at.word_bits - (at.is_signed and not is_biased)
        if value >= 1 << bits:
            raise LaneError(f"word {w} of level {level}")
    if costs(at, words, len(meant)) != list(meant):
        raise LaneError(f"a lane of level {level}")
