"""Used features, and the model without the others."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from bncc._types import IntArray
from bncc.discretize.feature import Feature, subtracted
from bncc.model.model import Model
from bncc.model.ranges import READINGS
from bncc.structure.decision_tables import TableEnsemble
from bncc.structure.graph import Structure


def used_features(model: Model) -> tuple[int, ...]:
    """
    Return the features on which a decision may depend, ascending.

    They are those of boosted tables, or those of all tables of a network that distinguish classes.
    """
    if isinstance(model.structure, TableEnsemble):
        return model.structure.features
    idle = _idle_tables(model)
    lookups = (lookup for t, lookup in enumerate(model.lookups) if t not in idle)
    return tuple(sorted({f for lookup in lookups for f in lookup.features}))


def used_inputs(model: Model) -> tuple[int, ...]:
    """Return the inputs on which a decision may depend, ascending, also by a difference of two."""
    used = used_features(model)
    read = {*used, *subtracted(model.features[f] for f in used)}
    return tuple(f for f in sorted(read) if f < len(model.inputs))


def with_used_inputs(model: Model) -> Model:
    """
    Return a model without the features that are not used; decisions and margins stay.

    The first feature remains where none is used, as a function needs an input. So do those whose
    readings are subtracted, or compared to tell unknown readings.
    """
    used = used_features(model) or (0,)
    compared = () if model.unknown is None else model.unknown.ranges
    of_ranges = (f for f, feature in enumerate(model.inputs) if feature.name in compared)
    kept = tuple(sorted({*used, *subtracted(model.features[f] for f in used), *of_ranges}))
    if len(kept) == model.n_features:
        return model
    place = {f: k for k, f in enumerate(kept)}
    training = dict(model.training)
    if READINGS in training:
        names = {model.features[f].name for f in kept}
        record = training[READINGS].items()
        training[READINGS] = {name: entry for name, entry in record if name in names}
    features = (_placed(model.features[f], place) for f in kept)
    front_end = model.front_end
    if front_end is not None:
        columns = (front_end.columns[f] for f in kept if f < len(front_end.columns))
        front_end = replace(front_end, columns=tuple(columns))
    smaller = replace(model, features=tuple(features), training=training, front_end=front_end)
    if isinstance(model.structure, TableEnsemble):
        tables = (
            replace(table, features=tuple(place[f] for f in table.features))
            for table in model.structure.tables
        )
        return replace(smaller, structure=TableEnsemble(tuple(tables)))
    return _network(smaller, model.structure, place, _idle_tables(model))


def _placed(feature: Feature, place: Mapping[int, int]) -> Feature:
    """Return a feature where inputs have other numbers."""
    if feature.difference is None:
        return feature
    first, second = feature.difference
    return replace(feature, difference=(place[first], place[second]))


def _idle_tables(model: Model) -> dict[int, IntArray]:
    """
    Return the costs that the tables of a network that distinguish no classes add to the prior.

    A table with equal columns adds the same to all classes, one with equal rows the same for all
    inputs; the latter counts only if the prior has room for it.
    """
    assert isinstance(model.structure, Structure)
    idle: dict[int, IntArray] = {}
    prior = model.prior
    for t, table in enumerate(model.tables[: model.n_features]):
        if (table == table[:, :1]).all():
            idle[t] = np.zeros_like(prior)
        elif (table == table[:1]).all() and not model.structure.class_parents:
            more = prior + table[0] - (prior + table[0]).min()
            if more.max() <= model.q_format.max_cost:
                idle[t], prior = table[0], more
    return idle


def _network(
    model: Model, structure: Structure, place: dict[int, int], idle: dict[int, IntArray]
) -> Model:
    """Return a network of some of its features, which `place` gives new numbers."""
    n = structure.n_features
    prior, parents, tables, class_is_parent, given = model.prior, [], [], [], []
    for i in range(n):
        is_kept = i in place and all(j in place for j in structure.parents[i])
        if not is_kept and idle[i].any():
            prior = prior + idle[i] - (prior + idle[i]).min()
        if i not in place:
            continue
        nothing = np.zeros((model.features[place[i]].n_states, model.n_classes), np.int64)
        tables.append(model.tables[i] if is_kept else nothing)
        parents.append(tuple(place[j] for j in structure.parents[i]) if is_kept else ())
        class_is_parent.append(structure.class_is_parent[i] and is_kept)
        given += [place[i]] if i in structure.given else []
    class_parents = tuple(place[j] for j in structure.class_parents)
    changed = Structure(tuple(parents), tuple(class_is_parent), class_parents, tuple(given))
    return replace(model, structure=changed, prior=prior, tables=(*tables, *model.tables[n:]))
