"""The `.bncc` file: data only, versioned, digested, refused unless it is whole."""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from math import prod
from pathlib import Path
from typing import Any, cast

import numpy as np

from bncc._types import IntArray, StrPath
from bncc.discretize.feature import Feature, FeatureKind
from bncc.errors import ModelError, ModelFileError, OptionError
from bncc.fixed_point import QFormat
from bncc.model.archive import SUMS, from_npy, npy, pack, unpack, with_sums
from bncc.model.atomic import write_whole
from bncc.model.model import MAX_FEATURES, MAX_TABLE_ENTRIES, Model, check_model
from bncc.model.records import (
    DOCUMENT,
    adaptation_from,
    adaptation_record,
    confidence_from,
    confidence_record,
    counters_from,
    counters_record,
    fields,
    filter_from,
    filter_record,
    front_end_from,
    gate_from,
    integer,
    items,
    malformed,
    unknown_from,
    unknown_record,
)
from bncc.structure.decision_tables import (
    BranchingTable,
    DecisionTable,
    GridTable,
    TableEnsemble,
    has_trees,
)
from bncc.structure.graph import Structure

FORMAT, SUM_FORMAT, GENERAL_FORMAT, TREE_FORMAT, DIFFERENCE_FORMAT, GATE_FORMAT = range(1, 7)
FRONT_END_FORMAT, FILTER_FORMAT, CONFIDENCE_FORMAT, UNKNOWN_FORMAT, COUNTERS_FORMAT = range(7, 12)
ADAPTATION_FORMAT = 12
FORMATS = (*range(FORMAT, ADAPTATION_FORMAT + 1),)
"""Formats of a file with a network, with boosted tables, with a network whose class has parents or
some of whose features are given, with boosted tables some of which a decision tree addresses, with
boosted tables some of whose features are differences, with boosted tables behind the first of which
there is a gate, with any of these and the front end that computes their features, with any of these
and a filter over decisions, with any of these and a confidence of decisions, with any of these and
a rule for unknown readings, with any of these and counters of decisions, and with any of these and
an adaptation to labeled inputs."""
# Bumped whenever an older bncc would read a file wrongly or not at all: a key or an entry added,
# removed or given another meaning. A key inside `training` is not such a change. The zip
# container, SHA256SUMS and the key `format` in model.json stay in every format, so that an older
# bncc can tell a newer file from a damaged one.


@dataclass(frozen=True)
class _Rule:
    """A part of a model next to its tables: a format is that of any model with this part."""

    name: str  # Name of the field in `Model`, and key
    number: int  # The format
    format_key: str  # Key of the format of the same model without it
    words: str
    record: Callable[[Any], dict[str, Any]]
    read: Callable[[Any], Any]


_RULES = (
    _Rule("filter", FILTER_FORMAT, "unfiltered_format", "a filter", filter_record, filter_from),
    _Rule(
        "confidence", CONFIDENCE_FORMAT, "unrated_format", "a confidence",
        confidence_record, confidence_from,
    ),
    _Rule(
        "unknown", UNKNOWN_FORMAT, "all_known_format", "a rule for unknown readings",
        unknown_record, unknown_from,
    ),
    _Rule(
        "counters", COUNTERS_FORMAT, "uncounted_format", "counters",
        counters_record, counters_from,
    ),
    _Rule(
        "adaptation", ADAPTATION_FORMAT, "unadapted_format", "an adaptation",
        adaptation_record, adaptation_from,
    ),
)  # fmt: skip

RULES_IN_WORDS: Mapping[str, str] = {rule.name: rule.words for rule in _RULES}
"""Parts of a model next to its tables, by the field of `Model`."""

PRIOR, TABLES = "prior.npy", "tables.npy"
MAX_DOCUMENT = 32 * 2**20
"""Bytes of model.json; 10,000 features with 100 thresholds each need half of it."""


