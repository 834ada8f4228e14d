"""The header's text about the model: its card, the list of inputs, and named constants."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from textwrap import wrap
from typing import Any

from bncc.discretize.feature import Feature, subtracted
from bncc.emit.provenance import command_lines, data_line, recall_line
from bncc.lower.c.c99 import counted, number_text
from bncc.lower.c.identifiers import c_comment, c_unit, constant_name, constant_names
from bncc.lower.kernels.branches.layout import BranchKernel
from bncc.lower.kernels.families import FOR_CUTS, FREE_OF_BRANCHES
from bncc.lower.layout import Layout
from bncc.model.card import (
    adaptation_words,
    confidence_words,
    cost_format,
    counter_words,
    filter_words,
    structure_words,
    unknown_words,
)
from bncc.model.error_rates import interval_words, is_interval
from bncc.model.file import model_digest
from bncc.model.model import Model
from bncc.model.ranges import ReadingRange
from bncc.model.training_record import early_end_note, is_rate, search_words
from bncc.recordings.front_end import FrontEnd
from bncc.structure.decision_tables import BranchingTable, TableEnsemble

MAX_CONSTANT = 63
"""Significant characters of an identifier in every C99 compiler."""


LARGEST_INT = 2**15 - 1
"""Largest constant of an enumeration where an int has 16 bits; larger ones are left out."""


@dataclass(frozen=True)
class Constants:
    """Named constants of one kind."""

    kind: str  # What their names have behind the model's: ``FEATURE``, ``N_STATES`` or ``CATEGORY``
    comment: str  # What they are
    values: list[tuple[str, int]]  # How their names end, and what they stand for


def feature_constants(features: Sequence[Feature], name: str) -> list[Constants]:
    """Return the constants of features."""
    ends = constant_names((f.name for f in features), longest=longest_end(name, "N_STATES"))
    kinds = (
        Constants("FEATURE", "Feature indices.", [(end, i) for i, end in enumerate(ends)]),
        Constants(
            "N_STATES",
            "Number of states of each feature.",
            [(end, f.n_states) for end, f in zip(ends, features, strict=True)],
        ),
        Constants("CATEGORY", "Codes of categories.", category_constants(features, name)),
    )
    fitting = [
        replace(each, values=[pair for pair in each.values if pair[1] <= LARGEST_INT])
        for each in kinds
    ]
    return [each for each in fitting if each.values]


def longest_end(name: str, kind: str) -> int:
    """Return the number of significant characters after ``NAME_KIND_`` in C99."""
    return MAX_CONSTANT - len(f"{name}_{kind}_")


def category_constants(features: Sequence[Feature], name: str) -> list[tuple[str, int]]:
    """Return the end of a macro's name and the code of each category."""
    longest = longest_end(name, "CATEGORY")
    most = (longest - 1) // 2  # so that a long name leaves room for labels
    known = [(feature, k) for feature in features for k in range(len(feature.categories))]
    ends = constant_names(
        (
            f"{constant_name(feature.name)[:most]}_{constant_name(feature.categories[k])}"
            for feature, k in known
        ),
        longest=longest,
    )
    return [(end, k) for end, (_, k) in zip(ends, known, strict=True)]


WIDTH = 92
_BUDGET = "within --max-flash if compiled at"


def kind_names(model: Model) -> dict[str, str]:
    """Return the kind of classifier for the templates: in a title, and in a sentence."""
    if isinstance(model.structure, TableEnsemble):
        tables = model.structure.tables
        if len(tables) == 1 and isinstance(tables[0], BranchingTable):
            return {"model_kind": "quantized decision tree", "model_form": "decision tree"}
        title = "boosted tables: additive ensemble of quantized decision tables"
        return {"model_kind": title, "model_form": "ensemble of boosted decision tables"}
    return {"model_kind": "quantized Bayesian-network classifier", "model_form": "Bayesian network"}


