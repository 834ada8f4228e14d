"""The facts of a model that people judge it by."""

import json
from collections.abc import Mapping
from dataclasses import asdict, fields, replace
from typing import Any

from bncc.errors import ModelError
from bncc.fixed_point import QFormat
from bncc.model.adaptation import ADAPTATION, AdaptationEffect
from bncc.model.confidence import CONFIDENCE, ConfidenceEffect
from bncc.model.counters import COUNTERS
from bncc.model.filter import FILTER, FilterEffect
from bncc.model.front import front_facts, front_of
from bncc.model.gate import GATE
from bncc.model.model import Model
from bncc.model.records import filter_record
from bncc.model.training_record import (
    CANDIDATES_TRIED,
    EPOCHS_IN_ALL,
    UNSEEN,
    candidates_tried,
    epochs_in_all,
    is_rate,
    recorded_unseen,
    search_folds,
)
from bncc.model.unknown import UNKNOWN, UnknownEffect
from bncc.structure.decision_tables import BranchingTable, TableEnsemble
from bncc.structure.graph import free_parameters, table_entries

_ERRORS = ("error_train", "error_validation", "error_test", "error_cross_validation")
_FROM_TRAINING = (
    *("structure", "parameters", "epochs", "seed"),
    *_ERRORS[:3],
    *("confusion", "recall", "confusion_of"),
    *("error_cross_validation", "folds", "error_interval", "interval_method"),
)

SURE_FRONT = "sure_front"
"""Key of the facts of a front: ``front`` has the best candidates of a search."""

FRONT_END = "front_end"
"""Key of the facts of what computes the features from samples."""

_MOST_SHOWN = 40
"""Letters of a bad record in a message."""

_MOST_NAMES = 6
"""Features of a cycle that are named."""


def model_facts(model: Model) -> dict[str, Any]:
    """Return what is known of a model, under the keys of ``bncc train --json``."""
    entries, free = _sizes(model)
    fmt, of_prior = cost_format(model), prior_bits(model)
    facts: dict[str, Any] = {
        "n_features": model.n_features,
        "n_classes": model.n_classes,
        "q_format": None
        if model.training.get("quantized") is False
        else {"int_bits": fmt.int_bits, "frac_bits": fmt.frac_bits},
        "table_entries": entries,
        "free_parameters": free,
        "table_bits": entries * fmt.bits + model.n_classes * (of_prior - fmt.bits),
    }
    if isinstance(model.structure, TableEnsemble):
        facts["prior_bits"] = of_prior
    if (front := front_facts(model)) is not None:
        facts[SURE_FRONT] = front
    if (gate := gate_facts(model)) is not None:
        facts[GATE] = gate
    if model.front_end is not None:
        facts[FRONT_END] = model.front_end.to_json()
    if (over_time := filter_facts(model)) is not None:
        facts[FILTER] = over_time
    if (rated := confidence_facts(model)) is not None:
        facts[CONFIDENCE] = rated
    if (novelty := unknown_facts(model)) is not None:
        facts[UNKNOWN] = novelty
    if model.counters is not None:
        facts[COUNTERS] = asdict(model.counters)
    if (adapts := adaptation_facts(model)) is not None:
        facts[ADAPTATION] = adapts
    if model.training.get("interim") is True:
        facts |= {key: model.training.get(key) for key in ("interim", "epochs_done")}
        in_all = epochs_in_all(model.training)
        facts |= {} if in_all is None else {EPOCHS_IN_ALL: list(in_all)}
    if (tried := candidates_tried(model.training)) is not None:
        facts[CANDIDATES_TRIED] = tried
    if (folds := search_folds(model.training)) is not None:
        facts["validation_folds"] = folds
    if unseen := recorded_unseen(model.training):
        facts[UNSEEN] = unseen
    facts |= {key: model.training.get(key) for key in _FROM_TRAINING}
    return facts | {key: recorded_error(model, key) for key in _ERRORS}


def recorded_error(model: Model, key: str) -> float | None:
    """Return an error rate of the training record, which anybody can have written."""
    error = model.training.get(key)
    if error is None or is_rate(error):
        return error
    shown = json.dumps(error)
    shown = shown if len(shown) <= _MOST_SHOWN else f"{shown[:_MOST_SHOWN]}..."
    raise ModelError(
        f"the model's training record contains {shown} as its {key}, which is not a fraction "
        "from 0 to 1; train the model again, or copy it again"
    )


def cost_format(model: Model) -> QFormat:
    """Return the format of the costs in tables, without those of a front."""
    fmt = model.q_format
    if not isinstance(model.structure, TableEnsemble):
        return fmt
    tables = model.tables[front_of(model) is not None :]
    bits = max(1, max(int(table.max()).bit_length() for table in tables))
    return QFormat(bits - fmt.frac_bits, fmt.frac_bits)