def encode(model: Model) -> dict[str, bytes]:
    """Return the entries of a model's file; equal models give equal bytes."""
    check_model(model)
    number = DIFFERENCE_FORMAT if model.has_differences else _format(model.structure)
    number = number if model.gate is None else GATE_FORMAT
    document = {
        "format": number,
        "features": [_feature_record(feature) for feature in model.features],
        "classes": list(model.classes),
        "structure": _structure_record(model.structure, number),
        "q_format": {
            "int_bits": model.q_format.int_bits,
            "frac_bits": model.q_format.frac_bits,
        },
        "training": dict(model.training),
    }
    if model.gate is not None:
        document["gate"] = {"tables": model.gate.tables, "margin": model.gate.margin}
    if model.front_end is not None:
        document |= {
            "format": FRONT_END_FORMAT,
            "classifier_format": number,
            "front_end": model.front_end.to_json(),
        }
    for rule in _RULES:
        if (found := getattr(model, rule.name)) is not None:
            document |= {
                "format": rule.number,
                rule.format_key: document["format"],
                rule.name: rule.record(found),
            }
    try:
        text = _canonical(document)
    except (TypeError, ValueError, RecursionError) as error:
        raise ModelError(f"the model's training record is not JSON: {error}") from error
    if len(text) > MAX_DOCUMENT:
        raise ModelError(f"the model's description is larger than {MAX_DOCUMENT} bytes")
    flat = np.concatenate([table.ravel() for table in model.tables])
    bits = model.q_format.bits
    return {DOCUMENT: text, PRIOR: npy(model.prior, bits), TABLES: npy(flat, bits)}


def read_document(entries: Mapping[str, bytes]) -> dict[str, Any]:
    """Return what model.json holds, if it is canonical JSON."""
    text = entries.get(DOCUMENT)
    if text is None or len(text) > MAX_DOCUMENT:
        raise ModelFileError(f"it has no {DOCUMENT} of at most {MAX_DOCUMENT} bytes")
    try:
        document = json.loads(text.decode("ascii"))
        if isinstance(document, dict) and _canonical(document) == text:
            return document
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"its {DOCUMENT} cannot be read") from error
    raise ModelFileError(f"its {DOCUMENT} is not in canonical form")


def decode(document: Mapping[str, Any], entries: Mapping[str, bytes]) -> Model:
    """Return the model that the entries of a file describe."""
    if tuple(entries) != (DOCUMENT, PRIOR, TABLES, SUMS):
        raise ModelFileError("an entry is missing or superfluous")
    keys = ("classes", "features", "format", "q_format", "structure", "training")
    gate = front_end = None
    rules: dict[str, Any] = {}
    for rule in reversed(_RULES):
        if document["format"] == rule.number:
            document, record = _inner(document, rule.name, rule.format_key)
            if document["format"] not in _below(rule.number):
                malformed(f"the format of its model without {rule.words}")
            rules[rule.name] = rule.read(record)
    if document["format"] == FRONT_END_FORMAT:
        document, front_end = _inner(document, "front_end", "classifier_format")
        if document["format"] not in _STRUCTURES:
            malformed("the format of its classifier")
    if document["format"] == GATE_FORMAT:
        gate = gate_from(document.get("gate"))
        document = {key: value for key, value in document.items() if key != "gate"}
    labels, records, number, q_record, record, training = fields(document, keys)
    features = tuple(_feature(record) for record in items(records, dict))
    has_differences = any(f.difference is not None for f in features)
    if number != GATE_FORMAT and has_differences != (number == DIFFERENCE_FORMAT):
        malformed("a feature")
    if len(features) > MAX_FEATURES:
        raise ModelFileError("it has too many features")
    q_format = QFormat(*map(integer, fields(q_record, ("int_bits", "frac_bits"))))
    structure = _STRUCTURES[number](record)
    if type(training) is not dict:
        malformed("training")
    classes = tuple(items(labels, str))
    shapes = _shapes(structure, [feature.n_states for feature in features], len(classes))
    flat = from_npy(entries[TABLES], sum(map(prod, shapes)), q_format.bits)
    prior = from_npy(entries[PRIOR], len(classes), q_format.bits)
    tables = _split(flat, shapes)
    prior.flags.writeable = False
    model = Model(
        features, classes, structure, q_format, prior, tables, training, gate, **rules
    )  # fmt: skip
    if front_end is not None:
        model = replace(
            model, front_end=front_end_from(front_end, [feature.name for feature in model.inputs])
        )
    check_model(model)
    return model