def card_lines(
    model: Model,
    layout: Layout,
    name: str,
    fired: Sequence[str],
    command: Sequence[str] = (),
    budget_level: str | None = None,
    program: str | None = None,
) -> list[str]:
    """Return the lines of the model card: a flash budget by its level, a program by its memory."""
    kernel = layout.kernel
    # A sure leaf of a front decides before any addition, a gate before the last ones.
    up_to = "" if layout.front is None and layout.gate is None else "up to "
    first, numbers = _model_entries(model, name)
    adapts = _adaptation_words(model, layout)
    lines = [
        first,
        f"{numbers}; sums in {kernel.sum_bits} bits, at most {layout.largest_sum}",
        f"memory      {layout.table_bytes} B of tables, {layout.other_bytes} B of other constants "
        "in flash if every function is linked; no static RAM",
        f"work        predict, from states: {up_to}{counted(kernel.additions, 'addition')} of "
        f"{kernel.addend}, {_comparisons(model, layout)} (counted, not measured); no "
        "multiplication",
        *([] if model.front_end is None else [f"samples     {_sample_words(model.front_end)}"]),
        *([] if program is None else [f"program     {program}"]),
        *([f"filter      {'; '.join(words)}"] if (words := _filter_words(model, layout)) else []),
        *([f"confidence  {'; '.join(words)}"] if (words := confidence_words(model)) else []),
        *([f"unknown     {'; '.join(words)}"] if (words := unknown_words(model)) else []),
        *([f"counters    {'; '.join(words)}"] if (words := counter_words(model)) else []),
        *([f"adaptation  {'; '.join(adapts)}"] if adapts else []),
        *_front_lines(layout),
        *_time_lines(layout, model.n_classes),
        "stack       no recursion, no function pointers, no variable-length arrays",
        *([] if budget_level is None else [f"budget      {_BUDGET} {budget_level}"]),
    ]
    return [*_broken(lines), *record_lines(model, fired, command)]


def record_lines(model: Model, fired: Sequence[str], command: Sequence[str] = ()) -> list[str]:
    """Return the lines of the card that depend on no language: passes, record and command."""
    lines = [f"passes      {', '.join(fired)}"] if fired else []
    early = early_end_note(model)
    if early:
        lines.append(f"training    {c_comment(early)}")
    lines += _error_lines(model.training)
    recall, data = recall_line(model), data_line(model.training)
    lines += [f"recall      {recall}"] if recall else []
    lines += [f"data        {data}"] if data else []
    lines.append(f"digest      {model_digest(model)}")
    titles = ["command     ", *[" " * 12] * len(command)]
    commands = zip(titles, command_lines(command, WIDTH - 12), strict=False)
    return [*_broken(lines), *map("".join, commands)]


def model_lines(model: Model, name: str) -> list[str]:
    """Return the first lines of the card: structure, and meaning of a cost."""
    return _broken(_model_entries(model, name))


def _model_entries(model: Model, name: str) -> list[str]:
    structure = model.training.get("structure", "unknown")
    lack = why_no_probabilities(model)
    cost = f"cost = -ln p in {model.q_format}"
    cost += "" if model.veto is None else f", {model.veto} where p is 0"
    if lack is not None:
        cost = f"costs in {cost_format(model)}, not -ln p: {lack}"
    return [
        f"model       {name}: structure {c_comment(str(structure))}, "
        f"{_form(model)}, {model.n_classes} classes",
        f"numbers     {cost}",
    ]


def _sample_words(front_end: FrontEnd) -> str:
    """Return all channels in the order of a sample, and the windows."""
    return f"{', '.join(map(c_comment, front_end.channels))} {front_end.form_words}"


def _filter_words(model: Model, layout: Layout) -> list[str]:
    """Return the price and the effects of a filter, and the work of a step where it is emitted."""
    words = filter_words(model)
    if layout.filter is None:
        return words
    over_time = layout.filter
    inputs = "at most" if over_time.hold > 1 or over_time.lag else "for every input"
    work = (
        f"filter_next: {counted(over_time.additions, 'addition')} of {over_time.sum_bits} bits, "
        f"{counted(over_time.comparisons, 'comparison')} {inputs} (counted, not measured)"
    )
    return [*words, work]


