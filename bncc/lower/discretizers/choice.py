"""
Discretizers of raw readings: the methods, their estimated footprints, and the choice.

How a raw reading finds its state: the ways there are, and what each costs.

Every way gives every reading the state of its rule, so that the choice is one of cost alone:

linear
    Thresholds ascend: the first that is not below the reading ends those that are.
binary
    All thresholds before `low` lie below the reading and none from `high` on does; every round
    keeps that and brings them nearer, and where they meet is the state.
tree
    Each comparison splits the rule's steps in two, see `bncc.lower.discretizers.trees.tree_of`.
bytes
    There are at most 255 integers between the first and the last threshold, each with its own
    entry; readings outside have been compared with both.
nibbles
    As bytes, where no state between those thresholds exceeds 15.
guided
    The upper bits of a reading choose an entry that is added to it. The sum's highest byte is the
    state: the lower bits carry into it where the reading exceeds the one threshold among them.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from bncc._types import FloatArray
from bncc.discretize.feature import Feature
from bncc.lower.discretizers.counts import (
    CODE_LINE,
    CODE_TURN,
    CONSTANT,
    STORED,
    Counts,
    constant_counts,
    function_counts,
    guide_counts,
    mean_looks,
    nibble_counts,
    search_counts,
    total,
    tree_counts,
)
from bncc.lower.discretizers.rates import Rates, Search, rates_of
from bncc.lower.discretizers.steps import KIND_BITS, steps_of
from bncc.lower.discretizers.trees import (
    Branch,
    Run,
    Tree,
    guides_of,
    mean_comparisons,
    nodes,
    table_of,
    tree_of,
)
from bncc.resources import Optimize

Method = Literal["linear", "binary", "tree", "bytes", "nibbles", "guided"]

MAX_TREE = 256
"""Steps of the largest tree: beyond, it is unreadable and slow to compile."""


@dataclass(frozen=True)
class Discretizer:
    """One way for one feature."""

    method: Method  # How the step is found
    instructions: float  # Estimated, on average over the states
    flash: float  # Estimated bytes of code and constants, without what features share
    counts: Counts  # Operations of the line, likewise
    tree: Tree | None = None  # What finds it; None for searches in arrays


def ways(
    feature: Feature,
    search: Search | None,
    rates: Rates,
    frequencies: FloatArray | None = None,
) -> tuple[Discretizer, ...]:
    """
    Return the ways that a feature's states can be found in a line of their own.

    Shapes: `frequencies` (n_states,) float64 or None.
    """
    own = own_ways(feature, rates, frequencies)
    return (*((called(feature, search, rates, frequencies),) if search else ()), *own)


def called(
    feature: Feature, search: Search, rates: Rates, frequencies: FloatArray | None = None
) -> Discretizer:
    """
    Return the way that searches in an array.

    Shapes: `frequencies` (n_states,) float64 or None.
    """
    n, bits = len(feature.thresholds), bits_of(feature)
    work, size = rates.called(search, mean_looks(feature, search, frequencies), bits)
    counts = search_counts(feature, search, frequencies, is_loop=False)
    return Discretizer(search, work, size + n * bits // 8, counts)


def own_ways(
    feature: Feature, rates: Rates, frequencies: FloatArray | None = None
) -> Iterator[Discretizer]:
    """Yield the ways that share nothing with other features."""
    steps, bits = steps_of(feature, frequencies), bits_of(feature)
    if len(steps) <= MAX_TREE:
        bounds = [step.last for step in steps[:-1]]
        mean = mean_comparisons(steps)
        tree = tree_of(steps)
        counts = tree_counts(feature.kind, tree, mean)
        yield Discretizer("tree", *rates.compared(mean, bounds, bits), counts, tree)
    table = None if feature.kind == "float32" else table_of(steps)
    if table:
        bounds = [node.bound.last for node in nodes(table) if isinstance(node, Branch)]
        (states,) = (node.states for node in nodes(table) if isinstance(node, Run))
        counts = tree_counts(feature.kind, table, len(bounds))
        yield Discretizer("bytes", *rates.looked_up(len(states), bounds, bits), counts, table)
        if max(states) < 16:
            pairs = (len(states) + 1) // 2
            cost = rates.looked_up(pairs, bounds, bits, is_nibbles=True)
            yield Discretizer("nibbles", *cost, nibble_counts(counts), table)
    for guide, use in guides_of(steps, feature.kind):
        counts = guide_counts(feature.kind, guide, use)
        yield Discretizer("guided", *rates.guided(guide, use, bits), counts, guide)


Frequencies: TypeAlias = Sequence[FloatArray] | None
"""Frequencies of the states of each feature; None where all are equally frequent."""
OwnWays: TypeAlias = Mapping[int, tuple[Discretizer, ...]]
"""The ways of each feature with thresholds that share nothing with other features."""


def every_own_way(
    features: Sequence[Feature],
    target: str | None,
    frequencies: Sequence[FloatArray] | None = None,
) -> OwnWays:
    """Return the own ways of all features for a target, by how frequent their states are."""
    rates = rates_of(target)
    return {
        i: tuple(own_ways(feature, rates, None if frequencies is None else frequencies[i]))
        for i, feature in enumerate(features)
        if feature.is_numeric
    }


def bits_of(feature: Feature) -> int:
    """Return the bits of a feature's thresholds."""
    return KIND_BITS[feature.kind]