def prior_bits(model: Model) -> int:
    """Return the bits of a cost of the prior, at least those of costs in tables."""
    return max(cost_format(model).bits, int(model.prior.max()).bit_length())


def number_words(model: Model) -> str:
    """
    Describe costs: their format and bits, and those of the prior if it has more.

    As in "UQ1.2, 3 bits per cost, 6 in the prior".
    """
    fmt, of_prior = cost_format(model), prior_bits(model)
    more = f", {of_prior} in the prior" if of_prior > fmt.bits else ""
    return f"{fmt}, {_counted(fmt.bits, 'bit')} per cost{more}"


def front_words(facts: Mapping[str, Any]) -> str | None:
    """Describe what a front decides, from the facts of a model; None without a record of it."""
    front = facts.get(SURE_FRONT) or {}
    answers, differing = front.get("answers"), front.get("differing")
    if answers is None or differing is None:
        return None
    return (
        f"sure leaves decide {100 * answers:.1f} % of the training rows, and "
        f"{100 * differing:.2f} % of all rows differently than the tables (cross-validated)"
    )


def gate_facts(model: Model) -> dict[str, Any] | None:
    """Return place and margin of a gate, and the shares in the model's record; None without one."""
    gate = model.gate
    if gate is None:
        return None
    record = model.training.get(GATE)
    shares = record if isinstance(record, Mapping) else {}
    known = {key: shares.get(key) for key in ("answers", "differing")}
    return {
        "tables": gate.tables,
        "margin": gate.margin,
        **{key: value if is_rate(value) else None for key, value in known.items()},
    }


def filter_facts(model: Model) -> dict[str, Any] | None:
    """Return the price of a filter, and its effects as recorded in training; None without one."""
    if model.filter is None:
        return None
    record = model.training.get(FILTER)
    record = record if isinstance(record, Mapping) else {}
    effects = {part: _filter_effect(record.get(part)) for part in ("held_out", "test")}
    return filter_record(model.filter) | {
        part: None if effect is None else asdict(effect) for part, effect in effects.items()
    }


def _filter_effect(record: Any) -> FilterEffect | None:
    """Return the effect in a training record, which anybody can have written."""
    if not isinstance(record, Mapping) or set(record) != {f.name for f in fields(FilterEffect)}:
        return None
    effect = FilterEffect(**record)
    counts = (effect.n, effect.switches_before, effect.switches)
    are_counts = all(type(count) is int and count >= 0 for count in counts)
    return effect if are_counts and is_rate(effect.error_before) and is_rate(effect.error) else None


def filter_words(model: Model) -> list[str]:
    """Describe a filter and its effects, in no line without one."""
    facts = filter_facts(model)
    if facts is None:
        return []
    lines = [f"a switch costs {facts['switch']}"]
    if "transitions" in facts:
        lines = [f"a transition costs at most {facts['switch']}, each its own learned price"]
    if "hold" in facts:
        lines.append(f"a new class needs {facts['hold']} decisions in a row")
    if "lag" in facts:
        lines.append(f"a row is decided {_counted(facts['lag'], 'row')} later")
    for part, rows in (("held_out", "held-out"), ("test", "test")):
        if facts[part] is not None:
            effect = FilterEffect(**facts[part])
            lines.append(f"{rows} rows: {effect.words} ({effect.n} rows)")
    return lines


def confidence_facts(model: Model) -> dict[str, Any] | None:
    """Return a confidence, and how good it was on rows in training; None without one."""
    if model.confidence is None:
        return None
    record = model.training.get(CONFIDENCE)
    record = record if isinstance(record, Mapping) else {}
    effects = {part: _confidence_effect(record.get(part)) for part in ("held_out", "test")}
    return asdict(model.confidence) | {
        part: None if effect is None else asdict(effect) for part, effect in effects.items()
    }


def _confidence_effect(record: Any) -> ConfidenceEffect | None:
    """Return the effect in a training record, which anybody can have written."""
    keys = {field.name for field in fields(ConfidenceEffect)}
    if not isinstance(record, Mapping) or set(record) != keys:
        return None
    effect = ConfidenceEffect(**record)
    are_counts = all(type(count) is int for count in (effect.n, effect.accepted))
    are_counts = are_counts and 0 <= effect.accepted <= effect.n and effect.n > 0
    rates = (effect.error, effect.error_accepted, effect.error_bound, effect.calibration_error)
    are_rates = all(rate is None or is_rate(rate) for rate in rates)
    is_whole = effect.error is not None and effect.calibration_error is not None
    return effect if are_counts and are_rates and is_whole else None