def _adaptation_words(model: Model, layout: Layout) -> list[str]:
    """Return an adaptation and its effects, and the work of its functions if emitted."""
    words = adaptation_words(model)
    if layout.adaptation is None:
        return words
    plan = layout.adaptation
    work = (
        f"adapted_class: {counted(plan.additions, 'addition')} and "
        f"{counted(plan.comparisons, 'comparison')} at most, learn: "
        f"{plan.learn_additions} and {plan.learn_comparisons} (counted, not measured), in sums of "
        f"{plan.sum_bits} bits; {plan.n_bytes} B of RAM for the offsets"
    )
    return [*words, work]


def _front_lines(layout: Layout) -> list[str]:
    """Return what decides before all tables are summed, and how often."""
    if layout.gate is not None:
        return [f"gate        {layout.gate.summary}"]
    if layout.front is None:
        return []
    depth = layout.front.kernel.most_comparisons
    return [
        f"front       {layout.front.summary}; at most {counted(depth, 'comparison')} more than "
        "without it"
    ]


def _form(model: Model) -> str:
    if isinstance(model.structure, TableEnsemble):
        return f"{structure_words(model)} among {model.n_features}"
    n_features = counted(model.n_features, "feature")
    return f"{counted(model.structure.n_edges, 'arc')} between {n_features}"


def _broken(entries: Iterable[str]) -> list[str]:
    """Break the entries of the card that are too long, their ends below their beginnings."""
    return [part for entry in entries for part in _entry(entry)]


def _entry(line: str) -> list[str]:
    """Break an entry of the card where it is too long, its end below its beginning."""
    return wrap(
        line, WIDTH, subsequent_indent=" " * 12, break_long_words=False, break_on_hyphens=False
    )


def _comparisons(model: Model, layout: Layout) -> str:
    """Return what is compared in a decision from states."""
    of_sums = f"{counted(model.n_classes - 1, 'comparison')} of sums"
    if isinstance(layout.kernel, BranchKernel):
        n_sums = layout.kernel.compares_sums
        of_cuts = f"up to {counted(layout.kernel.most_comparisons, 'comparison')} with cuts"
        return f"{of_cuts}, {counted(n_sums, 'comparison')} of sums" if n_sums else of_cuts
    if layout.kernel.family not in FOR_CUTS or not isinstance(model.structure, TableEnsemble):
        return of_sums
    return f"up to {counted(model.structure.n_cuts, 'comparison')} with cuts, {of_sums}"


def _time_lines(layout: Layout, n_classes: int) -> list[str]:
    """Return what is known of the time of a decision before anything is compiled."""
    if layout.constant_time is not None:
        lines = [
            "time        one path for all inputs: no branch depends on a state or a reading;",
            "            measured with gcc and clang at -O1 to -O3 and -Os only",
        ]
        if layout.missing is not None:
            lines.append(
                "            except predict_missing: its path depends on the missing features"
            )
        return lines
    on = [counted(n_classes - 1, "comparison") + " of sums", "on states"]
    if isinstance(layout.kernel, BranchKernel):
        n_sums = layout.kernel.compares_sums
        on = [counted(n_sums, "comparison") + " of sums", "on states"] if n_sums else ["states"]
        on.append("on comparisons with cuts")
    elif layout.kernel.family in FOR_CUTS:
        on.append("on comparisons with cuts")
    elif layout.kernel.family not in FREE_OF_BRANCHES:
        on.append("on addresses computed from states")
    if layout.raw is not None:
        on.append("on readings")
    if layout.gate is not None:
        on.append("on the margin of a gate")
    is_varying = layout.gate is not None or layout.front is not None
    has_trees = is_varying or isinstance(layout.kernel, BranchKernel)
    remedy = "" if has_trees else "; none with --constant-time"
    rules = "" if layout.filter is None else "; of filter_next, on comparisons of costs"
    if layout.confidence is not None:
        rules += "; of margin, confidence and sure_class, on comparisons of scores"
    if layout.adaptation is not None:
        rules += "; of learn and adapted_class, on comparisons of states and costs"
    return [f"time        varies: branches on {', '.join(on)}{rules or remedy}"]


def why_no_probabilities(model: Model) -> str | None:
    """Return why costs are not those of a distribution."""
    if isinstance(model.structure, TableEnsemble):
        return "tables are boosted"
    if model.structure.cycles.closing:
        return "arcs form a cycle"
    return "tables are free" if model.training.get("parameters") == "free" else None


