"""Results in lanes as C: costs taken out of their words, or compared in them."""

from dataclasses import dataclass

from bncc.lower.c.c99 import unsigned
from bncc.lower.kernels.lanes.lane_layout import WIDEST_SUM
from bncc.lower.kernels.lanes.layout import LaneKernel
from bncc.lower.kernels.lanes.sums import REGISTER, hexadecimal, sum_type, variables


@dataclass(frozen=True)
class Comparison:
    """One class's turn in the search for the least cost."""

    class_index: int  # The class
    word: int  # Which word of the result has its cost
    # How far up it moves; None where the class before it in the word moved, and it follows
    shift: int | None


def cost_type(kernel: LaneKernel) -> str:
    """Return the unsigned C type of a cost that is taken out of its lane."""
    return unsigned(min(kernel.highest.word_bits, WIDEST_SUM))


def result(kernel: LaneKernel, w: int) -> str:
    """Return a word of the result as an unsigned number."""
    bits = kernel.highest.word_bits
    cast = f"({unsigned(bits)})" if kernel.lowest.is_signed else ""
    sign = f" ^ {hexadecimal(1 << (bits - 1))}" if kernel.schedule.is_biased[w] else ""
    return f"{cast}sum{w}{sign}"


def cost_of(kernel: LaneKernel, c: int) -> str:
    """Return a class's cost taken out of the result."""
    level = kernel.highest
    w, lane = next(
        (w, word.classes.index(c)) for w, word in enumerate(level.words) if c in word.classes
    )
    shift = lane * level.lane_bits
    cost = f"sum[{w}] >> {shift}" if shift else f"sum[{w}]"
    if lane < len(level.words[w].classes) - 1:
        mask = hexadecimal((1 << level.lane_bits) - 1)
        cost = f"({cost}) & {mask}" if shift else f"{cost} & {mask}"
    return f"({cost_type(kernel)})({cost})" if level.word_bits > REGISTER else cost


def comparisons(kernel: LaneKernel, top: int) -> tuple[str, list[Comparison]]:
    """Return how to find the least cost by moving each cost up to one bit, the last class first."""
    level, found = kernel.highest, []
    for w, word in enumerate(level.words):
        *others, last = word.classes
        found.append(Comparison(last, w, top - len(others) * level.lane_bits))
        found += [Comparison(c, w, None) for c in others]
    return hexadecimal((1 << top) - 1), sorted(found, key=lambda each: -each.class_index)


def lane_names(kernel: LaneKernel) -> dict[str, object]:
    """Return the names that ``kernels/lane_decision.c.j2`` and the sums before it use."""
    return {
        "word_type": sum_type(kernel.lowest),
        "result_type": unsigned(kernel.highest.word_bits),
        "least_type": cost_type(kernel),
        "n_words": kernel.n_words,
        "moves_up": kernel.top is not None,
        **_comparisons(kernel),
        "result_lane_bits": kernel.highest.lane_bits,
        "widens": len(kernel.schedule.levels) > 1,
        "n_sums": len(kernel.highest.words),
        "lane_bits": kernel.lowest.lane_bits,
        "most_lanes": max(len(word.classes) for word in kernel.lowest.words),
        "sums": [
            (sum_type(kernel.schedule.levels[level]), variables(kernel, level))
            for level in kernel.schedule.used
        ],
        "results": [result(kernel, w) for w in range(len(kernel.highest.words))],
        "class_costs": [cost_of(kernel, c) for c in range(kernel.n_classes)],
    }


def _comparisons(kernel: LaneKernel) -> dict[str, object]:
    """Return what the template needs to compare costs in the words that have them."""
    if kernel.top is None:
        return {}
    ones, found = comparisons(kernel, kernel.top)
    return {"ones": ones, "comparisons": found}