def confidence_words(model: Model) -> list[str]:
    """Describe a confidence and how good it was, in no line without one."""
    facts = confidence_facts(model)
    if facts is None:
        return []
    percent, least = facts["percent"], facts["least_margin"]
    levels = f"{percent[0]} % for every margin"
    if len(percent) > 1:
        levels = f"{percent[0]} to {percent[-1]} % in {len(percent)} levels"
    limit = f"decisions of a margin below {least} are rejected" if least else "none is rejected"
    lines = [f"{levels}; {limit}"]
    for part, rows in (("held_out", "held-out"), ("test", "test")):
        if facts[part] is not None:
            effect = ConfidenceEffect(**facts[part])
            lines.append(f"{rows} rows: {effect.words} ({effect.n} rows)")
    return lines


def unknown_facts(model: Model) -> dict[str, Any] | None:
    """Return a rule for unknown readings, and its false alarms in training; None without one."""
    if model.unknown is None:
        return None
    record = model.training.get(UNKNOWN)
    record = record if isinstance(record, Mapping) else {}
    effects = {part: _unknown_effect(record.get(part)) for part in ("held_out", "test")}
    return asdict(model.unknown) | {
        part: None if effect is None else asdict(effect) for part, effect in effects.items()
    }


def _unknown_effect(record: Any) -> UnknownEffect | None:
    """Return the effect in a training record, which anybody can have written."""
    keys = {field.name for field in fields(UnknownEffect)}
    if not isinstance(record, Mapping) or set(record) != keys:
        return None
    effect = UnknownEffect(**record)
    counts = (effect.false_alarms, effect.n, effect.detected, effect.n_unknown)
    are_counts = all(type(count) is int for count in counts)
    are_counts = are_counts and 0 <= counts[0] <= counts[1] and 0 <= counts[2] <= counts[3]
    is_whole = effect.worst_group is None or is_rate(effect.worst_group)
    return effect if are_counts and is_whole else None


def unknown_words(model: Model) -> list[str]:
    """Describe a rule for unknown readings and its false alarms, in no line without one."""
    facts = unknown_facts(model)
    if facts is None:
        return []
    n = len(facts["ranges"])
    lines = [
        f"ranges of {_counted(n, 'input')} by class; a reading outside counts {facts['weight']}, "
        f"a novelty above {facts['limit']} is unknown"
    ]
    for part, rows in (("held_out", "held-out"), ("test", "test")):
        if facts[part] is not None:
            lines.append(f"{rows} rows: {UnknownEffect(**facts[part]).words}")
    return lines


def counter_words(model: Model) -> list[str]:
    """Describe counters of decisions, in no line without any."""
    if model.counters is None:
        return []
    bins, held = len(model.counters.margins), model.counters.expected
    lines = [f"{_counted(bins, 'bin')} of margins; compared with {held.n} decisions of training"]
    if held.stays is not None and held.switches is not None:
        n = held.stays + held.switches
        lines.append(f"{held.switches} of {n} such decisions differ from the one before")
    return lines


def adaptation_facts(model: Model) -> dict[str, Any] | None:
    """Return an adaptation and its effects in training; None without one."""
    if model.adaptation is None:
        return None
    record = model.training.get(ADAPTATION)
    record = record if isinstance(record, Mapping) else {}
    effects = {part: _adaptation_effect(record.get(part)) for part in ("held_out", "test")}
    return asdict(model.adaptation) | {
        part: None if effect is None else asdict(effect) for part, effect in effects.items()
    }


def _adaptation_effect(record: Any) -> AdaptationEffect | None:
    """Return the effect in a training record, which anybody can have written."""
    keys = {field.name for field in fields(AdaptationEffect)}
    if not isinstance(record, Mapping) or set(record) != keys:
        return None
    effect = AdaptationEffect(**record)
    counts = (effect.n_groups, effect.learned, effect.n)
    are_counts = all(type(count) is int and count >= 0 for count in counts)
    are_rates = is_rate(effect.error_before) and is_rate(effect.error)
    is_change = type(effect.worst) in (int, float) and -1 <= effect.worst <= 1
    return effect if are_counts and are_rates and is_change else None


def adaptation_words(model: Model) -> list[str]:
    """Describe an adaptation and its effects, in no line without one."""
    facts = adaptation_facts(model)
    if facts is None:
        return []
    tables = _counted(len(facts["tables"]), "table")
    whose = f"of the rows of {tables}" if facts["tables"] else "of each class"
    lines = [
        f"offsets {whose}, at most {facts['bound']} steps of {facts['step']} up or down; learns "
        f"below a margin of {facts['margin']}"
    ]
    for part, rows in (("held_out", "held-out"), ("test", "test")):
        if facts[part] is not None:
            lines.append(f"{rows} rows: {AdaptationEffect(**facts[part]).words}")
    return lines