def _error_lines(training: Mapping[str, Any]) -> list[str]:
    """Return the most honest errors known: of test rows, by cross-validation, or of validation."""
    test, crossed, validation = (
        training.get(f"error_{part}") for part in ("test", "cross_validation", "validation")
    )
    part, lines = training.get("confusion_of"), []
    if is_rate(test):
        words = f"{100 * test:.2f} % of rows not used in training"
        lines.append(f"test error  {words}{_interval(training) if part == 'test' else ''}")
    if is_rate(crossed) and part == "cross-validation":
        folds = c_comment(str(training.get("folds")))
        lines.append(
            f"error       {100 * crossed:.2f} % by cross-validation of the whole training "
            f"procedure in {folds} folds{_interval(training)}; the final tables use all rows"
        )
    elif is_rate(validation) and (judged := search_words(training)) and not lines:
        lines.append(
            f"val. error  {100 * validation:.2f} % of validation rows, {judged}; the final tables "
            "use all rows"
        )
    elif is_rate(validation) and not lines:
        lines.append(
            f"val. error  {100 * validation:.2f} % of validation rows, in a first training with "
            f"the same options{_interval(training) if part == 'validation' else ''}; the final "
            "tables were trained again, with those rows included"
        )
    return lines


def _interval(training: Mapping[str, Any]) -> str:
    """Return the interval of the error of the rows that ``confusion_of`` names, where known."""
    interval = training.get("error_interval")
    if not is_interval(interval):
        return ""
    return f", {interval_words(interval, c_comment(str(training.get('interval_method'))))}"


def class_lines(classes: Sequence[str]) -> list[str]:
    """Return every class index with its label."""
    return _wrapped([f"{c}={c_comment(label)}" for c, label in enumerate(classes)])


def feature_lines(
    features: tuple[Feature, ...],
    ranges: Sequence[ReadingRange] | None = None,
    unread: Collection[int] = (),
) -> list[str]:
    """Return one entry per input: name, states, thresholds or categories, range, missing state."""
    lines: list[str] = []
    read_in_pairs = subtracted(feature for i, feature in enumerate(features) if i not in unread)
    for i, feature in enumerate(features):
        words = [f"{i:3}  {c_comment(feature.name)}: {counted(feature.n_states, 'state')}"]
        if feature.is_numeric:
            words += _listed("thresholds", _thresholds(feature))
        elif feature.kind == "category":
            labels = [f"{k}={c_comment(label)}" for k, label in enumerate(feature.categories)]
            words += _listed("categories", labels)
        words[0] += "," if len(words) > 1 else ""
        seen = _seen(ranges[i]) if ranges is not None else ""
        missing = f"missing: state {feature.missing_state}" if feature.has_marker else ""
        more = [each for each in (seen, missing) if each]
        more += [_pair(*feature.difference)] if feature.difference is not None else []
        if i in unread:
            more += ["read in differences alone" if i in read_in_pairs else "not used"]
        words[-1] += ";" if more else ""
        lines += _wrapped([*words, *(f"{each};" for each in more[:-1]), *more[-1:]])
    return lines


def _pair(first: int, second: int) -> str:
    return f"reading {first} minus reading {second}"


def _thresholds(feature: Feature) -> list[str]:
    """Return the thresholds; one below every reading is replaced by its meaning."""
    is_first = feature.has_missing_below
    known = [number_text(threshold) for threshold in feature.thresholds[is_first:]]
    return ["(not missing)", *known] if is_first else known


def _seen(of: ReadingRange) -> str:
    """Return the range of the training readings and its unit, or no text where there is none."""
    if of.low is None or of.high is None:
        return ""
    unit = f" {c_unit(of.unit)}" if of.unit else ""
    return f"training: {number_text(of.low)} .. {number_text(of.high)}{unit}"


def _listed(title: str, items: list[str]) -> list[str]:
    return [title, *items] if items else []


def _wrapped(words: list[str]) -> list[str]:
    lines, line = [], words[0]
    for word in words[1:]:
        if len(line) + 1 + len(word) > WIDTH:
            lines.append(line)
            line = f"       {word}"
        else:
            line = f"{line} {word}"
    return [*lines, line]