SPEED_BUDGET = 65536
"""Bytes by which ``speed`` lets discretizers grow, so that compilers still take seconds."""
BALANCE = 0.05
"""Part of its flash by which ``balanced`` lets a classifier grow."""


@dataclass(frozen=True)
class Discretizers:
    """The choice for a classifier."""

    is_loop: bool  # True if one loop searches for all features; else there is a line per feature
    search: Search  # Search in arrays of thresholds, if any
    # Per feature; None for codes, which are states already, and in lines for unread ones
    methods: tuple[Method | None, ...]
    trees: tuple[Tree | None, ...]  # Per feature; None also for what is searched in arrays
    instructions: float  # instructions and flash: Estimated, of all features
    flash: float
    counts: Counts  # Operations, by which an entry point that finds states is priced


def choose_discretizers(
    features: Sequence[Feature],
    own: OwnWays | None = None,
    *,
    optimize: Optimize = "balanced",
    target: str | None = None,
    other_bytes: int = 0,
    by_number: bool = False,
    constant_time: bool = False,
    unread: Collection[int] = (),
    frequencies: Frequencies = None,
) -> Discretizers:
    """
    Choose the discretizer of every feature; unread ones have none where each has a line.

    `own` are the ways of `every_own_way`, which do not depend on the goal: by default those of
    states that are equally frequent.
    """
    rates = rates_of(target)
    plain = searched(features, "linear", rates, unread, frequencies)
    if constant_time:
        return plain
    plans = [plain, searched(features, "binary", rates, unread, frequencies)]
    if optimize == "size":
        budget = 0.0
    elif optimize == "speed":
        budget = plain.flash + SPEED_BUDGET
    else:
        budget = plain.flash + BALANCE * (plain.flash + other_bytes)
    if any(feature.is_numeric for feature in features) and not (by_number and plain.is_loop):
        own = every_own_way(features, target) if own is None else own
        read = {i: some for i, some in own.items() if i not in unread}
        plans += _in_lines(features, read, rates, budget, frequencies)
    if optimize == "size":
        return min(plans, key=lambda plan: (plan.flash, plan.instructions))
    fitting = [plan for plan in plans if plan.flash <= budget]
    return min(fitting, key=lambda plan: (plan.instructions, plan.flash))


