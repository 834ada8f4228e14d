"""The C of a model with a front end decides as the model does on the features of the windows."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest

from bncc._types import IntArray
from bncc.data.dataset import Column, Dataset, Table
from bncc.device.inputs.samples import segments
from bncc.device.samples import host_stream
from bncc.discretize.feature import states_of
from bncc.emit.emitter import Emission, EmitOptions, emit_c
from bncc.lower.sample_estimate import estimate_samples, shares_code
from bncc.model.model import Model
from bncc.model.reference import predict
from bncc.model.used import with_used_inputs
from bncc.on_device import decision_sources
from bncc.recordings.front_end import FrontEnd
from bncc.targets import find_target
from bncc.toolchain.tools import SANITIZERS
from bncc.train.settings import TrainSettings
from bncc.train.train_model import train_model
from tests.front_ends import front_end

pytestmark = pytest.mark.cc


def table_of(front_end: FrontEnd, values: IntArray) -> Table:
    """Return the features of windows, (n_windows, n_columns), as a table."""
    present = np.zeros(len(values), dtype=np.bool_)
    return Table(
        tuple(
            Column(column.name, "integer", values[:, k], present)
            for k, column in enumerate(front_end.columns)
        )
    )


def trained(front_end: FrontEnd, amplitude: int, **settings: object) -> Model:
    """Return a model for noise of three amplitudes."""
    rng = np.random.default_rng(1)
    values, y = [], []
    for label in range(3):
        noise = np.cumsum(rng.integers(-1, 2, (1200, len(front_end.channels))), axis=0) % 7 - 3
        rows = front_end.values(noise * amplitude * (label + 1))
        values.append(rows)
        y += [label] * len(rows)
    table = table_of(front_end, np.concatenate(values))
    dataset = Dataset(table, np.array(y), ("low", "mid", "high"), "class")
    return train_model(dataset, TrainSettings(**{"parameters": "ml", **settings})).model  # type: ignore[arg-type]


def with_front_end(model: Model, front_end: FrontEnd, **options: object) -> Emission:
    """Return the C of a model with a front end."""
    with_samples = replace(model, front_end=front_end)
    return emit_c(with_samples, EmitOptions("m", **options))  # type: ignore[arg-type]


def check(model: Model, front_end: FrontEnd, emission: Emission) -> set[int]:
    """Compare decisions on samples of every kind; return the classes."""
    built = decision_sources(front_end, emission)
    n = 20 * front_end.windows.length
    rng = np.random.default_rng(2)
    parts = list(segments(front_end.form, built.sample_type, n, built.n_channels, rng))
    parts += [(part // 2**k).astype(np.int64) for part in parts[:2] for k in (4, 7, 9, 11)]
    # Minima and sums of 16 samples that are the marker of a missing int8 or int16
    parts += [np.full((n, built.n_channels), value) for value in (-128, -2048)]
    values = np.concatenate([front_end.values(part) for part in parts])
    expected = predict(model, states_of(model.features, table_of(front_end, values)))
    with host_stream(built, ("-O1", *SANITIZERS)) as program:
        found = program.features(parts)[:, 0]
    assert found.tolist() == expected.tolist()
    return {*found.tolist()}


@pytest.mark.parametrize(("length", "hop"), [(32, 32), (32, 16), (32, 8)])
@pytest.mark.parametrize(
    ("structure", "readings", "is_array"),
    [("naive", "auto", False), ("naive", "smallest", False), ("chow-liu", "int32", True)],
)
def test_decisions_agree(
    length: int, hop: int, structure: str, readings: str, is_array: bool
) -> None:
    tested = front_end("int16", length, hop, "sum,max,range,change,haar2,crossings", "x,jerk(x,y)")
    model = trained(tested, 300, structure=structure, readings=readings)
    emission = with_front_end(model, tested)
    assert emission.layout.raw is not None
    assert emission.layout.raw.is_array == is_array
    assert len(check(model, tested, emission)) > 1


@pytest.mark.parametrize("hop", [32, 8])
@pytest.mark.parametrize(("readings", "is_array"), [("auto", False), ("int32", True)])
def test_decisions_agree_where_channels_share_code(hop: int, readings: str, is_array: bool) -> None:
    tested = front_end("int16", 32, hop, "sum,max,range,change,haar2,crossings", "x,y,z")
    assert shares_code(tested)
    model = trained(tested, 300, structure="naive", readings=readings)
    emission = with_front_end(model, tested)
    assert emission.layout.raw is not None
    assert emission.layout.raw.is_array == is_array
    assert len(check(model, tested, emission)) > 1


def test_features_beyond_the_readings_of_a_model_saturate() -> None:
    """Trained on quiet samples, the model reads int16 or int8 where features need more."""
    tested = front_end("int16", 16, 16, "sum,min,range,change", "x,x-y")
    model = trained(tested, 3, structure="naive", readings="smallest")
    kinds = {feature.kind for feature in model.features}
    assert kinds & {"int8", "uint8"}
    assert len(check(model, tested, with_front_end(model, tested))) > 1
    wide = replace(model, features=tuple(replace(f, kind="int16") for f in model.features))
    assert len(check(wide, tested, with_front_end(wide, tested))) > 1


def test_a_feature_that_is_the_marker_of_a_missing_reading_is_missing() -> None:
    """Features below the marker saturate above it, as in a table; the marker itself remains."""
    tested = front_end("int16", 16, 16, "sum", "x")
    model = trained(tested, 3, structure="naive", discretize="quantile")
    (feature,) = model.features
    middle = replace(feature, kind="int16", missing_state=feature.n_states // 2)
    model = replace(model, features=(middle,))
    sums = (-(2**15), -(2**15) - 16, -(2**15) + 16, 2**15)
    rows = np.repeat(np.array(sums) // 16, 16)[:, None].repeat(3, axis=1)
    assert tested.values(rows)[:, 0].tolist() == [*sums]
    expected = predict(model, states_of(model.features, table_of(tested, tested.values(rows))))
    assert expected[0] != expected[1] == expected[2]
    with host_stream(decision_sources(tested, with_front_end(model, tested))) as program:
        assert program.features([rows])[:, 0].tolist() == expected.tolist()


def test_the_card_has_all_channels_and_the_memory_of_the_program() -> None:
    """In the order of a sample; what is estimated is called so, and the state is exact."""
    channels = [f"electrode_{k}" for k in range(9)]
    tested = front_end("int16", 32, 16, "sum", "electrode_0", channels)
    model = trained(tested, 300, structure="naive")
    emission = with_front_end(model, tested, target="avr", optimize="size")
    card = " ".join(line.strip(" *") for line in emission.files["m.h"].splitlines())
    words = f"{', '.join(channels)} in -32768 .. 32767; windows of 32, every 16"
    assert re.sub(" +", " ", card).count(f"samples {words}") == 1
    alone = estimate_samples(tested, find_target("avr")).flash
    found = re.search(
        r"program +front end and classifier together: (\d+) B of flash and (\d+) B of +stack "
        r"\(estimated +for avr at -Os, not measured\), (\d+) B of state in m_stream_t",
        card,
    )
    assert found is not None
    flash, stack, state = map(int, found.groups())
    assert flash == math.ceil(alone) + emission.estimate.flash
    assert stack == emission.estimate.ram
    assert f"A m_stream_t needs {state} bytes" in card
    plain = emit_c(replace(model, front_end=None), EmitOptions("m")).files["m.h"]
    assert "classifier together" not in plain


def test_boosted_tables_agree() -> None:
    tested = front_end("-2048..2047", 32, 8, "range,haar1,haar3,crossings", "x,y")
    settings = {"structure": "tables", "parameters": "hybrid", "bits": 4}
    model = trained(tested, 40, structure_options={"tables": "6"}, **settings)
    emission = with_front_end(model, tested, entries=frozenset({"scores"}))
    assert len(check(model, tested, emission)) > 1


def test_no_array_of_a_kernel_is_called_as_a_function_of_samples() -> None:
    """The plain kernel has an array NAME_start in the C of other models."""
    tested = front_end("int16", 16, 16, "sum,range", "x")
    model = trained(tested, 30, structure="naive")
    entries = frozenset({"stream", "scores"})
    emission = with_front_end(model, tested, entries=entries, kernel="plain")
    assert "m_first_entry[" in emission.files["m.c"]
    assert len(check(model, tested, emission)) > 1
    assert "m_start[" in emit_c(model, EmitOptions("m", kernel="plain")).files["m.c"]


def test_unused_inputs_need_no_feature() -> None:
    """A model without some of its inputs takes the same samples and decides alike."""
    tested = front_end("int16", 16, 16, "sum,range,change,haar1,haar2,crossings", "x,y,jerk(x,y)")
    options = {"tables": "1", "rows": "4", "features": "1"}
    model = trained(
        tested, 30, structure="tables", parameters="hybrid", bits=4, structure_options=options
    )
    whole = replace(model, front_end=tested)
    smaller = with_used_inputs(whole)
    assert smaller.front_end is not None
    names = [feature.name for feature in smaller.inputs]
    assert names == [column.name for column in smaller.front_end.columns]
    assert 0 < len(names) < len(tested.columns)
    check(model, tested, emit_c(smaller, EmitOptions("m")))


def test_no_decision_is_no_class_and_no_error() -> None:
    tested = front_end("int16", 32, 32, "sum,max", "x")
    model = trained(tested, 30, structure="naive")
    header = with_front_end(model, tested, entries=frozenset({"stream", "checked"})).files["m.h"]
    codes = re.findall(r"^#define M_\w+ \((-\d+)\)$", header, re.MULTILINE)
    assert "-128" in codes
    assert len({*codes}) == len(codes) > 4