def _inner(document: Mapping[str, Any], what: str, format_key: str) -> tuple[dict[str, Any], Any]:
    """Return the document of a model without one of its parts, and the record of that part."""
    rest = {key: value for key, value in document.items() if key not in (what, format_key)}
    return {**rest, "format": integer(document.get(format_key))}, document.get(what)


def _below(number: int) -> range:
    """Return the formats of models without what a format adds."""
    return range(FORMAT, number)


def _canonical(document: Mapping[str, Any]) -> bytes:
    text = json.dumps(
        document, sort_keys=True, allow_nan=False, ensure_ascii=True, separators=(",", ":")
    )
    return text.encode("ascii") + b"\n"


def _feature_record(feature: Feature) -> dict[str, Any]:
    record: dict[str, Any] = {
        "name": feature.name,
        "kind": feature.kind,
        "n_states": feature.n_states,
        "thresholds": list(feature.thresholds),
        "categories": list(feature.categories),
        "fallback": feature.missing_state,
    }
    if feature.difference is not None:
        record["difference"] = list(feature.difference)
    return record


def _feature(record: dict[str, Any]) -> Feature:
    keys = ("name", "kind", "n_states", "thresholds", "categories", "fallback")
    difference = None
    if "difference" in record:
        given = items(record["difference"], int)
        if len(given) != 2:
            malformed("a difference")
        difference = given[0], given[1]
        record = {key: value for key, value in record.items() if key != "difference"}
    name, kind, n_states, thresholds, categories, fallback = fields(record, keys)
    if type(name) is not str or type(kind) is not str:
        malformed("a feature's name or kind")
    return Feature(
        name,
        cast(FeatureKind, kind),  # any text until check_feature has seen it
        integer(n_states),
        tuple(items(thresholds, int, float)),
        tuple(items(categories, str)),
        integer(fallback),
        difference,
    )


def _format(structure: Structure | TableEnsemble) -> int:
    if isinstance(structure, TableEnsemble):
        return TREE_FORMAT if has_trees(structure) else SUM_FORMAT
    return GENERAL_FORMAT if structure.class_parents or structure.given else FORMAT


def _structure_record(structure: Structure | TableEnsemble, number: int) -> dict[str, Any]:
    if isinstance(structure, TableEnsemble):
        if number in (TREE_FORMAT, DIFFERENCE_FORMAT):
            return {"tables": [_table_record(grid) for grid in structure.tables]}
        products = [grid for grid in structure.tables if isinstance(grid, DecisionTable)]
        return {
            "features": [list(grid.features) for grid in products],
            "cuts": [[list(cuts) for cuts in grid.cuts] for grid in products],
        }
    record: dict[str, Any] = {
        "parents": [list(parents) for parents in structure.parents],
        "class_is_parent": list(structure.class_is_parent),
    }
    if number == GENERAL_FORMAT:
        record |= {"class_parents": list(structure.class_parents), "given": list(structure.given)}
    return record


def _table_record(grid: GridTable) -> dict[str, Any]:
    if isinstance(grid, BranchingTable):
        return {
            "features": list(grid.features),
            "cuts": list(grid.cuts),
            "below": list(grid.below),
            "above": list(grid.above),
        }
    return {"features": list(grid.features), "cuts": [list(cuts) for cuts in grid.cuts]}