def searched(
    features: Sequence[Feature],
    search: Search,
    rates: Rates,
    unread: Collection[int] = (),
    frequencies: Frequencies = None,
) -> Discretizers:
    """
    Return the plan that searches arrays, in a loop over all features where readings are an array.

    Lines, unlike a loop, leave out unread features.
    """
    is_loop = len({_type(feature) for feature in features}) == 1
    if not is_loop or not features[0].is_numeric:
        numeric = (i for i, f in enumerate(features) if f.is_numeric and i not in unread)
        chosen = {i: called(features[i], search, rates, _of(frequencies, i)) for i in numeric}
        return in_lines(features, search, rates, chosen, is_loop=is_loop)
    bits = bits_of(features[0])
    n_bytes = sum(2 + len(feature.thresholds) * bits // 8 for feature in features)
    looks = (mean_looks(f, search, _of(frequencies, i)) for i, f in enumerate(features))
    turns = (
        search_counts(feature, search, _of(frequencies, i), is_loop=True)
        for i, feature in enumerate(features)
    )
    functions = function_counts({features[0].kind}, search)
    return Discretizers(
        is_loop=True,
        search=search,
        methods=(search,) * len(features),
        trees=(None,) * len(features),
        instructions=sum(rates.looped(search, mean, bits) for mean in looks),
        flash=rates.shared(search) + rates.turn[1] + n_bytes,
        counts=total((*turns, functions, Counts({}, {"loop": 1}))),
    )


def in_lines(
    features: Sequence[Feature],
    search: Search | None,
    rates: Rates,
    chosen: Mapping[int, Discretizer],
    *,
    is_loop: bool = False,
) -> Discretizers:
    """Return the plan of a line per feature."""
    kinds = {features[i].kind for i, way in chosen.items() if way.method == search}
    shared = rates.shared(search) * len(kinds) if search else 0
    lines = [chosen[i].counts if i in chosen else _line(f, is_loop) for i, f in enumerate(features)]
    functions = Counts() if search is None else function_counts(kinds, search)
    constants = constant_counts(i for i, line in enumerate(lines) if line is CONSTANT)
    n_stored = 0 if is_loop else sum(line is not CONSTANT for line in lines)
    stored = Counts({STORED: n_stored}, {STORED: n_stored})
    return Discretizers(
        is_loop=is_loop,
        search=search or "linear",
        methods=tuple(chosen[i].method if i in chosen else None for i in range(len(features))),
        trees=tuple(chosen[i].tree if i in chosen else None for i in range(len(features))),
        instructions=sum(way.instructions for way in chosen.values()),
        flash=sum(way.flash for way in chosen.values()) + shared,
        counts=total((*lines, functions, constants, stored, _of_codes(features, is_loop))),
    )


def _of(frequencies: Frequencies, i: int) -> FloatArray | None:
    return None if frequencies is None else frequencies[i]


def _line(feature: Feature, is_loop: bool) -> Counts:
    """Count what finds a state without thresholds."""
    if feature.is_numeric:
        return CONSTANT
    return CODE_TURN if is_loop else CODE_LINE


def _of_codes(features: Sequence[Feature], is_loop: bool) -> Counts:
    """Count what codes share."""
    if all(feature.is_numeric for feature in features):
        return Counts()
    return Counts({}, {"function of codes": 1, "loop of codes": int(is_loop)})


def _in_lines(
    features: Sequence[Feature],
    own: OwnWays,
    rates: Rates,
    budget: float,
    frequencies: Frequencies,
) -> Iterator[Discretizers]:
    """Yield plans of a line per feature: the smallest ones, made faster as the budget allows."""
    searches: tuple[Search | None, ...] = ("linear", "binary", None)
    for search in searches:
        every = {
            i: (*_called(features[i], search, rates, _of(frequencies, i)), *some)
            for i, some in own.items()
        }
        if all(every.values()):
            chosen = {i: min(some, key=_flash_first) for i, some in every.items()}
            left = budget - in_lines(features, search, rates, chosen).flash
            _make_faster(chosen, every, left)
            yield in_lines(features, search, rates, chosen)


def _called(
    feature: Feature, search: Search | None, rates: Rates, frequencies: FloatArray | None
) -> tuple[Discretizer, ...]:
    return () if search is None else (called(feature, search, rates, frequencies),)


def _flash_first(way: Discretizer) -> tuple[float, float]:
    return way.flash, way.instructions


def _make_faster(
    chosen: dict[int, Discretizer], every: Mapping[int, tuple[Discretizer, ...]], left: float
) -> None:
    """Put faster ways in the place of those chosen, most instructions saved per byte first."""
    upgrades = sorted(
        (
            ((chosen[i].instructions - way.instructions) / (way.flash - chosen[i].flash), i, k)
            for i, some in every.items()
            for k, way in enumerate(some)
            if way.instructions < chosen[i].instructions
        ),
        reverse=True,
    )
    for _, i, k in upgrades:
        way = every[i][k]
        more = way.flash - chosen[i].flash
        if way.instructions < chosen[i].instructions and more <= left:
            chosen[i], left = way, left - more


def _type(feature: Feature) -> str:
    """Return the key that distinguishes the C types of readings."""
    if feature.is_numeric:
        return feature.kind
    known = len(feature.categories) if feature.kind == "category" else feature.n_states
    return "code8" if known <= 255 else "code16"
