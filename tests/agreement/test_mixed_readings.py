"""Readings of several types that the C compares with cuts: the same decisions as by states."""

from dataclasses import replace

import numpy as np
import pytest

from bncc.discretize.feature import Feature
from bncc.discretize.float_order import floats_of_keys
from bncc.emit.emitter import EmitOptions, emit_candidate
from bncc.fixed_point import QFormat
from bncc.lower.cost_model import candidate
from bncc.lower.kernels.families import FAMILIES, FOR_CUTS
from bncc.model.model import Model
from bncc.on_device import verify
from bncc.program.pipeline import program_of
from bncc.structure.decision_tables import DecisionTable, TableEnsemble

pytestmark = pytest.mark.cc
FLOAT_MAX = float(np.finfo(np.float32).max)
NUMBERS = {
    "int16": (-32768, -257, 255, 32766),
    "int32": (-(2**31), -70000, 3, 2**31 - 3),
    "float32": (-FLOAT_MAX, -1.5, 0.0, 2.0**100),
}
LABELS = ("a", "b", "c", "d", "e")


def number(kind, missing):
    """Return a number whose missing readings have a state, the last one their own."""
    cuts = NUMBERS[kind]
    return Feature(f"{kind} {missing}", kind, len(cuts) + 1 + (missing == 5), cuts, (), missing)


def halved(missing):
    """Return a float whose thresholds the high half of its key decides."""
    keys = np.array([-0x3FC00001, -0x10001, 0xFFFF, 0x3F80FFFF, 0x7F7FFFFF])
    cuts = tuple(floats_of_keys(keys).tolist())
    return Feature(f"half {missing}", "float32", 6 + (missing == 6), cuts, (), missing)


def coarse_number(missing):
    """Return an integer of 32 bits whose thresholds its high half decides."""
    return Feature(f"wide {missing}", "int32", 4, (-70001 | 0xFFFF, -1, 0x7FFEFFFF), (), missing)


MIXES = {
    "below": tuple(number(kind, 0) for kind in NUMBERS),
    "between": tuple(number(kind, 2) for kind in NUMBERS),
    "above": tuple(number(kind, 5) for kind in NUMBERS),
    "narrow": (number("int16", 0), Feature("code", "state", 5, (), (), 0), number("int16", 2)),
    "codes": (
        Feature("low", "state", 5, (), (), 0),
        Feature("unseen", "category", 6, (), LABELS, 5),
        number("float32", 0),
        Feature("middle", "category", 5, (), LABELS, 2),
        Feature("long", "state", 300, (), (), 7),
    ),
    "one type": (number("int32", 0), number("int32", 3), number("int32", 5)),
    "floats": (number("float32", 0), number("float32", 4), number("float32", 5)),
    "halves": (
        halved(0),
        halved(6),
        number("int16", 2),
        number("int16", 0),
        coarse_number(0),
        coarse_number(2),
        Feature("unseen", "category", 6, (), LABELS, 5),
        Feature("byte", "uint8", 2, (7,)),
    ),
    "half floats": (halved(0), halved(3), halved(6)),
    "two": (number("float32", 0), number("int16", 0)),
}


def model_of(features, n_classes):
    """Return boosted tables over features, every cut of each among them."""
    rng = np.random.default_rng(7)
    n_cuts = [min(feature.n_states, 8) - 1 for feature in features]
    grids = [DecisionTable((f,), (tuple(range(n)),)) for f, n in enumerate(n_cuts)]
    for _ in range(6):
        pair = sorted(rng.permutation(len(features))[:2].tolist())
        places = [tuple(sorted(rng.permutation(n_cuts[f])[:2].tolist())) for f in pair]
        grids.append(DecisionTable(tuple(pair), tuple(places)))
    single = [(f, k) for f, n in enumerate(n_cuts) for k in range(n)]
    for k in rng.permutation(len(single))[:4].tolist():
        grids.append(DecisionTable((single[k][0],), ((single[k][1],),)))
    tables = tuple(rng.integers(0, 8, (grid.n_rows, n_classes)) for grid in grids)
    classes = tuple(f"c{c}" for c in range(n_classes))
    prior = rng.integers(0, 4, n_classes)
    structure = TableEnsemble(tuple(grids))
    return Model(tuple(features), classes, structure, QFormat(2, 2), prior, tables, {})