def decision_rows(model: Model) -> list[list[str]]:
    """Return the rows of a report on the rules for a model's decisions."""
    words = {
        "filter": filter_words(model),
        "confidence": confidence_words(model),
        "unknown": unknown_words(model),
        "counters": counter_words(model),
        "adaptation": adaptation_words(model),
    }
    return [
        ["" if k else name, line] for name, lines in words.items() for k, line in enumerate(lines)
    ]


def gate_words(facts: Mapping[str, Any]) -> str | None:
    """Describe what a gate decides, from the facts of a model; None without a record of it."""
    gate = facts.get(GATE) or {}
    answers, differing = gate.get("answers"), gate.get("differing")
    if answers is None or differing is None:
        return None
    return (
        f"the first {_counted(gate['tables'], 'table')} decide {100 * answers:.1f} % of held-out "
        f"rows, {100 * differing:.2f} % of all differently than all tables (cross-validated)"
    )


def _sizes(model: Model) -> tuple[int, int]:
    """Return the entries of all tables but a front, and the free parameters among them."""
    structure, n_classes = model.structure, model.n_classes
    if isinstance(structure, TableEnsemble):
        tables = model.tables[front_of(model) is not None :]
        rows = 1 + sum(map(len, tables))  # the prior is a row
        return rows * n_classes, rows * (n_classes - 1)
    shape = structure, model.n_states, n_classes
    return table_entries(*shape), free_parameters(*shape)


def structure_words(model: Model) -> str:
    """Describe a structure by its arcs, or by its tables and cuts."""
    structure = model.structure
    if not isinstance(structure, TableEnsemble):
        of_class, given = len(structure.class_parents), len(structure.given)
        words = f"{_counted(structure.n_edges, 'arc')} between features"
        words += f", {_counted(of_class, 'parent')} of the class" if of_class else ""
        return words + (f", {_counted(given, 'given feature')}" if given else "")
    front = front_of(model)
    if front is not None:
        rest = replace(
            model, structure=TableEnsemble(structure.tables[1:]), tables=model.tables[1:]
        )
        return f"{front.words}; {structure_words(rest)}"
    tables, features = len(structure.tables), len(structure.features)
    trees = [grid for grid in structure.tables if isinstance(grid, BranchingTable)]
    if len(trees) == tables:
        leaves = sum(tree.n_rows for tree in trees)
        several = (
            f"{tables} trees with {leaves} leaves" if tables > 1 else f"1 tree of {leaves} leaves"
        )
        return (
            f"{several}, at most {max(tree.depth for tree in trees)} deep, over "
            f"{_counted(structure.n_cuts, 'cut')} of {_counted(features, 'feature')}"
        )
    gate = "" if model.gate is None else f", a gate of margin {model.gate.margin} behind table "
    gate += "" if model.gate is None else str(model.gate.tables - 1)
    return (
        f"{_counted(tables, 'table')} over {_counted(structure.n_cuts, 'cut')} of "
        f"{_counted(features, 'feature')}{gate}"
    )


def _counted(n: int, noun: str) -> str:
    return f"{n} {noun}{'s' * (n != 1)}"


def parent_names(model: Model) -> list[list[str]]:
    """Return the parents of each feature."""
    if isinstance(model.structure, TableEnsemble):
        return [[] for _ in model.features]
    return [
        [model.features[j].name for j in feature_parents] + (["class"] if reads_class else [])
        for feature_parents, reads_class in zip(
            model.structure.parents, model.structure.class_is_parent, strict=True
        )
    ]


def class_parent_names(model: Model) -> list[str]:
    """Return the names of the features that are parents of the class, outermost first."""
    if isinstance(model.structure, TableEnsemble):
        return []
    return [model.features[j].name for j in model.structure.class_parents]


def given_names(model: Model) -> list[str]:
    """Return the names of the features without a distribution of their own."""
    if isinstance(model.structure, TableEnsemble):
        return []
    return [model.features[j].name for j in model.structure.given]


def cycle_note(model: Model) -> str | None:
    """Return what a user should know of a model whose arcs form cycles."""
    if isinstance(model.structure, TableEnsemble):
        return None
    cycles = model.structure.cycles
    if not cycles.closing:
        return None
    names = [model.features[i].name for i in cycles.first]
    if len(names) > _MOST_NAMES:
        names = [*names[: _MOST_NAMES - 1], "...", names[-1]]
    way = " -> ".join([*names, names[0]])
    form = f"cycles ({way} is one)" if len(cycles.closing) > 1 else f"a cycle ({way})"
    return (
        f"the arcs form {form}, so the model is an additive ensemble and not a Bayesian "
        "network: decisions are as accurate as measured, but probabilities are meaningless"
    )


def table_widths(model: Model) -> list[int]:
    """Return the bits that each table needs once its rows have lost what all classes share."""
    excess = (table - table.min(axis=1, keepdims=True) for table in model.tables)
    return [int(costs.max()).bit_length() for costs in excess]