def _network(record: Any) -> Structure:
    class_is_parent, parents = fields(record, ("class_is_parent", "parents"))
    return Structure(
        tuple(tuple(items(row, int)) for row in items(parents, list)),
        tuple(items(class_is_parent, bool)),
    )


def _general_network(record: Any) -> Structure:
    keys = ("class_is_parent", "class_parents", "given", "parents")
    flags, class_parents, given, parents = fields(record, keys)
    plain = _network({"class_is_parent": flags, "parents": parents})
    of_class, alone = tuple(items(class_parents, int)), tuple(items(given, int))
    if not (of_class or alone):
        malformed("a network of format 1 in another")
    return replace(plain, class_parents=of_class, given=alone)


def _grids(record: Any) -> TableEnsemble:
    cuts, features = fields(record, ("cuts", "features"))
    if len(items(features, list)) != len(items(cuts, list)):
        malformed("the grids of its tables")
    return TableEnsemble(
        tuple(_product(read, of_features) for read, of_features in zip(features, cuts, strict=True))
    )


def _product(features: Any, cuts: Any) -> DecisionTable:
    return DecisionTable(
        tuple(items(features, int)),
        tuple(tuple(items(states, int)) for states in items(cuts, list)),
    )


def _tables(record: Any) -> TableEnsemble:
    (records,) = fields(record, ("tables",))
    return TableEnsemble(tuple(_table(each) for each in items(records, dict)))


def _trees(record: Any) -> TableEnsemble:
    ensemble = _tables(record)
    if _format(ensemble) != TREE_FORMAT:
        malformed("boosted tables of format 2 in another")
    return ensemble


def _table(record: dict[str, Any]) -> GridTable:
    if "below" not in record:
        cuts, features = fields(record, ("cuts", "features"))
        return _product(features, cuts)
    columns = fields(record, ("features", "cuts", "below", "above"))
    return BranchingTable(*(tuple(items(column, int)) for column in columns))


_STRUCTURES: Mapping[int, Callable[[Any], Structure | TableEnsemble]] = dict(
    zip(
        _below(FRONT_END_FORMAT),
        (_network, _grids, _general_network, _trees, _tables, _grids),
        strict=True,
    )
)


def _shapes(
    structure: Structure | TableEnsemble, n_states: Sequence[int], n_classes: int
) -> list[tuple[int, int]]:
    shapes, total = [], 0
    for levels in _levels(structure, n_states):
        rows = 1
        for n in levels:
            rows *= n
            # Stopping here keeps a product of a million factors from being formed.
            if not 0 < rows <= MAX_TABLE_ENTRIES:
                raise ModelFileError("it declares a table beyond all limits")
        total += rows * n_classes
        shapes.append((rows, n_classes))
    if not 0 < total <= MAX_TABLE_ENTRIES:
        raise ModelFileError("it declares tables beyond all limits")
    return shapes


def _levels(
    structure: Structure | TableEnsemble, n_states: Sequence[int]
) -> Iterator[Iterable[int]]:
    """Yield the levels of the features of each table."""
    if isinstance(structure, TableEnsemble):
        for grid in structure.tables:
            yield (grid.n_rows,) if isinstance(grid, BranchingTable) else grid.n_levels
        return
    if len(structure.parents) != len(n_states):
        raise ModelFileError("its structure and its features differ in number")
    for i, parents in enumerate(structure.parents):
        yield (n_states[j] for j in (i, *parents))
    if structure.class_parents:
        yield (n_states[j] for j in structure.class_parents)


def _split(flat: IntArray, shapes: Sequence[tuple[int, int]]) -> tuple[IntArray, ...]:
    flat.flags.writeable = False
    ends = np.cumsum([rows * columns for rows, columns in shapes])
    return tuple(
        flat[end - rows * columns : end].reshape(rows, columns)
        for end, (rows, columns) in zip(ends, shapes, strict=True)
    )