def doubled_model_of(features, n_classes):
    """Return tables of one cut each, whose rows need no strides."""
    rng = np.random.default_rng(8)
    grids = [
        DecisionTable((f,), ((k,),)) for f, each in enumerate(features)
        for k in range(min(each.n_states, 8) - 1)
    ]  # fmt: skip
    tables = tuple(rng.integers(0, 8, (2, n_classes)) for _ in grids)
    classes = tuple(f"c{c}" for c in range(n_classes))
    prior = np.zeros(n_classes, dtype=np.int64)
    structure = TableEnsemble(tuple(grids))
    return Model(tuple(features), classes, structure, QFormat(2, 2), prior, tables, {})


def floats_of(feature, n_features):
    """Return floats like a feature."""
    return tuple(replace(feature, name=f"float {k}", missing_state=0) for k in range(n_features))


def emissions(model, family, compare="readings", **options):
    """Yield the C of some layouts of a family, which compare readings or their keys."""
    program = program_of(model)
    kernels = list(FAMILIES[family](program))
    for k in sorted({0, len(kernels) - 1}):
        chosen = replace(candidate(program, kernels[k], None), compare=compare)
        yield emit_candidate(model, chosen, EmitOptions("m", **options))


@pytest.mark.parametrize("make", [model_of, doubled_model_of])
@pytest.mark.parametrize("n_classes", [2, 9])
@pytest.mark.parametrize("family", sorted(FOR_CUTS))
@pytest.mark.parametrize("mix", MIXES)
def test_every_reading_is_decided_as_by_its_state(require_tool, mix, family, n_classes, make):
    """NaN, infinities, ends of types, all thresholds, neighbors and unknown codes too."""
    require_tool("gcc")
    model = make(MIXES[mix], n_classes)
    for emission in emissions(model, family):
        assert emission.layout.direct is not None
        assert "_readings(" in emission.files["m.c"]
        outcome = verify(model, emission=emission, sanitize=True, n_random=300)
        assert outcome.agree, outcome.first_mismatch


@pytest.mark.parametrize("state", [2, 5])
@pytest.mark.parametrize("family", sorted(FOR_CUTS - {"cuts"}))
def test_missing_readings_of_an_unused_feature_decide_about_no_other(require_tool, family, state):
    require_tool("gcc")
    made = model_of(floats_of(number("float32", 0), 5), 5)
    first = replace(number("float32", state), name="unused")
    grids = tuple(
        replace(grid, features=tuple(f + 1 for f in grid.features))
        for grid in made.structure.tables
    )
    structure = replace(made.structure, tables=grids)
    model = replace(made, features=(first, *made.features), structure=structure)
    for emission in emissions(model, family, "keys"):
        outcome = verify(model, emission=emission, sanitize=True, n_random=300)
        assert outcome.agree, outcome.first_mismatch


@pytest.mark.parametrize("n_features", [4, 7])
@pytest.mark.parametrize("make", [model_of, doubled_model_of])
@pytest.mark.parametrize("kind", [number("float32", 0), halved(0)], ids=["whole", "halved"])
@pytest.mark.parametrize("family", sorted(FOR_CUTS - {"cuts"}))
def test_keys_that_one_loop_forms_decide_as_states(require_tool, family, kind, make, n_features):
    """The readings that no table uses may be anything."""
    require_tool("gcc")
    every = floats_of(kind, n_features)
    model = replace(make(every[: n_features // 2 + 1], 5), features=every)
    for emission in emissions(model, family, "keys"):
        assert "key[i] = " in emission.files["m.c"]
        outcome = verify(model, emission=emission, sanitize=True, n_random=300)
        assert outcome.agree, outcome.first_mismatch