MAX_FILE = 256 * 2**20
"""Bytes of a model file; a microcontroller holds a thousandth of it."""


def to_bytes(model: Model) -> bytes:
    """Return the content of a model file."""
    data = pack(with_sums(encode(model)))
    if len(data) > MAX_FILE:
        raise ModelFileError(
            f"the model needs {len(data)} bytes and a model file holds at most {MAX_FILE}; "
            "use fewer states or parents"
        )
    return data


def from_bytes(data: bytes, name: StrPath) -> Model:
    """Return the model in the content of a file."""
    try:
        entries = unpack(data)
        sums = {entry: content for entry, content in entries.items() if entry != SUMS}
        if with_sums(sums) != entries:
            raise ModelFileError("digest mismatch")
        document = read_document(entries)
        number = document.get("format")
        if type(number) is not int or number < 1:
            raise ModelFileError("its format number is malformed")
        if number in FORMATS:
            return decode(document, entries)
    except (ModelFileError, ModelError, ValueError) as error:
        raise ModelFileError(
            f"'{name}' is not a bncc model, or is truncated or corrupt ({error}); copy it again "
            "or retrain"
        ) from error
    raise ModelFileError(
        f"'{name}' has model format {number}, and this version of bncc reads up to "
        f"{FORMATS[-1]}; update bncc"
    )


def save_model(model: Model, path: StrPath, *, overwrite: bool = False) -> None:
    """
    Write a model file; equal models give equal bytes.

    Parameters
    ----------
    model : Model
        A whole model.
    path : path
        Where it goes.
    overwrite : bool
        Allow replacing an existing file.

    Raises
    ------
    OptionError
        If the file exists and `overwrite` is not set.
    ModelError
        If the model is not whole.
    ModelFileError
        If it cannot be written; an older file is then still what it was.
    """
    data = to_bytes(model)
    target = Path(path)
    try:
        if target.exists() and not target.is_file():
            raise OptionError(f"'{path}' is not a regular file; choose another name for the model")
        if target.exists() and not overwrite:
            raise OptionError(f"'{path}' exists; choose another name, or overwrite it with --force")
        write_whole(target, data)
    except (OSError, ValueError) as error:
        raise ModelFileError(
            f"cannot write '{path}' ({_reason(error)}); choose another folder, or free some space"
        ) from error


def load_model(path: StrPath) -> Model:
    """
    Read a model file.

    Parameters
    ----------
    path : path
        A file that `save_model` has written.

    Returns
    -------
    Model
        A whole model with read-only arrays.

    Raises
    ------
    ModelFileError
        If the file is absent, too large, damaged in any bit, or of another format.
    """
    return from_bytes(_read(path), path)


def model_digest(model: Model) -> str:
    """Return the digest of a model's content."""
    return sha256(with_sums(encode(model))[SUMS]).hexdigest()


def _read(path: StrPath) -> bytes:
    source = Path(path)
    try:
        if source.is_dir():
            raise ModelFileError(f"'{path}' is a directory; name the model file inside it")
        if not source.exists():
            raise ModelFileError(f"'{path}' does not exist; create it with 'bncc train -o'")
        if not source.is_file():
            # Opening a named pipe would wait for ever.
            raise ModelFileError(f"'{path}' is not a regular file; copy the model to one")
        with source.open("rb") as file:
            data = file.read(MAX_FILE + 1)
    except OSError as error:
        raise ModelFileError(
            f"cannot read '{path}' ({_reason(error)}); check its permissions"
        ) from error
    if len(data) > MAX_FILE:
        raise ModelFileError(
            f"'{path}' is larger than {MAX_FILE} bytes, the limit of a model file; name a file "
            "written by bncc"
        )
    return data


def _reason(error: Exception) -> str:
    return os.strerror(error.errno) if isinstance(error, OSError) and error.errno else str(error)
